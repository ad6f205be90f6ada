"""What all displays share: their axes, also those in log-odds, and the predictions for the positive class."""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from probcal._io import shortened
from probcal._validation import label_positions, value_array
from probcal.errors import require
from probcal.metrics.reliability import LEAST_SHOWN, ReliabilityCurve

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Width and height of a panel, in inches.
_PANEL = 3.4
# Letters that fit beside a panel, or beside the name of an axis.
_LONGEST_LABEL = 28


def ensure_axes(ax: Axes | None) -> Axes:
    """Return ``ax``, or the axes of a new figure if it is None."""
    if ax is not None:
        return ax
    require("matplotlib", "a plot")
    # only where a figure is made: axes that are given need no pyplot
    import matplotlib.pyplot as plt

    return plt.subplots(layout="constrained")[1]  # names of axes may have two lines


def panel_axes(ax: Any, n_panels: int) -> list[Axes]:
    """Return ``n_panels`` axes: those of a new figure if ``ax`` is None, or all of ``ax``. One alone is returned alone.

    Raises ValueError if ``ax`` has another number of axes.
    """
    if ax is not None:
        panels = [*np.ravel(ax)]
        if len(panels) not in (1, n_panels):
            raise ValueError(f"ax holds {len(panels)} axes; give 1, or {n_panels} for the likeliest and each class")
        return panels
    require("matplotlib", "a plot")
    import matplotlib.pyplot as plt

    n_columns = min(4, math.ceil(math.sqrt(n_panels)))
    n_rows = math.ceil(n_panels / n_columns)
    size = (_PANEL * n_columns, _PANEL * n_rows)
    grid = plt.subplots(n_rows, n_columns, figsize=size, layout="constrained", squeeze=False)[1].ravel()
    for unused in grid[n_panels:]:
        unused.remove()
    return [*grid[:n_panels]]


def positive_class_text(pos_label: Any) -> str:
    """Return what follows the name of an axis: nothing if ``pos_label`` is None, and a second line if it is long."""
    if pos_label is None:
        return ""
    text = f"(positive class: {shortened(str(pos_label), _LONGEST_LABEL)})"
    return f" {text}" if len(text) <= _LONGEST_LABEL else f"\n{text}"


def in_panel(text: Any) -> str:
    """Return the text in at most two lines that are no wider than a panel."""
    return textwrap.fill(str(text), _LONGEST_LABEL, max_lines=2, placeholder=" …")


class PositiveClass(NamedTuple):
    """Hold what a display needs of an estimator.

    Attributes
    ----------
    is_positive : ndarray of bool of shape (n_rows,)
        Whether each label is the positive one.
    p : ndarray of shape (n_rows,)
        Predicted probability of the positive class.
    label : object
        Label of the positive class.
    """

    is_positive: np.ndarray
    p: np.ndarray
    label: Any


def predictions_of(estimator: Any, X: Any, y: Any, pos_label: Any) -> PositiveClass:
    """Return labels and predictions of the positive class of a fitted classifier.

    The positive class is ``pos_label``, or without one the second of two classes. Of several classes, ``pos_label`` is
    compared with all others.
    """
    from sklearn.utils.validation import check_is_fitted

    name = type(estimator).__name__
    if not hasattr(estimator, "predict_proba"):
        raise TypeError(f"{name} has no predict_proba: wrap it in a method such as SigmoidClassifier and fit that")
    if not hasattr(estimator, "classes_"):
        check_is_fitted(estimator)
        raise TypeError(f"{name} has no classes_: give its predictions to from_predictions")
    classes = list(estimator.classes_)
    if pos_label is None:
        if len(classes) != 2:
            raise ValueError(f"{name} has {len(classes)} classes: give pos_label, the one to compare with the others")
        pos_label = classes[1]
    if pos_label not in classes:
        raise ValueError(f"pos_label {pos_label!r} is no class of {name} (it has {', '.join(map(repr, classes))})")
    labels = value_array(y, "y", "label")
    places = label_positions(labels, np.asarray(estimator.classes_))
    if (places < 0).any():
        raise ValueError(f"y holds the label {labels[places < 0].tolist()[0]!r}, which is no class of {name}")
    place = classes.index(pos_label)
    return PositiveClass(places == place, np.asarray(estimator.predict_proba(X))[:, place], pos_label)


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
