"""Minima of the logistic loss under many class weights, found together, and the steps of scikit-learn's solver.

The minimum moves smoothly with the logarithm of the ratio of the weights. So a search starts from a polynomial through
the minima found before, with a Hessian between theirs. The Hessian shapes its steps. The gradients are exact, and
common matrix products compute those of all searches. A search gets its own Hessian if that is cheaper than the
remaining steps.

``Replay`` repeats the steps of scikit-learn's newton-cholesky from coefficients of 0. The solver takes whole Newton
steps until the last step s has s H s / 2 <= tol and no entry of the gradient is above tol. To leading order, the error
after a Newton step is the square of the error before it. Iterates known to a few per cent therefore give the next one
to a few per cent, and steps on a sample can replace those on all rows.

A sample does not show where the minimum is, but the minimum is known. So gradients are taken relative to the minimum on
the same rows, and the first step is that of all rows. The difference between two separate samples shows how far to
trust their mean. If that is not far enough, larger samples follow, and at last all rows, where only rounding remains.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from probcal.fast_paths.logistic_loss import CLOSE_ENOUGH, AtZero, LogisticLoss, Search

_NODES = 8
"""Number of minima for an interpolated start. Beyond the outermost minimum half as many are used, because polynomials
diverge there.
"""
_NEAR = 1.0
"""Largest distance beyond the outermost minimum, in the log ratio, at which a search may start."""
_SAME = 1e-6
"""Log ratios that are closer than this would spoil an interpolation."""
_SHARE = 16
"""One row in this many gives a start that saves some Hessians of all rows."""
_MANY = 1 << 16
"""Number of rows above which such a start pays."""
_MAX_FAILURES = 3
"""After this many failures without a success the rest is not tried, for instance for separable data."""


class LogisticSolver:
    """Find minima on the rows of one problem, and remember them as starting points."""

    def __init__(self) -> None:
        self._minima: list[tuple[float, np.ndarray]] = []
        self._hessians: list[tuple[float, np.ndarray]] = []
        self._n_failed = 0

    def solve(self, loss: LogisticLoss, searches: list[Search], at_zero: np.ndarray) -> None:
        """Finish the open searches.

        ``at_zero``: (2, n_coefficients, n_coefficients) Hessians of the rows of each class at coefficients of 0.
        """
        waiting = sorted((one for one in searches if one.state == "open"), key=lambda one: abs(one.ratio))
        while waiting:
            if not self._minima and self._n_failed >= _MAX_FAILURES:
                for one in waiting:
                    one.state = "failed"
                return
            now = self._next(waiting)
            waiting = [one for one in waiting if not any(one is other for other in now)]
            for one in now:
                self._start(one, loss, at_zero)
            _run(loss, now)
            self._store(now)

    def _next(self, waiting: list[Search]) -> list[Search]:
        """Return the searches near the minima found, and the nearest one beyond them at either end."""
        if not self._minima:
            return waiting[:1]
        near = [one for one in waiting if self._distance(one.ratio) <= _NEAR]
        low, high = self._minima[0][0] - _NEAR, self._minima[-1][0] + _NEAR
        below = [one for one in waiting if one.ratio < low]
        above = [one for one in waiting if one.ratio > high]
        return near + [min(far, key=lambda one: self._distance(one.ratio)) for far in (below, above) if far]

    def _distance(self, ratio: float) -> float:
        """Return the distance of ``ratio`` from the range of the minima found."""
        if not self._minima:
            return 0.0
        return max(self._minima[0][0] - ratio, ratio - self._minima[-1][0], 0.0)

    def _start(self, search: Search, loss: LogisticLoss, at_zero: np.ndarray) -> None:
        if not self._hessians:
            search.take_hessian(np.tensordot(search.weighting, at_zero, axes=1), own=True)
            if loss.n_rows >= _MANY:
                _start_from_sample(search, loss)
            return
        search.point = self._interpolated_point(search.ratio)
        search.take_hessian(self._hessian_between(search.ratio), own=False)

    def _interpolated_point(self, ratio: float) -> np.ndarray:
        n_nodes = _NODES if self._distance(ratio) == 0 else _NODES // 2
        nodes: list[tuple[float, np.ndarray]] = []
        for node in sorted(self._minima, key=lambda node: abs(node[0] - ratio)):
            if len(nodes) < n_nodes and all(abs(node[0] - other) > _SAME for other, _ in nodes):
                nodes.append(node)
        places = np.array([place for place, _ in nodes])
        shares = [
            np.prod((ratio - np.delete(places, i)) / (places[i] - np.delete(places, i))) for i in range(len(places))
        ]
        offset: np.ndarray = np.column_stack([point for _, point in nodes]) @ np.array(shares)
        return offset

    def _hessian_between(self, ratio: float) -> np.ndarray:
        places = np.array([place for place, _ in self._hessians])
        after = int(np.searchsorted(places, ratio))
        if after in (0, len(places)):
            return self._hessians[max(after - 1, 0)][1]
        (left, low), (right, high) = self._hessians[after - 1 : after + 1]
        share = (ratio - left) / (right - left)
        return (1 - share) * low + share * high

    def _store(self, searches: list[Search]) -> None:
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
    """Move ``search`` to the minimum of a sample of rows, if that is found."""
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
"""Rows in the smallest samples."""
_LARGER = 4
"""Growth factor of the number of rows in the next samples."""
_LARGEST = 1 / 8
"""Largest share of all rows in a sample. Above it, all rows are as cheap."""
_FEWEST_COEFFICIENTS = 8
"""With fewer coefficients, two samples may agree by chance."""
_EXACT = 1e-6
"""Relative error allowed for steps on all rows, far above rounding."""
_ROUGHEST = 1.0
"""If the distances of two samples from the minimum differ by more than their mean, they are useless."""
_LEFT_OF_SLOPE = 0.25
"""Largest slope at the end of a step, as a share of the negative slope at its start, for which the whole step is taken.

