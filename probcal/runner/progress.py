"""Progress of a run: a bar on a terminal, plain lines elsewhere, and a file for ``probcal status``."""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO

from tqdm import tqdm

from probcal.runner import heartbeat as live_text
from probcal.runner.cell import PlannedCell
from probcal.runner.heartbeat import HEARTBEAT_SECONDS, HeartbeatFile, RunningCell, RunState, TimeEstimates
from probcal.runner.plan import first_line
from probcal.store.cell_result import CellResult

_TICK_SECONDS = 1.0
"""Seconds between two updates of the bar, and of the file if there is news."""
_QUIET_SECONDS, _SILENCE_SECONDS = 5.0, 300.0
"""Without a terminal: seconds between lines when cells have ended, and when none has."""
_SMALLEST_BAR = 4


class RunProgress:
    """Count the cells of a run as they begin and end. ``folder`` holds ``running.json``."""

    def __init__(
        self, plan: Sequence[PlannedCell], workers: int, folder: Path | None = None, stream: TextIO | None = None
    ) -> None:
        self._stream = stream or sys.stderr
        self._estimates = TimeEstimates(plan)
        self._waiting = {entry.cell.id for entry in plan}
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
            width = _terminal_width(self._stream)
            self._bar = tqdm(total=self._total, file=self._stream, bar_format="{bar}", ncols=width)
        self._news = True
        self._update()
        self._clock = threading.Thread(target=self._tick, daemon=True)
        self._clock.start()

    @property
    def n_ended(self) -> int:
        return self.done + self.failed

    def record_start(self, entry: PlannedCell) -> None:
        """Record that a worker has begun a cell."""
        with self._lock:
            self._waiting.discard(entry.cell.id)
            self._running[entry.cell.id] = time.monotonic()
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
                self._last_error = (
                    f"{result.id}: {result.status}: {first_line(result.error_type)}: {first_line(result.message)}"
                )
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
        elif now - self._last_line >= _SILENCE_SECONDS:
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
        words = [[f"{self.n_ended}/{self._total} cells"], [live_text.left_text(state, now)]]
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
        self._print_line(live_text.state_line(self._run_state(), time.time()))

    def _print_line(self, line: str) -> None:
        if self._bar is not None:
            self._bar.write(line, file=self._stream)
        else:
            print(line, file=self._stream, flush=True)


def _running_texts(cells: list[RunningCell]) -> list[str]:
    """Return descriptions of the running cells, each one shorter than the last."""
    if not cells:
        return []
    first, n_more = live_text.running_text(cells[0]), len(cells) - 1
    return [*([f"{first} and {n_more} more"] if n_more else []), first, cells[0].cell]


def _terminal_width(stream: TextIO) -> int:
    # Asked each time, because a window can change its size. Some terminals tell the size 0.
    return os.get_terminal_size(stream.fileno()).columns or shutil.get_terminal_size().columns or 80
