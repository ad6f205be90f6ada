"""``running.json``: what a run is doing, for ``probcal status`` in another terminal. It is there only meanwhile.

How long a run still takes, from what its cells took before and from those that have ended.

A run under way, in words: in its own log and bar, and in ``probcal status``.
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
from math import ceil
from pathlib import Path
from typing import Any

from probcal.runner.cells import Cell
from probcal.runner.plan import Planned

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


_SILENT = 120.0
"""Seconds; a run on another machine writes every few of them, and is taken for ended when it has not for so long."""

_LARGEST = 2**32
"""Seconds since 1970, for a century, cells, and the number of a process."""


@dataclass(frozen=True)
class Live:
    """A run as it was at one moment; times are seconds since 1970, as only they mean the same to two processes."""

    since: float
    workers: int
    total: int
    done: int = 0
    failed: int = 0
    running: dict[str, tuple[float, float | None]] = field(default_factory=dict)
    """Cell -> (when it began, seconds that it is expected to take)."""
    waiting_seconds: float | None = None
    longest_waiting: float = 0.0
    last_error: str = ""

    @property
    def waiting(self) -> int:
        return self.total - self.done - self.failed - len(self.running)

    def under_way(self, now: float) -> list[Under]:
        """The cells that run, the longest first."""
        each = [Under(cell, max(now - since, 0.0), expected) for cell, (since, expected) in self.running.items()]
        return sorted(each, key=lambda one: -one.seconds)

    def left(self, now: float) -> float | None:
        """Seconds until the run ends, as far as that can be told."""
        return seconds_left(self.under_way(now), self.waiting_seconds, self.longest_waiting, self.workers)


@dataclass(frozen=True)
class Heard:
    """What ``running.json`` says, and who wrote it."""

    live: Live
    pid: int
    host: str
    born: str
    at: float

    @property
    def runs(self) -> bool:
        """Whether that process is there still, as far as this machine can tell."""
        if self.host != socket.gethostname() or sys.platform == "win32":
            return time.time() - self.at < _SILENT
        return _born(self.pid) == self.born and _is_there(self.pid)


class LiveFile:
    """Writes the file. Where that cannot be done the run goes on without it."""

    def __init__(self, folder: Path) -> None:
        self._path, self._new = folder / "running.json", folder / "running.json.new"
        self._who = {"pid": os.getpid(), "host": socket.gethostname(), "born": _born(os.getpid())}

    def write(self, live: Live) -> None:
        """Put it in the place of what was said before; a reader sees the one or the other."""
        with suppress(OSError):
            if self._new.exists() and not self._new.is_file():  # opening a pipe would wait for a reader
                return
            text = json.dumps({**self._who, "at": time.time(), "live": asdict(live)})
            self._new.write_text(text + "\n", encoding="utf-8", errors="replace")
            os.replace(self._new, self._path)

    def remove(self) -> None:
        for path in (self._path, self._new):
            with suppress(OSError):
                path.unlink()


def heard_of(folder: Path) -> Heard | None:
    """What a run in ``folder`` last said of itself; None when none runs, or what is there makes no sense."""
    path = folder / "running.json"
    if not path.is_file():  # reading a pipe would wait for ever
        return None
    try:
        said: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        pid, at = int(_number(said["pid"])), _number(said["at"])
        heard = Heard(_live(**said["live"]), pid, str(said["host"]), str(said["born"]), at)
        return heard if heard.runs else None
    except (OSError, ValueError, TypeError, LookupError, AttributeError, RecursionError):
        return None


def _live(
    running: dict[str, tuple[float, float | None]], waiting_seconds: float | None, last_error: str, **numbers: float
) -> Live:
    return Live(
        running={str(cell): (_number(since), _maybe(expected)) for cell, (since, expected) in running.items()},
        waiting_seconds=_maybe(waiting_seconds),
        last_error=str(last_error),
        **{name: _number(value) for name, value in numbers.items()},  # type: ignore[arg-type]  # whole ones too
    )


def _maybe(number: float | None) -> float | None:
    return None if number is None else _number(number)


def _number(value: float) -> float:
    """Raises ValueError or TypeError for what is none, or none that can be told as a time or a process."""
    if not abs(value) <= _LARGEST:
        raise ValueError(value)
    return value + 0


def _born(pid: int) -> str:
    """When the process of that number began, in the system's own words; empty where it does not say."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[19]
    return ""


def _is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # another user's
        return True
    return True


def counts(live: Live) -> str:
    """``13/340 cells: 12 done, 1 failed, 2 running, 325 to run``; what is none is left out."""
    each = (
        (live.done, "done"),
        (live.failed, "failed"),
        (len(live.running), "running"),
        (live.waiting, "to run"),
    )
    return f"{live.done + live.failed}/{live.total} cells: {', '.join(f'{n} {what}' for n, what in each if n)}"


def left(live: Live, now: float) -> str:
    """``2 h 5 min left``; empty where nothing is left, or nothing known to go by."""
    if not live.running and not live.waiting:
        return ""
    seconds = live.left(now)
    return "" if seconds is None else f"{duration(seconds)} left"


def under_way(one: Under) -> str:
    return f"{one.cell} {duration(one.seconds)}"


def line(live: Live, now: float) -> str:
    """All of it in one line, for a log."""
    said = [counts(live), left(live, now)]
    if live.running:
        said.append(f"now {', '.join(map(under_way, live.under_way(now)))}")
    return "; ".join(filter(None, said))


def heard_lines(heard: Heard) -> list[str]:
    """A run as another process sees it."""
    live, now = heard.live, time.time()
    lines = [
        f"process {heard.pid} on {heard.host} has been running it for {duration(max(now - live.since, 0))}",
        f"  {'; '.join(filter(None, [counts(live), left(live, now) or 'time left not known yet']))}",
        *(f"  now: {under_way(one)}" for one in live.under_way(now)),
    ]
    return [*lines, f"  last error: {live.last_error}"] if live.last_error else lines


def duration(seconds: float) -> str:
    """``under 1 s``, ``42 s``, ``3 min 20 s`` or ``2 h 5 min``."""
    whole = round(seconds)
    if seconds < 1:
        return "under 1 s"
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
