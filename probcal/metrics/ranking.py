"""Ranking metrics, and the sorted rows that they share with the calibration metrics."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from probcal.metrics.checked_rows import Rows, checked, checked_two_classes

SHARE_ROUNDING = 1e-12
"""A share of the weight counts as reached if only the rounding of a sum keeps it from its target."""


@dataclass(frozen=True)
class RankedRows:
    """Hold rows of two classes in rising order of p. Rows of equal p form one block, as no metric separates them."""

    y: np.ndarray
    p: np.ndarray
    weight: np.ndarray
    has_equal_weights: bool

    @classmethod
    def of(cls, rows: Rows) -> RankedRows:
        return cls(*_in_order(rows), rows.has_equal_weights)

    @cached_property
    def ends(self) -> np.ndarray:
        """Return the last row of each block."""
        return np.append(np.flatnonzero(self.p[1:] != self.p[:-1]), len(self.p) - 1)

    @cached_property
    def sums(self) -> np.ndarray:
        """Return the running sum of weight (y - p) before the first block and after each."""
        return self.up_to(self.weighted(self.y - self.p))

    def weighted(self, values: np.ndarray) -> np.ndarray:
        """Return ``values``, (n,), times the weights."""
        return values if self.has_equal_weights else self.weight * values

    @property
    def total(self) -> float:
        return float(self.weight.sum())

    def has_both_classes(self) -> bool:
        return bool(self.y.min() == 0 and self.y.max() == 1)

    def in_blocks(self, values: np.ndarray) -> np.ndarray:
        """Return the sum of ``values``, (n,), within each block."""
        if len(self.ends) == len(values):
            return values
        return np.asarray(np.add.reduceat(values, np.append(0, self.ends[:-1] + 1)))

    def up_to(self, values: np.ndarray) -> np.ndarray:
        """Return the running sum of ``values``, (n,), before the first block and after each."""
        return _running_sum(values, self.ends)


def rank_each_class(rows: Rows) -> list[RankedRows]:
    """Return the rows in order of p: once for two classes, and otherwise each class against the rest."""
    return [RankedRows.of(one_against_rest) for one_against_rest in rows.against_the_rest()]


def _in_order(rows: Rows) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the labels, predictions and weights in rising order of the predictions, (n,) each."""
    if not rows.has_equal_weights:
        order = np.argsort(rows.p)
        return rows.y[order], rows.p[order], rows.weight[order]
    # The bits of floats from 0 up rise with the floats, and the top two are 0 up to 1. So the label fits below them.
    # Whole numbers are sorted in a third of the time of an argsort, and nothing has to be fetched in another order.
    keys = (rows.p + 0.0).view(np.int64)  # + 0.0: no negative zero
    keys <<= 1
    keys |= rows.y.astype(np.int64, copy=False)
    keys = np.sort(keys)
    y = keys & 1
    keys >>= 1
    return y, keys.view(np.float64), rows.weight


