"""How far a run is: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from typing import TextIO

from tqdm import tqdm

from probcal.store import CellResult

_QUIET_SECONDS = 5.0
"""Elsewhere than on a terminal, a line at most this often, unless something failed."""


class Progress:
    """Counts finished cells of ``total``; ``expected``: seconds the run should take, where known."""

    def __init__(self, total: int, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._total, self._done, self._failed = total, 0, 0
        self._start = self._last_line = time.monotonic()
        self._bar = (
            tqdm(total=total, file=self._stream, unit="cell", dynamic_ncols=True, smoothing=0.05)
            if self._stream.isatty()
            else None
        )

    def finished(self, result: CellResult) -> None:
        """One more cell has ended."""
        self._done += 1
        failed = result.status != "done"
        self._failed += failed
        if failed:
            self._say(f"{result.id}: {result.status}: {result.error_type}: {_first_line(result.message)}")
        if self._bar is not None:
            self._bar.set_postfix_str(f"{self._failed} failed, last {result.id}", refresh=False)
            self._bar.update()
        elif self._done == self._total or time.monotonic() - self._last_line >= _QUIET_SECONDS:
            self._last_line = time.monotonic()
            self._say(self._line(result))

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()

    def _line(self, result: CellResult) -> str:
        passed = time.monotonic() - self._start
        left = passed / self._done * (self._total - self._done)
        failed = f", {self._failed} failed" if self._failed else ""
        return f"{self._done}/{self._total} cells{failed}, {duration(left)} left, last {result.id}"

    def _say(self, line: str) -> None:
        if self._bar is not None:
            self._bar.write(line, file=self._stream)
        else:
            print(line, file=self._stream, flush=True)


def duration(seconds: float) -> str:
    """``42 s``, ``3 min 20 s`` or ``2 h 5 min``."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def _first_line(text: str | None) -> str:
    return (text or "").strip().partition("\n")[0]
