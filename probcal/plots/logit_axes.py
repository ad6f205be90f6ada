"""Axes of a reliability diagram that are linear in log-odds, with probabilities as ticks."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from probcal.metrics.reliability import LEAST_SHOWN, ReliabilityCurve

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Ticks, and their labels.
_TICKS = {
    1e-6: "1e-6", 1e-5: "1e-5", 1e-4: ".0001", 0.001: ".001", 0.01: ".01", 0.1: ".1", 0.5: ".5", 0.9: ".9",
    0.99: ".99", 0.999: ".999", 0.9999: ".9999", 1 - 1e-5: "1-1e-5", 1 - 1e-6: "1-1e-6",
}  # fmt: skip
# Room beyond the ends, in log-odds.
_MARGIN = 0.3


def set_logit_axes(ax: Axes, limits: tuple[float, float], strip: float) -> float:
    """Set both axes to log-odds within ``limits``. Return the height of the lower end as a share of the axes.

    A strip below it, for a histogram, is ``strip`` times as high as the diagram.
    """
    from matplotlib.ticker import FixedFormatter, FixedLocator, NullFormatter, NullLocator

    low, high = limits
    span = _log_odds(high) - _log_odds(low)
    bottom = _probability(_log_odds(low) - strip * span)
    ax.set(xscale="logit", yscale="logit")
    ax.set(xlim=(low, high), ylim=(bottom, high), aspect="equal")
    for axis in (ax.xaxis, ax.yaxis):
        ticks = {one: label for one, label in _TICKS.items() if low <= one <= high}
        axis.set_major_locator(FixedLocator([*ticks]))
        axis.set_major_formatter(FixedFormatter([*ticks.values()]))
        axis.set_minor_locator(NullLocator())
        axis.set_minor_formatter(NullFormatter())
    return strip / (1 + strip)


def within_logit_axes(values: Any) -> Any:
    """Return where lines and areas are drawn: beyond the ends of all axes, but not infinitely far."""
    return np.clip(values, LEAST_SHOWN / 10, 1 - LEAST_SHOWN / 10)


def logit_limits(ax: Axes, curve: ReliabilityCurve) -> tuple[float, float]:
    """Return the ends of both axes: what ``ax`` shows, 1/2, all bins, and predictions at most a decade beyond them."""
    bins = np.concatenate([curve.bins.mean, curve.bins.observed, [0.5]])
    odds = [_log_odds(one) for one in np.clip(bins[(bins > 0) & (bins < 1)], LEAST_SHOWN, 1 - LEAST_SHOWN)]
    ends = [_log_odds(one) for one in np.clip(curve.edges[[0, -1]], LEAST_SHOWN, 1 - LEAST_SHOWN)]
    decade = math.log(10)
    low = min(*odds, max(ends[0], min(odds) - decade)) - _MARGIN
    high = max(*odds, min(ends[1], max(odds) + decade)) + _MARGIN
    before = ax.get_xlim() if ax.get_xscale() == "logit" else (0.5, 0.5)
    return min(_probability(low), before[0]), max(_probability(high), before[1])


def _log_odds(p: float) -> float:
    return math.log(p / (1 - p))


def _probability(log_odds: float) -> float:
    return 1 / (1 + math.exp(-log_odds))