def _running_sum(values: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Return the running sum of ``values`` before the first block and after each, (n_blocks + 1,)."""
    sums = np.zeros(len(values) + 1)
    np.cumsum(values, out=sums[1:])
    return sums if len(ends) == len(values) else np.append(0.0, sums[1:][ends])


def roc_auc(y: Any, p: Any, sample_weight: Any = None, *, pos_label: Any = None, labels: Any = None) -> float:
    """Return the area under the ROC curve (AUC).

    It is the probability that a positive row has a higher prediction than a negative row. Ties count half. A pair of
    rows weighs the product of their weights. With three or more classes, it is the mean over the classes, each against
    the rest, with equal weights of the classes. Hand & Till (2001) take pairs of classes instead.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Observed labels.
    p : array-like of shape (n_rows,) or (n_rows, n_classes)
        Predicted P(y = 1), or predicted probabilities of all classes.
    sample_weight : array-like of shape (n_rows,), default=None
        Weights of the rows. None means equal weights.
    pos_label : int, float, bool or str, default=None
        Label of the positive class, for two classes only.
    labels : array-like of shape (n_classes,), default=None
        All labels in rising order, such as ``model.classes_``.

    Returns
    -------
    float
        Value in [0, 1].

    Raises
    ------
    ValueError
        If ``y`` lacks a class, because there is then no pair of rows. Rows of weight 0 do not count. Also if an
        argument is invalid (see ``probcal.metrics``).
    """
    ranked = rank_each_class(checked(y, p, sample_weight, pos_label, labels))
    if not all(rows.has_both_classes() for rows in ranked):
        lacking = "both classes, y holds only one" if len(ranked) == 1 else "a row of every class, y lacks one"
        raise ValueError(f"AUC needs {lacking} (rows of weight 0 do not count)")
    return area_under_roc(ranked)


def roc_curve(
    y: Any, p: Any, n_points: int = 200, *, sample_weight: Any = None, pos_label: Any = None, labels: Any = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the ROC curve at no more than ``n_points`` thresholds.

    The curve begins at (0, 0) and ends at (1, 1). If it has more than ``n_points`` points, points that are evenly
    spread along it are kept.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Observed labels of two classes.
    p : array-like of shape (n_rows,) or (n_rows, 2)
        Predicted P(y = 1), or predicted probabilities of both classes.
    n_points : int, default=200
        Largest number of points, at least 2.
    sample_weight : array-like of shape (n_rows,), default=None
        Weights of the rows. None means equal weights.
    pos_label : int, float, bool or str, default=None
        Label of the positive class, for two classes only.
    labels : array-like of shape (n_classes,), default=None
        All labels in rising order, such as ``model.classes_``.

    Returns
    -------
    negative : ndarray of shape (n_thresholds,)
        Share of the negative rows at or above each threshold (false positive rate), rising.
    positive : ndarray of shape (n_thresholds,)
        Share of the positive rows at or above each threshold (true positive rate), rising.

    Raises
    ------
    ValueError
        If ``y`` lacks a class. Rows of weight 0 do not count. Also if an argument is invalid (see
        ``probcal.metrics``).
    """
    ranked = RankedRows.of(checked_two_classes(y, p, sample_weight, pos_label, labels))
    if not ranked.has_both_classes():
        raise ValueError("an ROC curve needs both classes, y holds only one")
    weights = ranked.weight * (1 - ranked.y), ranked.weight * ranked.y
    negative, positive = (1 - reached[::-1] / reached[-1] for reached in map(ranked.up_to, weights))
    if len(positive) <= n_points:
        return negative, positive
    # even steps along the curve: the sum of both shares rises from 0 to 2, also where the curve is steep
    points = np.searchsorted(negative + positive, np.linspace(0, 2, n_points))
    points = np.unique(points.clip(0, len(positive) - 1))
    return negative[points], positive[points]


def area_under_roc(ranked: list[RankedRows]) -> float:
    """Return the area under the ROC curve, or NaN if a class is absent."""
    return float(np.mean([_won_share(rows) if rows.has_both_classes() else np.nan for rows in ranked]))


def _won_share(ranked: RankedRows) -> float:
    """Return won pairs over all pairs. Pairs within one block of equal predictions are won by half."""
    if ranked.has_equal_weights:  # from the ranks, which the rows of a block share: the same number in whole sums
        n, n1, hits = len(ranked.y), int(ranked.y.sum()), ranked.in_blocks(ranked.y)
        rank_sum = int(hits @ ranked.ends) - int(hits @ np.diff(ranked.ends, prepend=-1) - n1) / 2
        return (rank_sum - n1 * (n1 - 1) / 2) / (n1 * (n - n1))
    positive = ranked.up_to(ranked.weight * ranked.y)
    negative = ranked.up_to(ranked.weight * (1 - ranked.y))
    won = np.sum(np.diff(positive) * (negative[1:] + negative[:-1]) / 2)
    return float(won / (positive[-1] * negative[-1]))
