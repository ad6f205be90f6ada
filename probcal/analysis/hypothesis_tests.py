"""The corrected resampled t-test: random splits of one data set share rows, so they are no independent draws.

Tests of many differences at once: Wilcoxon's signed ranks and Holm's correction.

The paired bootstrap over test rows, for data sets with one split: every method on the same rows drawn anew.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

_ZERO = 1e-12
"""Differences whose spread is below this are the same number but for rounding."""


@dataclass(frozen=True)
class Corrected:
    """Of the mean of k numbers. ``error`` is its standard error; ``p`` is two-sided, of a mean of 0."""

    mean: float
    error: float
    low: float
    high: float
    p: float


def inflation(n: int, test_share: float) -> float:
    """What the variance of one split is multiplied with to give that of the mean of ``n``: 1/n + n_test/n_train.

    ``test_share`` is n_test / (n_train + n_test); 0 where the numbers are independent draws, which makes this 1/n.
    C. Nadeau and Y. Bengio, Inference for the generalization error, Machine Learning 52 (2003), section 4.2.
    Raises ValueError where ``n`` is 0 or no such share is given.
    """
    if n < 1 or not 0 <= test_share < 1:
        raise ValueError(f"{n} numbers and a share of test rows of {test_share:g} say nothing of a spread")
    return 1 / n + test_share / (1 - test_share)


def corrected_t_test(values: Sequence[float], test_share: float, level: float = 0.95) -> Corrected:
    """Whether the mean of ``values``, (n_splits,), one difference of two methods a split, is 0.

    Raises ValueError for fewer than two values, for one that is not finite (∞ has no spread), and as ``inflation``.
    """
    numbers = np.asarray(values, dtype=np.float64)
    n = len(numbers)
    if n < 2 or not np.isfinite(numbers).all():
        raise ValueError("a t-test needs two numbers or more, all finite")
    from scipy import stats

    mean, sd = float(numbers.mean()), float(numbers.std(ddof=1))
    if sd < _ZERO:
        return Corrected(mean, 0.0, mean, mean, 1.0 if abs(mean) < _ZERO else 0.0)
    error = sd * math.sqrt(inflation(n, test_share))
    half = error * float(stats.t.ppf((1 + level) / 2, n - 1))
    return Corrected(mean, error, mean - half, mean + half, float(2 * stats.t.sf(abs(mean) / error, n - 1)))


def corrected_interval(values: Sequence[float], test_share: float, level: float = 0.95) -> tuple[float, float]:
    """Where the mean of ``values``, (n_splits,), lies: ± t sd sqrt(1/n + n_test/n_train), n - 1 degrees of freedom.

    ``test_share`` is that of ``inflation``. Raises ValueError as ``corrected_t_test``.
    """
    found = corrected_t_test(values, test_share, level)
    return found.low, found.high


def wilcoxon(differences: Sequence[float]) -> float:
    """Exact two-sided p of the signed ranks; ∞ is the largest difference, ranks of none are halved between the signs.

    The same as scipy's, which goes through every pattern of signs where there are ties: a second for twelve data sets.
    Here the sums of ranks are counted by adding one data set after the other, ranks doubled so that halves are whole.
    """
    from scipy import stats

    numbers = np.asarray(differences, dtype=np.float64)
    ranks = np.rint(2 * stats.rankdata(np.abs(numbers))).astype(int)
    counts = np.ones(1)
    for rank in ranks[numbers != 0]:
        counts = np.pad(counts, (0, rank)) + np.pad(counts, (rank, 0))
    there = int(ranks[numbers > 0].sum())
    chance = counts / counts.sum()
    return min(1.0, 2 * float(min(chance[: there + 1].sum(), chance[there:].sum())))


def holm(p: Sequence[float | None]) -> list[float | None]:
    """Holm's step-down correction of those that are there, in their order.

    S. Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 6 (1979). Not
    statsmodels': it collects garbage in every call, a tenth of a second each.
    """
    order = sorted((one, place) for place, one in enumerate(p) if one is not None)
    corrected: list[float | None] = [None] * len(p)
    most = 0.0
    for before, (one, place) in enumerate(order):
        most = max(most, min(1.0, one * (len(order) - before)))
        corrected[place] = most
    return corrected


ROW_METRICS = ("cxe", "rms", "auc", "cxe_clipped")
"""Those that are quick for weighted rows; ``cxe_clipped`` has the estimates within ``CLIP``."""
CLIP = (0.001, 0.999)
"""As Probing has its own by default."""
_AT_ONCE = 40
"""Resamples together: some MB for 20,000 rows."""

Floats = npt.NDArray[np.float64]


def bootstrap_rows(y: npt.NDArray[np.int8], p: Floats, n: int, random: np.random.Generator) -> Floats:
    """(n, n_columns, n_metrics): ``ROW_METRICS`` of ``n`` samples of rows, with replacement, all columns on the same.

    ``y``: (n_rows,) of 0 and 1; ``p``: (n_columns, n_rows, 2) predictions. A sample of one class is drawn again.
    Raises ValueError where all rows are of one class.
    """
    if len(np.unique(y)) < 2:
        raise ValueError("rows of one class have no area under the ROC curve")
    found: list[Floats] = []
    while (left := n - sum(map(len, found))) > 0:
        drawn = random.integers(len(y), size=(min(left, _AT_ONCE), len(y)))
        weights = np.array([np.bincount(one, minlength=len(y)) for one in drawn], dtype=np.float64)
        positive = weights @ y
        found.append(of_weighted_rows(y, p, weights[(positive > 0) & (positive < len(y))]))
    return np.concatenate(found)


def of_weighted_rows(y: npt.NDArray[np.int8], p: Floats, weights: Floats) -> Floats:
    """(n_weightings, n_columns, n_metrics) for ``weights``, (n_weightings, n_rows), each with rows of both classes."""
    out = np.empty((len(weights), len(p), len(ROW_METRICS)))
    total = weights.sum(axis=1)
    for place, one in enumerate(p):
        out[:, place, 0] = _mean(_bits(y, one), weights, total)
        out[:, place, 1] = np.sqrt(_mean((y - one[:, 1]) ** 2, weights, total))
        out[:, place, 2] = _auc(y, one[:, 1], weights)
        out[:, place, 3] = _mean(_bits(y, np.clip(one, *CLIP)), weights, total)
    return out


def clipped_cross_entropy(y: npt.NDArray[np.int8], p: Floats) -> float:
    """Return the log loss in bits of predictions clipped to ``CLIP``; ``y``: (n_rows,), ``p``: (n_rows, 2)."""
    return float(_bits(y, np.clip(p, *CLIP)).mean())


def _bits(y: npt.NDArray[np.int8], p: Floats) -> Floats:
    """Return the loss of each row, (n_rows,)."""
    with np.errstate(divide="ignore"):
        return np.asarray(-np.log2(np.where(y == 1, p[:, 1], p[:, 0])))


def _mean(losses: Floats, weights: Floats, total: Floats) -> Floats:
    """Infinite where a row of infinite loss has any weight."""
    infinite = np.isinf(losses)
    means = weights @ np.where(infinite, 0.0, losses) / total
    return np.where(weights[:, infinite].sum(axis=1) > 0, np.inf, means)


def _auc(y: npt.NDArray[np.int8], p: Floats, weights: Floats) -> Floats:
    """The chance that a positive row has the larger estimate, ties by half; one pass over the sorted rows."""
    order = np.argsort(p, kind="stable")
    starts = np.flatnonzero(np.diff(p[order], prepend=-np.inf))
    in_order = weights[:, order]
    positive = np.add.reduceat(in_order * (y[order] == 1), starts, axis=1)
    negative = np.add.reduceat(in_order * (y[order] == 0), starts, axis=1)
    below = np.cumsum(negative, axis=1) - negative / 2
    return np.asarray((positive * below).sum(axis=1) / (positive.sum(axis=1) * negative.sum(axis=1)))
