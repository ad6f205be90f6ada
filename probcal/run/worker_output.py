"""What a worker's cells print: read so that they never wait, the last of it kept for those that fail."""

from __future__ import annotations

import os
import sys
from multiprocessing.connection import Connection
from typing import Any

_KEPT, _TOLD = 16_000, 4_000
"""Bytes; characters."""
_NOT_TOLD = "Extension modules: "
"""A line of thousands of characters that Python ends the account of a crash with."""
_AT_ONCE = 64 * 1024
_VISIT = 64
"""Pieces read before other workers have their turn again."""


class Output:
    """The run's end of the pipe. ``theirs`` goes to the worker, which calls ``print_into`` with it."""

    def __init__(self, context: Any) -> None:
        self._ours, self.theirs = context.Pipe(duplex=False)
        self._tail = b""
        self._open = True
        if sys.platform != "win32":
            os.set_blocking(self._ours.fileno(), False)

    def waitables(self) -> list[Connection]:
        return [self._ours] if self._open and sys.platform != "win32" else []

    def take(self) -> None:
        """Read what there is by now."""
        for _ in range(_VISIT):
            if not self.waitables():
                return
            try:
                piece = os.read(self._ours.fileno(), _AT_ONCE)
            except BlockingIOError:
                return
            self._open = bool(piece)  # at an end once nobody can print any more
            self._tail = (self._tail + piece)[-_KEPT:]

    def forget(self) -> None:
        """What comes next is of another cell."""
        self.take()
        self._tail = b""

    def last(self) -> str:
        """The last that the cell printed, to stdout or stderr."""
        self.take()
        lines = self._tail.decode("utf-8", "replace").splitlines(keepends=True)
        return "".join(line for line in lines if not line.startswith(_NOT_TOLD))[-_TOLD:]

    def close(self) -> None:
        self._ours.close()


def print_into(theirs: Connection) -> None:
    """Let everything that this process and its programs print go there."""
    if sys.platform != "win32":
        for stream in (1, 2):
            os.dup2(theirs.fileno(), stream)
    theirs.close()


def flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):  # none, or closed
            continue
