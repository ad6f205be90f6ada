"""Solve a linear support vector machine with hinge loss for one pair of class costs after the other, exactly.

The function is |w|^2 / 2 - linear'(w, b) + sum c max(0, 1 - y (x'w + b)), where b is not penalised. Each row has a
multiplier a in [0, c]. At the minimum w = linear + sum a y x, and the same holds for b with 0 on the left side.

*The path.* The solutions of all cost asymmetries form a path that is piecewise smooth, because rows pass the margin of
1 one by one (Bach, Heckerman & Horvitz 2006, "Considering cost asymmetry in learning classifiers", JMLR 7, section 4).
Probing needs a hundred points of it, but the path has tens of thousands of corners. So ``HingePath`` does not visit the
corners. It jumps: the two nearest solutions give a start, and predict for most rows the side of the margin of 1. The
multipliers of those rows are 0 or their limit, and only their sum matters. The rest is a small problem, the working
set. The jump ends when no row lies on another side than predicted.

*The search.* ``Hinge`` searches a minimum by the method of multipliers. Each round has a given penalty. It finds the
(w, b) for which the new multipliers clip(a + penalty (1 - y (x'w + b)), 0, c) satisfy the equations above, and starts
again from those. A small cost of moving b makes every round's minimum unique and vanishes with the movement
(Rockafellar 1976, "Augmented Lagrangians and applications of the proximal point algorithm in convex programming",
section 5). The Newton steps and their stopping rule follow Li, Sun & Toh 2018 ("A highly efficient semismooth Newton
augmented Lagrangian method for solving Lasso problems", section 3). Only the rows strictly between 0 and c enter the
Hessian, and near the minimum those are the few of margin 1. A Newton step costs two products of the rows with a vector.

*The proof.* A search ends close to the minimum. There each row lies beyond the margin of 1 with multiplier 0, short of
it with the multiplier at its limit, or on it. If these three sets are known, (w, b) solves a linear system (Bach et
al., section 4.1), and ``exact_solution`` solves it up to rounding. That is the minimum if no row lies on the wrong side
and each multiplier lies in its range. So the labels do not depend on where the search stopped.
"""

from __future__ import annotations

from bisect import bisect, insort
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np
from scipy.linalg import qr_multiply, svd
from scipy.linalg.lapack import dposv

from probcal.fast_paths.fast_path import SignedRows

_EPS = float(np.finfo(float).eps)
_MAX_ROUNDS, _MAX_STEPS = 60, 100
# The growth of the penalty from round to round and its maximum, in units of the mean c for rows of mean length.
_GROWTH, _MOST = 6.0, 1e11
# Rounding error of a gradient, relative to the sum of the lengths of its terms.
_ROUNDING = 1e-13
# End of a round: the gradient, relative to the movement of the multipliers over the root of the penalty.
_SLACK = 0.1
_OVERSHOOT = 0.1
_INSIDE = 1


@dataclass(frozen=True)
class Accuracy:
    """Say when a search ends.

    ``margins``: the largest error of the margin of a row whose multiplier lies strictly inside its range. ``balance``:
    that of the equation of b, relative to the sum of a. ``penalty``: the first one, in units of the mean c for rows of
    mean length. ``inertia``: the first cost of moving b, in units of the mean c.
    """

    margins: float
    balance: float
    penalty: float
    inertia: float


@dataclass(frozen=True, eq=False)
class Scale:
    """Hold the sizes of a problem, which stay the same for a part of its rows.

    ``mean``: of the c. ``mean_square``, ``largest_norm``: of the lengths of the rows.
    """

    mean: float
    mean_square: float
    largest_norm: float


@dataclass(frozen=True, eq=False)
class Point:
    """Hold where a search is, or where it ended."""

    w: np.ndarray
    """(d,), b the last."""
    a: np.ndarray
    """(n_rows,) multipliers."""
    n_steps: int = 0
    """Newton steps."""
    residual: float = np.inf
    """The largest error of the margin of a row whose multiplier lies strictly inside its range."""
    converged: bool = False
    """Whether that is small enough."""
    margin_error: float | None = None
    """The largest error of the margin of a training row, or None if the multipliers do not prove the minimum."""


