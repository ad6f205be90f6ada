"""How far a run is: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Mapping
from typing import Any, TextIO

from tqdm import tqdm

from probcal.run.plan import first_line
from probcal.store import CellResult

_QUIET_SECONDS = 5.0
"""Elsewhere than on a terminal, a line at most this often, unless something failed."""
_BAR = "{percentage:3.0f}%|{bar}| {n_fmt}/{total_fmt} cells [{elapsed}{postfix}]"


class Progress:
    """Counts the cells of a run as they end. ``expected``: cell -> the seconds it took before, None if unknown.

    The time left goes by these, so that a run which begins with its quickest cells is not thought short.
    """

    def __init__(self, expected: Mapping[str, float | None], stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._total = len(expected)
        self.done = self.failed = 0
        known = [seconds for seconds in expected.values() if seconds is not None]
        usual = statistics.fmean(known) if known else 1.0
        self._work = {cell: usual if seconds is None else seconds for cell, seconds in expected.items()}
        self._work_done, self._all_work = 0.0, sum(self._work.values())
        self._start = self._last_line = time.monotonic()
        self._bar = (
            tqdm(total=self._total, file=self._stream, bar_format=_BAR, **_width(self._stream))
            if self._stream.isatty()
            else None
        )

    def finished(self, result: CellResult) -> None:
        """One more cell has ended."""
        self.done += 1
        self._work_done += self._work[result.id]
        if result.status != "done":
            self.failed += 1
            self._say(f"{result.id}: {result.status}: {result.error_type}: {first_line(result.message)}")
        if self._bar is not None:
            self._bar.set_postfix_str(f"{self._outlook()}, last {result.id}", refresh=False)
            self._bar.update()
        elif self.done == self._total or time.monotonic() - self._last_line >= _QUIET_SECONDS:
            self._last_line = time.monotonic()
            self._say(f"{self.done}/{self._total} cells, {self._outlook()}, last {result.id}")

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()

    def _outlook(self) -> str:
        passed = time.monotonic() - self._start
        left = passed * (self._all_work / max(self._work_done, 1e-9) - 1) if self.done < self._total else 0.0
        return f"{duration(left)} left" + (f", {self.failed} failed" if self.failed else "")

    def _say(self, line: str) -> None:
        if self._bar is not None:
            self._bar.write(line, file=self._stream)
        else:
            print(line, file=self._stream, flush=True)


def _width(stream: TextIO) -> dict[str, Any]:
    """As wide as the terminal, also after it changes; one that does not know its width has 80 columns."""
    return {"dynamic_ncols": True} if os.get_terminal_size(stream.fileno()).columns else {"ncols": 80}


def duration(seconds: float) -> str:
    """``42 s``, ``3 min 20 s`` or ``2 h 5 min``."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
