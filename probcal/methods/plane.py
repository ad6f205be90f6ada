"""Treat two numeric columns as points in the plane."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.spatial import ConvexHull, QhullError


def points_of(X: Any) -> np.ndarray | None:
    """Return rows of two numeric columns as points in the plane.

    Parameters
    ----------
    X : object
        An array, also of objects that are numbers, a frame of two numeric columns, or a list of pairs.

    Returns
    -------
    ndarray of shape (n_rows, 2), dtype float64, or None
        The points. None if X does not have two columns of finite numbers.
    """
    if isinstance(X, list | tuple) or (isinstance(X, np.ndarray) and X.dtype == object):
        X = _as_pairs(X)
    if getattr(X, "ndim", None) != 2 or X.shape[1] != 2 or not X.shape[0]:
        return None
    if not isinstance(X, pd.DataFrame | np.ndarray):
        return None
    if not all(kind.kind in "iuf" for kind in (X.dtypes if isinstance(X, pd.DataFrame) else [X.dtype])):
        return None
    points = X.to_numpy(np.float64, na_value=np.nan) if isinstance(X, pd.DataFrame) else X.astype(np.float64)
    return points if np.isfinite(points).all() else None


def _as_pairs(rows: Any) -> np.ndarray | None:
    """Return the array of ``rows``, a list or an array of objects, or None if they are not pairs."""
    # an array of long texts would be far larger than the texts
    if not all(isinstance(row, list | tuple | np.ndarray) and len(row) == 2 for row in rows):
        return None
    try:
        return np.array([list(row) for row in rows])
    except ValueError:  # nested lists of different lengths
        return None


def as_given(points: np.ndarray, X: Any) -> Any:
    """Return points as rows of the same kind as ``X``.

    Parameters
    ----------
    points : ndarray of shape (n, 2)
        Points in the plane.
    X : array-like or DataFrame of shape (n_rows, 2)
        Rows that give the kind.

    Returns
    -------
    DataFrame or ndarray of shape (n, 2)
        A DataFrame with the columns of X if X is one, and the points themselves otherwise.
    """
    return pd.DataFrame(points, columns=X.columns) if isinstance(X, pd.DataFrame) else points


def grid_within_hull(points: np.ndarray, size: int) -> np.ndarray:
    """Return the points of a square grid that lie in the convex hull of other points.

    Parameters
    ----------
    points : ndarray of shape (n, 2)
        Points in the plane. The grid is even over their box.
    size : int
        Number of grid points along each side of the box.

    Returns
    -------
    ndarray of shape (n_inside, 2)
        Grid points. The array is empty if the points lie on a line.
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
