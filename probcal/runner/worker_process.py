"""Processes of workers: their output, their signals, and the start of the process from which they are forked."""

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

_MOST_BYTES, _MOST_CHARACTERS = 16_000, 4_000
"""Largest output that is stored in memory, and in a result."""
_OMITTED = "Extension modules: "
"""Beginning of a line with thousands of characters at the end of Python's crash report."""
_AT_ONCE = 64 * 1024
_VISIT = 64
"""Largest number of pieces read before other workers have their turn."""


class Output:
    """Read the output of a worker, whose end of the pipe (``theirs``) goes to ``print_into``."""

    def __init__(self, context: Any) -> None:
        self._ours, self.theirs = context.Pipe(duplex=False)
        self._tail = b""
        self._open = True
        if sys.platform != "win32":
            os.set_blocking(self._ours.fileno(), False)

    def waitables(self) -> list[Connection]:
        return [self._ours] if self._open and sys.platform != "win32" else []

    def take(self) -> None:
        """Read what has been printed so far."""
        for _ in range(_VISIT):
            if not self.waitables():
                return
            try:
                piece = os.read(self._ours.fileno(), _AT_ONCE)
            except BlockingIOError:
                return
            self._open = bool(piece)  # empty when no process can print into the pipe any more
            self._tail = (self._tail + piece)[-_MOST_BYTES:]

    def forget(self) -> None:
        """Forget the output so far, because another cell begins."""
        self.take()
        self._tail = b""

    def last(self) -> str:
        """Return the last output of the cell, to stdout or stderr."""
        self.take()
        lines = self._tail.decode("utf-8", "replace").splitlines(keepends=True)
        return "".join(line for line in lines if not line.startswith(_OMITTED))[-_MOST_CHARACTERS:]

    def close(self) -> None:
        self._ours.close()


def print_into(theirs: Connection) -> None:
    """Send everything that this process and its programs print into ``theirs``."""
    if sys.platform != "win32":
        for stream in (1, 2):
            os.dup2(theirs.fileno(), stream)
    theirs.close()


def flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):  # the stream is missing or closed
            continue


class _Mask(threading.local):
    before: frozenset[int] | set[int] = frozenset()


_ENDING = SIGNALS
_mask = _Mask()


def let_forks_be_ended() -> None:
    """Give every process that this one forks the default handlers for ``_ENDING``, which this process ignores."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=_block_signals, after_in_parent=_unblock_signals, after_in_child=_restore_handlers)


def _block_signals() -> None:
    """Block signals until the new process has its own handlers, so that no signal is lost."""
    _mask.before = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)


def _unblock_signals() -> None:
    signal.pthread_sigmask(signal.SIG_SETMASK, _mask.before)


def _restore_handlers() -> None:
    for number in heeded():
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    _unblock_signals()


_LONGEST = 60
"""Largest length of a folder in bytes. A socket's name may have 103, and multiprocessing adds some 35 to the folder."""
_SHORT = ("/tmp", "/var/tmp", "/dev/shm")


def start_server() -> None:
    """Start the fork server unless it runs, with the signals of an interruption blocked.

    Raises ProbcalError when there is no folder for its socket.
    """
    from multiprocessing import forkserver  # not on Windows

    _choose_folder()
    start_tracker()
    with held():
        forkserver.ensure_running()


def start_tracker() -> None:
    """Start the resource tracker of multiprocessing now, because its start unblocks signals."""
    from multiprocessing import resource_tracker  # not on Windows

    resource_tracker.ensure_running()


def _choose_folder() -> None:
    """Use another folder for the sockets of multiprocessing where the name of the user's TMPDIR is too long."""
    folder = tempfile.gettempdir()
    if len(os.fsencode(folder)) <= _LONGEST:
        return
    for short in _SHORT:
        if os.access(short, os.W_OK | os.X_OK):
            tempfile.tempdir = short
            try:
                util.get_temp_dir()  # it uses this folder from now on
            finally:
                tempfile.tempdir = folder
            return
    raise ProbcalError(
        f"the name of the temporary folder is too long for a socket, and none of {', '.join(_SHORT)} is writable:"
        f" {folder}; set TMPDIR to a folder of at most {_LONGEST} characters"
    )
