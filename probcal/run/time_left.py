"""How long a run still takes, from what its cells took before and from those that have ended."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from math import ceil

from probcal.run.plan import Cell, Planned

_TRUST = 10.0
"""Seconds of work that must have gone by before this machine's speed counts as much as the recorded one."""

_PAYS = 1.0
"""Seconds of work that a further worker has to find: to start it and let it read its data costs about 0.2 s."""


class Estimates:
    """Seconds that cells are likely to take.

    A cell that was timed before takes as long again, on a machine that is as fast. Another takes what cells of
    its data set, learner and method take; failing that, those of its learner and method on other data sets, row
    by row; then those of its method; then any.
    """

    def __init__(self, planned: Iterable[Planned]) -> None:
        self._planned = {one.cell.id: one for one in planned}
        self._recorded = {cell: _recorded(one) for cell, one in self._planned.items()}
        self._of_kind: dict[Hashable, list[float]] = defaultdict(lambda: [0.0, 0.0])
        self._spent = self._foreseen = 0.0
        for cell, seconds in self._recorded.items():
            if seconds is not None and self._planned[cell].kept is None:
                self._learn(self._planned[cell].cell, seconds)

    def ended(self, cell: str, seconds: float) -> None:
        """What a cell has taken."""
        one, foreseen = self._planned[cell], self._recorded[cell]
        if one.kept is not None:
            return
        if foreseen is None:
            self._learn(one.cell, seconds)
        else:
            self._spent, self._foreseen = self._spent + seconds, self._foreseen + foreseen

    def of(self, cell: str) -> float | None:
        """None as long as nothing is known to go by."""
        recorded, one = self._recorded[cell], self._planned[cell].cell
        if recorded is not None:
            return recorded * (self._spent + _TRUST) / (self._foreseen + _TRUST)
        for kind in _kinds(one):
            if kind in self._of_kind:
                seconds, rows = self._of_kind[kind]
                return seconds / rows * _rows(one)
        return None

    def _learn(self, cell: Cell, seconds: float) -> None:
        for kind in _kinds(cell):
            known = self._of_kind[kind]
            known[0], known[1] = known[0] + seconds, known[1] + _rows(cell)


@dataclass(frozen=True)
class Under:
    """A cell under way. ``expected``: seconds in all, None where nothing is known to go by."""

    cell: str
    seconds: float
    expected: float | None

    @property
    def left(self) -> float | None:
        """One that takes longer than expected is expected to take as long again."""
        if self.expected is None:
            return None
        return self.expected - self.seconds if self.seconds < self.expected else self.seconds


def seconds_left(
    running: Iterable[Under], waiting_seconds: float | None, longest_waiting: float, workers: int
) -> float | None:
    """Until the last cell ends: the work divided by the workers, but never less than the longest cell needs.

    ``waiting_seconds``: of all cells that have not begun; None where nothing is known to go by.
    """
    rest = [one.left for one in running]
    known = [left for left in rest if left is not None]
    if waiting_seconds is None or len(known) < len(rest):
        return None
    return max((waiting_seconds + sum(known)) / max(workers, 1), longest_waiting, *known, 0.0)


def workers_that_pay(planned: list[Planned], jobs: int) -> int:
    """How many of ``jobs`` workers to start: one for each second of work, and all where some was never timed."""
    fits = [one.expected_seconds for one in planned if one.kept is None]
    most = max(1, min(jobs, len(fits)))
    return most if None in fits else max(1, min(most, ceil(sum(filter(None, fits)) / _PAYS)))


def _recorded(planned: Planned) -> float | None:
    return 0.0 if planned.kept is not None else planned.expected_seconds


def _kinds(cell: Cell) -> list[Hashable]:
    learner, method = cell.column.learner.name, cell.column.method.name
    return [(cell.dataset, learner, method), (learner, method), (method,), ()]


def _rows(cell: Cell) -> int:
    return min(cell.card.expect.rows, 2 * cell.max_rows if cell.max_rows else cell.card.expect.rows)
