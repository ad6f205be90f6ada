"""The Gram matrices of the rows that a hinge holds active, kept as rows enter and leave."""

from __future__ import annotations

import numpy as np

from probcal.shortcuts.signed_rows import SignedRows

_BLOCK = 4096


class ActiveGrams:
    """For each of two classes, sum r x x' and sum r x over its active rows, r the rows' weights.

    ``grams``: (2, d, d); ``sums``: (2, d).
    """

    def __init__(self, data: SignedRows) -> None:
        self._rows, self._weights = data.rows, data.weights
        n_rows, d = data.rows.shape
        self._classes = (slice(0, data.n_first), slice(data.n_first, n_rows))
        self._active = np.zeros(n_rows, dtype=bool)
        self.grams, self.sums = np.zeros((2, d, d)), np.zeros((2, d))

    def move(self, active: np.ndarray) -> None:
        """Make ``active``, (n_rows,) bool, the active rows: from those that changed, unless most of them did."""
        for place, rows in enumerate(self._classes):
            now, before = active[rows], self._active[rows]
            entered, left = np.flatnonzero(now & ~before), np.flatnonzero(before & ~now)
            if len(entered) + len(left) > np.count_nonzero(now):
                self._recompute(place, now)
            else:
                self._add(place, entered + rows.start, 1)
                self._add(place, left + rows.start, -1)
        self._active = active

    def refresh(self) -> None:
        """Compute both anew, without what rounding the rows that came and went have left."""
        for place, rows in enumerate(self._classes):
            self._recompute(place, self._active[rows])

    def _recompute(self, place: int, active: np.ndarray) -> None:
        self.grams[place], self.sums[place] = 0, 0
        self._add(place, np.flatnonzero(active) + self._classes[place].start, 1)

    def _add(self, place: int, indices: np.ndarray, sign: int) -> None:
        for start in range(0, len(indices), _BLOCK):
            block = indices[start : start + _BLOCK]
            rows = self._rows[block]
            if self._weights is None:
                self.sums[place] += sign * rows.sum(axis=0)
            else:
                self.sums[place] += sign * (self._weights[block] @ rows)
                rows *= np.sqrt(self._weights[block])[:, None]
            self.grams[place] += sign * (rows.T @ rows)
