"""The minima of the hinge for class weights as they come, and how far liblinear's labels can be off."""

from __future__ import annotations

import numpy as np

from probcal.shortcuts.hinge import Hinge, Solution
from probcal.shortcuts.signed_rows import SignedRows

_COLD, _WARM = 0.1, 30.0
_ON_THE_MARGIN = 1e-7
_BLOCK = 4096


class HingePath:
    """``tol``: that of the dual solver of liblinear which the minima stand for."""

    def __init__(self, data: SignedRows, tol: float) -> None:
        self._problem, self._tol = Hinge(data), tol
        self._solved: list[tuple[float, np.ndarray, np.ndarray, np.ndarray]] = []

    def solve(self, costs: np.ndarray) -> tuple[np.ndarray, int, float] | None:
        """For the classes' ``costs``, (2,) above 0: the minimum (d,), the steps it took and the error of margins."""
        ratio = float(np.log(costs[1]) - np.log(costs[0]))
        if self._solved:
            _, w, free, shares = min(self._solved, key=lambda one: abs(one[0] - ratio))
            solution = self._problem.minimise(costs, w, free, shares, _WARM)
        else:
            nowhere = np.zeros(self._problem.rows.shape[1]), np.empty(0, dtype=np.int64), np.empty(0)
            solution = self._problem.minimise(costs, *nowhere, _COLD)
        if solution is None:
            return None
        self._solved.append((ratio, solution.w, solution.free, solution.shares))
        return solution.w, solution.n_steps, self._margin_error(solution)

    def _margin_error(self, solution: Solution) -> float:
        """How far the margins of the training rows that liblinear might put on the other side can differ.

        Where the same rows E have margin 1, w moves within their span alone, by E^+ d where d says how far their
        margins are from 1: at most tol for liblinear, whose stop bounds every violation of the conditions of the
        minimum, and ``residual`` here. So a margin is off by at most |x' E^+|_1 times the largest of d.
        """
        problem = self._problem
        slack = self._tol + solution.residual
        on = problem.rows[np.abs(solution.margins - 1) <= _ON_THE_MARGIN]
        inverse = np.linalg.pinv(on)
        distances = np.abs(solution.margins)
        near = np.flatnonzero(distances <= slack * np.abs(inverse).sum(axis=1).max(initial=0) * self._longest())
        largest = 0.0
        for at in range(0, len(near), _BLOCK):
            block = near[at : at + _BLOCK]
            errors = slack * np.abs(problem.rows[block] @ inverse).sum(axis=1)
            largest = max(largest, errors[distances[block] <= errors].max(initial=0.0))
        rounding = 4 * np.finfo(float).eps * len(solution.w) * problem.largest_norm * np.linalg.norm(solution.w)
        return float(largest + solution.gradient * problem.largest_norm + rounding)

    def _longest(self) -> float:
        return np.sqrt(self._problem.rows.shape[1]) * self._problem.largest_norm
