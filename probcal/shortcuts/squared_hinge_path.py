"""The minima of the squared hinge for class weights as they come, and how far liblinear's labels can be off."""

from __future__ import annotations

from bisect import bisect, insort

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from probcal.shortcuts.signed_rows import SignedRows
from probcal.shortcuts.squared_hinge import Minimum, SquaredHinge

_NEAR_SEPARABLE = 0.02
"""Where the minimum is below this part of what the intercept alone attains, liblinear may run out of rounds."""
_BLOCK = 4096


class SquaredHingePath:
    """``tol``: that of the primal solver of liblinear which the minima stand for."""

    def __init__(self, data: SignedRows, tol: float) -> None:
        self._problem, self._share, self._tol = SquaredHinge(data), data.smallest_share(), tol
        self._solved: list[tuple[float, np.ndarray]] = []

    def solve(self, costs: np.ndarray) -> tuple[np.ndarray, int, float] | None:
        """For the classes' ``costs``, (2,) above 0: the minimum (d,), the steps it took and the error of margins."""
        ratio = float(np.log(costs[1]) - np.log(costs[0]))
        minimum = self._problem.minimise(costs, self._start(ratio))
        if minimum is None:
            return None
        insort(self._solved, (ratio, minimum.w), key=lambda pair: pair[0])
        error = self._margin_error(costs, minimum)
        return None if error is None else (minimum.w, minimum.n_steps, error)

    def _start(self, ratio: float) -> np.ndarray:
        """On the line between the solutions of the nearest lower and higher ratio of the weights."""
        if not self._solved:
            return np.zeros(self._problem.n_columns)
        place = bisect(self._solved, ratio, key=lambda pair: pair[0])
        (low, below), (high, above) = self._solved[max(place - 1, 0)], self._solved[min(place, len(self._solved) - 1)]
        part = (ratio - low) / (high - low) if low < ratio < high else float(ratio >= high)
        return below + part * (above - below)

    def _margin_error(self, costs: np.ndarray, minimum: Minimum) -> float | None:
        """How far the margins of the training rows that liblinear might put on the other side can differ.

        liblinear ends at a gradient g with |g| at most tol times the share of the rarer class times the gradient
        at 0, or at a step that gains less than 1e-12 of the value, where |g| before it can have been
        sqrt(2e-12 * value * curvature) and is a tenth of it after (tron.cpp); the mean curvature is taken for that
        along g. To first order a margin then is x' H^-1 g off, so at most |H^-1 x| |g|.
        None where liblinear is likely to run out of rounds.
        """
        problem = self._problem
        if minimum.value < _NEAR_SEPARABLE * problem.value_of_intercept(costs):
            return None
        at_zero = float(np.linalg.norm(problem.gradient_at_zero(costs)))
        curvature = np.trace(minimum.hessian) / problem.n_columns
        liblinear = max(self._tol * self._share * at_zero, 0.1 * np.sqrt(2e-12 * minimum.value * curvature))
        gradient = liblinear + minimum.residual
        inverse = cho_solve(cho_factor(minimum.hessian), np.eye(problem.n_columns))
        distances = np.abs(minimum.margins)
        near = np.flatnonzero(distances <= gradient * np.linalg.norm(inverse) * problem.largest_norm)
        largest = 0.0
        for at in range(0, len(near), _BLOCK):
            block = near[at : at + _BLOCK]
            errors = gradient * np.linalg.norm(problem.rows[block] @ inverse, axis=1)
            largest = max(largest, errors[distances[block] <= errors].max(initial=0.0))
        rounding = 4 * np.finfo(float).eps * problem.n_columns * problem.largest_norm * np.linalg.norm(minimum.w)
        return float(largest + rounding)
