"""Treat two numeric columns as points in the plane."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.spatial import ConvexHull, QhullError


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
