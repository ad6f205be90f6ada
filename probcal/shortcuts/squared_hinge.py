"""The minimum of the squared hinge under many class weights, each found from the one next to it.

The function is piecewise quadratic and strongly convex, so Newton's method with an exact line search ends
after finitely many steps (Keerthi & DeCoste 2005, "A modified finite Newton method for fast solution of
large scale linear SVMs", section 3). A step costs one product of the rows with a vector; the Hessian is
made of the Gram matrices of the active rows of each class, which the class weights only scale.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from probcal.shortcuts.active_grams import ActiveGrams
from probcal.shortcuts.signed_rows import SignedRows

_MAX_STEPS = 200
_ROUNDING = 1e-13
"""The gradient of a minimum, relative to the largest sum of its terms that there can be."""
_OVERSHOOT = 0.1
"""A whole step is taken unless the slope at its end is more than this part of that at its start."""


@dataclass(frozen=True, eq=False)
class Minimum:
    """Where it lies and how well it is known.

    ``w``: (d,); ``n_steps``; ``value``: of the function; ``residual``: the Euclidean norm of the gradient
    there; ``hessian``: (d, d); ``margins``: (n_rows,) of the signed rows.
    """

    w: np.ndarray
    n_steps: int
    value: float
    residual: float
    hessian: np.ndarray
    margins: np.ndarray


class SquaredHinge:
    """|w|^2 / 2 + sum over the signed rows x of cost(class of x) r max(0, 1 - x'w)^2, with r their weights.

    ``largest_norm``: of a row.
    """

    def __init__(self, data: SignedRows) -> None:
        self.rows, self._n_first, self._weights = data.rows, data.n_first, data.weights
        self._grams = ActiveGrams(data)
        squares = np.einsum("ij,ij->i", data.rows, data.rows)
        r = np.ones(len(squares)) if data.weights is None else data.weights
        self._class_weights = np.array([r[: data.n_first].sum(), r[data.n_first :].sum()])
        self._class_squares = np.array([(r * squares)[: data.n_first].sum(), (r * squares)[data.n_first :].sum()])
        self._class_sums = np.array(
            [r[: data.n_first] @ data.rows[: data.n_first], r[data.n_first :] @ data.rows[data.n_first :]]
        )
        self.largest_norm = float(np.sqrt(squares.max()))

    @property
    def n_columns(self) -> int:
        return self.rows.shape[1]

    def minimise(self, costs: np.ndarray, start: np.ndarray) -> Minimum | None:
        """The minimum for the two classes' ``costs``, (2,) positive, sought from ``start``, (d,).

        None where rounding keeps the gradient from vanishing.
        """
        tiny = _ROUNDING * 2 * np.sqrt((costs @ self._class_squares) * (costs @ self._class_weights))
        w, margins, refreshed = start, self.rows @ start, False
        for n_steps in range(_MAX_STEPS):
            self._grams.move(self._active(margins))
            hessian = np.eye(len(w)) + 2 * np.tensordot(costs, self._grams.grams, 1)
            gradient = hessian @ w - 2 * costs @ self._grams.sums
            if np.linalg.norm(gradient) <= tiny:
                residual = float(np.linalg.norm(self._gradient(w, margins, costs)))
                if residual <= tiny:
                    return Minimum(w, n_steps, self._value(w, margins, costs), residual, hessian, margins)
                if refreshed:
                    return None
                self._grams.refresh()
                refreshed = True
                continue
            try:
                step = -cho_solve(cho_factor(hessian, check_finite=False), gradient, check_finite=False)
            except np.linalg.LinAlgError:
                return None
            w, margins = self._moved(w, margins, step, costs, float(gradient @ step))
        return None

    def gradient_at_zero(self, costs: np.ndarray) -> np.ndarray:
        """(d,) where liblinear starts."""
        return -2 * costs @ self._class_sums

    def value_of_intercept(self, costs: np.ndarray) -> float:
        """The least value, but for |w|^2 / 2, of a constant margin."""
        first, second = costs * self._class_weights
        return float(4 * first * second / (first + second))

    def _active(self, margins: np.ndarray) -> np.ndarray:
        return margins < 1 if self._weights is None else (margins < 1) & (self._weights > 0)

    def _moved(
        self, w: np.ndarray, margins: np.ndarray, step: np.ndarray, costs: np.ndarray, slope: float
    ) -> tuple[np.ndarray, np.ndarray]:
        target = w + step
        ahead = self.rows @ target
        if self._slope(target, ahead, ahead - margins, step, costs)[0] <= _OVERSHOOT * -slope:
            return target, ahead
        # the difference of two products is rounded too coarsely for the steps next to the minimum
        along = self.rows @ step
        if self._slope(target, ahead, along, step, costs)[0] <= _OVERSHOOT * -slope:
            return target, ahead
        low, high, at = 0.0, 1.0, 0.5
        for _ in range(60):
            rise, bend = self._slope(w + at * step, margins + at * along, along, step, costs)
            if abs(rise) <= _OVERSHOOT**2 * -slope:
                break
            low, high = (at, high) if rise < 0 else (low, at)
            at -= rise / bend
            if not low < at < high:
                at = (low + high) / 2
        target = w + at * step
        return target, self.rows @ target

    def _slope(
        self, w: np.ndarray, margins: np.ndarray, along: np.ndarray, step: np.ndarray, costs: np.ndarray
    ) -> tuple[float, float]:
        gaps = self._gaps(margins, costs)
        bends = np.where(gaps > 0, along, 0)
        weighted = self._weighted(along * bends, costs)
        return float(w @ step - 2 * gaps @ along), float(step @ step + 2 * weighted.sum())

    def _gaps(self, margins: np.ndarray, costs: np.ndarray) -> np.ndarray:
        return self._weighted(np.maximum(1 - margins, 0), costs)

    def _weighted(self, values: np.ndarray, costs: np.ndarray) -> np.ndarray:
        values[: self._n_first] *= costs[0]
        values[self._n_first :] *= costs[1]
        return values if self._weights is None else values * self._weights

    def _gradient(self, w: np.ndarray, margins: np.ndarray, costs: np.ndarray) -> np.ndarray:
        return w - 2 * (self._gaps(margins, costs) @ self.rows)

    def _value(self, w: np.ndarray, margins: np.ndarray, costs: np.ndarray) -> float:
        return float(w @ w / 2 + self._gaps(margins, costs) @ np.maximum(1 - margins, 0))
