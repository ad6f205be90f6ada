"""The rows of a two-class problem as a linear machine sees them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class SignedRows:
    """A copy of the rows, sorted by class, with a constant column, those of the first class times -1.

    ``rows``: (n_rows, d); ``n_first``: how many are of the first class; ``weights``: (n_rows,), or None for ones.
    """

    rows: np.ndarray
    n_first: int
    weights: np.ndarray | None

    def smallest_share(self) -> float:
        """The share of the class with fewer rows of weight above 0; 0 where it has none."""
        above = np.ones(len(self.rows), dtype=bool) if self.weights is None else self.weights > 0
        first, second = np.count_nonzero(above[: self.n_first]), np.count_nonzero(above[self.n_first :])
        return min(first, second) / max(first + second, 1)  # type: ignore[operator]


def signed_rows(
    X: np.ndarray, is_second: np.ndarray, row_weights: np.ndarray | None, constant: float | None
) -> SignedRows:
    """Of ``X``, (n_rows, n_columns) float64, and ``is_second``, (n_rows,) bool; ``constant``: of the last column."""
    n_first = len(X) - int(np.count_nonzero(is_second))
    rows = np.empty((len(X), X.shape[1] + (constant is not None)))
    order = np.argsort(is_second, kind="stable")
    np.take(X, order, axis=0, out=rows[:, : X.shape[1]])
    if constant is not None:
        rows[:, -1] = constant
    np.negative(rows[:n_first], out=rows[:n_first])
    weights = None if row_weights is None else np.asarray(row_weights, dtype=np.float64)[order]
    return SignedRows(rows, n_first, weights)
