"""The minimum of the hinge under many class weights, by multipliers and semismooth Newton steps.

min |w|^2 / 2 + sum c max(0, 1 - y (x'w + b)), where b costs nothing, has a multiplier a in [0, c] for each row, and
w = sum a y x, sum a y = 0 at the minimum. The method of multipliers takes, for a given penalty, the (w, b) at which
the new multipliers clip(a + penalty (1 - y (x'w + b)), 0, c) add up to w and to 0, and starts over from those; a
small cost of moving b makes every round's minimum unique and vanishes with the movement (Rockafellar 1976,
"Augmented Lagrangians and applications of the proximal point algorithm in convex programming", section 5; the Newton
steps inside and their stop as in Li, Sun & Toh 2018, "A highly efficient semismooth Newton augmented Lagrangian
method for solving Lasso problems", section 3).
Only the rows strictly between 0 and c enter the Hessian, and near the minimum those are the few of margin 1. A
Newton step costs two products of the rows with a vector.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from probcal.shortcuts.signed_rows import SignedRows

_MAX_ROUNDS, _MAX_STEPS = 60, 100
_GROWTH, _MOST = 6.0, 1e11
"""Of the penalty from one round to the next, and its largest, in units of the mean c for rows of mean length."""
_ROUNDING = 1e-13
"""Of a gradient, relative to the sum of the lengths of its terms."""
_SLACK = 0.1
"""Of a round's end: the gradient, relative to how far the multipliers moved over the root of the penalty."""
EXACT = 1e-11
"""Of margins at the minimum, where they ought to be 1."""
_BALANCED = 1e-10
"""Of the sum of a y, relative to that of a."""
_OVERSHOOT = 0.1
_INSIDE = 1
_NONE = np.empty(0)


@dataclass(frozen=True, eq=False)
class Solution:
    """``w``: (d,), b the last; ``free``: (n_free,) int, the rows whose multiplier lies strictly inside its range;
    ``shares``: (n_free,) their multipliers as shares of c; all others are at an end, told by the margin.
    ``margins``: (n_rows,) of the signed rows; ``limits``: (n_rows,) c; ``n_steps``; ``residual``: the largest error
    of a margin of a free row, ``gradient``: (d,) that of |w|^2 / 2 less the sum of a times the signed rows.
    """

    w: np.ndarray
    free: np.ndarray
    shares: np.ndarray
    margins: np.ndarray
    limits: np.ndarray
    n_steps: int
    residual: float
    gradient: np.ndarray
    converged: bool

    def to_start_from(self) -> Solution:
        """Without what is as long as the rows."""
        return replace(self, margins=_NONE, limits=_NONE)


