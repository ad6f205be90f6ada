"""Two numeric columns as points in the plane, and points laid over it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.spatial import ConvexHull, QhullError


def points_of(X: Any) -> np.ndarray | None:
    """(n_rows, 2) float64 where ``X`` is two columns of finite numbers; None elsewhere.

    An array, be it of objects that are numbers, a frame of two numeric columns, or a list of pairs.
    """
    if isinstance(X, list | tuple) or (isinstance(X, np.ndarray) and X.dtype == object):
        X = _numbers_of(X)
    if getattr(X, "ndim", None) != 2 or X.shape[1] != 2 or not X.shape[0]:
        return None
    if not isinstance(X, pd.DataFrame | np.ndarray):
        return None
    if not all(kind.kind in "iuf" for kind in (X.dtypes if isinstance(X, pd.DataFrame) else [X.dtype])):
        return None
    points = X.to_numpy(np.float64, na_value=np.nan) if isinstance(X, pd.DataFrame) else X.astype(np.float64)
    return points if np.isfinite(points).all() else None


def _numbers_of(rows: Any) -> np.ndarray | None:
    """The array that ``rows``, a list or an array of objects, make; None where they are no pairs."""
    # of long texts an array would be far larger than they are
    if not all(isinstance(row, list | tuple | np.ndarray) and len(row) == 2 for row in rows):
        return None
    try:
        return np.array([list(row) for row in rows])
    except ValueError:  # of lists that differ in length, further in
        return None


def as_given(points: np.ndarray, X: Any) -> Any:
    """``points``, (n, 2), as rows of the kind that ``X`` has: a frame with its columns, else an array."""
    return pd.DataFrame(points, columns=X.columns) if isinstance(X, pd.DataFrame) else points


def grid_within_hull(points: np.ndarray, size: int) -> np.ndarray:
    """(n, 2) those of ``size`` x ``size`` points, laid evenly over the box of ``points``, within their convex hull.

    An empty array where the points lie on a line.
    """
    low, high = points.min(axis=0), points.max(axis=0)
    across, up = np.meshgrid(*(np.linspace(low[k], high[k], size) for k in (0, 1)))
    grid = np.column_stack([across.ravel(), up.ravel()])
    try:
        sides = ConvexHull(points).equations
    except (QhullError, ValueError):
        return np.empty((0, 2))
    return grid[(grid @ sides[:, :2].T + sides[:, 2] <= 0).all(axis=1)]
