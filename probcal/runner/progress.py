"""Progress of a run: a bar on a terminal, plain lines elsewhere, and ``running.json`` for ``probcal status``.

The file exists only during the run. Another process reads it, so it says who wrote it and when.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Annotated, Any, TextIO

from pydantic import ConfigDict, Field, TypeAdapter

from probcal._lock import FileLock
from probcal.runner.cell import PlannedCell
from probcal.runner.time_left import RunningCell, TimeEstimates, duration, seconds_left
from probcal.store.cell_result import CellResult
from probcal.store.folder import LOCK

_TICK_SECONDS = 1.0
"""Seconds between two updates of the bar, and of the file if there is news."""
_QUIET_SECONDS, _LOG_SECONDS = 5.0, 300.0
"""Without a terminal: seconds between lines when cells have ended, and when none has."""
_SMALLEST_BAR = 4


class RunProgress:
    """Count the cells of a run as they begin and end. ``folder`` holds ``running.json``."""

    def __init__(
        self, plan: Sequence[PlannedCell], workers: int, folder: Path | None = None, stream: TextIO | None = None
    ) -> None:
        self._stream = stream or sys.stderr
        self._estimates = TimeEstimates(plan)
        self._waiting = {planned.cell.id for planned in plan}
        self._running: dict[str, float] = {}
        """Running cell -> when it began, by the monotonic clock: the system's clock may be set during the run."""
        self._since, self._workers, self._total = time.monotonic(), workers, len(plan)
        self.done = self.failed = 0
        self._last_error = ""
        self._last_line = self._last_write = time.monotonic()
        self._file = HeartbeatFile(folder) if folder else None
        self._lock, self._over = threading.RLock(), threading.Event()
        self._bar: Any = None
        if self._stream.isatty():
            from tqdm import tqdm  # probcal status shows no bar

            width = _terminal_width(self._stream)
            self._bar = tqdm(total=self._total, file=self._stream, bar_format="{bar}", ncols=width)
        self._news = True
        self._update()
        self._clock = threading.Thread(target=self._tick, daemon=True)
        self._clock.start()

    @property
    def n_ended(self) -> int:
        return self.done + self.failed

    def record_start(self, planned: PlannedCell) -> None:
        """Record that a worker has begun a cell."""
        with self._lock:
            self._waiting.discard(planned.cell.id)
            self._running[planned.cell.id] = time.monotonic()
            self._news = True

    def record_end(self, result: CellResult) -> None:
        """Record that a cell has ended."""
        with self._lock:
            start = self._running.pop(result.id, None)
            self._waiting.discard(result.id)
            if result.status == "done":
                self.done += 1
                self._estimates.record_end(result.id, result.seconds if start is None else time.monotonic() - start)
            else:
                self.failed += 1
                self._last_error = f"{result.id}: {result.status}: {result.failure_text}"
                self._print_line(self._last_error)
            self._news = True
            if self._bar is not None:
                self._bar.update()
            elif self.n_ended == self._total or time.monotonic() - self._last_line >= _QUIET_SECONDS:
                self._print_state()

    def close(self) -> None:
        """Stop the display and remove ``running.json``."""
        self._over.set()
        # Before the file is removed, because the thread would write it anew.
        self._clock.join()
        with self._lock:
            if self._bar is not None:
                self._draw(self._run_state())
                self._bar.close()
            if self._file is not None:
                self._file.remove()

    def _tick(self) -> None:
        while not self._over.wait(_TICK_SECONDS):
            with self._lock:
                self._update()

    def _update(self) -> None:
        now, state = time.monotonic(), None
        if self._bar is not None:
            state = self._run_state()
            self._draw(state)
        elif now - self._last_line >= _LOG_SECONDS:
            self._print_state()
        if self._file is not None and (self._news or now - self._last_write >= HEARTBEAT_SECONDS):
            self._news, self._last_write = False, now
            self._file.write(state or self._run_state())

    def _run_state(self) -> RunState:
        times = [self._estimates.expected_seconds(cell) for cell in self._waiting]
        known_times = [seconds for seconds in times if seconds is not None]
        # Taken anew each time, so that a clock that was set moves all times of the file alike.
        epoch = time.time() - time.monotonic()
        return RunState(
            since=epoch + self._since,
            workers=self._workers,
            total=self._total,
            done=self.done,
            failed=self.failed,
            running={
                cell: (epoch + start, self._estimates.expected_seconds(cell)) for cell, start in self._running.items()
            },
            waiting_seconds=sum(known_times) if len(known_times) == len(times) else None,
            longest_waiting=max(known_times, default=0.0),
            last_error=self._last_error,
        )

    def _draw(self, state: RunState) -> None:
        """Draw the bar and the words. The bar takes the remaining width, and the last words are dropped first."""
        columns, now = _terminal_width(self._stream), time.time()
        head = f"{100 * self.n_ended // max(self._total, 1):3d}%|"
        words = [[f"{self.n_ended}/{self._total} cells"], [left_text(state, now)]]
        words += [[f"{self.failed} failed"]] if self.failed else []
        tail = "| "
        room = columns - len(head) - _SMALLEST_BAR
        for choices in filter(any, [*words, _running_texts(state.running_cells(now))]):
            texts = [f"{tail}{', ' if len(tail) > 2 else ''}{word}" for word in choices]
            short_texts = [text for text in texts if len(text) < room]
            if not short_texts:
                break
            tail = short_texts[0]
        if self._bar is not None:
            # tqdm formats this text, which is safe because names of cells have no braces.
            self._bar.ncols, self._bar.bar_format = columns, f"{head}{{bar}}{tail}"
            self._bar.refresh()

    def _print_state(self) -> None:
        self._last_line = time.monotonic()
        self._print_line(state_line(self._run_state(), time.time()))

    def _print_line(self, line: str) -> None:
        if self._bar is not None:
            self._bar.write(line, file=self._stream)
        else:
            print(line, file=self._stream, flush=True)


def _running_texts(cells: list[RunningCell]) -> list[str]:
    """Return descriptions of the running cells, each one shorter than the last."""
    if not cells:
        return []
    first, n_more = running_text(cells[0]), len(cells) - 1
    return [*([f"{first} and {n_more} more"] if n_more else []), first, cells[0].cell]


def _terminal_width(stream: TextIO) -> int:
    # Asked each time, because a window can change its size. Some terminals tell the size 0.
    return os.get_terminal_size(stream.fileno()).columns or shutil.get_terminal_size().columns or 80


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
