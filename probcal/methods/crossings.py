"""Pairs of thresholds whose classifiers contradict each other somewhere: their boundaries cross."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from probcal.methods.plane import as_given, grid_within_hull, points_of

_SIDE = 100
"""The grid within the hull of points in the plane is cut from so many points each way."""


def crossing_pairs(answers: np.ndarray) -> int:
    """How many pairs a < b of rising thresholds have a row that b calls positive and a negative.

    ``answers``: (n_rows, n) bool, a column for each threshold. The positive region of b belongs within that of a;
    where a point of it lies outside, the two boundaries have crossed, or changed places.
    """
    counts = (~answers).T.astype(np.float64) @ answers.astype(np.float64)
    return int(np.count_nonzero(np.triu(counts, 1)))


def crossings(answered: Callable[[Any], np.ndarray], X: Any) -> int:
    """``crossing_pairs`` among the rows of ``X`` and, where they are points in the plane, all within their hull.

    ``answered``: rows -> (n_rows, n) bool. ``X`` of two numeric columns stands for its convex hull, of which a grid
    of 100 x 100 points over its box is asked besides the rows. Other rows are asked alone. It is what is found there: a
    lower bound of the pairs that cross anywhere within the hull.
    """
    answers, points = answered(X), points_of(X)
    if points is not None and len(within := grid_within_hull(points, _SIDE)):
        answers = np.vstack([answers, answered(as_given(within, X))])
    return crossing_pairs(answers)
