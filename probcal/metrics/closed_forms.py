"""Intervals of metrics in closed form: of a share (Wilson), of a mean, and of the AUC (DeLong).

Each takes one pass over the rows, where a bootstrap takes hundreds. Calibration errors have no such form, because they
are biased. Rows with weights count by Kish's effective number.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import ndtri

from probcal.metrics.checked_rows import Rows
from probcal.metrics.ranking import RankedRows

Interval = tuple[float, float]


def share_interval(rows: Rows, level: float) -> Interval:
    """Return Wilson's score interval of the share of positive rows (Wilson 1927).

    It is the set of shares that a normal test with the variance of that share does not reject. It stays within 0 and 1,
    and is not empty where no row is positive.
    """
    z2 = float(ndtri((1 + level) / 2)) ** 2
    n, share = _effective(rows.weight), rows.mean(rows.y)
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = math.sqrt(z2) / (1 + z2 / n) * math.sqrt(share * (1 - share) / n + z2 / (4 * n**2))
    return middle - half, middle + half


def mean_interval(rows: Rows, values: np.ndarray, level: float) -> Interval:
    """Return the normal interval of the weighted mean of ``values``, (n_rows,), such as the loss of each row."""
    mean = rows.mean(values)
    if not math.isfinite(mean):
        return math.nan, math.nan
    return _around(mean, _variance_of_mean(values - mean, rows.weight), level)


def log_loss_interval(rows: Rows, level: float, base: float = 2.0) -> Interval:
    """Return the interval of the log loss, in bits for base 2. It is NaN where the log loss is infinite."""
    with np.errstate(divide="ignore"):
        return mean_interval(rows, -np.log(rows.p_of_label) / math.log(base), level)


def brier_interval(rows: Rows, level: float) -> Interval:
    """Return the interval of the Brier score, in the form that ``brier_score`` has for several classes."""
    if rows.p.ndim == 1:
        return mean_interval(rows, (rows.y - rows.p) ** 2, level)
    observed = rows.y[:, np.newaxis] == np.arange(rows.p.shape[1])
    return mean_interval(rows, ((observed - rows.p) ** 2).sum(axis=1) / 2, level)


def auc_interval(ranked: RankedRows, level: float) -> Interval:
    """Return the interval of the AUC of two classes (DeLong, DeLong & Clarke-Pearson 1988, equation 3).

    The placement of a row is the share of rows of the other class that it is ordered correctly with. Ties count half.
    The variance of the AUC is the sum of the variances of the mean placement in each class.
    """
    if not ranked.has_both_classes():
        return math.nan, math.nan
    sizes = np.diff(np.append(-1, ranked.ends))
    auc, variance = 0.0, 0.0
    for label in (1, 0):
        own, other = ranked.y == label, ranked.weight * (ranked.y != label)
        below = ranked.up_to(other)
        placement = np.repeat((below[1:] + below[:-1]) / 2, sizes) / below[-1]
        placement = placement[own] if label else 1 - placement[own]
        weight = ranked.weight[own]
        auc = float(weight @ placement / weight.sum())
        variance += _variance_of_mean(placement - auc, weight)
    low, high = _around(auc, variance, level)
    return max(0.0, low), min(1.0, high)


def _effective(weight: np.ndarray) -> float:
    """Return Kish's effective number of rows."""
    return float(weight.sum() ** 2 / (weight**2).sum())


def _variance_of_mean(deviations: np.ndarray, weight: np.ndarray) -> float:
    n = _effective(weight)
    if n <= 1:
        return math.nan
    return float((weight**2 * deviations**2).sum() / weight.sum() ** 2) * n / (n - 1)


def _around(mean: float, variance: float, level: float) -> Interval:
    half = float(ndtri((1 + level) / 2)) * math.sqrt(variance)
    return mean - half, mean + half
