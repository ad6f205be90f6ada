"""What decisions by the estimates cost when the two mistakes cost different amounts."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from probcal.metrics.rows import Rows, checked_two_classes, is_number


def expected_cost(y: Any, p: Any, loss_parameter: float, sample_weight: Any = None) -> float:
    """Mean cost of calling a row positive if and only if p >= ``loss_parameter``, in [0, 1].

    A false negative costs 1 - loss_parameter, a false positive loss_parameter: for these costs the rule is the
    best one if p is the truth. Gao, Parameswaran & Peng (2017), section 4.

    Raises ValueError for a ``loss_parameter`` that is no number within [0, 1].
    """
    return cost(checked_two_classes(y, p, sample_weight), _checked_parameter(loss_parameter))


def loss_ratio(y: Any, before: Any, after: Any, loss_parameter: float, sample_weight: Any = None) -> float:
    """``expected_cost`` of the estimates ``after`` calibration over that ``before``: below 1 it has paid.

    Gao, Parameswaran & Peng (2017), section 4 and Figure 3. 1 where neither costs anything, infinite where
    only the estimates after do.
    """
    parameter = _checked_parameter(loss_parameter)
    cost_before = cost(checked_two_classes(y, before, sample_weight), parameter)
    cost_after = cost(checked_two_classes(y, after, sample_weight), parameter)
    return ratio_of(cost_before, cost_after)


def ratio_of(before: float, after: float) -> float:
    """The loss ratio of two costs: 1 where neither costs anything, infinite where only the one after does."""
    if before == 0:
        return 1.0 if after == 0 else math.inf
    return after / before


def cost(rows: Rows, parameter: float) -> float:
    called = rows.p >= parameter
    return rows.mean(np.where(called, (rows.y == 0) * parameter, (rows.y == 1) * (1 - parameter)))


def _checked_parameter(loss_parameter: float) -> float:
    if not (is_number(loss_parameter) and 0 <= loss_parameter <= 1):
        raise ValueError(f"loss_parameter must be one number within [0, 1], not {loss_parameter!r}")
    return float(loss_parameter)
