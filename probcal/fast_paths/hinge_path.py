"""Solve a linear support vector machine with hinge loss for one pair of class costs after the other, exactly.

The solutions of all cost asymmetries form a path that is piecewise smooth, because rows pass the margin of 1 one by one
(Bach, Heckerman & Horvitz 2006, "Considering cost asymmetry in learning classifiers", JMLR 7, section 4). Probing needs
a hundred points of it, but the path has tens of thousands of corners. So this module does not visit the corners. It
jumps: the two nearest solutions give a start, and predict for most rows the side of the margin of 1. The multipliers of
those rows are 0 or their limit, and only their sum matters. The rest is a small problem, the working set. The jump ends
when no row lies on another side than predicted.
"""

from __future__ import annotations

from bisect import bisect, insort
from dataclasses import dataclass, replace

import numpy as np

from probcal.fast_paths.fast_path import SignedRows
from probcal.fast_paths.hinge_exact import exact_solution
from probcal.fast_paths.hinge_solver import Accuracy, Hinge, Point, Scale

# A rough search only finds out which rows lie near the margin. The others end so close that the minimum can be proved.
_COLD = Accuracy(margins=1e-11, balance=1e-10, penalty=0.1, inertia=1.0)
_ROUGH_COLD = Accuracy(margins=1.0, balance=1e-3, penalty=0.1, inertia=1.0)
_ROUGH = Accuracy(margins=1.0, balance=1e-3, penalty=10.0, inertia=1.0)
_EXACT = Accuracy(margins=1e-11, balance=1e-10, penalty=100.0, inertia=1e-6)
# Size of the working set: at least this share of the rows, and at least this number for each column.
_SHARE, _PER_COLUMN = 0.1, 3
# If more rows than this share change sides between the two nearest solutions, they predict too little.
_WIDE = 0.3
_MAX_JUMPS = 30


@dataclass(frozen=True, eq=False)
class Solution:
    """Hold a solution.

    ``w``: (d,), b the last. ``n_steps``: Newton steps. ``residual``: the largest error of the margin of a row whose
    multiplier lies strictly inside its range. ``converged``: whether that is small enough. ``margin_error``: the
    largest error of the margin of a training row, or None if the multipliers do not prove the minimum.
    """

    w: np.ndarray
    n_steps: int
    residual: float
    converged: bool
    margin_error: float | None


@dataclass(frozen=True, eq=False)
class _Solved:
    """Hold what the next starts need: few numbers for each solution, as most multipliers are 0 or their limit."""

    ratio: float
    w: np.ndarray
    at_limit: np.ndarray
    inside: np.ndarray
    shares: np.ndarray

    def all_shares(self, n_rows: int) -> np.ndarray:
        """Return each multiplier as a share of its limit, (n_rows,)."""
        shares = np.unpackbits(self.at_limit, count=n_rows).astype(np.float64)
        shares[self.inside] = self.shares
        return shares


