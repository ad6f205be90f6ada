"""A worker as the run sees it: the start of its process, what it is given, answers and prints, and its end.

``probcal.runner.worker_process`` is the same worker from inside.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from multiprocessing import util
from multiprocessing.connection import Connection, wait
from multiprocessing.reduction import ForkingPickler
from typing import Any

from probcal.errors import ProbcalError
from probcal.runner.cell import PlannedCell
from probcal.runner.interruption import block_signals
from probcal.runner.worker_process import run_isolated_cell, serve

# Workers are forked from a process that has imported the libraries once and has no threads. A fork of this
# process would inherit the locks of its numeric libraries as they are at that moment.
CONTEXT: Any = multiprocessing.get_context("spawn" if sys.platform == "win32" else "forkserver")


def preload_modules(modules: Iterable[str]) -> None:
    """Import ``modules`` once for all workers. This has no effect after the first worker has started."""
    if CONTEXT.get_start_method() == "forkserver":
        CONTEXT.set_forkserver_preload(["probcal.runner.fork_server", *modules])


_SIGKILL = 9
"""The signal that a system sends when memory runs out. Windows has no name for it."""
_GRACE_SECONDS = 10.0
"""Seconds from the end of a worker's connection, or from SIGKILL, to the end of its process."""


class WorkerDied(Exception):
    """Report that a worker ended, closed its connection or gave an unreadable answer. The argument says which."""


class Worker:
    """Run one cell after another in a process. ``planned`` is its present cell, None before the first.

    ``work`` is called with each given item and with ``run_id``. It returns an answer, and whether the process can take
    another item.
    """

    def __init__(
        self, run_id: str, work: Callable[[Any, str], tuple[Any, bool]] = run_isolated_cell, context: Any = None
    ) -> None:
        context = context or CONTEXT
        self._connection, child_end = context.Pipe()
        self._output = Output(context)
        arguments = (child_end, self._output.write_end, run_id, work, dict(os.environ))
        self._process = context.Process(target=serve, args=arguments)
        _start(self._process, context)
        child_end.close()
        self._output.write_end.close()
        self.planned: PlannedCell | None = None
        self._since = time.monotonic()

    @property
    def seconds(self) -> float:
        """Return how long the worker has had its cell."""
        return time.monotonic() - self._since

    def waitables(self) -> list[Any]:
        """Return what ``multiprocessing.connection.wait`` can wait for: a message, the process's end, its output."""
        return [self._connection, self._process.sentinel, *self._output.waitables()]

    def has_news(self) -> bool:
        """Return whether ``receive`` has something to return. Also read what was printed meanwhile."""
        self._output.read()
        return bool(wait([self._connection, self._process.sentinel], 0))

    def receive(self) -> tuple[Any, bool]:
        """Return the answer to the given item, None after the start, and whether the worker can take another.

        Raises WorkerDied.
        """
        content = None
        with suppress(Exception):  # the process ended, or its learner wrote into this connection
            # A process that has ended may have sent its last answer before.
            if self._connection.poll():
                content = self._connection.recv_bytes()
        if content is None:
            self._process.join(_GRACE_SECONDS)  # a process can close its connection and still run
            raise WorkerDied(_exit_reason(self._process.exitcode))
        try:
            answer: tuple[Any, bool] = ForkingPickler.loads(content)
        except Exception as error:
            raise WorkerDied(f"its answer cannot be read: {type(error).__name__}: {error}") from None
        return answer

    def last_output(self) -> str:
        """Return the end of what its cell has printed so far."""
        return self._output.last_text()

    def give(self, planned: PlannedCell, item: Any = None) -> None:
        """Give it one more cell, or an ``item`` about it. If it has died meanwhile, the next ``receive`` reports it."""
        self._output.clear()
        self.planned, self._since = planned, time.monotonic()
        with suppress(OSError):
            self._connection.send(item or planned)

    def kill(self) -> None:
        """Kill it and everything it started. Call ``end`` afterwards."""
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except (AttributeError, OSError):
            # Windows has no process groups, and a new worker has none yet.
            self._process.kill()

    def end(self) -> None:
        """Kill it and everything it started, and wait until it has ended."""
        self.kill()
        self._process.join(_GRACE_SECONDS)  # a disk or network that does not answer can delay its end
        self._connection.close()
        self._output.close()


def _exit_reason(exitcode: int | None) -> str:
    """Return in words how a process ended. ``exitcode`` is None if it still runs."""
    if exitcode is None:
        return "its process cannot be heard any more: it closed its connection to the run"
    if exitcode >= 0:
        return f"its process ended by itself with exit code {exitcode}"
    if -exitcode == _SIGKILL:
        return "killed: out of memory?"
    names = {member.value: member.name for member in signal.Signals}  # real-time signals have no name
    return f"its process was ended by {names.get(-exitcode, f'signal {-exitcode}')}"


