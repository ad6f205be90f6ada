"""Ranks of columns over data sets, Friedman's test and Nemenyi's critical difference: arrays in, numbers out.

J. Demsar, Statistical comparisons of classifiers over multiple data sets, JMLR 7 (2006).
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
import numpy.typing as npt

# Fewest data sets for the F test. It is too liberal with fewer (two that agree give p = 0), so ranks are permuted.
_FEWEST_DATASETS = 10
_PERMUTATIONS = 9_999
# Number of ranks that are permuted together.
_BATCH_NUMBERS = 1_000_000
# Sums of ranks that differ by less are equal up to rounding.
_EPSILON = 1e-9


def rank_table(numbers: npt.NDArray[np.float64], larger_is_better: bool = False) -> npt.NDArray[np.float64]:
    """Return the ranks of the columns within each data set, (..., n_datasets, n_columns).

    Rank 1 is the best, and equal numbers share their ranks.
    """
    from scipy import stats

    return np.asarray(stats.rankdata(-numbers if larger_is_better else numbers, axis=-1))


def friedman(table: npt.NDArray[np.float64]) -> tuple[float, float]:
    """Return Friedman's chi-square and Iman & Davenport's F of ranks, (n_datasets, n_columns). Both are 0 for ties."""
    n, k = table.shape
    spread = float(((table - (k + 1) / 2) ** 2).sum())
    if spread < _EPSILON:
        return 0.0, 0.0
    sums = table.sum(axis=0) - n * (k + 1) / 2
    chi_square = (k - 1) * float((sums**2).sum()) / spread  # Conover's form, which includes the correction for ties
    denominator = n * (k - 1) - chi_square
    return chi_square, math.inf if denominator < _EPSILON else (n - 1) * chi_square / denominator


@functools.cache
def critical_difference(n_columns: int, n_datasets: int, level: float = 0.95) -> float:
    """Return Nemenyi's critical difference, q sqrt(k (k + 1) / 6n).

    q is the quantile of the studentised range with infinite degrees of freedom, divided by sqrt 2.
    """
    from scipy import stats

    q = float(stats.studentized_range.ppf(level, n_columns, np.inf)) / math.sqrt(2)
    return q * math.sqrt(n_columns * (n_columns + 1) / (6 * n_datasets))


def p_of_friedman(table: npt.NDArray[np.float64]) -> tuple[float, bool]:
    """Return the p-value of Friedman's test on ranks, (n_datasets, n_columns), and whether the ranks were permuted.

    With fewer than ten data sets they are. Otherwise the p-value is that of Iman & Davenport's F.
    """
    from scipy import stats

    n, k = table.shape
    if n < _FEWEST_DATASETS:
        return _permutation_p(table), True
    return float(stats.f.sf(friedman(table)[1], k - 1, (k - 1) * (n - 1))), False


def _permutation_p(table: npt.NDArray[np.float64]) -> float:
    """Return the share of tables with randomly permuted ranks that are at least as far from even."""
    # a fixed seed, so that the same ranks always have the same p-value
    random = np.random.default_rng(0)
    # a table as uneven as the given one counts, however its sum is rounded
    largest = _sum_of_squares(table) - _EPSILON
    n_above, n_left = 0, _PERMUTATIONS
    while n_left:  # in batches, since all together would take GBs for hundreds of columns
        size = min(n_left, max(1, _BATCH_NUMBERS // table.size))
        permutations = random.permuted(np.broadcast_to(table, (size, *table.shape)), axis=2)
        n_above += int((_sum_of_squares(permutations) >= largest).sum())
        n_left -= size
    # the given table is one of those that could be drawn, so p is never 0
    return (1 + n_above) / (1 + _PERMUTATIONS)


def _sum_of_squares(ranks: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the sum of the squared rank sums of each table in ``ranks``, (..., n_datasets, n_columns)."""
    return np.asarray((ranks.sum(axis=-2) ** 2).sum(axis=-1))
