"""The process of a worker: its output, its signals, its start, and its state before and after each cell."""

from __future__ import annotations

import builtins
import os
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from multiprocessing import util
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
import sklearn

from probcal.errors import ProbcalError
from probcal.runner.cell import Cell, PlannedCell
from probcal.runner.execute import Outcome, execute, failed_outcome, limit_texts, load_rows
from probcal.runner.fit_predict import seed_shared_generators
from probcal.runner.identity import modules_of
from probcal.runner.interruption import SIGNALS, block_signals, handled_signals

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]  # a module elsewhere

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
        lines = self._tail.decode("utf-8", "replace").splitlines(keepends=True)
        text = "".join(line for line in lines if not line.startswith(_OMITTED_PREFIX))
        crash = text.rfind(_CRASH)
        start = max(0, len(text) - _MOST_CHARACTERS)
        return text[start if crash < 0 else min(crash, start) :][:_MOST_CHARACTERS]

    def close(self) -> None:
        self._read_end.close()


def redirect_output(connection: Connection) -> None:
    """Send everything that this process and its programs print into ``connection``."""
    if sys.platform != "win32":
        for stream in (1, 2):
            os.dup2(connection.fileno(), stream)
    connection.close()


def flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):  # the stream is missing or closed
            continue


class _Mask(threading.local):
    old_mask: frozenset[int] | set[int] = frozenset()


_ENDING_SIGNALS = SIGNALS
_mask = _Mask()


def restore_signals_in_forks() -> None:
    """Give every process that this one forks the default handlers for ``_ENDING_SIGNALS``, which this one ignores."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=_block_signals, after_in_parent=_unblock_signals, after_in_child=_restore_handlers)


def _block_signals() -> None:
    """Block signals until the new process has its own handlers, so that no signal is lost."""
    _mask.old_mask = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING_SIGNALS)


def _unblock_signals() -> None:
    signal.pthread_sigmask(signal.SIG_SETMASK, _mask.old_mask)


def _restore_handlers() -> None:
    for number in handled_signals():
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    _unblock_signals()


_LONGEST_FOLDER = 60
"""Largest length of a folder in bytes. A socket's name may have 103, and multiprocessing adds some 35 to the folder."""
_SHORT_FOLDERS = ("/tmp", "/var/tmp", "/dev/shm")


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
            tempfile.tempdir = candidate
            try:
                util.get_temp_dir()  # it uses this folder from now on
            finally:
                tempfile.tempdir = folder
            return
    raise ProbcalError(
        f"the name of the temporary folder is too long for a socket, and none of {', '.join(_SHORT_FOLDERS)} is "
        f"writable: {folder}; set TMPDIR to a folder of at most {_LONGEST_FOLDER} characters"
    )


# The cells of a worker

