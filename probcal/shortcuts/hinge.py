"""The minimum of the hinge under many class weights, by multipliers and semismooth Newton steps.

min |w|^2 / 2 + sum c max(0, 1 - x'w) has a multiplier a in [0, c] for each row, and w = sum a x at the minimum.
The method of multipliers takes, for a given penalty, the w at which the new multipliers clip(a + penalty (1 - x'w),
0, c) add up to w, and starts over from those (Rockafellar 1976, "Augmented Lagrangians and applications of the
proximal point algorithm in convex programming"; the Newton steps inside and their stop as in Li, Sun & Toh 2018,
"A highly efficient semismooth Newton augmented Lagrangian method for solving Lasso problems", section 3).
Only the rows strictly between 0 and c enter the Hessian, and near the minimum those are the few of margin 1. A
Newton step costs two products of the rows with a vector.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from probcal.shortcuts.signed_rows import SignedRows

_MAX_ROUNDS, _MAX_STEPS = 60, 100
_GROWTH, _MOST = 6.0, 1e6
"""Of the penalty from one round to the next, and its largest, in units of the mean c for rows of mean length."""
_ROUNDING = 1e-13
"""Of a gradient, relative to the sum of the lengths of its terms."""
_SLACK = 0.1
"""Of a round's end: the gradient, relative to how far the multipliers moved over the root of the penalty."""
_EXACT = 1e-11
"""Of margins at the minimum, where they ought to be 1."""
_OVERSHOOT = 0.1


@dataclass(frozen=True, eq=False)
class Solution:
    """``w``: (d,); ``free``: (n_free,) int, the rows whose multiplier lies strictly inside its range;
    ``shares``: (n_free,) their multipliers as shares of c; all others are at an end, told by the margin.
    ``margins``: (n_rows,) of the signed rows; ``n_steps``; ``residual``: the largest error of a margin of
    a free row, ``gradient``: |w - sum a x|.
    """

    w: np.ndarray
    free: np.ndarray
    shares: np.ndarray
    margins: np.ndarray
    n_steps: int
    residual: float
    gradient: float


class Hinge:
    """|w|^2 / 2 + sum over the signed rows x of c max(0, 1 - x'w), c the cost of the class times the row's weight."""

    def __init__(self, data: SignedRows) -> None:
        self.rows, self._n_first, self._weights = data.rows, data.n_first, data.weights
        squares = np.einsum("ij,ij->i", data.rows, data.rows)
        self.largest_norm = float(np.sqrt(squares.max()))
        self._mean_square = float(squares.mean())

    def minimise(
        self, costs: np.ndarray, w: np.ndarray, free: np.ndarray, shares: np.ndarray, first_penalty: float
    ) -> Solution | None:
        """The minimum for the classes' ``costs``, (2,), sought from another's w, free rows and their shares.

        ``first_penalty``: in those units. None where it does not come near enough.
        """
        limits = self._limits(costs)
        margins = self.rows @ w
        a = np.where(margins < 1, limits, 0)
        a[free] = shares * limits[free]
        unit = float(limits.mean()) / self._mean_square
        penalty, n_steps = first_penalty * unit, 0
        for _ in range(_MAX_ROUNDS):
            w, steps = self._round(a, limits, penalty, w, margins)
            margins, n_steps = self.rows @ w, n_steps + steps
            new = np.clip(a + penalty * (1 - margins), 0, limits)
            residual, a = float(np.abs(new - a).max()) / penalty, new
            if residual <= _EXACT:
                return self._solution(w, margins, a, limits, n_steps, residual)
            penalty = min(penalty * _GROWTH, _MOST * unit)
        return None

    def _round(
        self, a: np.ndarray, limits: np.ndarray, penalty: float, w: np.ndarray, margins: np.ndarray
    ) -> tuple[np.ndarray, int]:
        for n_steps in range(_MAX_STEPS):
            raw = a + penalty * (1 - margins)
            new = np.clip(raw, 0, limits)
            gradient = w - new @ self.rows
            moved = float(np.linalg.norm(new - a))
            terms = new.sum() * self.largest_norm + np.linalg.norm(w)
            if np.linalg.norm(gradient) <= max(_SLACK * moved / np.sqrt(penalty), _ROUNDING * terms):
                return w, n_steps
            inside = self.rows[(raw > 0) & (raw < limits)]
            hessian = np.eye(len(w)) + penalty * (inside.T @ inside)
            step = -cho_solve(cho_factor(hessian, check_finite=False), gradient, check_finite=False)
            along = self.rows @ step
            part = _part(raw, limits, penalty, w, step, penalty * along, -float(gradient @ step))
            w, margins = w + part * step, margins + part * along
        return w, _MAX_STEPS

    def _limits(self, costs: np.ndarray) -> np.ndarray:
        limits = np.repeat(costs, [self._n_first, len(self.rows) - self._n_first])
        return limits if self._weights is None else limits * self._weights

    def _solution(
        self, w: np.ndarray, margins: np.ndarray, a: np.ndarray, limits: np.ndarray, n_steps: int, residual: float
    ) -> Solution:
        free = np.flatnonzero((a > 0) & (a < limits))
        total = a @ self.rows
        gradient = float(np.linalg.norm(w - total))
        return Solution(w, free, a[free] / limits[free], margins, n_steps, residual, gradient)


def _part(
    raw: np.ndarray, limits: np.ndarray, penalty: float, w: np.ndarray, step: np.ndarray, fall: np.ndarray, slope: float
) -> float:
    """Which part of the Newton step to take: all of it, unless the function rises steeply at its end."""

    def rise(part: float) -> tuple[float, float]:
        there = raw - part * fall
        inside = fall[(there > 0) & (there < limits)]
        slope_there = (w + part * step) @ step - np.clip(there, 0, limits) @ fall / penalty
        return float(slope_there), float(step @ step + inside @ inside / penalty)

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
