"""The best stump of a table under many weights of its rows. The columns are sorted once."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np

_APART = np.float32(1e-7)
"""Values of a column that are nearer are not cut apart, as in scikit-learn's trees."""
_EQUALLY_GOOD = 1e-12
"""Purities that differ by less are equal. The last bits depend on the order of sums."""
_LARGEST = 2**31 - 1


class Stump(NamedTuple):
    """Hold the split of a decision stump."""

    column: int
    limit: float
    """Largest value that goes left. Trees compare in single precision."""

    def goes_left(self, rows: np.ndarray) -> np.ndarray:
        """Return which ``rows``, (n_rows, n_columns) of type float32, go left."""
        return np.asarray(rows[:, self.column] <= self.limit)


class StumpSearch:
    """Find the split of scikit-learn's ``DecisionTreeClassifier(max_depth=1)`` for one weighting after another.

    The best split has the largest purity. A side has the sum of the squared weights of the two classes, divided by the
    weight of the side. The purity is the sum over both sides. Among equally good columns the first in a
    drawn order wins. It is the order of scikit-learn for the same seed. Within a column the lowest limit wins.

    ``rows``, (n_rows, n_columns), are finite numbers of type float32. ``second``, (n_rows,), says which are of the
    second class.
    """

    def __init__(self, rows: np.ndarray, second: np.ndarray) -> None:
        self._second = second
        columns = np.ascontiguousarray(rows.T)
        self._order = np.argsort(columns, axis=1, kind="stable").astype(np.int32)
        self._values = np.take_along_axis(columns, self._order, axis=1)
        self._find_cuts()

    def best(self, weights: np.ndarray, seed: int) -> Stump | None:
        """Return the best split for weights of the rows, or None if no column can be cut or one class has all weight.

        ``seed`` decides the order in which equally good columns are drawn. Rows of weight 0 are left out, also in later
        calls.
        """
        listed = np.count_nonzero(weights)
        # scikit-learn's trees leave out rows without weight, whose values give no limits then.
        if listed < self._order.shape[1]:
            kept = weights[self._order] > 0
            self._order = self._order[kept].reshape(len(kept), listed)
            self._values = self._values[kept].reshape(len(kept), listed)
            self._find_cuts()
        first, second = np.where(self._second, 0.0, weights), np.where(self._second, weights, 0.0)
        total = np.array([first.sum(), second.sum()])
        if not len(self._cuts) or 1 - (total**2).sum() / total.sum() ** 2 <= np.finfo(float).eps:
            return None
        pairs = np.column_stack([first, second])
        purest = _sweep()(self._order, self._cuts, self._begins, pairs, total)
        if not np.isfinite(purest.max()):
            return None
        columns = np.flatnonzero(purest >= purest.max() - _EQUALLY_GOOD)
        column = int(columns[0])
        if len(columns) > 1:
            column = next(one for one in self._drawn_columns(seed) if one in columns)
        cuts = self._cuts[self._begins[column] : self._begins[column + 1]]
        purities = _purities(pairs[self._order[column]], cuts, total)
        cut = cuts[np.flatnonzero(purities >= purities.max() - _EQUALLY_GOOD)[0]]
        return Stump(column, _middle(*self._values[column, cut - 1 : cut + 1].tolist()))

    def _find_cuts(self) -> None:
        """Set the places where the values of a column jump. Those of column c lie between two of ``_begins``."""
        jumps = self._values[:, 1:] > self._values[:, :-1] + _APART
        columns, places = np.nonzero(jumps)
        self._cuts = places + 1
        self._begins = np.searchsorted(columns, np.arange(len(jumps) + 1))
        self._constant = self._values[:, -1] <= self._values[:, 0] + _APART

    def _drawn_columns(self, seed: int) -> list[int]:
        """Return the columns that are not constant in the order in which scikit-learn's splitter draws them.

        It draws with a xorshift generator of 32 bits (Marsaglia 2003) and moves constant columns to the front.
        """
        # As scikit-learn's trees make the seed of their generator. A seed of 0 would stay 0 for ever.
        state = int(np.random.RandomState(seed).randint(0, _LARGEST)) or 1
        columns = list(range(len(self._constant)))
        drawn: list[int] = []
        constants, end = 0, len(columns)
        while end > constants:
            state ^= state << 13 & 0xFFFFFFFF
            state ^= state >> 17
            state ^= state << 5 & 0xFFFFFFFF
            place = state % (_LARGEST + 1) % (end - constants) + constants
            if self._constant[columns[place]]:
                columns[place], columns[constants] = columns[constants], columns[place]
                constants += 1
            else:
                end -= 1
                columns[place], columns[end] = columns[end], columns[place]
                drawn.append(columns[end])
        return drawn


def _middle(below: float, above: float) -> float:
    # The sum of halves, as in scikit-learn's trees, because the sum of two large values can be infinite.
    middle = below / 2 + above / 2
    # A limit at the upper value would send it left.
    return below if middle == above or np.isinf(middle) else middle


def _purities(pairs: np.ndarray, cuts: np.ndarray, total: np.ndarray) -> np.ndarray:
    """Return the purity of each cut, (n_cuts,). ``pairs``: (n_rows, 2), the weights of both classes in order."""
    left = pairs.cumsum(axis=0)[cuts - 1]
    right = total - left
    below, above = left.sum(axis=1), right.sum(axis=1)
    with np.errstate(all="ignore"):  # rows without weight worth counting may be on one side
        return np.asarray(np.nan_to_num((left**2).sum(axis=1) / below) + np.nan_to_num((right**2).sum(axis=1) / above))


Sweep = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def sweep_by_column(
    order: np.ndarray, cuts: np.ndarray, begins: np.ndarray, pairs: np.ndarray, total: np.ndarray
) -> np.ndarray:
    """Return the largest purity of each column, (n_columns,), or minus infinity where there is no cut."""
    found = np.full(len(order), -np.inf)
    for column in np.flatnonzero(np.diff(begins)):
        found[column] = _purities(pairs[order[column]], cuts[begins[column] : begins[column + 1]], total).max()
    return found


def _sweep_by_row(
    order: np.ndarray, cuts: np.ndarray, begins: np.ndarray, pairs: np.ndarray, total: np.ndarray
) -> np.ndarray:
    """Return what ``sweep_by_column`` returns, row by row, to be compiled."""
    found = np.full(len(order), -np.inf)
    for column in range(len(order)):
        best, a, b, place = -np.inf, 0.0, 0.0, 0
        for number in range(begins[column], begins[column + 1]):
            for at in range(place, cuts[number]):
                row = order[column, at]
                a += pairs[row, 0]
                b += pairs[row, 1]
            place = cuts[number]
            c, d = total[0] - a, total[1] - b
            below, above = a + b, c + d
            # compared without a division, which takes longer than all the rest
            purity, scale = (a * a + b * b) * above + (c * c + d * d) * below, below * above
            if scale > 0 and purity > best * scale:
                best = purity / scale
        found[column] = best
    return found


@cache
def _sweep() -> Sweep:
    """Return the sweep compiled by numba, or the slower one by columns where numba is not installed."""
    try:
        from numba import njit
    except ImportError:
        return sweep_by_column
    compiled: Sweep = njit(cache=True)(_sweep_by_row)
    return compiled
