"""What a worker's cells print: read so that they never wait, the last of it kept for those that fail.

Processes that a learner forks: they are the learner's to end, which multiprocessing does by SIGTERM.

Start the process that workers are forked from, whatever folder is for temporary files.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import threading
from multiprocessing import util
from multiprocessing.connection import Connection
from typing import Any

from probcal.errors import ProbcalError
from probcal.runner.interruption import SIGNALS, heeded, held

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


class _Mask(threading.local):
    before: frozenset[int] | set[int] = frozenset()


_ENDING = SIGNALS
_mask = _Mask()


def let_forks_be_ended() -> None:
    """Give every process that this one forks the usual answer to ``_ENDING``, which this one itself does not heed."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=_wait, after_in_parent=_go_on, after_in_child=_heed)


def _wait() -> None:
    """A signal that comes before the new process has its own answer is not to be lost."""
    _mask.before = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)


def _go_on() -> None:
    signal.pthread_sigmask(signal.SIG_SETMASK, _mask.before)


def _heed() -> None:
    for number in heeded():
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    _go_on()


_LONGEST = 60
"""Bytes of a folder: a socket's whole name may have 103, and multiprocessing puts some 35 behind the folder's."""
_SHORT = ("/tmp", "/var/tmp", "/dev/shm")


def start_server() -> None:
    """Start it unless it runs, with the signals of an interruption blocked, which it leaves to the run.

    Raises ProbcalError when no folder for its socket is to be had.
    """
    from multiprocessing import forkserver  # not on Windows

    _choose_folder()
    start_tracker()
    with held():
        forkserver.ensure_running()


def start_tracker() -> None:
    """Start the process in which multiprocessing keeps count, now: it unblocks signals where it is started."""
    from multiprocessing import resource_tracker  # not on Windows

    resource_tracker.ensure_running()


def _choose_folder() -> None:
    """Have multiprocessing put its sockets elsewhere where the user's TMPDIR has too long a name for that."""
    folder = tempfile.gettempdir()
    if len(os.fsencode(folder)) <= _LONGEST:
        return
    for short in _SHORT:
        if os.access(short, os.W_OK | os.X_OK):
            tempfile.tempdir = short
            try:
                util.get_temp_dir()  # which it keeps from now on
            finally:
                tempfile.tempdir = folder
            return
    raise ProbcalError(
        f"the folder for temporary files is too long for a socket, and none of {', '.join(_SHORT)} can be written to:"
        f" {folder}; set TMPDIR to a folder of at most {_LONGEST} characters"
    )
