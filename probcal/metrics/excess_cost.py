"""How much more decisions at the threshold of the costs can cost than those of the best rule that uses the scores."""

from __future__ import annotations

import math
from typing import Any

from probcal.metrics.calibration import asymptotic_calibration_bound, calibration_bound, empirical_calibration_error
from probcal.metrics.checked_rows import checked_two_classes, is_number
from probcal.metrics.losses import rms_error

_FEW_ROWS = 20


def excess_cost_bound(
    y: Any,
    p: Any,
    false_positive: float,
    false_negative: float,
    *,
    delta: float = 0.05,
    finite: bool = False,
    n_intervals: int = 1,
    pos_label: Any = None,
    labels: Any = None,
) -> float:
    """Return a bound on the excess cost of deciding at the threshold t = a / (a + b), for costs a and b.

    Deciding positive where p >= t is best if p is calibrated (Gao, Parameswaran & Peng 2017, Claim 1). If it is not,
    another threshold s may cost less. The rules at t and s differ on the rows between t and s, where

        cost(t) - cost(s) = (a + b) E[(t - y) 1(t <= p < s)] <= (a + b) E[(p - y) 1(t <= p < s)] <= (a + b) c

    for s > t, because t <= p there, and likewise for s < t. c is c(f) of Definition 2. So the excess over every other
    threshold is at most (a + b) c. A rule that decides otherwise than t on k intervals of p, each on one side of t,
    costs at most k (a + b) c less. With probability 1 - ``delta``, c is at most c_emp plus a bound for the number of
    rows.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Observed labels of two classes, of rows that neither fitted nor chose the classifier.
    p : array-like of shape (n_rows,) or (n_rows, 2)
        Predicted P(y = 1), or predicted probabilities of both classes.
    false_positive : float
        Cost a of deciding positive in a negative row, above 0.
    false_negative : float
        Cost b of deciding negative in a positive row, above 0.
    delta : float, default=0.05
        Probability that the bound fails, strictly between 0 and 1.
    finite : bool, default=False
        Whether to use ``calibration_bound``, which holds for any number of rows. If False,
        ``asymptotic_calibration_bound`` with the RMS error of these rows is used. It is far smaller, above all for rare
        classes, and holds in the limit of many rows. With fewer than 20 rows of a class it is not used.
    n_intervals : int, default=1
        Number k of intervals of p, each on one side of t, on which the other rule decides otherwise. 1 are the rules of
        one threshold.
    pos_label : int, float, bool or str, default=None
        Label of the positive class.
    labels : array-like of shape (n_classes,), default=None
        All labels in rising order, such as ``model.classes_``.

    Returns
    -------
    float
        Cost per row, in the unit of the costs. It is at most the larger cost.

    Raises
    ------
    ValueError
        If a cost is not a finite number above 0, ``n_intervals`` is below 1, or another argument is invalid.

    Examples
    --------
    >>> import numpy as np
    >>> from probcal.metrics import excess_cost_bound
    >>> p = np.random.default_rng(0).random(20_000)
    >>> y = np.random.default_rng(1).random(20_000) < p
    >>> round(excess_cost_bound(y, p, 1, 4), 3)  # a decision costs at most so much too much, on average
    0.057
    """
    for name, cost in (("false_positive", false_positive), ("false_negative", false_negative)):
        if not is_number(cost) or not 0 < cost < math.inf:
            raise ValueError(f"{name} must be a finite number above 0, not {cost!r}")
    if not isinstance(n_intervals, int) or n_intervals < 1:
        raise ValueError(f"n_intervals must be a whole number from 1, not {n_intervals!r}")
    rows = checked_two_classes(y, p, None, pos_label, labels)
    n, n_positive = len(rows.y), int(rows.y.sum())
    if finite or min(n_positive, n - n_positive) < _FEW_ROWS:  # so few rows say little about the RMS error
        bound = calibration_bound(n, delta)
    else:
        bound = asymptotic_calibration_bound(n, delta, rms_error(rows.y, rows.p))
    c = min(1.0, empirical_calibration_error(rows.y, rows.p) + bound)
    return float(min(n_intervals * (false_positive + false_negative) * c, max(false_positive, false_negative)))