def _start(process: Any, context: Any) -> None:
    """Start a worker with the signals of an interruption blocked, until it has its own handlers."""
    if context.get_start_method() == "forkserver":
        start_server()
        # Signals may interrupt this start, because loading the libraries takes the server seconds. The worker has them
        # blocked all the same, like its server.
        process.start()
    else:
        if sys.platform != "win32":
            start_tracker()
        with block_signals():
            process.start()


_LONGEST_FOLDER = 60
"""Largest length of a folder in bytes. A socket's name may have 103, and multiprocessing adds some 35 to the folder."""
_SHORT_FOLDERS = ("/tmp", "/var/tmp", "/dev/shm")  # noqa: S108  # for a folder of its own


def start_server() -> None:
    """Start the fork server unless it runs, with the signals of an interruption blocked.

    Raises ProbcalError when there is no folder for its socket.
    """
    from multiprocessing import forkserver  # not on Windows

    _choose_folder()
    start_tracker()
    with block_signals():
        forkserver.ensure_running()


def start_tracker() -> None:
    """Start the resource tracker of multiprocessing now, because its start unblocks signals."""
    from multiprocessing import resource_tracker  # not on Windows

    resource_tracker.ensure_running()


def _choose_folder() -> None:
    """Use another folder for the sockets of multiprocessing where the name of the user's TMPDIR is too long."""
    folder = tempfile.gettempdir()
    if len(os.fsencode(folder)) <= _LONGEST_FOLDER:
        return
    for candidate in _SHORT_FOLDERS:
        if os.access(candidate, os.W_OK | os.X_OK):
            # multiprocessing asks for a folder once and remembers it. Everything else keeps the user's TMPDIR.
            tempfile.tempdir = candidate
            try:
                util.get_temp_dir()
            finally:
                tempfile.tempdir = folder
            return
    raise ProbcalError(
        f"the name of the temporary folder is too long for a socket, and none of {', '.join(_SHORT_FOLDERS)} is "
        f"writable: {folder}; set TMPDIR to a folder of at most {_LONGEST_FOLDER} characters"
    )


_MOST_BYTES, _MOST_CHARACTERS = 64_000, 4_000
"""Largest output that is stored in memory, and in a result."""
_OMITTED_PREFIX = "Extension modules: "
"""Beginning of a line with thousands of characters at the end of Python's crash report."""
_CRASH = "Fatal Python error: "
"""Beginning of Python's crash report. The place of the crash follows, and then all its callers."""
_PIECE_BYTES = 64 * 1024
_MOST_PIECES = 64
"""Largest number of pieces read before other workers have their turn."""


class Output:
    """Read the output of a worker, whose end of the pipe (``write_end``) goes to ``redirect_output``."""

    def __init__(self, context: Any) -> None:
        self._read_end, self.write_end = context.Pipe(duplex=False)
        self._tail = b""
        self._open = True
        if sys.platform != "win32":
            # One worker that prints nothing must not keep the run from the others.
            os.set_blocking(self._read_end.fileno(), False)

    def waitables(self) -> list[Connection]:
        return [self._read_end] if self._open and sys.platform != "win32" else []

    def read(self) -> None:
        """Read what has been printed so far."""
        for _ in range(_MOST_PIECES):
            if not self.waitables():
                return
            try:
                piece = os.read(self._read_end.fileno(), _PIECE_BYTES)
            except BlockingIOError:
                return
            self._open = bool(piece)  # empty when no process can print into the pipe any more
            self._tail = (self._tail + piece)[-_MOST_BYTES:]

    def clear(self) -> None:
        """Forget the output so far, because another cell begins."""
        self.read()
        self._tail = b""

    def last_text(self) -> str:
        """Return the last output of the cell, to stdout or stderr."""
        self.read()
        # The limit of bytes may cut a character, and a learner may print any bytes.
        lines = self._tail.decode("utf-8", "replace").splitlines(keepends=True)
        text = "".join(line for line in lines if not line.startswith(_OMITTED_PREFIX))
        # A crash report has the place of the crash first, which a cut at the end of a long report would lose.
        crash = text.rfind(_CRASH)
        start = max(0, len(text) - _MOST_CHARACTERS)
        return text[start if crash < 0 else min(crash, start) :][:_MOST_CHARACTERS]

    def close(self) -> None:
        self._read_end.close()
