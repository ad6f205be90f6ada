"""``running.json``: the state of a run for ``probcal status`` in another terminal, and the time that is left.

The file exists only during the run. The words for its content are here, too.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import time
from collections import defaultdict
from collections.abc import Hashable, Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import cache
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pydantic import ConfigDict, Field, TypeAdapter

from probcal._lock import FileLock
from probcal.store.folder import LOCK

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
        self._planned = {entry.cell.id: entry for entry in plan}
        self._recorded = {
            cell: 0.0 if entry.old_result is not None else entry.expected_seconds
            for cell, entry in self._planned.items()
        }
        self._of_kind: dict[Hashable, list[float]] = defaultdict(lambda: [0.0, 0.0])
        self._spent = self._foreseen = 0.0
        for cell, seconds in self._recorded.items():
            # Cells that are only measured again take next to no time, and would make all others look fast.
            if seconds is not None and self._planned[cell].old_result is None:
                self._learn(self._planned[cell].cell, seconds)

    def record_end(self, cell: str, seconds: float) -> None:
        """Record the seconds of a cell."""
        entry, estimate = self._planned[cell], self._recorded[cell]
        if entry.old_result is not None:
            return
        if estimate is None:
            self._learn(entry.cell, seconds)
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
    times = [entry.expected_seconds for entry in plan if entry.old_result is None]
    limit = max(1, min(jobs, len(times)))
    return limit if None in times else max(1, min(limit, ceil(sum(filter(None, times)) / _SECONDS_PER_WORKER)))


def _kinds(cell: Cell) -> list[Hashable]:
    learner, method = cell.column.learner.name, cell.column.method.name
    return [(cell.dataset, learner, method), (learner, method), (method,), ()]


def _rows(cell: Cell) -> int:
    return min(cell.card.expect.rows, 2 * cell.max_rows if cell.max_rows else cell.card.expect.rows)


HEARTBEAT_SECONDS = 15.0
"""Seconds between two writes of the file without news, by which another machine knows that the run lives."""
_SILENCE_SECONDS = 120.0
"""Seconds. Without locks, a run on another machine counts as ended after this time without news."""

_LARGEST_NUMBER = 2**32
"""Largest accepted number: of seconds since 1970, of cells, and of a process."""
_Count = Annotated[int, Field(strict=True, ge=0, le=_LARGEST_NUMBER)]
_Seconds = Annotated[float, Field(strict=True, ge=-_LARGEST_NUMBER, le=_LARGEST_NUMBER)]


@dataclass(frozen=True)
class RunState:
    """Hold the state of a run at one moment. Times are seconds since 1970, which mean the same to two processes."""

    since: _Seconds
    workers: _Count
    total: _Count
    done: _Count = 0
    failed: _Count = 0
    running: dict[str, tuple[_Seconds, _Seconds | None]] = field(default_factory=dict)
    """Cell -> (when it began, expected seconds)."""
    waiting_seconds: _Seconds | None = None
    longest_waiting: _Seconds = 0.0
    last_error: str = ""
    __pydantic_config__ = ConfigDict(extra="forbid")

    @property
    def waiting(self) -> int:
        return self.total - self.done - self.failed - len(self.running)

    def running_cells(self, now: float) -> list[RunningCell]:
        """Return the running cells, the longest first."""
        cells = [RunningCell(cell, max(now - start, 0.0), estimate) for cell, (start, estimate) in self.running.items()]
        return sorted(cells, key=lambda cell: -cell.seconds)

    def remaining_seconds(self, now: float) -> float | None:
        """Return the seconds until the run ends, or None if unknown."""
        return seconds_left(self.running_cells(now), self.waiting_seconds, self.longest_waiting, self.workers)


@dataclass(frozen=True)
class Heartbeat:
    """Hold the content of ``running.json`` and who wrote it."""

    live: RunState
    pid: _Count
    host: str
    born: str
    at: _Seconds

    def is_running(self, lock: Path) -> bool:
        """Return whether that process still runs.

        It holds the ``lock`` of its folder while it runs, which any machine can see, whatever its clock shows. Without
        such locks, this machine knows its own processes, and another one counts while its news are recent.
        """
        with suppress(OSError):
            holder = FileLock(lock).holder()
            # A full disk keeps a holder from writing who it is. Then the lock alone decides.
            return holder is not None and (not holder.pid or holder[:2] == (self.pid, self.host))
        # On Windows, os.kill(pid, 0) would interrupt the process instead of asking whether it lives.
        if self.host != socket.gethostname() or sys.platform == "win32":
            return abs(time.time() - self.at) < _SILENCE_SECONDS
        # The system gives the number of an ended process to another one, which began at another time.
        return _start_time(self.pid) == self.born and _is_alive(self.pid)

    @property
    def now(self) -> float:
        """Return the present time by the clock of the run. It is never far from its last news.

        The clock of this machine may differ, or may have been set since.
        """
        return min(max(time.time(), self.at), self.at + HEARTBEAT_SECONDS)


class HeartbeatFile:
    """Write the file. If that fails, the run goes on without it."""

    def __init__(self, folder: Path) -> None:
        self._path, self._new_path = folder / "running.json", folder / "running.json.new"
        self._writer = {"pid": os.getpid(), "host": socket.gethostname(), "born": _start_time(os.getpid())}

    def write(self, state: RunState) -> None:
        """Replace the file in one step, so that a reader sees the old or the new content."""
        with suppress(OSError):
            # Opening a pipe would wait for a reader.
            if self._new_path.exists() and not self._new_path.is_file():
                return
            text = json.dumps({**self._writer, "at": time.time(), "live": asdict(state)})
            self._new_path.write_text(text + "\n", encoding="utf-8", errors="replace")
            os.replace(self._new_path, self._path)

    def remove(self) -> None:
        for path in (self._path, self._new_path):
            with suppress(OSError):
                path.unlink()


def read_heartbeat(folder: Path) -> Heartbeat | None:
    """Return the last state of a run in ``folder``, or None when none runs or the file is invalid."""
    path = folder / "running.json"
    if not path.is_file():  # reading a pipe would wait for ever
        return None
    try:
        heartbeat = _heartbeat_adapter().validate_json(path.read_bytes())
    except (OSError, ValueError):
        return None
    return heartbeat if heartbeat.is_running(folder / LOCK) else None


@cache
def _heartbeat_adapter() -> TypeAdapter[Heartbeat]:
    return TypeAdapter(Heartbeat)


def _start_time(pid: int) -> str:
    """Return when the process began, in the system's own format. Empty where the system does not tell."""
    with suppress(OSError):
        # The name of a program may hold spaces and parentheses, so the fields are counted from the last parenthesis.
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[19]
    return ""


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # the process belongs to another user
        return True
    return True