class Hinge:
    """Minimise |w|^2 / 2 - linear'w + sum over the signed ``rows``, (n_rows, d), of c max(0, 1 - margin).

    The last column is constant. ``limits``: (n_rows,) the c, above 0. ``linear``: (d,), the sum of other rows times
    their multipliers. ``others``: the sum of these multipliers.
    """

    def __init__(
        self, rows: np.ndarray, limits: np.ndarray, scale: Scale, linear: np.ndarray, others: float = 0.0
    ) -> None:
        self._rows, self._limits, self._scale, self._linear, self._others = rows, limits, scale, linear, others

    def minimise(self, start: Point, accuracy: Accuracy) -> Point:
        """Return the minimum, searched from ``start``. ``converged`` is False if the result is not close enough."""
        rows, limits, scale = self._rows, self._limits, self._scale
        w, a, margins, n_steps = start.w, start.a, rows @ start.w, start.n_steps
        unit = scale.mean / scale.mean_square
        penalty, residual = accuracy.penalty * unit, np.inf
        for n_rounds in range(_MAX_ROUNDS):
            inertia = scale.mean * max(accuracy.inertia * _GROWTH**-n_rounds, 1 / _MOST)
            try:
                w, steps = self._round(a, penalty, w, margins, inertia)
            except np.linalg.LinAlgError:
                break
            margins, n_steps = rows @ w, n_steps + steps
            new = _clipped(a + penalty * (1 - margins), limits)
            residual, a = float(np.abs(new - a).max(initial=0)) / penalty, new
            close = residual <= accuracy.margins
            balance = abs(float(a @ rows[:, -1] + self._linear[-1]))
            if close and balance <= accuracy.balance * (float(a.sum()) + self._others):
                return Point(w, a, n_steps, residual, converged=True)
            # the rounding of margins enters the multipliers times the penalty
            penalty = penalty / _GROWTH if close else min(penalty * _GROWTH, _MOST * unit)
        return Point(w, a, n_steps, residual)

    def _round(
        self, a: np.ndarray, penalty: float, w: np.ndarray, margins: np.ndarray, inertia: float
    ) -> tuple[np.ndarray, int]:
        rows, limits, linear = self._rows, self._limits, self._linear
        # only b gets inertia: |w|^2 / 2 makes the other columns unique already
        curvature, start = np.append(np.ones(len(w) - 1), inertia), np.append(np.zeros(len(w) - 1), w[-1])
        diagonal, piece, part = np.arange(len(w)), np.zeros(0, dtype=np.int8), 0.0
        for n_steps in range(_MAX_STEPS):
            raw = a + penalty * (1 - margins)
            new = _clipped(raw, limits)
            gradient = curvature * (w - start) - linear - new @ rows
            moved = _norm(new - a)
            terms = (new.sum() + self._others) * self._scale.largest_norm + _norm(w)
            if _norm(gradient) <= max(_SLACK * moved / sqrt(penalty), _ROUNDING * terms):
                return w, n_steps
            # 0 below the range, 1 inside and 2 at the limit: rows of one piece share one parabola
            before, piece = piece, np.greater(raw, 0).view(np.int8) + np.greater_equal(raw, limits)
            # a whole step within one parabola ends at its minimum
            if part == 1.0 and np.array_equal(before, piece):
                return w, n_steps
            inside = rows[piece == _INSIDE]
            hessian = penalty * (inside.T @ inside)
            hessian[diagonal, diagonal] += curvature
            # cho_factor and cho_solve check their input longer than LAPACK solves a small system
            _, newton, failed = dposv(hessian, gradient, overwrite_a=True)
            if failed:
                raise np.linalg.LinAlgError("the Hessian is not positive definite")
            step = -newton
            along = rows @ step
            of_w = float((curvature * (w - start) - linear) @ step), float((curvature * step) @ step)
            part = _part(raw, limits, penalty, of_w, penalty * along, -float(gradient @ step))
            w, margins = w + part * step, margins + part * along
        return w, _MAX_STEPS


def _clipped(raw: np.ndarray, limits: np.ndarray) -> np.ndarray:
    # numpy's clip takes longer for small arrays
    clipped: np.ndarray = np.maximum(raw, 0)
    np.minimum(clipped, limits, out=clipped)
    return clipped


def _norm(vector: np.ndarray) -> float:
    return sqrt(vector @ vector)


def _part(
    raw: np.ndarray, limits: np.ndarray, penalty: float, of_w: tuple[float, float], fall: np.ndarray, slope: float
) -> float:
    """Return the part of the Newton step to take: all of it, unless the function rises steeply at its end.

    ``of_w``: the slope along the step, and its growth, of the function without the rows' loss.
    """

    def rise(part: float) -> tuple[float, float]:
        there = raw - part * fall
        clipped = _clipped(there, limits)
        inside = fall * (clipped == there)
        slope_there = of_w[0] + part * of_w[1] - clipped @ fall / penalty
        return float(slope_there), float(of_w[1] + inside @ fall / penalty)

    low, high, at = 0.0, 1.0, 1.0
    for _ in range(40):
        up, bend = rise(at)
        # a whole step may end short of the minimum, and a shorter one must end near it
        if up <= _OVERSHOOT * slope and (at == 1.0 or up >= -_OVERSHOOT * slope):
            return at
        low, high = (at, high) if up < 0 else (low, at)
        at -= up / bend
        if not low < at < high:
            at = (low + high) / 2
    return at


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

    def solve(self, costs: np.ndarray) -> Point:
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
            shares = point.a / limits
            inside = np.flatnonzero((shares > 0) & (shares < 1))
            solved = _Solved(ratio, point.w, np.packbits(shares >= 1), inside.astype(np.int32), shares[inside])
            insort(self._solved, solved, key=lambda one: one.ratio)
        w, margin_error = exact_solution(self._rows, limits, point, scale)
        return replace(point, w=w, margin_error=margin_error)

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