class HingePath:
    """Minimise |w|^2 / 2 + sum over the signed rows of c max(0, 1 - margin), c the cost of the class times the weight.

    ``data``: the signed rows, with a constant column of ones. Each class has a row of positive weight.
    """

    def __init__(self, data: SignedRows) -> None:
        self._rows, self._n_first, self._weights = data.rows, data.n_first, data.weights
        if data.weights is not None and not data.weights.all():
            # a row of weight 0 changes nothing, and its multiplier would be 0 / 0 of its limit
            positive = data.weights > 0
            self._rows, self._weights = data.rows[positive], data.weights[positive]
            self._n_first = int(np.count_nonzero(positive[: data.n_first]))
        squares = np.einsum("ij,ij->i", self._rows, self._rows)
        self._mean_square, self._largest_norm = float(squares.mean()), float(np.sqrt(squares.max()))
        n_rows, d = self._rows.shape
        self._size = max(int(_SHARE * n_rows), _PER_COLUMN * d)
        self._solved: list[_Solved] = []

    def solve(self, costs: np.ndarray) -> Solution:
        """Return the solution for the costs of the two classes, (2,) above 0. If b is free, it lies halfway."""
        limits = np.repeat(costs.astype(np.float64), [self._n_first, len(self._rows) - self._n_first])
        limits = limits if self._weights is None else limits * self._weights
        ratio = float(np.log(costs[1]) - np.log(costs[0]))
        scale = Scale(float(limits.mean()), self._mean_square, self._largest_norm)
        point = self._search_working_sets(ratio, limits, scale)
        if not point.converged:
            zero = np.zeros(self._rows.shape[1])
            cold = Hinge(self._rows, limits, scale, zero).minimise(Point(zero, limits), _COLD)
            point = replace(cold, n_steps=cold.n_steps + point.n_steps)
        if point.converged:
            self._keep(ratio, point, limits)
        w, margin_error = exact_solution(self._rows, limits, point, scale)
        return Solution(w, point.n_steps, point.residual, point.converged, margin_error)

    def _keep(self, ratio: float, point: Point, limits: np.ndarray) -> None:
        shares = point.a / limits
        inside = np.flatnonzero((shares > 0) & (shares < 1))
        solved = _Solved(ratio, point.w, np.packbits(shares >= 1), inside.astype(np.int32), shares[inside])
        insort(self._solved, solved, key=lambda one: one.ratio)

    def _start(self, ratio: float, limits: np.ndarray) -> tuple[Point, np.ndarray]:
        """Return a point between the nearest solutions, and the rows whose side they do not predict, (n_rows,) bool."""
        if not self._solved:
            return Point(np.zeros(self._rows.shape[1]), limits), np.ones(len(limits), dtype=bool)
        place = bisect(self._solved, ratio, key=lambda one: one.ratio)
        low, high = self._solved[max(place - 1, 0)], self._solved[min(place, len(self._solved) - 1)]
        part = (ratio - low.ratio) / (high.ratio - low.ratio) if high.ratio > low.ratio else 0.0
        below, above = low.all_shares(len(limits)), high.all_shares(len(limits))
        shares = below + part * (above - below)
        # beyond the outermost solution there is no second one, so no row's side is predicted
        unknown = (shares > 0) & (shares < 1) if low is not high else np.ones(len(limits), dtype=bool)
        return Point(low.w + part * (high.w - low.w), shares * limits), unknown

    def _search_working_sets(self, ratio: float, limits: np.ndarray, scale: Scale) -> Point:
        """Return the minimum, searched on working sets. ``converged`` is False if the search fails."""
        rows, n_rows = self._rows, len(limits)
        point, working = self._start(ratio, limits)
        if np.count_nonzero(working) > _WIDE * n_rows:
            rough = _ROUGH if self._solved else _ROUGH_COLD
            point = Hinge(rows, limits, scale, np.zeros(rows.shape[1])).minimise(point, rough)
            working = (point.a > 0) & (point.a < limits)
        margins = rows @ point.w
        gaps = np.abs(margins - 1)
        # the rows nearest to the margin of 1 are the likeliest to change their side
        reach = float(np.partition(gaps, self._size)[self._size]) if self._size < n_rows else np.inf
        for _ in range(_MAX_JUMPS):
            working = self._free_intercept(working | (gaps <= reach), margins, gaps, limits)
            predicted = margins < 1
            point = self._minimise_working_set(working, predicted, point, limits, scale)
            margins = rows @ point.w
            wrong = ~working & ((margins < 1) != predicted)
            if not wrong.any() or not point.converged:
                return point
            gaps, reach = np.abs(margins - 1), reach / 2
            working |= wrong
        return replace(point, converged=False)

    def _free_intercept(
        self, working: np.ndarray, margins: np.ndarray, gaps: np.ndarray, limits: np.ndarray
    ) -> np.ndarray:
        """Return ``working``, enlarged until the multipliers of its rows can balance those of the others."""
        second = np.arange(len(limits)) >= self._n_first
        while not working.all():
            fixed = np.where(~working & (margins < 1), limits, 0)
            excess = fixed[second].sum() - fixed[~second].sum()
            if -limits[working & second].sum() <= excess <= limits[working & ~second].sum():
                break
            outside = np.flatnonzero(~working)
            # doubled, so that few rounds are needed
            n_more = min(2 * int(np.count_nonzero(working)) + 1, len(outside))
            working = working.copy()
            working[outside[np.argpartition(gaps[outside], n_more - 1)[:n_more]]] = True
        return working

    def _minimise_working_set(
        self, working: np.ndarray, predicted: np.ndarray, point: Point, limits: np.ndarray, scale: Scale
    ) -> Point:
        """Return the minimum if all rows but the ``working`` ones have the multipliers of their ``predicted`` side."""
        a = np.where(predicted, limits, 0.0)
        fixed = np.where(working, 0.0, a)
        indices = np.flatnonzero(working)
        part = Hinge(self._rows[indices], limits[indices], scale, fixed @ self._rows, float(fixed.sum()))
        found = part.minimise(replace(point, a=point.a[indices]), _EXACT)
        a[indices] = found.a
        return replace(found, a=a)
