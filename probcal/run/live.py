"""``running.json``: what a run is doing, for ``probcal status`` in another terminal. It is there only meanwhile."""

from __future__ import annotations

import json
import os
import socket
import sys
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from probcal.run.time_left import Under, seconds_left

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
