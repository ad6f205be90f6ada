"""Minima of the logistic loss under many weights of the two classes, found together.

The minimum moves smoothly with the logarithm of the ratio of the weights. So a search starts from a polynomial through
the minima found before, and on a Hessian between theirs: that shapes its steps, while gradients are exact and common
matrix products give those of all searches. Where a Hessian of its own is cheaper than the steps left, it gets one.

Where scikit-learn's newton-cholesky stops: its steps repeated, from coefficients of 0 on.

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

from probcal.fast_paths.logistic_loss import CLOSE_ENOUGH, AtZero, LogisticLoss, Search

_NODES = 8
"""Minima that a start is interpolated from; half as many beyond the outermost, where polynomials run wild."""
_NEAR = 1.0
"""How far beyond the outermost minimum a search may start, by the logarithm of the ratio, before a nearer one ends."""
_SAME = 1e-6
"""Ratios whose logarithms are closer would spoil an interpolation."""
_SHARE = 16
"""One row in so many gives a start that saves some Hessians of all rows."""
_MANY = 1 << 16
"""Rows from where on that pays."""
_HOPELESS = 3
"""Failures without a single success after which the rest is not tried: data that are separable, for instance."""


class LogisticSolver:
    """Finds minima on the rows of one problem and remembers them to start from."""

    def __init__(self) -> None:
        self._minima: list[tuple[float, np.ndarray]] = []
        self._hessians: list[tuple[float, np.ndarray]] = []
        self._n_failed = 0

    def solve(self, loss: LogisticLoss, searches: list[Search], at_zero: np.ndarray) -> None:
        """Bring the open ones of ``searches`` to their end.

        ``at_zero``: (2, n_coefficients, n_coefficients) Hessians of the rows of each class at coefficients of 0.
        """
        waiting = sorted((one for one in searches if one.state == "open"), key=lambda one: abs(one.ratio))
        while waiting:
            if not self._minima and self._n_failed >= _HOPELESS:
                for one in waiting:
                    one.state = "failed"
                return
            now = self._next(waiting)
            waiting = [one for one in waiting if not any(one is other for other in now)]
            for one in now:
                self._start(one, loss, at_zero)
            _run(loss, now)
            self._remember(now)

    def _next(self, waiting: list[Search]) -> list[Search]:
        """Those near the minima found, and the nearest one beyond them at either end."""
        if not self._minima:
            return waiting[:1]
        near = [one for one in waiting if self._distance(one.ratio) <= _NEAR]
        low, high = self._minima[0][0] - _NEAR, self._minima[-1][0] + _NEAR
        below = [one for one in waiting if one.ratio < low]
        above = [one for one in waiting if one.ratio > high]
        return near + [min(far, key=lambda one: self._distance(one.ratio)) for far in (below, above) if far]

    def _distance(self, ratio: float) -> float:
        """How far ``ratio`` is from the range of the minima found."""
        if not self._minima:
            return 0.0
        return max(self._minima[0][0] - ratio, ratio - self._minima[-1][0], 0.0)

    def _start(self, search: Search, loss: LogisticLoss, at_zero: np.ndarray) -> None:
        if not self._hessians:
            search.take_hessian(np.tensordot(search.weighting, at_zero, axes=1), own=True)
            if loss.n_rows >= _MANY:
                _start_from_sample(search, loss)
            return
        search.point = self._interpolated(search.ratio)
        search.take_hessian(self._between(search.ratio), own=False)

    def _interpolated(self, ratio: float) -> np.ndarray:
        n_nodes = _NODES if self._distance(ratio) == 0 else _NODES // 2
        nodes: list[tuple[float, np.ndarray]] = []
        for node in sorted(self._minima, key=lambda node: abs(node[0] - ratio)):
            if len(nodes) < n_nodes and all(abs(node[0] - other) > _SAME for other, _ in nodes):
                nodes.append(node)
        places = np.array([place for place, _ in nodes])
        shares = [
            np.prod((ratio - np.delete(places, i)) / (places[i] - np.delete(places, i))) for i in range(len(places))
        ]
        return np.column_stack([point for _, point in nodes]) @ np.array(shares)

    def _between(self, ratio: float) -> np.ndarray:
        places = np.array([place for place, _ in self._hessians])
        after = int(np.searchsorted(places, ratio))
        if after in (0, len(places)):
            return self._hessians[max(after - 1, 0)][1]
        (left, low), (right, high) = self._hessians[after - 1 : after + 1]
        share = (ratio - left) / (right - left)
        return (1 - share) * low + share * high

    def _remember(self, searches: list[Search]) -> None:
        for one in searches:
            if one.state == "failed":
                self._n_failed += 1
                continue
            self._minima.append((one.ratio, one.point))
            if one.owns_hessian:
                self._hessians.append((one.ratio, one.hessian))
        self._minima.sort(key=lambda node: node[0])
        self._hessians.sort(key=lambda node: node[0])


def _start_from_sample(search: Search, loss: LogisticLoss) -> None:
    """Put ``search`` at the minimum of some rows, if that is found."""
    rows = np.random.default_rng(0).choice(loss.n_rows, loss.n_rows // _SHARE, replace=False)
    rough = Search(search.weighting, search.penalties, search.point)
    rough.take_hessian(search.hessian, own=True)
    _run(loss.of(np.sort(rows)), [rough])
    if rough.state == "done":
        search.point = rough.point
        search.take_hessian(loss.hessian(search.point, search.weighting), own=True)


def _run(loss: LogisticLoss, searches: list[Search]) -> None:
    cost = loss.hessian_cost
    while searches := [one for one in searches if one.state == "open"]:
        points = np.column_stack([one.point for one in searches])
        gradients = loss.gradients(points, np.array([one.weighting for one in searches]))
        for one, gradient in zip(searches, gradients.T, strict=True):
            one.advance(gradient, cost)
            if one.wants_hessian:
                one.take_hessian(loss.hessian(one.point, one.weighting), own=True)


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
