"""Cost curves (Drummond & Holte 2006, Machine Learning 65): the cost of the best threshold at every ratio of costs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from probcal.show.estimates.kept import Array
from probcal.show.estimates.roc import RocCurve, hull


@dataclass(frozen=True)
class CostCurve:
    """The corners of the lower envelope of the lines of all thresholds, (corners,) each; it is straight between them.

    It begins at (0, 0), where a classifier that always says negative costs nothing, and ends at (1, 0). Always the
    same class costs min(x, 1 - x).
    """

    x: Array
    """Probability cost: p(+) C(-|+) / (p(+) C(-|+) + p(-) C(+|-)), the share of + in what can be lost; it rises."""
    y: Array
    """Normalised expected cost, over that of being wrong on every row: (1 - TPR) x + FPR (1 - x)."""


def cost_curve(roc: RocCurve) -> CostCurve:
    """Of the thresholds in ``roc``: two neighbours on its hull cost the same at a corner.

    The class frequencies of the test rows do not count: x stands for them and the costs together.
    """
    corners = hull(roc.negative, roc.positive)
    fpr, tpr = roc.x[corners], roc.y[corners]
    x = np.diff(fpr) / (np.diff(fpr) + np.diff(tpr))
    y = (1 - tpr[:-1]) * x + fpr[:-1] * (1 - x)
    return CostCurve(np.r_[0.0, x, 1.0], np.r_[0.0, y, 0.0])
