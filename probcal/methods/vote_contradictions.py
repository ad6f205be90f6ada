"""Report how often the votes of rising thresholds contradict each other: a vote of 0 below a vote of 1."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from probcal.methods.plane import grid_within_hull, like_rows, plane_points


@dataclass(frozen=True, eq=False, repr=False)
class Monotonicity:
    """Describe how sorting changed the votes (Langford & Zadrozny 2005, section 3, third issue).

    Parameters
    ----------
    thresholds : ndarray of shape (n,)
        Thresholds, rising.
    changed_votes : ndarray of shape (n_rows,), dtype int
        How many votes of each row changed.
    changed_at : ndarray of shape (n,), dtype int
        For how many rows the vote of each threshold changed.
    """

    thresholds: np.ndarray
    changed_votes: np.ndarray
    changed_at: np.ndarray

    @property
    def changed_rows(self) -> float:
        """Return the share of rows that had a vote of 0 before a vote of 1.

        Returns
        -------
        float
            Within [0, 1].
        """
        return float(np.mean(self.changed_votes > 0))

    @property
    def changed(self) -> float:
        """Return the share of all votes that the sort changed.

        Returns
        -------
        float
            Within [0, 1].
        """
        return float(np.mean(self.changed_votes) / len(self.thresholds))

    def __repr__(self) -> str:
        return (
            f"the sort acted on {self.changed_rows:.1%} of {len(self.changed_votes)} rows and changed "
            f"{self.changed:.2%} of the votes, at most {self.changed_votes.max()} of {len(self.thresholds)} in a row"
        )


def monotonicity(thresholds: np.ndarray, labels: np.ndarray) -> Monotonicity:
    """Return the report on ``labels``, (n_rows, n) bool, one column for each of the rising ``thresholds``."""
    votes = labels.sum(axis=1)
    changed = labels != (np.arange(len(thresholds)) < votes[:, None])
    return Monotonicity(thresholds, changed.sum(axis=1), changed.sum(axis=0))


# Number of grid points along each side of the box of the points.
_GRID_SIDE = 100


def crossing_pairs(labels: np.ndarray) -> int:
    """Return how many pairs a < b of rising thresholds contradict each other for a row of ``labels``, (n_rows, n) bool.

    They do if b predicts positive and a predicts negative. The positive region of b should lie within that of a. If a
    point of it lies outside, the two boundaries have crossed or changed places.
    """
    counts = (~labels).T.astype(np.float64) @ labels.astype(np.float64)
    return int(np.count_nonzero(np.triu(counts, 1)))


def crossings(predict: Callable[[Any], np.ndarray], X: Any) -> int:
    """Return ``crossing_pairs`` of the rows of ``X`` and, for points in the plane, of a grid in their convex hull.

    ``predict``: from rows to (n_rows, n) bool. For two numeric columns a grid of 100 x 100 points over the box of ``X``
    is added, as far as it lies within the hull. The number is a lower bound of the pairs that cross anywhere within the
    hull.
    """
    labels, points = predict(X), plane_points(X)
    if points is not None and len(within := grid_within_hull(points, _GRID_SIDE)):
        labels = np.vstack([labels, predict(like_rows(within, X))])
    return crossing_pairs(labels)
