"""Report how often the votes of rising thresholds contradict each other: a vote of 0 below a vote of 1."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.spatial import ConvexHull, QhullError


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


def plane_points(X: Any) -> np.ndarray | None:
    """Return the rows of ``X`` as points (n_rows, 2) float64, or None unless it has two columns of finite numbers.

    ``X`` may be an array, also of objects that are numbers, a frame or a list of pairs.
    """
    if isinstance(X, list | tuple) or (isinstance(X, np.ndarray) and X.dtype == object):
        # an array of long texts would be far larger than the texts
        if not all(isinstance(row, list | tuple | np.ndarray) and len(row) == 2 for row in X):
            return None
        try:
            X = np.array([list(row) for row in X])
        except ValueError:  # nested lists of different lengths
            return None
    if getattr(X, "ndim", None) != 2 or X.shape[1] != 2 or not X.shape[0]:
        return None
    if not isinstance(X, pd.DataFrame | np.ndarray):
        return None
    if not all(kind.kind in "iuf" for kind in (X.dtypes if isinstance(X, pd.DataFrame) else [X.dtype])):
        return None
    points = X.to_numpy(np.float64, na_value=np.nan) if isinstance(X, pd.DataFrame) else X.astype(np.float64)
    return points if np.isfinite(points).all() else None


def like_rows(points: np.ndarray, X: Any) -> Any:
    """Return ``points``, (n, 2), as rows of the same kind as ``X``: a frame with its columns if it is one."""
    return pd.DataFrame(points, columns=X.columns) if isinstance(X, pd.DataFrame) else points


def grid_within_hull(points: np.ndarray, size: int) -> np.ndarray:
    """Return the points of a grid of ``size`` x ``size`` over the box of ``points`` that lie in their convex hull.

    The shape is (n_inside, 2). The array is empty if the points lie on a line.
    """
    low, high = points.min(axis=0), points.max(axis=0)
    across, up = np.meshgrid(*(np.linspace(low[k], high[k], size) for k in (0, 1)))
    grid = np.column_stack([across.ravel(), up.ravel()])
    try:
        sides = ConvexHull(points).equations
    except (QhullError, ValueError):
        return np.empty((0, 2))
    inside: np.ndarray = grid[(grid @ sides[:, :2].T + sides[:, 2] <= 0).all(axis=1)]
    return inside


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
