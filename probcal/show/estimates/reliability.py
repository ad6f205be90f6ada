"""Reliability: the observed share of positive rows against the mean estimate, in bins of equal mass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from scipy.stats import rankdata

from probcal.show.estimates.kept import Array, Estimates

BINS = 10
LEVEL = 0.95


@dataclass(frozen=True)
class Reliability:
    """One entry per bin, in rising order of the estimates; arrays of shape (bins,)."""

    mean: Array
    """Mean estimate."""
    observed: Array
    """Share of the rows with y = 1."""
    low: Array
    high: Array
    """The 95 % interval about ``observed``, within [0, 1]."""
    n: Array
    """Distinct rows, as many as are expected; not whole where a row is tested in several splits."""
    counts: tuple[int, ...]
    """Rows of all splits."""
    positive: tuple[int, ...]
    """Those of them with y = 1."""

    @classmethod
    def of(
        cls, mean: Sequence[float], counts: Sequence[int], positive: Sequence[int], appearances: float
    ) -> Reliability:
        """From what was counted over all splits; ``appearances`` as in ``Estimates``."""
        n = np.asarray(counts) / appearances
        observed = np.asarray(positive) / np.asarray(counts)
        low, high = wilson(observed, n)
        return cls(np.asarray(mean, float), observed, low, high, n, tuple(counts), tuple(positive))


def reliability(one: Estimates, bins: int = BINS) -> Reliability:
    """At most ``bins`` bins with nearly as many rows each.

    Rows of equal estimates are never in two bins: all are in the bin that holds the middle one of them. A bin that
    is left without rows is left out.

    The interval is that of Wilson (1927) for the rows of a bin. With several random splits a row is tested more than
    once, and such rows do not make the share surer: the number of rows is divided by ``one.appearances``.
    """
    twice_the_middle = np.rint(2 * rankdata(one.p)).astype(np.int64) - 1
    numbers = twice_the_middle * bins // (2 * len(one.p))
    _, places, counts = np.unique(numbers, return_inverse=True, return_counts=True)
    mean = np.bincount(places, one.p) / counts
    positive = np.rint(np.bincount(places, one.y)).astype(np.int64)
    return Reliability.of(mean.tolist(), counts.tolist(), positive.tolist(), one.appearances)


def wilson(share: Array, n: Array, level: float = LEVEL) -> tuple[Array, Array]:
    """(low, high) of Wilson's score interval of ``share`` in ``n`` rows, which need not be whole numbers."""
    z = NormalDist().inv_cdf((1 + level) / 2)
    middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return np.clip(middle - half, 0, 1), np.clip(middle + half, 0, 1)
