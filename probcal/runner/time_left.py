"""How long cells take: estimates from earlier cells, the time that is left, and how many workers it is worth."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from probcal.runner.cell import Cell, PlannedCell

_TRUST_SECONDS = 10.0
"""Seconds of work after which this machine's speed counts as much as the recorded one."""

_SECONDS_PER_WORKER = 1.0
"""Seconds of work that justify another worker. Starting it and reading its data costs about 0.2 s."""


class TimeEstimates:
    """Estimate how many seconds cells take.

    A cell that was timed before takes as long again, scaled by the speed of the machine. Another cell takes as long as
    cells of its data set, learner and method. Without those it takes as long, per row, as cells of its learner and
    method on other data sets. Then cells of its method count, then any cell.
    """

    def __init__(self, plan: Iterable[PlannedCell]) -> None:
        self._planned = {planned.cell.id: planned for planned in plan}
        self._recorded = {
            cell: 0.0 if planned.old_result is not None else planned.expected_seconds
            for cell, planned in self._planned.items()
        }
        self._of_kind: dict[Hashable, list[float]] = defaultdict(lambda: [0.0, 0.0])
        self._spent = self._foreseen = 0.0
        for cell, seconds in self._recorded.items():
            # Cells that are only measured again take next to no time, and would make all others look fast.
            if seconds is not None and self._planned[cell].old_result is None:
                self._learn(self._planned[cell].cell, seconds)

    def record_end(self, cell: str, seconds: float) -> None:
        """Record the seconds of a cell."""
        planned, estimate = self._planned[cell], self._recorded[cell]
        if planned.old_result is not None:
            return
        if estimate is None:
            self._learn(planned.cell, seconds)
        else:
            self._spent, self._foreseen = self._spent + seconds, self._foreseen + estimate

    def expected_seconds(self, cell: str) -> float | None:
        """Return the expected seconds of a cell, or None while nothing is known."""
        old_seconds, planned_cell = self._recorded[cell], self._planned[cell].cell
        if old_seconds is not None:
            return old_seconds * (self._spent + _TRUST_SECONDS) / (self._foreseen + _TRUST_SECONDS)
        for kind in _kinds(planned_cell):
            if kind in self._of_kind:
                seconds, rows = self._of_kind[kind]
                return seconds / rows * _rows(planned_cell)
        return None

    def _learn(self, cell: Cell, seconds: float) -> None:
        for kind in _kinds(cell):
            totals = self._of_kind[kind]
            totals[0], totals[1] = totals[0] + seconds, totals[1] + _rows(cell)


@dataclass(frozen=True)
class RunningCell:
    """Describe a running cell. ``expected`` is its total in seconds, None if unknown."""

    cell: str
    seconds: float
    expected: float | None

    @property
    def remaining_seconds(self) -> float | None:
        """Return the seconds left. A cell that takes longer than expected is assumed to need the same time again."""
        if self.expected is None:
            return None
        return self.expected - self.seconds if self.seconds < self.expected else self.seconds


def seconds_left(
    cells: Iterable[RunningCell], waiting_seconds: float | None, longest_waiting: float, workers: int
) -> float | None:
    """Return the seconds until the last cell ends, or None if unknown.

    This is the work divided by the workers, but at least what the longest cell needs. ``waiting_seconds`` is the work
    of all cells that have not begun, None if unknown.
    """
    times = [cell.remaining_seconds for cell in cells]
    known_times = [seconds for seconds in times if seconds is not None]
    if waiting_seconds is None or len(known_times) < len(times):
        return None
    return max((waiting_seconds + sum(known_times)) / max(workers, 1), longest_waiting, *known_times, 0.0)


def useful_worker_count(plan: list[PlannedCell], jobs: int) -> int:
    """Return how many of ``jobs`` workers to start: one for each second of work, or all if a cell was never timed."""
    times = [planned.expected_seconds for planned in plan if planned.old_result is None]
    limit = max(1, min(jobs, len(times)))
    return limit if None in times else max(1, min(limit, ceil(sum(filter(None, times)) / _SECONDS_PER_WORKER)))


def _kinds(cell: Cell) -> list[Hashable]:
    dataset, learner, method = cell.row_and_column
    return [(dataset, learner, method), (learner, method), (method,), ()]


def _rows(cell: Cell) -> int:
    return min(cell.card.expect.rows, 2 * cell.max_rows if cell.max_rows else cell.card.expect.rows)


def duration(seconds: float) -> str:
    """Return ``under 1 s``, ``42 s``, ``3 min 20 s`` or ``2 h 5 min``."""
    total = round(seconds)
    if seconds < 1:
        return "under 1 s"
    if total < 60:
        return f"{total} s"
    if total < 3600:
        return f"{total // 60} min {total % 60} s"
    return f"{total // 3600} h {total % 3600 // 60} min"
