"""Intervals of metrics in closed form: of a share (Wilson), of a mean, and of the AUC (DeLong).

Each takes one pass over the rows, where a bootstrap takes hundreds. Calibration errors have no such form, because they
are biased. Rows with weights count by Kish's effective number. Where rows have clusters, variances are sums of squares
over the clusters, so m equal rows of each cluster give the interval of one row of each.
"""

from __future__ import annotations

import math

import numpy as np

from probcal.metrics.checked_rows import Rows, cluster_sums, effective_rows
from probcal.metrics.curves import wilson
from probcal.metrics.losses import squared_errors
from probcal.metrics.metric import Prediction
from probcal.metrics.ranking import RankedRows
from probcal.metrics.recalibration import intercept_of

Bounds = tuple[float, float]


def share_interval(rows: Rows, level: float) -> Bounds:
    """Return Wilson's score interval of the share of positive rows (Wilson 1927).

    It is the set of shares that a normal test with the variance of that share does not reject. It stays within 0 and 1,
    and is not empty where no row is positive.
    """
    share = rows.mean(rows.y)
    n = effective_rows(rows.weight, rows.weight**2) / design_effect(rows.weight * (rows.y - share), rows)
    low, high = wilson(np.array(share), np.array(n), level)
    return float(low), float(high)


def mean_interval(rows: Rows, values: np.ndarray, level: float) -> Bounds:
    """Return the normal interval of the weighted mean of ``values``, (n_rows,), such as the loss of each row."""
    mean = rows.mean(values)
    if not math.isfinite(mean):
        return math.nan, math.nan
    return normal_interval(mean, _variance_of_mean(values - mean, rows.weight, rows.cluster), level)


def log_loss_interval(rows: Rows, level: float, base: float = 2.0) -> Bounds:
    """Return the interval of the log loss, in bits for base 2. It is NaN where the log loss is infinite."""
    return mean_interval(rows, log_losses(rows, base), level)


def log_losses(rows: Rows, base: float = 2.0) -> np.ndarray:
    """Return the log loss of each row, (n_rows,), in bits for base 2. It is infinite for an observed probability 0."""
    with np.errstate(divide="ignore"):
        return np.asarray(-np.log(rows.p_of_label) / math.log(base))


def brier_interval(rows: Rows, level: float) -> Bounds:
    """Return the interval of the Brier score, in the form that ``brier_score`` has for several classes."""
    return mean_interval(rows, squared_errors(rows), level)


def intercept_interval(rows: Rows, intercept: float, level: float) -> Bounds:
    """Return Wald's interval of the calibration intercept, from the Fisher information of its logistic regression.

    It is NaN where the ``intercept`` is not defined.
    """
    from scipy.special import expit, logit

    p = expit(logit(rows.p) + intercept) if math.isfinite(intercept) else rows.p
    information = float(rows.weight @ (p * (1 - p))) * effective_rows(rows.weight, rows.weight**2) / rows.weight.sum()
    return normal_interval(intercept, 1 / information, level) if math.isfinite(intercept) else (math.nan, math.nan)


def slope_interval(rows: Rows, slope: float, level: float) -> Bounds:
    """Return Wald's interval of the calibration slope, from the Fisher information of its logistic regression.

    It is NaN where the ``slope`` is not defined or infinite.
    """
    from scipy.special import expit, logit

    if not math.isfinite(slope):
        return math.nan, math.nan
    x = logit(rows.p)
    scaled = expit(slope * x)
    intercept = intercept_of(Rows(rows.y, scaled, rows.weight)) if scaled.min() > 0 and scaled.max() < 1 else math.nan
    p = expit(logit(scaled) + intercept)
    weight = rows.weight * p * (1 - p) * effective_rows(rows.weight, rows.weight**2) / rows.weight.sum()
    information = float(weight @ (x - weight @ x / weight.sum()) ** 2)
    return normal_interval(slope, 1 / information, level) if information > 0 else (math.nan, math.nan)


def auc_interval_of(data: Prediction, level: float) -> Bounds:
    """Return the interval of the AUC of two classes, over the clusters of the rows if they have some.

    It is NaN for several classes.
    """
    if data.rows.p.ndim != 1:
        return math.nan, math.nan
    if data.rows.cluster is not None:
        return clustered_auc_interval(data.rows, level)
    return auc_interval(data.ranked[0], level)


def auc_interval(ranked: RankedRows, level: float) -> Bounds:
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
    low, high = normal_interval(auc, variance, level)
    return max(0.0, low), min(1.0, high)


def clustered_auc_interval(rows: Rows, level: float) -> Bounds:
    """Return the interval of the AUC of two classes whose rows have clusters (Obuchowski 1997, Biometrics 53).

    It is DeLong's with the sums of the placements in each cluster. A cluster with rows of both classes adds twice the
    product of its two sums.
    """
    assert rows.cluster is not None
    if not 0 < rows.mean(rows.y) < 1:
        return math.nan, math.nan
    n_clusters = int(rows.cluster.max()) + 1
    auc, variance, sums = 0.0, 0.0, []
    for label in (1, 0):
        own, other = rows.y == label, rows.y != label
        order = np.argsort(rows.p[other])
        p, below = rows.p[other][order], np.append(0, np.cumsum(rows.weight[other][order]))
        ends = [np.searchsorted(p, rows.p[own], side) for side in ("left", "right")]
        placement = (below[ends[0]] + below[ends[1]]) / (2 * below[-1])
        placement = placement if label else 1 - placement
        weight, cluster = rows.weight[own], rows.cluster[own]
        auc = float(weight @ placement / weight.sum())
        variance += _variance_of_mean(placement - auc, weight, cluster)
        sums.append(np.bincount(cluster, weight * (placement - auc), n_clusters) / weight.sum())
    variance += 2 * float(sums[0] @ sums[1]) * n_clusters / (n_clusters - 1)
    low, high = normal_interval(auc, max(0.0, variance), level)
    return max(0.0, low), min(1.0, high)


def design_effect(deviations: np.ndarray, rows: Rows) -> float:
    """Return by how much the clusters of rows raise the variance of the sum of ``deviations``, (n_rows,), of mean 0.

    It is at least 1, as in surveys, because a few clusters may seem to have less variance than independent rows. It is
    1 without clusters. Where no row deviates, each cluster counts as one row.
    """
    if rows.cluster is None:
        return 1.0
    if not deviations.any():
        weight = cluster_sums(rows.weight, rows.cluster)
        return effective_rows(rows.weight, rows.weight**2) / effective_rows(weight, weight**2)
    return max(1.0, float((cluster_sums(deviations, rows.cluster) ** 2).sum() / (deviations**2).sum()))


def _variance_of_mean(deviations: np.ndarray, weight: np.ndarray, cluster: np.ndarray | None = None) -> float:
    weights = cluster_sums(weight, cluster)
    n = effective_rows(weights, weights**2)
    if n <= 1:
        return math.nan
    squares = weight**2 * deviations**2 if cluster is None else cluster_sums(weight * deviations, cluster) ** 2
    return float(squares.sum() / weight.sum() ** 2) * n / (n - 1)


def normal_interval(mean: float, variance: float, level: float) -> Bounds:
    """Return the interval of a mean whose estimate has this variance."""
    from scipy.special import ndtri

    half = float(ndtri((1 + level) / 2)) * math.sqrt(variance)
    return mean - half, mean + half