# A row with a multiplier closer to 0 or its limit, relative to the limit, need not be on the margin.
_STRICT = 1e-9
# A margin is beyond 1 if it is so by more than this.
_SIDE = 1e-9
# A multiplier may leave its range by this, relative to its limit.
_IN_RANGE = 1e-7
# Limit for the slope along b, relative to the sum of c of a class. Below it, b is free up to the next corner.
_LEVEL = 1e-10


def exact_solution(rows: np.ndarray, limits: np.ndarray, point: Point, scale: Scale) -> tuple[np.ndarray, float | None]:
    """Return (w, b) from the rows on the margin, (d,), and the largest error of the margin of a row.

    ``rows``: (n_rows, d), signed. ``limits``: (n_rows,). ``point``: the result of the search. If the solution is not
    proved to be the minimum, it is that of the search, with None.
    """
    a = point.a
    on = (a > _STRICT * limits) & (a < (1 - _STRICT) * limits)
    short = ~on & (a > limits / 2)
    fixed = np.where(short, limits, 0)
    try:
        w, multipliers, apart, bend = _solve_on_margin(rows[on], a[on], fixed @ rows)
    except np.linalg.LinAlgError:
        return _with_best_intercept(rows, limits, point.w), None
    # without a row on the margin the system leaves b open
    if not on.any():
        w = _with_best_intercept(rows, limits, w)
    margins = rows @ w
    proved = (
        (np.abs(margins[on] - 1) <= _SIDE).all()
        and (margins[short] <= 1 + _SIDE).all()
        and (margins[~on & ~short] >= 1 - _SIDE).all()
        and (multipliers >= -_IN_RANGE * limits[on]).all()
        and (multipliers <= (1 + _IN_RANGE) * limits[on]).all()
    )
    if not proved:
        return _with_best_intercept(rows, limits, point.w), None
    size = float(np.linalg.norm(w))
    rounding = _EPS * (float(fixed.sum()) * scale.largest_norm + size)
    distance = apart + (apart + rounding) / bend
    # without a row on the margin, b moves with the margin of another row
    return w, (2 - on.any()) * scale.largest_norm * (distance + 4 * _EPS * len(w) * size)


def _with_best_intercept(rows: np.ndarray, limits: np.ndarray, w: np.ndarray) -> np.ndarray:
    flat = np.append(w[:-1], 0.0)
    flat[-1] = best_intercept(rows @ flat, rows[:, -1], limits)
    return flat


def _solve_on_margin(on: np.ndarray, a: np.ndarray, linear: np.ndarray) -> tuple[np.ndarray, np.ndarray, float, float]:
    """Return the least |w|^2 / 2 - linear'(w, b) for which the rows ``on``, (k, d), have a margin of 1.

    ``a``: (k,) their multipliers after the search. ``linear``: (d,). The result is (w, b), (d,), the multipliers
    nearest to ``a``, (k,), the error of (w, b) within the span of the rows, and the least curvature outside it. Without
    rows b is 0.
    """
    d = len(linear)
    if len(on) == 0:
        return np.append(linear[:-1], 0.0), a, 0.0, 1.0
    ones, triangle = np.ones(len(on)), on
    if len(on) > d:
        # the triangle of a QR has the same solutions in d rows: the SVD of k rows needs a matrix of k x k
        ones, triangle = qr_multiply(on, ones, mode="right")
    left, sizes, right = svd(triangle)
    rank = int(np.count_nonzero(sizes > 8 * _EPS * max(on.shape) * sizes[0]))
    sizes, span, free = sizes[:rank], right[:rank], right[rank:]
    w = ((ones @ left[:, :rank]) / sizes) @ span
    of_w = np.append(np.ones(d - 1), 0.0)
    bend = 1.0
    if rank < d:
        curvature = (free * of_w) @ free.T
        bend = float(np.linalg.eigvalsh(curvature)[0])
        w = w + np.linalg.solve(curvature, free @ (linear - of_w * w)) @ free
    pull = of_w * w - linear - a @ on
    multipliers = a + on @ (((span @ pull) / sizes**2) @ span)
    return w, multipliers, float(np.linalg.norm(on @ w - 1) / sizes[-1]), bend


def best_intercept(margins: np.ndarray, signs: np.ndarray, limits: np.ndarray) -> float:
    """Return the b for which the sum of c max(0, 1 - margin) is least, halfway between its bounds if b is free.

    ``margins``: (n_rows,) at b = 0. ``signs``: (n_rows,) the growth of a margin with b, 1 for rows of the second class
    and -1 for the others. ``limits``: (n_rows,) the c.
    """
    corners = signs * (1 - margins)
    order = np.argsort(corners)
    # beyond a corner one more row of the first class falls short, or one less of the second
    slopes = np.cumsum(limits[order]) - limits[signs > 0].sum()
    # below the second limit a slope is rounding of the sums
    level = max(_LEVEL * min(limits[signs > 0].sum(), limits[signs < 0].sum()), 64 * _EPS * limits.sum())
    low, high = np.minimum(np.searchsorted(slopes, [-level, level]), len(order) - 1)
    return float(corners[order[low]] + corners[order[high]]) / 2
