"""Minima of the logistic loss under many weights of the two classes, found together.

The minimum moves smoothly with the logarithm of the ratio of the weights. So a search starts from a polynomial through
the minima found before, and on a Hessian between theirs: that shapes its steps, while gradients are exact and common
matrix products give those of all searches. Where a Hessian of its own is cheaper than the steps left, it gets one.
"""

from __future__ import annotations

import numpy as np

from probcal.shortcuts.logistic_loss import LogisticLoss
from probcal.shortcuts.logistic_search import Search

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
