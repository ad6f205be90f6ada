"""Roughly how long a plan takes, told before it is run."""

from __future__ import annotations

from probcal.own_table.card_text import TRAIN
from probcal.own_table.experiment_text import Plan

_SECONDS = {
    "shares": (0.005, 0.0),
    "logistic": (0.01, 0.01),
    "nb": (0.05, 0.01),
    "tree": (0.005, 0.01),
    "svm": (0.02, 0.1),
    "forest": (0.25, 0.1),
    "boosting": (0.25, 0.05),
}
"""Learner -> seconds of a fit, and of every thousand training rows more: Adult on one core of a machine of 2026."""
_OTHERS = (0.5, 0.2)
_FITS = {"direct": 1, "bagging": 100, "probing": 120, "relabelling": 100, "weight_sweep": 20}
_CROSSED = 4
"""Three folds, and all rows."""
_USUAL_WIDTH = 100
"""Columns, levels counted; of wider tables time grows with the width."""


_EACH_CLASS = ("boosting", "logistic")
"""Fitted, or as good as, once more for every class."""


_EACH_COLUMN = ("boosting", "nb")
"""Slow with every column, however few the rows."""


def seconds(plan: Plan, n_rows: int, width: int, n_classes: int) -> float:
    """Of all cells one after the other, to a factor of two or three; ``width``: columns, levels counted."""
    wide = max(1.0, width / _USUAL_WIDTH)
    per_split = sum(
        _of_a_fit(learner, TRAIN * n_rows / 1000, wide, n_classes) * _fits(plan, method)
        for learner, methods in plan.pairs.items()
        for method in methods
    )
    return plan.splits * per_split


def _of_a_fit(learner: str, thousands: float, wide: float, n_classes: int) -> float:
    always, each = _SECONDS.get(learner, _OTHERS)
    seconds = always * (wide if learner in _EACH_COLUMN else 1) + each * thousands * wide
    return seconds * (n_classes - 1 if learner in _EACH_CLASS else 1)


def _fits(plan: Plan, method: str) -> int:
    crossed = plan.methods[method].get("params", {}).get("calibration") == "cross_val"
    return _FITS.get(method, _CROSSED if crossed else 1)
