"""The process of a worker, from inside: its signals, its output, and one isolated cell after another.

A cell may change the process: handlers of signals, the environment, threads, or the arithmetic. Such a process ends
after the cell, so that no cell can change the numbers of another one.
"""

from __future__ import annotations

import builtins
import faulthandler
import multiprocessing
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler
from typing import Any

import numpy as np
import sklearn

from probcal.runner.cell import Cell, PlannedCell
from probcal.runner.cell_rows import load_rows
from probcal.runner.execute import Outcome, execute
from probcal.runner.fit_predict import limit_blas_threads, seed_shared_generators
from probcal.runner.identity import used_modules
from probcal.runner.interruption import SIGNALS, handled_signals

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]  # a module elsewhere

if sys.platform == "linux":
    import fcntl

_F_SETSIG = 10  # from <fcntl.h> of Linux, because Python 3.11 and 3.12 do not name it


def serve(
    parent: Connection,
    output: Connection,
    run_id: str,
    work: Callable[[Any, str], tuple[Any, bool]],
    environment: dict[str, str],
) -> None:
    """Answer what ``parent`` gives, until the run ends. Everything that is printed goes into ``output``."""
    os.environ.clear()  # the environment of the fork server is older
    os.environ.update(environment)
    if hasattr(os, "setpgid"):
        os.setpgid(0, 0)  # so that ``end`` also kills programs that a learner started
    # The parent handles Ctrl-C, a scheduler's SIGTERM and a lost terminal. Programs do not inherit handlers,
    # but they would inherit SIG_IGN.
    for number in handled_signals():
        signal.signal(number, lambda *_: None)
    restore_signals_in_forks()
    if hasattr(signal, "pthread_sigmask"):
        # The worker was started with them blocked (``probcal.runner.worker``), so that none came before these handlers.
        signal.pthread_sigmask(signal.SIG_UNBLOCK, handled_signals())
    _end_with_parent()
    redirect_output(output)
    faulthandler.enable(2)  # prints where a crash happened
    limit_blas_threads()
    # The first message says that the worker has started. What it imports until then is not the time of a cell.
    answer: tuple[Any, bool] = (None, True)
    while True:
        try:
            parent.send(answer)
            content = parent.recv_bytes()
        except (EOFError, OSError):
            return  # the parent is gone
        # Outside of the block above, because it may raise an OSError of its own.
        answer = work(ForkingPickler.loads(content), run_id)
        # Before the answer, so that the run finds all that the cell has printed.
        flush()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is None:
        return
    # The kernel does it, because native code can block every thread of this process.
    if sys.platform == "linux":
        # A negative owner is a process group, so that programs that a learner started are killed, too.
        fcntl.fcntl(parent.sentinel, fcntl.F_SETOWN, -os.getpid())
        fcntl.fcntl(parent.sentinel, _F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(parent.sentinel, fcntl.F_SETFL, fcntl.fcntl(parent.sentinel, fcntl.F_GETFL) | os.O_ASYNC)
    # The thread serves other systems, and covers an end of the run that came before the lines above.
    threading.Thread(target=_wait_for_end, args=(parent,), daemon=True).start()


def _wait_for_end(parent: Any) -> None:
    parent.join()
    try:
        os.killpg(0, signal.SIGKILL)
    except AttributeError:
        os._exit(1)


def redirect_output(connection: Connection) -> None:
    """Send everything that this process and its programs print into ``connection``."""
    # On Windows a connection is a handle and no file number, so its output is not read.
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


_mask = _Mask()


def restore_signals_in_forks() -> None:
    """Give every process that this one forks the default handlers for ``SIGNALS``, which this one ignores."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=_block_signals, after_in_parent=_unblock_signals, after_in_child=_restore_handlers)


def _block_signals() -> None:
    # Until the new process has its own handlers, so that no signal is lost.
    _mask.old_mask = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)


def _unblock_signals() -> None:
    signal.pthread_sigmask(signal.SIG_SETMASK, _mask.old_mask)


def _restore_handlers() -> None:
    for number in handled_signals():
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    _unblock_signals()


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
        # As the system spells it: decoding every name takes time, and only a change matters.
        "environment": dict(getattr(os.environ, "_data", os.environ)),
        "folder": os.getcwd(),
        "streams": [sys.stdout, sys.stderr],
        "recursion": sys.getrecursionlimit(),
        "numpy": np.geterr(),
        "sklearn": sklearn.get_config(),
    }


_BUILTINS = dict(vars(builtins))
# A list, because Python computes an expression of constants when it compiles it, whatever the arithmetic is later.
_FLOATS = [1.0, 2.0**-53, sys.float_info.min, 5e-324]


def _has_default_arithmetic() -> bool:
    """Return whether Python's built-in names are its own, floats round to nearest, and denormal floats are no zeros."""
    # Compared with the defaults and not with the state before the cell, because a library that was built with
    # -ffast-math changes the arithmetic when it is imported. Rounding up fails the first comparison, rounding down the
    # second, and rounding towards zero the third.
    one, half_step, normal, denormal = _FLOATS
    rounds_to_nearest = one + half_step == one and -one - half_step == -one
    rounds_ties_to_even = (one + 2 * half_step) + half_step == one + 4 * half_step
    # A processor can take denormal operands for zero, or give zero for denormal results.
    keeps_denormals = denormal != 0 and normal / 4 * 4 == normal
    names = vars(builtins)
    # An interactive Python stores its last value in the built-in name "_".
    has_own_names = all(names.get(name) is value for name, value in _BUILTINS.items() if name != "_")
    return has_own_names and rounds_to_nearest and rounds_ties_to_even and keeps_denormals


_last_state: list[tuple[int, dict[str, Any]]] = []
"""The number of imported modules and the state at the end of the last cell."""


def _reset(limits: dict[int, tuple[int, int]]) -> None:
    # Native code also changes these, as Java does at its start.
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
    """Return whether the process has enough free file numbers."""
    try:
        # Linux before 6.2 gives the folder the size 0, so its names are counted.
        files = os.stat(_OPEN_FILES).st_size or len(os.listdir(_OPEN_FILES))
    except OSError:
        files = 0
    # Open files of a cell look like those that a later cell of its learner needs, so none are closed.
    return resource is None or files < resource.getrlimit(resource.RLIMIT_NOFILE)[0] / 2


def run_isolated_cell(planned: PlannedCell, run_id: str) -> tuple[Outcome, bool]:
    """Run a cell with ``execute``. Return its outcome, and whether the process can run another cell.

    Whatever the cell raises or returns becomes one result. The process-wide generators start from the cell's own seed.
    So a learner that uses them gives the same numbers in any order of the cells.
    """
    start, process, cell = time.perf_counter(), os.getpid(), planned.cell
    # First, because the settings that a module makes when it is imported must stay.
    for module in used_modules(cell.column):
        if module in sys.modules:
            continue
        with suppress(BaseException):  # ``execute`` imports it again and reports the error
            import_module(module)
    limits, threads = {kind: resource.getrlimit(kind) for kind in _LIMITS}, threading.enumerate()
    # The state is that at the end of the last cell, unless a module was imported meanwhile.
    is_known = bool(_last_state) and _last_state[0][0] == len(sys.modules)
    old_state = _last_state[0][1] if is_known else _process_state()
    try:
        seed_shared_generators(cell.as_seeded())
        outcome = execute(cell, planned.key, run_id).with_short_texts()
    except BaseException as error:
        described, text = (type(error).__name__, _describe_error(str, error)), _describe_error(traceback.format_exc)
        seconds = time.perf_counter() - start
        outcome = Outcome.failed(planned, run_id, seconds, described, traceback=text).with_short_texts()
    if os.getpid() != process:  # a fork that the cell did not end would send a second outcome
        os._exit(0)
    try:
        _reset(limits)  # first, because the other steps may need memory
        _last_state[:] = [(len(sys.modules), _process_state())]
        is_unchanged = _last_state[0][1] == old_state and not _remaining_threads(threads) and _has_default_arithmetic()
        # Without n_train the rows could not be loaded, and asking for them would fail again.
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
