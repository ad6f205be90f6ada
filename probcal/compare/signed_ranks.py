"""Tests of many differences at once: Wilcoxon's signed ranks and Holm's correction."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


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
