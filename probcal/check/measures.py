"""What can be said of the finished cells by themselves: numbers that no metric can have, and missing ones."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

from probcal.check.experiment import Checked
from probcal.metrics.names import loss_parameter

_SHARE, _LOSS = (0.0, 1.0), (0.0, math.inf)
_RANGES = {"cxe": _LOSS, "rms": _LOSS, "auc": _SHARE, "c_emp": _LOSS, "ece": _SHARE, "ks": _SHARE, "c_emp_p": _SHARE}
_RANGES |= dict.fromkeys(("l1", "l1_trivial", "frequency"), _SHARE)
_RANGES |= dict.fromkeys(("errors", "log10_loss"), _LOSS)
_EPSILON = 1e-9


@dataclass(frozen=True)
class Impossible:
    """A number outside of what its metric can be."""

    cell: str
    metric: str
    number: float


def impossible(checked: Checked) -> list[Impossible]:
    return [
        Impossible(one.id, metric, number)
        for one in checked.every_finished()
        for metric, number in one.metrics.items()
        if _is_outside(metric, number)
    ]


def without_number(checked: Checked) -> Counter[str]:
    """Metric of the experiment -> how many finished cells have no number of it."""
    return Counter(
        metric
        for one in checked.every_finished()
        for metric in checked.outline.metrics
        if math.isnan(one.metrics.get(metric, math.nan))
    )


def _is_outside(metric: str, number: float) -> bool:
    unknown = (-math.inf, math.inf) if loss_parameter(metric) is None else _SHARE
    least, most = _RANGES.get(metric, unknown)
    return number < least - _EPSILON or number > most + _EPSILON
