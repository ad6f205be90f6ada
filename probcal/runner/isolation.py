"""Isolated execution of one cell in a process that runs others after it, unless the cell has changed the process.

The outcome is checked. The result row of a cell whose worker died or timed out is made here, too.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from typing import Any, Literal

import numpy as np
import sklearn

from probcal.runner.execute import Outcome, execute
from probcal.runner.fingerprint import modules_of
from probcal.runner.fit_predict import rows_of, seed_shared_generators
from probcal.runner.plan import Cell, Planned
from probcal.store.cell_result import CellResult

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]  # a module elsewhere

_USUAL = "HUP INT QUIT USR1 USR2 PIPE ALRM TERM CHLD VTALRM PROF XCPU"
_SIGNALS = [getattr(signal, f"SIG{name}") for name in _USUAL.split() if hasattr(signal, f"SIG{name}")]
_LIMITS = sorted({getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_")})
_TIMERS = [getattr(signal, name) for name in ("ITIMER_REAL", "ITIMER_VIRTUAL", "ITIMER_PROF") if hasattr(signal, name)]
_WAITING = ("joblib.", "loky.", "multiprocessing.queues")
"""Modules whose threads wait for other processes, and draw nothing."""


def _process_state() -> dict[str, Any]:
    """Return what a cell can change in this process and the next cell would notice."""
    return {
        "handlers": [signal.getsignal(number) for number in _SIGNALS],
        "environment": dict(os.environ),
        "folder": os.getcwd(),
        "streams": [sys.stdout, sys.stderr],
        "recursion": sys.getrecursionlimit(),
        "numpy": np.geterr(),
        "sklearn": sklearn.get_config(),
    }


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


def _remaining_threads(before: list[threading.Thread]) -> list[threading.Thread]:
    """Return threads that may go on drawing from the generators that the next cell shares."""
    return [one for one in threading.enumerate() if one not in before and not _waits_for_processes(one)]


def _waits_for_processes(thread: threading.Thread) -> bool:
    modules = (getattr(getattr(thread, "_target", None), "__module__", None), type(thread).__module__)
    return any(module is not None and module.startswith(_WAITING) for module in modules)


def _has_room() -> bool:
    """Return whether the process has enough free file numbers.

    Open files of a cell look like those that a later cell of its learner needs, so none are closed.
    """
    try:
        files = len(os.listdir("/proc/self/fd"))
    except OSError:
        files = 0
    return resource is None or files < resource.getrlimit(resource.RLIMIT_NOFILE)[0] / 2


_SIGKILL = 9
"""The signal that a system sends when memory runs out. Windows has no name for it."""
_LONGEST_NAME, _LONGEST_MESSAGE, _LONGEST_TRACEBACK = 200, 2_000, 20_000
"""Largest numbers of characters. Longer texts are cut in the middle."""


def failed_outcome(
    planned: Planned,
    run: str,
    seconds: float,
    status: Literal["failed", "timeout"],
    error_type: str,
    message: str,
    traceback: str | None = None,
) -> Outcome:
    """Return the outcome of a cell whose worker died or timed out."""
    error: dict[str, Any] = {"error_type": error_type, "message": message, "traceback": traceback}
    names, key = planned.cell.names, planned.key
    return Outcome(CellResult(**names, status=status, run=run, seconds=round(seconds, 6), key=key, **error))


def how_it_ended(exitcode: int | None) -> str:
    """Return in words how a process ended. ``exitcode`` is None if it still runs."""
    if exitcode is None:
        return "its process cannot be heard any more: it closed its connection to the run"
    if exitcode >= 0:
        return f"its process ended by itself with exit code {exitcode}"
    if -exitcode == _SIGKILL:
        return "killed: out of memory?"
    named = {one.value: one.name for one in signal.Signals}  # real-time signals have no name
    return f"its process was ended by {named.get(-exitcode, f'signal {-exitcode}')}"


def bounded(outcome: Outcome) -> Outcome:
    """Return ``outcome`` with a message and a traceback of limited length and plain characters.

    Raises ValueError or TypeError when the result could not be read again, for example a metric that is no number.
    """
    result = outcome.result
    if result.status != "done":
        result = replace(
            result,
            error_type=_shortened(_plain(result.error_type or ""), _LONGEST_NAME),
            message=_shortened(_plain(result.message or ""), _LONGEST_MESSAGE),
            traceback=_shortened(_plain(result.traceback or ""), _LONGEST_TRACEBACK),
        )
    return replace(outcome, result=CellResult.from_json(result.to_json()))


def with_output(outcome: Outcome, output: str) -> Outcome:
    """Return a failed outcome with the last output of its cell after the traceback."""
    if outcome.result.status == "done" or not output.strip():
        return outcome
    traceback = f"{outcome.result.traceback or ''}\nThe last output:\n{output}".lstrip("\n")
    return replace(outcome, result=replace(outcome.result, traceback=traceback))


def _plain(text: str) -> str:
    """Return an exact str. A pipe would rebuild a subclass from the code of its module."""
    return "".join(str.__iter__(text))


def _shortened(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    return f"{text[: most // 2]}\n[{len(text) - most:,} characters left out]\n{text[-(most // 2) :]}"


def execute_alone(planned: Planned, run: str) -> tuple[Outcome, bool]:
    """Run a cell with ``execute``. Return its outcome, and whether the process can run another cell.

    Whatever the cell raises or returns becomes one result. The process-wide generators start from the cell's own seed.
    So a learner that uses them gives the same numbers in any order of the cells.
    """
    start, process, cell = time.perf_counter(), os.getpid(), planned.cell
    for module in modules_of(cell):  # first, because the settings that a module makes on import must stay
        with suppress(BaseException):  # ``execute`` imports it again and reports the error
            import_module(module)
    limits, before, threads = _limits(), _process_state(), threading.enumerate()
    try:
        seed_shared_generators(cell)
        outcome = bounded(execute(cell, planned.key, run))
    except BaseException as error:
        seconds, message = time.perf_counter() - start, _describe_error(str, error)
        text = _describe_error(traceback.format_exc)
        outcome = bounded(failed_outcome(planned, run, seconds, "failed", type(error).__name__, message, text))
    if os.getpid() != process:  # a fork that the cell did not end would send a second outcome
        os._exit(0)
    try:
        _reset(limits)  # first, because the other steps may need memory
        is_as_before = _process_state() == before and not _remaining_threads(threads)
        can_go_on = is_as_before and _has_room() and (outcome.result.n_train is None or _rows_are_protected(cell))
    except Exception:
        can_go_on = False
    return outcome, can_go_on


def _describe_error(describe: Callable[..., str], *errors: BaseException) -> str:
    try:
        return describe(*errors)
    except BaseException as other:
        return f"(no description: describing the error raised {type(other).__name__})"


def _rows_are_protected(cell: Cell) -> bool:
    """Return whether the arrays that the next cell of this split shares are still read-only."""
    return not any(part.flags.writeable for part in rows_of(cell) if isinstance(part, np.ndarray))