def counts_text(state: RunState) -> str:
    """Return ``13/340 cells: 12 done, 1 failed, 2 running, 325 to run`` without zero counts."""
    numbers = (
        (state.done, "done"),
        (state.failed, "failed"),
        (len(state.running), "running"),
        (state.waiting, "to run"),
    )
    return f"{state.done + state.failed}/{state.total} cells: {', '.join(f'{n} {word}' for n, word in numbers if n)}"


def left_text(state: RunState, now: float) -> str:
    """Return ``2 h 5 min left``. It is empty where nothing is left, or the time is unknown."""
    if not state.running and not state.waiting:
        return ""
    seconds = state.remaining_seconds(now)
    return "" if seconds is None else f"{duration(seconds)} left"


def running_text(cell: RunningCell) -> str:
    return f"{cell.cell} {duration(cell.seconds)}"


def state_line(state: RunState, now: float) -> str:
    """Return the whole state in one line, for a log."""
    parts = [counts_text(state), left_text(state, now)]
    if state.running:
        parts.append(f"now {', '.join(map(running_text, state.running_cells(now)))}")
    return "; ".join(filter(None, parts))


def heartbeat_lines(heartbeat: Heartbeat) -> list[str]:
    """Return the lines that describe the run of another process."""
    state, now = heartbeat.live, heartbeat.now
    lines = [
        f"process {heartbeat.pid} on {heartbeat.host} has been running it for {duration(max(now - state.since, 0))}",
        f"  {'; '.join(filter(None, [counts_text(state), left_text(state, now) or 'time left is not known yet']))}",
        *(f"  now: {running_text(cell)}" for cell in state.running_cells(now)),
    ]
    return [*lines, f"  last error: {state.last_error}"] if state.last_error else lines


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