class Hinge:
    """|w|^2 / 2 + sum over the signed rows of c max(0, 1 - margin), c the cost of the class times the row's weight.

    ``data``: with a constant column of ones.
    """

    def __init__(self, data: SignedRows) -> None:
        self.rows, self.n_first, self._weights = data.rows, data.n_first, data.weights
        squares = np.einsum("ij,ij->i", data.rows, data.rows)
        self.largest_norm = float(np.sqrt(squares.max()))
        self._mean_square = float(squares.mean())

    def minimise(
        self, costs: np.ndarray, w: np.ndarray, free: np.ndarray, shares: np.ndarray, first_penalty: float
    ) -> Solution:
        """The minimum for the classes' ``costs``, (2,), sought from another's w, free rows and their shares.

        ``first_penalty``: in those units. Not ``converged`` where it did not come near enough.
        """
        limits = self._limits(costs)
        margins = self.rows @ w
        a = np.where(margins < 1, limits, 0)
        a[free] = shares * limits[free]
        mean = float(limits.mean())
        unit = mean / self._mean_square
        penalty, n_steps, converged = first_penalty * unit, 0, False
        for n_rounds in range(_MAX_ROUNDS):
            inertia = mean * max(_GROWTH**-n_rounds, 1 / _MOST)
            w, steps = self._round(a, limits, penalty, w, margins, inertia)
            margins, n_steps = self.rows @ w, n_steps + steps
            new = np.clip(a + penalty * (1 - margins), 0, limits)
            residual, a = float(np.abs(new - a).max()) / penalty, new
            close = residual <= EXACT
            converged = close and abs(float(a @ self.rows[:, -1])) <= _BALANCED * float(a.sum())
            if converged:
                break
            # the rounding of margins enters the multipliers times the penalty
            penalty = penalty / _GROWTH if close else min(penalty * _GROWTH, _MOST * unit)
        free = np.flatnonzero((a > 0) & (a < limits))
        gradient = _without_last(w) - a @ self.rows
        return Solution(w, free, a[free] / limits[free], margins, limits, n_steps, residual, gradient, converged)

    def _round(
        self, a: np.ndarray, limits: np.ndarray, penalty: float, w: np.ndarray, margins: np.ndarray, inertia: float
    ) -> tuple[np.ndarray, int]:
        curvature, start = np.append(np.ones(len(w) - 1), inertia), np.append(np.zeros(len(w) - 1), w[-1])
        piece, part = None, 0.0
        for n_steps in range(_MAX_STEPS):
            raw = a + penalty * (1 - margins)
            new = np.clip(raw, 0, limits)
            gradient = curvature * (w - start) - new @ self.rows
            moved = float(np.linalg.norm(new - a))
            terms = new.sum() * self.largest_norm + np.linalg.norm(w)
            if np.linalg.norm(gradient) <= max(_SLACK * moved / np.sqrt(penalty), _ROUNDING * terms):
                return w, n_steps
            before, piece = piece, np.where(raw <= 0, 0, np.where(raw < limits, _INSIDE, 2)).astype(np.int8)
            if part == 1.0 and np.array_equal(before, piece):  # a whole step within one parabola ends at its minimum
                return w, n_steps
            hessian = np.diag(curvature) + penalty * _products(self.rows[piece == _INSIDE])
            step = -cho_solve(cho_factor(hessian, check_finite=False), gradient, check_finite=False)
            along = self.rows @ step
            of_w = float((curvature * (w - start)) @ step), float((curvature * step) @ step)
            part = _part(raw, limits, penalty, of_w, penalty * along, -float(gradient @ step))
            w, margins = w + part * step, margins + part * along
        return w, _MAX_STEPS

    def _limits(self, costs: np.ndarray) -> np.ndarray:
        limits = np.repeat(costs, [self.n_first, len(self.rows) - self.n_first])
        return limits if self._weights is None else limits * self._weights


def _products(rows: np.ndarray) -> np.ndarray:
    return rows.T @ rows


def _without_last(w: np.ndarray) -> np.ndarray:
    return np.append(w[:-1], 0.0)


def _part(
    raw: np.ndarray,
    limits: np.ndarray,
    penalty: float,
    of_w: tuple[float, float],
    fall: np.ndarray,
    slope: float,
) -> float:
    """Which part of the Newton step to take: all of it, unless the function rises steeply at its end.

    ``of_w``: the slope along the step, and how it grows, of what the function holds beside the rows' loss.
    """

    def rise(part: float) -> tuple[float, float]:
        there = raw - part * fall
        inside = fall[(there > 0) & (there < limits)]
        slope_there = of_w[0] + part * of_w[1] - np.clip(there, 0, limits) @ fall / penalty
        return float(slope_there), float(of_w[1] + inside @ inside / penalty)

    low, high, at = 0.0, 1.0, 1.0
    for _ in range(40):
        up, bend = rise(at)
        if up <= _OVERSHOOT * slope and (at == 1.0 or up >= -_OVERSHOOT * slope):
            return at
        low, high = (at, high) if up < 0 else (low, at)
        at -= up / bend
        if not low < at < high:
            at = (low + high) / 2
    return at
