"""Decisions at a threshold: their costs, the net benefit, and how much more they can cost than the best rule."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from probcal.errors import ProbcalError
from probcal.metrics.calibration import asymptotic_calibration_bound, calibration_bound, empirical_calibration_error
from probcal.metrics.checked_rows import checked_two_classes, is_number
from probcal.metrics.label_columns import refuse
from probcal.metrics.losses import rms_error
from probcal.metrics.ranking import RankedRows


@dataclass(frozen=True)
class Costs:
    """Hold what a false positive and a false negative cost, in any unit."""

    false_positive: float
    false_negative: float

    @property
    def threshold(self) -> float:
        """Return the probability from which the positive label is the cheaper decision."""
        return self.false_positive / (self.false_positive + self.false_negative)

    @property
    def advice(self) -> str:
        """Return in words from which probability to decide for the positive label."""
        costs = f"a false positive costs {self.false_positive:.6g} and a false negative {self.false_negative:.6g}"
        return f"decide for the positive label from probability {self.threshold:.4g} up, because {costs}"


def read_costs(text: str) -> Costs:
    """Return the costs that ``text`` names, such as ``1:5``. Raises ProbcalError for anything else."""
    try:
        false_positive, false_negative = map(float, text.split(":"))
    except ValueError:
        false_positive = false_negative = math.nan
    if not (0 < false_positive < math.inf and 0 < false_negative < math.inf):
        raise ProbcalError(
            f"--cost {text}: give two costs above 0, of a false positive and of a false negative, such as 1:5"
        )
    return Costs(false_positive, false_negative)


Array = npt.NDArray[np.float64]
_THRESHOLDS = np.arange(1, 100) / 100


class DecisionCurve(NamedTuple):
    """Hold net benefits against thresholds.

    The net benefit of treating no row is 0.

    Attributes
    ----------
    thresholds : ndarray of shape (n_thresholds,)
        Probability from which on a row is treated.
    net_benefit : ndarray of shape (n_thresholds,)
        Net benefit of treating the rows with p >= threshold.
    treat_all : ndarray of shape (n_thresholds,)
        Net benefit of treating every row.
    """

    thresholds: Array
    net_benefit: Array
    treat_all: Array


def decision_curve(
    y: Any, p: Any, thresholds: Any = None, sample_weight: Any = None, *, pos_label: Any = None, labels: Any = None
) -> DecisionCurve:
    """Return the net benefit of the predictions at each threshold, and that of treating every row.

    See Vickers & Elkin (2006), Decision curve analysis. The net benefit at threshold t is the share of true positives
    minus t / (1 - t) times the share of false positives. A row is treated if p >= t. If you treat from the
    probability t on, you take a false positive for t / (1 - t) times as bad as a true positive is good. The net benefit
    is (1 - t) times the base rate minus ``expected_cost`` at t, all divided by 1 - t.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Observed labels of two classes.
    p : array-like of shape (n_rows,) or (n_rows, 2)
        Predicted P(y = 1), or predicted probabilities of both classes.
    thresholds : array-like of shape (n_thresholds,) or float, default=None
        Numbers of at least 0 and below 1. None means .01, .02, ... .99.
    sample_weight : array-like of shape (n_rows,), default=None
        Weights of the rows. None means equal weights.
    pos_label : int, float, bool or str, default=None
        Label of the positive class, for two classes only.
    labels : array-like of shape (n_classes,), default=None
        All labels in rising order, such as ``model.classes_``.

    Returns
    -------
    DecisionCurve
        Net benefits in true positives per row. They are at most the base rate.

    Raises
    ------
    ValueError
        If a threshold is outside [0, 1), or another argument is invalid (see ``probcal.metrics``).
    """
    ranked = RankedRows.of(checked_two_classes(y, p, sample_weight, pos_label, labels))
    # a copy, because the caller gets it as a part of the curve
    at = _THRESHOLDS.copy() if thresholds is None else np.atleast_1d(np.asarray(thresholds, float))
    if at.ndim != 1 or not len(at):
        raise ValueError(f"thresholds must be of shape (n_thresholds,), not {at.shape}")
    refuse(~((at >= 0) & (at < 1)), at, "thresholds must be at least 0 and below 1")
    below = np.searchsorted(ranked.p[ranked.ends], at)  # blocks with p < t
    share, positive = (ranked.up_to(one) / ranked.total for one in (ranked.weight, ranked.weight * ranked.y))
    true, treated = positive[-1] - positive[below], share[-1] - share[below]
    return of_treated(at, true, treated - true, (positive[-1], share[-1] - positive[-1]))


def of_treated(thresholds: Array, true: Array, false: Array, all_rows: tuple[float, float]) -> DecisionCurve:
    """Return the curve of the shares of true and false positives at each threshold, (n_thresholds,).

    ``all_rows`` holds the shares of positive and negative rows.
    """
    odds = thresholds / (1 - thresholds)
    return DecisionCurve(thresholds, true - false * odds, all_rows[0] - all_rows[1] * odds)


def net_benefit(
    y: Any, p: Any, threshold: float, sample_weight: Any = None, *, pos_label: Any = None, labels: Any = None
) -> float:
    """Return the net benefit of treating the rows with p >= ``threshold``.

    It is one point of ``decision_curve``.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Observed labels of two classes.
    p : array-like of shape (n_rows,) or (n_rows, 2)
        Predicted P(y = 1), or predicted probabilities of both classes.
    threshold : float
        Probability from which on a row is treated, at least 0 and below 1.
    sample_weight : array-like of shape (n_rows,), default=None
        Weights of the rows. None means equal weights.
    pos_label : int, float, bool or str, default=None
        Label of the positive class, for two classes only.
    labels : array-like of shape (n_classes,), default=None
        All labels in rising order, such as ``model.classes_``.

    Returns
    -------
    float
        Net benefit in true positives per row. It is at most the base rate.

    Raises
    ------
    ValueError
        If ``threshold`` is outside [0, 1), or another argument is invalid (see ``probcal.metrics``).
    """
    return float(decision_curve(y, p, [threshold], sample_weight, pos_label=pos_label, labels=labels).net_benefit[0])


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
        Label of the positive class, for two classes only.
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
    # c_emp is measured on the rows, and the bound adds what chance may hide.
    c = min(1.0, empirical_calibration_error(rows.y, rows.p) + bound)
    return float(min(n_intervals * (false_positive + false_negative) * c, max(false_positive, false_negative)))
