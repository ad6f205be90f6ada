"""Ranks of columns over data sets with their tests, wins over each other, and Elo ratings: arrays in, numbers out.

J. Demsar, Statistical comparisons of classifiers over multiple data sets, JMLR 7 (2006). R. Bradley and M. Terry, Rank
analysis of incomplete block designs: I, Biometrika 39 (1952).
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


Floats = npt.NDArray[np.float64]

ELO_MEAN = 1000.0
ELO_SCALE = 400 / math.log(10)
"""Elo points of one unit of log odds. A difference of 400 points means odds of 10 to 1."""
PRIOR_WINS = 0.05
"""Wins that each side of a pair has from the start, in tables. Without them a method that always wins has no rating."""
_MOST_STEPS = 200
_LONGEST_STEP = 2.0
# Added to the diagonal, because the row of a method without any comparison is singular.
_RIDGE = 1e-9
# A shorter step is the last. Newton's next step would be about its square.
_STEP_TOLERANCE = 1e-6


def pairwise_wins(losses: Floats) -> Floats:
    """Return the wins of row methods over column methods, (..., k, k), from ``losses``, (..., k).

    A win counts 1 and a tie 1/2. It is NaN on the diagonal and where one of the two has no number (NaN).
    """
    first, second = losses[..., :, None], losses[..., None, :]
    outcomes = np.where(first < second, 1.0, np.where(first == second, 0.5, 0.0))
    outcomes[np.isnan(first) | np.isnan(second)] = np.nan
    diagonal = np.arange(losses.shape[-1])
    outcomes[..., diagonal, diagonal] = np.nan
    return outcomes


def mean_of_known(values: Floats, axis: int) -> Floats:
    """Return the mean over ``axis`` without NaN, or NaN where nothing is known."""
    mask = ~np.isnan(values)
    # 0 / 0 is the NaN of what nobody knows
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(mask, values, 0.0).sum(axis=axis) / mask.sum(axis=axis))


def weighted_mean(weights: Floats, values: Floats) -> Floats:
    """Return the mean of ``values``, (n, ...), for each row of ``weights``, (draws, n), as (draws, ...).

    NaN is left out, with its weight.
    """
    mask = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        return np.asarray(
            np.tensordot(weights, np.where(mask, values, 0.0), 1) / np.tensordot(weights, mask.astype(float), 1)
        )


def bradley_terry(win_counts: Floats, start: Floats | None = None) -> Floats:
    """Return the log strengths of maximum likelihood, (..., k), with mean 0.

    ``win_counts[..., i, j]`` is how often i beat j. The probability of it is the logistic function of the difference of
    their strengths. Newton's method maximises the likelihood, from ``start``, (k,), or from 0. A method without any
    comparison has strength 0.
    """
    k = win_counts.shape[-1]
    meetings = (win_counts + np.swapaxes(win_counts, -1, -2)).reshape(-1, k, k)
    total = win_counts.sum(axis=-1).reshape(-1, k)
    strengths = np.zeros_like(total) if start is None else np.tile(start, (len(total), 1))
    active = np.arange(len(total))  # a draw that is done takes no part in further steps
    diagonal = np.arange(k)
    for _ in range(_MOST_STEPS):
        power = np.exp(strengths[active] - strengths[active].max(axis=-1, keepdims=True))
        probability = power[:, :, None] / (power[:, :, None] + power[:, None, :])
        expected = meetings[active] * probability
        gradient = total[active] - expected.sum(axis=-1)
        expected *= probability - 1  # the negative curvature
        spread = -expected.sum(axis=-1)
        expected += 1 / k  # fixes the mean, which changes no probability
        expected[:, diagonal, diagonal] += spread + _RIDGE
        step = np.linalg.solve(expected, gradient[..., None])[..., 0]
        longest = np.abs(step).max(axis=-1, keepdims=True)
        strengths[active] += step * np.minimum(1.0, _LONGEST_STEP / np.maximum(longest, _LONGEST_STEP))
        active = active[longest[:, 0] >= _STEP_TOLERANCE]
        if not len(active):
            break
    strengths = strengths.reshape(win_counts.shape[:-1])
    return np.asarray(strengths - strengths.mean(axis=-1, keepdims=True))


def elo(win_counts: Floats, anchor: int | None = None) -> Floats:
    """Return the Elo ratings, (..., k). The method ``anchor`` has 1000, or the mean of all has where there is none.

    ``win_counts`` is as in ``bradley_terry``. Each pair that met begins with a drawn tenth of a table. A method that
    met no other has NaN.
    """
    is_met = (win_counts + np.swapaxes(win_counts, -1, -2)) > 0
    counts = win_counts + PRIOR_WINS * is_met
    start = bradley_terry(counts.mean(axis=0)) if win_counts.ndim == 3 else None  # draws of the same tables are alike
    ratings = ELO_SCALE * bradley_terry(counts, start)
    ratings = np.where(is_met.any(axis=-1), ratings, np.nan)
    zero = np.nanmean(ratings, axis=-1, keepdims=True) if anchor is None else ratings[..., anchor : anchor + 1]
    return np.asarray(ratings - zero + ELO_MEAN)