The loss then falls by far more than the 1/2048 of the slope that the solver requires.
"""
_MOST_STEPS = 30


class End(NamedTuple):
    """Describe a point where scikit-learn may stop.

    ``offset``: (n_coefficients,) from the minimum. ``error``: of the offset, in the norm of the Hessian.
    """

    offset: np.ndarray
    error: float


class _Step(NamedTuple):
    """Hold a step. ``over``: how many times it exceeds the tolerance. ``whole``: whether the solver takes all of it."""

    offset: np.ndarray
    over: float
    whole: bool


class Replay:
    """Repeat the steps of scikit-learn's solver on the rows of ``loss``.

    ``tol``: that of the learner. ``at_zero``: that of ``loss``.
    """

    def __init__(self, loss: LogisticLoss, tol: float, at_zero: AtZero) -> None:
        self._loss, self._tol, self._at_zero = loss, tol, at_zero
        self._sizes = _sizes(loss)
        self._drawn: list[list[LogisticLoss]] = []

    def ends(self, search: Search, *, samples: bool) -> Iterator[list[End]]:
        """Yield the points where the solver may stop, relative to ``search``'s minimum, with growing accuracy.

        Each list has all possible points, and is empty if they are unknown. Without ``samples`` only all rows are used.
        """
        for number in range(len(self._sizes) if samples else 0):
            yield self._ends(search, self._samples(number))
        yield self._ends(search, [self._loss])

    def _samples(self, number: int) -> list[LogisticLoss]:
        """Return two samples that share no row."""
        if number == len(self._drawn):
            random, n_rows = np.random.default_rng(number), self._sizes[number]
            # random, because every 10th row might be of one kind
            rows = random.choice(self._loss.n_rows, 2 * n_rows, replace=False)
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
    """Return the numbers of rows of the samples. There are none if the rows are few."""
    if loss.n_coefficients < _FEWEST_COEFFICIENTS:
        return []
    sizes, size = [], _FEWEST_ROWS
    while size <= _LARGEST * loss.n_rows:
        sizes.append(size)
        size *= _LARGER
    return sizes
