"""Minimise the hinge loss of a linear support vector machine by multipliers and semismooth Newton steps.

The function is |w|^2 / 2 - linear'(w, b) + sum c max(0, 1 - y (x'w + b)), where b is not penalised. Each row has a
multiplier a in [0, c]. At the minimum w = linear + sum a y x, and the same holds for b with 0 on the left side. Each
round of the method of multipliers has a given penalty. It finds the (w, b) for which the new multipliers clip(a +
penalty (1 - y (x'w + b)), 0, c) satisfy these equations, and starts again from those.

A small cost of moving b makes every round's minimum unique and vanishes with the movement (Rockafellar 1976, "Augmented
Lagrangians and applications of the proximal point algorithm in convex programming", section 5). The Newton steps and
their stopping rule follow Li, Sun & Toh 2018 ("A highly efficient semismooth Newton augmented Lagrangian method for
solving Lasso problems", section 3). Only the rows strictly between 0 and c enter the Hessian, and near the minimum
those are the few of margin 1. A Newton step costs two products of the rows with a vector.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
from scipy.linalg.lapack import dposv

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
    """Hold where a search is. ``w``: (d,), b the last. ``a``: (n_rows,) multipliers."""

    w: np.ndarray
    a: np.ndarray
    n_steps: int = 0
    residual: float = np.inf
    converged: bool = False


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
            step = -_solved(hessian, gradient)
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


def _solved(hessian: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    # cho_factor and cho_solve check their input longer than LAPACK solves a small system
    _, solution, failed = dposv(hessian, gradient, overwrite_a=True)
    if failed:
        raise np.linalg.LinAlgError("the Hessian is not positive definite")
    result: np.ndarray = solution
    return result


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