_SIGNAL_NAMES = "HUP INT QUIT USR1 USR2 PIPE ALRM TERM CHLD VTALRM PROF XCPU"
_SIGNALS = [getattr(signal, f"SIG{name}") for name in _SIGNAL_NAMES.split() if hasattr(signal, f"SIG{name}")]
_LIMITS = sorted({getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_")})
_handler_of = getattr(signal.getsignal, "__wrapped__", signal.getsignal)
"""Return the handler of a signal, without the search for a member of an enumeration, which takes most of the time."""
_TIMERS = [getattr(signal, name) for name in ("ITIMER_REAL", "ITIMER_VIRTUAL", "ITIMER_PROF") if hasattr(signal, name)]
_WAITING_MODULES = ("joblib.", "loky.", "multiprocessing.queues")
"""Modules whose threads wait for other processes, and draw nothing."""


def _process_state() -> dict[str, Any]:
    """Return what a cell can change in this process and the next cell would notice."""
    return {
        "handlers": [_handler_of(number) for number in _SIGNALS],
        "environment": dict(getattr(os.environ, "_data", os.environ)),  # as the system spells it, decoded for nobody
        "folder": os.getcwd(),
        "streams": [sys.stdout, sys.stderr],
        "recursion": sys.getrecursionlimit(),
        "numpy": np.geterr(),
        "sklearn": sklearn.get_config(),
    }


_BUILTINS = dict(vars(builtins))
_FLOATS = [1.0, 2.0**-53, sys.float_info.min, 5e-324]


def _has_default_arithmetic() -> bool:
    """Return whether Python's built-in names are its own, floats round to nearest, and denormal floats are no zeros.

    This is compared with the defaults of a processor and not with the state before the cell, because a module can
    change it when it is imported. Libraries built with ``-ffast-math`` do.
    """
    one, half_step, normal, denormal = _FLOATS
    rounds_to_nearest = one + half_step == one and -one - half_step == -one
    rounds_ties_to_even = (one + 2 * half_step) + half_step == one + 4 * half_step
    keeps_denormals = denormal != 0 and normal / 4 * 4 == normal
    names = vars(builtins)
    has_own_names = all(names.get(name) is value for name, value in _BUILTINS.items() if name != "_")
    return has_own_names and rounds_to_nearest and rounds_ties_to_even and keeps_denormals


_last_state: list[tuple[int, dict[str, Any]]] = []
"""The number of imported modules and the state at the end of the last cell."""


def _initial_state() -> dict[str, Any]:
    """Return the state before a cell: that at the end of the last one, unless a module was imported meanwhile."""
    return _last_state[0][1] if _last_state and _last_state[0][0] == len(sys.modules) else _process_state()


def _limits() -> dict[int, tuple[int, int]]:
    return {kind: resource.getrlimit(kind) for kind in _LIMITS}


def _reset(limits: dict[int, tuple[int, int]]) -> None:
    """Reset what native code also changes, as Java does at its start: limits, timers and blocked signals."""
    for kind, limit in limits.items():
        if resource.getrlimit(kind) != limit:
            resource.setrlimit(kind, limit)
    for timer in _TIMERS:
        signal.setitimer(timer, 0)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_SETMASK, ())


def _remaining_threads(old_threads: list[threading.Thread]) -> list[threading.Thread]:
    """Return threads that may go on drawing from the generators that the next cell shares."""
    return [
        thread for thread in threading.enumerate() if thread not in old_threads and not _waits_for_processes(thread)
    ]


def _waits_for_processes(thread: threading.Thread) -> bool:
    modules = (getattr(getattr(thread, "_target", None), "__module__", None), type(thread).__module__)
    return any(module is not None and module.startswith(_WAITING_MODULES) for module in modules)


_OPEN_FILES = "/proc/self/fd"


def _has_room() -> bool:
    """Return whether the process has enough free file numbers.

    Open files of a cell look like those that a later cell of its learner needs, so none are closed.
    """
    try:
        files = os.stat(_OPEN_FILES).st_size or len(os.listdir(_OPEN_FILES))  # Linux before 6.2 gives size 0
    except OSError:
        files = 0
    return resource is None or files < resource.getrlimit(resource.RLIMIT_NOFILE)[0] / 2


def execute_alone(entry: PlannedCell, run: str) -> tuple[Outcome, bool]:
    """Run a cell with ``execute``. Return its outcome, and whether the process can run another cell.

    Whatever the cell raises or returns becomes one result. The process-wide generators start from the cell's own seed.
    So a learner that uses them gives the same numbers in any order of the cells.
    """
    start, process, cell = time.perf_counter(), os.getpid(), entry.cell
    for module in modules_of(cell):  # first, because the settings that a module makes on import must stay
        if module in sys.modules:
            continue
        with suppress(BaseException):  # ``execute`` imports it again and reports the error
            import_module(module)
    limits, old_state, threads = _limits(), _initial_state(), threading.enumerate()
    try:
        seed_shared_generators(cell.as_seeded())
        outcome = limit_texts(execute(cell, entry.key, run))
    except BaseException as error:
        seconds, message = time.perf_counter() - start, _describe_error(str, error)
        text = _describe_error(traceback.format_exc)
        outcome = limit_texts(failed_outcome(entry, run, seconds, "failed", type(error).__name__, message, text))
    if os.getpid() != process:  # a fork that the cell did not end would send a second outcome
        os._exit(0)
    try:
        _reset(limits)  # first, because the other steps may need memory
        _last_state[:] = [(len(sys.modules), _process_state())]
        is_unchanged = _last_state[0][1] == old_state and not _remaining_threads(threads) and _has_default_arithmetic()
        is_reusable = is_unchanged and _has_room() and (outcome.result.n_train is None or _rows_are_protected(cell))
    except Exception:
        is_reusable = False
    return outcome, is_reusable


def _describe_error(describe: Callable[..., str], *errors: BaseException) -> str:
    try:
        return describe(*errors)
    except BaseException as other:
        return f"(no description: describing the error raised {type(other).__name__})"


def _rows_are_protected(cell: Cell) -> bool:
    """Return whether the arrays that the next cell of this split shares are still read-only."""
    return not any(part.flags.writeable for part in load_rows(cell) if isinstance(part, np.ndarray))
