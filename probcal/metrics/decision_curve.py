"""Decision curves: what acting on the predictions gains at each threshold (Vickers & Elkin 2006)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from probcal.metrics.checked_rows import checked_two_classes
from probcal.metrics.label_columns import refuse
from probcal.metrics.ranking import RankedRows

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
        Label of the positive class.
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
        Label of the positive class.
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
