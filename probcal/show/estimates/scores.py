"""The score histogram: how often each estimate is given, to positive rows and to negative ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from probcal.show.estimates.kept import Estimates

BINS = 20


@dataclass(frozen=True)
class ScoreHistogram:
    """Rows of all splits in bins of equal width over [0, 1]; the last one holds 1."""

    edges: npt.NDArray[np.float64]
    """(bins + 1,)"""
    negative: npt.NDArray[np.int64]
    """(bins,) rows with y = 0."""
    positive: npt.NDArray[np.int64]
    """(bins,) rows with y = 1."""

    @classmethod
    def of(cls, negative: npt.ArrayLike, positive: npt.ArrayLike) -> ScoreHistogram:
        negative, positive = (np.asarray(one, np.int64) for one in (negative, positive))
        return cls(np.linspace(0, 1, len(negative) + 1), negative, positive)


def score_histogram(one: Estimates, bins: int = BINS) -> ScoreHistogram:
    negative, positive = (np.histogram(one.p[one.y == label], bins, (0, 1))[0] for label in (0, 1))
    return ScoreHistogram.of(negative, positive)
