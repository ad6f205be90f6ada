"""Where scikit-learn's newton-cholesky stops: its steps repeated, from coefficients of 0 on.

It takes whole Newton steps until the last one, s, has s H s / 2 <= tol and no entry of the gradient is above tol. What
a Newton step leaves of a distance from the minimum goes, to the leading order, with its square, so that iterates known
to a few per cent do for telling to a few more what the next one leaves, and steps on some rows for those on all.
Samples cannot tell where the minimum is, but that is known: gradients are taken less those at the minimum on the same
rows, and the first step is that of all rows. Two samples drawn apart tell by how much they differ how far to trust
their mean. Where that is not far enough larger ones are drawn, and at last all rows, which leave rounding alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from probcal.shortcuts.logistic_loss import AtZero, LogisticLoss
from probcal.shortcuts.logistic_search import CLOSE_ENOUGH, Search

_FEWEST_ROWS = 1 << 12
"""Of the smallest samples."""
_LARGER = 4
"""How many times as many rows the next samples have."""
_LARGEST = 1 / 8
"""Of all rows, in a sample; with larger ones all rows are as cheap."""
_FEWEST_COEFFICIENTS = 8
"""With fewer, two samples may be alike by chance."""
_EXACT = 1e-6
"""By how much, relatively, steps on all rows may be off: rounding, and much to spare."""
_ROUGHEST = 1.0
"""Two samples' distances from the minimum that differ by more than their mean tell nothing."""
_LEFT_OF_SLOPE = 0.25
"""Where the slope at the end of a step is above 0 by no more than this share of what it was below 0 at its start, the
loss falls by far more than the 1/2048 of it that the solver asks for, and the whole step is taken."""
_MOST_STEPS = 30


class End(NamedTuple):
    """A point where scikit-learn may stop: ``offset``, (n_coefficients,), from the minimum, known up to ``error`` in
    the norm of the Hessian."""

    offset: np.ndarray
    error: float


class _Step(NamedTuple):
    """``over``: how many times the tolerance is exceeded; ``whole``: whether the solver takes all of the step here."""

    offset: np.ndarray
    over: float
    whole: bool


class Replay:
    """The steps of scikit-learn's solver on the rows of ``loss``.

    ``tol``: that of the learner; ``at_zero``: of ``loss``.
    """

    def __init__(self, loss: LogisticLoss, tol: float, at_zero: AtZero) -> None:
        self._loss, self._tol, self._at_zero = loss, tol, at_zero
        self._sizes = _sizes(loss)
        self._drawn: list[list[LogisticLoss]] = []

    def ends(self, search: Search, *, samples: bool) -> Iterator[list[End]]:
        """Where it stops from ``search``'s minimum, known better and better.

        Each list has all points that it may be; none where that cannot be told. Without ``samples``, of all rows only.
        """
        for number in range(len(self._sizes) if samples else 0):
            yield self._ends(search, self._samples(number))
        yield self._ends(search, [self._loss])

    def _samples(self, number: int) -> list[LogisticLoss]:
        """Two that have no row in common."""
        if number == len(self._drawn):
            random, n_rows = np.random.default_rng(number), self._sizes[number]
            rows = random.choice(self._loss.n_rows, 2 * n_rows, replace=False)  # every 10th row might be of one kind
            self._drawn.append([self._loss.of(np.sort(part)) for part in (rows[:n_rows], rows[n_rows:])])
        return self._drawn[number]

    def _ends(self, search: Search, parts: list[LogisticLoss]) -> list[End]:
        found = []
        for steps in zip(*(self._steps(search, part) for part in parts), strict=False):
            offset = np.mean([step.offset for step in steps], axis=0)
            size = max(search.length(offset), CLOSE_ENOUGH)
            error = search.length(steps[0].offset - steps[-1].offset) if len(parts) > 1 else _EXACT * size
            if error > _ROUGHEST * size or not all(step.whole for step in steps):
                return []
            margin, over = (1 + error / size) ** 3, max(step.over for step in steps)
            if over <= margin:
                found.append(End(offset, error))
            if over * margin <= 1:
                return found
        return []

    def _steps(self, search: Search, loss: LogisticLoss) -> Iterator[_Step]:
        point, weighting = search.point, search.weighting
        at_minimum = -search.penalties * point
        if loss is not self._loss:
            at_minimum = loss.gradients(point[:, None], weighting[None])[:, 0]
        place = Search(weighting, search.penalties, point)
        place.take_hessian(np.tensordot(weighting, self._at_zero.hessians, axes=1), own=True)
        gradient = self._at_zero.gradients @ weighting
        step = -place.solve(gradient)
        offset = step - point
        for _ in range(_MOST_STEPS):
            decrement = -float(step @ gradient)
            gradient = loss.gradients((point + offset)[:, None], weighting[None])[:, 0] - at_minimum
            gradient += search.penalties * offset
            over = max(decrement / 2, float(np.abs(gradient).max())) / self._tol
            yield _Step(offset, over, float(step @ gradient) <= _LEFT_OF_SLOPE * decrement)
            place.take_hessian(loss.hessian(point + offset, weighting), own=True)
            if place.state == "failed":
                return
            step = -place.solve(gradient)
            offset = offset + step


def _sizes(loss: LogisticLoss) -> list[int]:
    """Numbers of rows of the samples; none where all rows are few."""
    if loss.n_coefficients < _FEWEST_COEFFICIENTS:
        return []
    sizes, size = [], _FEWEST_ROWS
    while size <= _LARGEST * loss.n_rows:
        sizes.append(size)
        size *= _LARGER
    return sizes
