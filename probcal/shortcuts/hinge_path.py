"""The minima of the hinge for class weights as they come, and how far their margins can be off."""

from __future__ import annotations

import numpy as np

from probcal.shortcuts.hinge import EXACT, Hinge, Solution
from probcal.shortcuts.signed_rows import SignedRows

_COLD, _WARM = 0.1, 300.0
_ON_THE_MARGIN = 1e-7
_LEVEL = 1e-10
"""Of the slope along b, relative to the sum of c: below it, b may lie anywhere up to the next row's margin of 1."""
_BLOCK = 4096
_MOST_NUMBERS = 2**22
"""In the rows of margin 1: their inverse would take several times as much memory."""


class HingePath:
    """Each minimum is sought from that of the nearest ratio of the classes' costs before it, the first from 0."""

    def __init__(self, data: SignedRows) -> None:
        self._problem = Hinge(data)
        self._solved: list[tuple[float, Solution]] = []

    def solve(self, costs: np.ndarray) -> Solution:
        """For the classes' ``costs``, (2,) above 0: the minimum, unless it says that it is none."""
        ratio = float(np.log(costs[1]) - np.log(costs[0]))
        if self._solved:
            _, near = min(self._solved, key=lambda one: abs(one[0] - ratio))
            solution = self._problem.minimise(costs, near.w, near.free, near.shares, _WARM)
        else:
            nowhere = np.zeros(self._problem.rows.shape[1]), np.empty(0, dtype=np.int64), np.empty(0)
            solution = self._problem.minimise(costs, *nowhere, _COLD)
        if solution.converged:
            self._solved.append((ratio, solution.to_start_from()))
        return solution

    def room(self, solution: Solution) -> tuple[float, float]:
        """How far b can go down and up at no cost: (0, 0) but where the costs on both sides happen to be equal."""
        problem, margins = self._problem, solution.margins
        costly = solution.limits > 0
        second = np.arange(len(margins)) >= problem.n_first
        on = np.abs(margins - 1) <= _ON_THE_MARGIN
        short = margins < 1
        signed = np.where(second, solution.limits, -solution.limits)
        beside = -float(signed[short & ~on].sum())
        level = _LEVEL * float(solution.limits.sum())
        up = down = 0.0
        if abs(beside + float(solution.limits[on & ~second].sum())) <= level:
            up = float(np.abs(margins - 1)[costly & ~on & (second == short)].min(initial=np.inf))
        if abs(beside - float(solution.limits[on & second].sum())) <= level:
            down = float(np.abs(margins - 1)[costly & ~on & (second != short)].min(initial=np.inf))
        return down, up

    def margin_error(self, solution: Solution) -> float:
        """The largest of ``row_errors`` among training rows that it leaves in doubt, and of what no row is below.

        inf where too many rows have margin 1 to tell, as under a weight that leaves one class only.
        """
        problem = self._problem
        if np.count_nonzero(np.abs(solution.margins - 1) <= _ON_THE_MARGIN) * len(solution.w) > _MOST_NUMBERS:
            return np.inf
        slack, centre, inverse = self._movement(solution)
        distances = np.abs(solution.margins)
        most = 1 + 2 * problem.largest_norm * float(np.linalg.norm(inverse, axis=0).sum())
        near = np.flatnonzero(distances <= slack * most)
        largest = slack
        for at in range(0, len(near), _BLOCK):
            block = near[at : at + _BLOCK]
            errors = slack * _gain(problem.rows[block], centre, inverse)
            largest = max(largest, errors[distances[block] <= errors].max(initial=0.0))
        return float(largest)

    def row_errors(self, solution: Solution, which: np.ndarray) -> np.ndarray:
        """How far the margins of rows ``which`` can be from those of another solution for the same costs.

        Where the same rows E have margin 1 in both, w moves by a combination of E that sums to 0, thus by
        E_c^+ d, where E_c are those rows less their mean, and d says how far their margins are from 1. So a margin,
        b's movement included, is off by at most 1 + |(x - mean)' E_c^+|_1 times the largest of d.
        """
        slack, centre, inverse = self._movement(solution)
        return slack * _gain(self._problem.rows[which], centre, inverse)

    def _movement(self, solution: Solution) -> tuple[float, np.ndarray, np.ndarray]:
        problem = self._problem
        rounding = 4 * np.finfo(float).eps * len(solution.w) * problem.largest_norm * np.linalg.norm(solution.w)
        slack = EXACT + solution.residual + rounding + self._of_gradient(solution)
        on = _unsigned(problem.rows[np.abs(solution.margins - 1) <= _ON_THE_MARGIN])
        centre = on.mean(axis=0) if len(on) else np.zeros(on.shape[1])
        return float(slack), centre, np.linalg.pinv(on - centre)

    def _of_gradient(self, solution: Solution) -> float:
        """What is left of the gradient once the free multipliers have made up for what they can, times two rows."""
        free = self._problem.rows[solution.free]
        gradient = solution.gradient
        if len(free):
            gradient = gradient - np.linalg.lstsq(free.T, gradient)[0] @ free
        return 2 * self._problem.largest_norm**2 * float(np.linalg.norm(gradient))


def _gain(rows: np.ndarray, centre: np.ndarray, inverse: np.ndarray) -> np.ndarray:
    return 1 + np.abs((_unsigned(rows) - centre) @ inverse).sum(axis=1)


def _unsigned(rows: np.ndarray) -> np.ndarray:
    return rows[:, :-1] * rows[:, -1:]
