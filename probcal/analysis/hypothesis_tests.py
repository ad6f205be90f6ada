"""Tests of differences between methods: corrected t-test, Wilcoxon's test, Holm's correction, row bootstrap."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

# Differences with a smaller spread are equal up to rounding.
_ZERO = 1e-12


Number = TypeVar("Number", float, Floats)


class TTest(NamedTuple, Generic[Number]):
    """Hold the corrected t-test of the mean of k numbers, or several, (n_tests,) each.

    ``error`` is the standard error of the mean. ``p`` is two-sided for a mean of 0.
    """

    mean: Number
    error: Number
    low: Number
    high: Number
    p: Number


def variance_inflation(n: int, test_share: float) -> float:
    """Return the factor that turns the variance of one split into that of the mean of ``n``: 1/n + n_test/n_train.

    ``test_share`` is n_test / (n_train + n_test). For independent draws it is 0, and the factor is 1/n.
    C. Nadeau and Y. Bengio, Inference for the generalization error, Machine Learning 52 (2003), section 4.2.
    Raises ValueError where ``n`` is below 1 or ``test_share`` is not in [0, 1).
    """
    if n < 1 or not 0 <= test_share < 1:
        raise ValueError(f"cannot correct the variance of {n} numbers with a share of test rows of {test_share:g}")
    return 1 / n + test_share / (1 - test_share)


def corrected_t_test(values: Sequence[float], test_share: float, level: float = 0.95) -> TTest[float]:
    """Test whether the mean difference of two methods is 0, from one difference per split.

    ``values`` is (n_splits,). Raises ValueError for fewer than two values, for a value that is not finite (∞ has no
    spread), and as ``variance_inflation`` does.
    """
    tests = corrected_t_tests(np.asarray(values, dtype=np.float64)[None], np.array([test_share]), level)
    return TTest(*(float(field[0]) for field in tests))


def corrected_t_tests(values: Floats, test_shares: Floats, level: float = 0.95) -> TTest[Floats]:
    """Run ``corrected_t_test`` on each row of ``values``, (n_tests, n_splits), with ``test_shares``, (n_tests,).

    Raises ValueError as ``corrected_t_test`` does.
    """
    n = values.shape[1]
    if n < 2 or not np.isfinite(values).all():
        raise ValueError("a t-test needs two numbers or more, all finite")
    from scipy import stats

    means, sds = values.mean(axis=1), values.std(axis=1, ddof=1)
    # thousands of tests have few shares of test rows
    shares, places = np.unique(test_shares, return_inverse=True)
    errors = sds * np.sqrt([variance_inflation(n, share) for share in shares])[places]
    halves = errors * _t_quantile((1 + level) / 2, n - 1)
    is_constant = sds < _ZERO
    # constant differences divide by 0 here, and get their p below
    with np.errstate(divide="ignore", invalid="ignore"):
        p = 2 * stats.t.sf(np.abs(means) / errors, n - 1)
    # equal differences have no spread, and leave no doubt: p is 1 if they are 0, and otherwise 0
    p = np.where(is_constant, np.abs(means) < _ZERO, p)
    errors, halves = (np.where(is_constant, 0.0, field) for field in (errors, halves))
    return TTest(means, errors, means - halves, means + halves, p)


@functools.cache
def _t_quantile(level: float, n_degrees: int) -> float:
    from scipy import stats

    return float(stats.t.ppf(level, n_degrees))


def corrected_interval(values: Sequence[float], test_share: float) -> tuple[float, float]:
    """Return the interval of the mean of ``values``, (n_splits,): mean ± t sd sqrt(1/n + n_test/n_train).

    t has n - 1 degrees of freedom. ``test_share`` is that of ``variance_inflation``. Raises ValueError as
    ``corrected_t_test`` does.
    """
    test = corrected_t_test(values, test_share)
    return test.low, test.high


def wilcoxon_tests(differences: Floats) -> Floats:
    """Return the exact two-sided p-values of Wilcoxon's signed-rank test, (n_tests,), of each row, (n_tests, n).

    ∞ is the largest difference. Differences of 0 give half of their rank to each sign, and NaN is left out of its row.

    The results equal scipy's. With ties scipy goes through every pattern of signs, which takes a second for twelve data
    sets. Here the distribution of the rank sum is built by adding one data set after the other. Ranks are doubled so
    that halves are whole numbers. Rows with the same ranks share one distribution, so a hundred thousand rows take
    about a second.
    """
    from scipy import stats

    p_values = np.empty(len(differences))
    is_known = ~np.isnan(differences)
    counts = is_known.sum(axis=1)
    for n in np.unique(counts):
        tests = np.flatnonzero(counts == n)
        numbers = differences[tests][is_known[tests]].reshape(len(tests), n)
        ranks = np.rint(2 * stats.rankdata(np.abs(numbers), axis=1)).astype(int) * (numbers != 0)
        rank_sums = (ranks * (numbers > 0)).sum(axis=1)
        rank_sets, places = np.unique(np.sort(ranks, axis=1), axis=0, return_inverse=True)
        for index, rank_set in enumerate(rank_sets):
            members = np.flatnonzero(places.ravel() == index)
            sums, sum_places = np.unique(rank_sums[members], return_inverse=True)
            p_values[tests[members]] = _signed_rank_p(rank_set[rank_set > 0], sums)[sum_places]
    return p_values


def _signed_rank_p(ranks: npt.NDArray[np.int64], rank_sums: npt.NDArray[np.int64]) -> Floats:
    """Return the two-sided p-value of each of ``rank_sums``, the sum of the positive ones of doubled ``ranks``."""
    counts = np.ones(1)
    for rank in ranks:
        counts = np.pad(counts, (0, rank)) + np.pad(counts, (rank, 0))
    chance = counts / counts.sum()
    return np.array([min(1.0, 2 * min(chance[: total + 1].sum(), chance[total:].sum())) for total in rank_sums])


def holm(p: Sequence[float | None]) -> list[float | None]:
    """Return p-values with Holm's step-down correction, in the given order. None stays None and is not counted.

    S. Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 6 (1979).
    statsmodels has it too, but collects garbage in every call, which takes a tenth of a second.
    """
    values = np.array([math.nan if value is None else value for value in p], dtype=np.float64)
    return [None if math.isnan(value) else value for value in holm_families(values[None])[0].tolist()]


def holm_families(p: Floats) -> Floats:
    """Return ``holm`` of each row of ``p``, (n_families, n_tests). NaN stays NaN and is not counted."""
    order = np.argsort(p, axis=1, kind="stable")  # NaN comes last
    factors = (~np.isnan(p)).sum(axis=1, keepdims=True) - np.arange(p.shape[1])
    ordered = np.maximum.accumulate(np.minimum(1.0, np.take_along_axis(p, order, axis=1) * factors), axis=1)
    p_holm = np.empty_like(p)
    np.put_along_axis(p_holm, order, ordered, axis=1)
    return p_holm


ROW_METRICS = ("cxe", "rms", "auc", "cxe_clipped")
"""Metrics that are quick to compute for weighted rows. ``cxe_clipped`` clips the predictions to ``CLIP_RANGE``."""
CLIP_RANGE = (0.001, 0.999)
"""Range of clipped predictions, the default of Probing."""
# Number of resamples that are computed together. They take some MB for 20,000 rows.
_BATCH_SIZE = 40


def bootstrap_rows(y: npt.NDArray[np.int8], p: Floats, n: int, random: np.random.Generator) -> Floats:
    """Return (n, n_columns, n_metrics): ``ROW_METRICS`` of ``n`` bootstrap samples of the rows.

    All columns have the same samples. ``y`` is (n_rows,) of 0 and 1, and ``p`` is (n_columns, n_rows, 2) predictions. A
    sample with only one class is drawn again. Raises ValueError where all rows have one class.
    """
    if len(np.unique(y)) < 2:
        raise ValueError("rows of one class have no area under the ROC curve")
    batches: list[Floats] = []
    while (remainder := n - sum(map(len, batches))) > 0:
        samples = random.integers(len(y), size=(min(remainder, _BATCH_SIZE), len(y)))
        weights = np.array([np.bincount(sample, minlength=len(y)) for sample in samples], dtype=np.float64)
        positive = weights @ y
        batches.append(metrics_of_weighted_rows(y, p, weights[(positive > 0) & (positive < len(y))]))
    return np.concatenate(batches)


def metrics_of_weighted_rows(y: npt.NDArray[np.int8], p: Floats, weights: Floats) -> Floats:
    """Return (n_weightings, n_columns, n_metrics) for ``weights``, (n_weightings, n_rows).

    Each row of weights must include both classes.
    """
    values = np.empty((len(weights), len(p), len(ROW_METRICS)))
    total = weights.sum(axis=1)
    for index, predictions in enumerate(p):
        values[:, index, 0] = _weighted_means(_log_losses(y, predictions), weights, total)
        values[:, index, 1] = np.sqrt(_weighted_means((y - predictions[:, 1]) ** 2, weights, total))
        values[:, index, 2] = _weighted_aucs(y, predictions[:, 1], weights)
        values[:, index, 3] = _weighted_means(_log_losses(y, np.clip(predictions, *CLIP_RANGE)), weights, total)
    return values


def clipped_cross_entropy(y: npt.NDArray[np.int8], p: Floats) -> float:
    """Return the log loss in bits of predictions clipped to ``CLIP_RANGE``.

    ``y`` is (n_rows,) and ``p`` is (n_rows, 2).
    """
    return float(_log_losses(y, np.clip(p, *CLIP_RANGE)).mean())


def _log_losses(y: npt.NDArray[np.int8], p: Floats) -> Floats:
    """Return the log loss of each row in bits, (n_rows,)."""
    # the loss of an observed label of probability 0 is infinite
    with np.errstate(divide="ignore"):
        return np.asarray(-np.log2(np.where(y == 1, p[:, 1], p[:, 0])))


def _weighted_means(losses: Floats, weights: Floats, total: Floats) -> Floats:
    """Return the weighted mean losses, infinite where a row with infinite loss has any weight."""
    infinite = np.isinf(losses)
    means = weights @ np.where(infinite, 0.0, losses) / total
    return np.where(weights[:, infinite].sum(axis=1) > 0, np.inf, means)


def _weighted_aucs(y: npt.NDArray[np.int8], p: Floats, weights: Floats) -> Floats:
    """Return the probability that a positive row has the larger prediction. Ties count half. Sorts the rows once."""
    order = np.argsort(p, kind="stable")
    starts = np.flatnonzero(np.diff(p[order], prepend=-np.inf))
    sorted_weights = weights[:, order]
    positive = np.add.reduceat(sorted_weights * (y[order] == 1), starts, axis=1)
    negative = np.add.reduceat(sorted_weights * (y[order] == 0), starts, axis=1)
    n_below = np.cumsum(negative, axis=1) - negative / 2
    return np.asarray((positive * n_below).sum(axis=1) / (positive.sum(axis=1) * negative.sum(axis=1)))
