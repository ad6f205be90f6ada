"""One cell in a process that has others after it: what it gives is checked, what it changed is put back.

What a cell can change of its process that the next cell would feel, and how it is put back.

The row of a cell that could not tell of itself, and what a row may hold.

How many threads a cell has for its sums.
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
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any, Literal

import numpy as np
import sklearn

from probcal.runner.cells import Cell
from probcal.runner.execute import Outcome, execute
from probcal.runner.fingerprint import modules_of
from probcal.runner.fit_predict import rows_of, seed_shared_generators
from probcal.runner.plan import Planned
from probcal.store.cell_result import CellResult

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

_LIMITS = sorted({getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_")})
_USUAL = "HUP INT QUIT USR1 USR2 PIPE ALRM TERM CHLD VTALRM PROF XCPU"
_SIGNALS = [getattr(signal, f"SIG{name}") for name in _USUAL.split() if hasattr(signal, f"SIG{name}")]
_TIMERS = [getattr(signal, name) for name in ("ITIMER_REAL", "ITIMER_VIRTUAL", "ITIMER_PROF") if hasattr(signal, name)]
_WAITING = ("joblib.", "loky.", "multiprocessing.queues")
"""Whose threads wait for other processes, and draw nothing."""


@dataclass(frozen=True)
class ProcessState:
    """Limits, timers, signal handlers, environment, folder, standard streams, depth of recursion, numpy's error
    state, scikit-learn's settings and the threads, as they are when it is made."""

    limits: dict[int, tuple[int, int]] = field(default_factory=lambda: _limits())
    handlers: dict[int, Any] = field(default_factory=lambda: _handlers())
    environment: dict[str, str] = field(default_factory=lambda: dict(os.environ))
    folder: str = field(default_factory=os.getcwd)
    streams: tuple[Any, Any] = field(default_factory=lambda: (sys.stdout, sys.stderr))
    deepest: int = field(default_factory=sys.getrecursionlimit)
    numpy: dict[str, Any] = field(default_factory=lambda: np.geterr())  # type: ignore[arg-type, return-value]
    sklearn: dict[str, Any] = field(default_factory=sklearn.get_config)
    threads: list[threading.Thread] = field(default_factory=threading.enumerate)

    def put_back(self) -> bool:
        """Whether that could be done, and the process has room for another cell."""
        steps: list[Callable[[], Any]] = [  # memory first, which the others may need
            self._limits_back,
            self._signals_back,
            self._environment_back,
            lambda: os.chdir(self.folder),
            self._streams_back,
            lambda: sys.setrecursionlimit(self.deepest),
            lambda: np.seterr(**self.numpy),
            lambda: sklearn.set_config(**self.sklearn),
        ]
        try:
            for step in steps:
                step()
            return _room() and not self._threads_left()
        except Exception:
            return False

    def _limits_back(self) -> None:
        for kind, limit in _limits().items():
            if limit != self.limits[kind]:
                resource.setrlimit(kind, self.limits[kind])

    def _signals_back(self) -> None:
        for timer in _TIMERS:
            signal.setitimer(timer, 0)
        if hasattr(signal, "pthread_sigmask"):
            signal.pthread_sigmask(signal.SIG_SETMASK, ())
        for number, handler in _handlers().items():
            if handler != self.handlers[number]:
                signal.signal(number, self.handlers[number])

    def _environment_back(self) -> None:
        if os.environ != self.environment:
            os.environ.clear()
            os.environ.update(self.environment)

    def _streams_back(self) -> None:
        sys.stdout, sys.stderr = self.streams

    def _threads_left(self) -> list[threading.Thread]:
        """What may go on drawing from the generators that the next cell shares."""
        return [one for one in threading.enumerate() if one not in self.threads and not _waits_for_processes(one)]


def _handlers() -> dict[int, Any]:
    """Of the signals whose handlers are Python's to set."""
    return {number: handler for number in _SIGNALS if (handler := signal.getsignal(number)) is not None}


def _limits() -> dict[int, tuple[int, int]]:
    return {kind: resource.getrlimit(kind) for kind in _LIMITS}


def _waits_for_processes(thread: threading.Thread) -> bool:
    modules = (getattr(getattr(thread, "_target", None), "__module__", None), type(thread).__module__)
    return any(module is not None and module.startswith(_WAITING) for module in modules)


def _room() -> bool:
    """Files that a cell has left open cannot be told from what a later cell of its learner needs."""
    try:
        files = len(os.listdir("/proc/self/fd"))
    except OSError:
        files = 0
    return resource is None or files < resource.getrlimit(resource.RLIMIT_NOFILE)[0] / 2


_SIGKILL = 9
"""What a system sends that has no memory left; Windows has no name for it."""
_LONGEST_NAME, _LONGEST_MESSAGE, _LONGEST_TRACEBACK = 200, 2_000, 20_000
"""Characters: more is cut out of the middle."""


def lost(
    planned: Planned,
    run: str,
    seconds: float,
    status: Literal["failed", "timeout"],
    error_type: str,
    message: str,
    traceback: str | None = None,
) -> Outcome:
    """The outcome of a cell from which none came."""
    cell = planned.cell
    return Outcome(
        CellResult(
            dataset=cell.dataset,
            repetition=cell.repetition,
            learner=cell.column.learner.name,
            method=cell.column.method.name,
            status=status,
            run=run,
            seconds=round(seconds, 6),
            key=planned.key,
            error_type=error_type,
            message=message,
            traceback=traceback,
        )
    )


def how_it_ended(exitcode: int | None) -> str:
    """What became of a process, None where it still ran."""
    if exitcode is None:
        return "its process cannot be heard any more: it closed its connection to the run"
    if exitcode >= 0:
        return f"its process ended by itself with exit code {exitcode}"
    if -exitcode == _SIGKILL:
        return "killed: out of memory?"
    named = {one.value: one.name for one in signal.Signals}  # not those for real time
    return f"its process was ended by {named.get(-exitcode, f'signal {-exitcode}')}"


def bounded(outcome: Outcome) -> Outcome:
    """``outcome`` with a message and a traceback that are no novel, and of plain characters.

    Raises ValueError or TypeError when the row could not be read again, as with a measure that is no number.
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


def with_output(outcome: Outcome, said: str) -> Outcome:
    """A failed row with the last that its cell printed, after the traceback."""
    if outcome.result.status == "done" or not said.strip():
        return outcome
    traceback = f"{outcome.result.traceback or ''}\nThe last that was printed:\n{said}".lstrip("\n")
    return replace(outcome, result=replace(outcome.result, traceback=traceback))


def _plain(text: str) -> str:
    """An exact str: a subclass would come out of the pipe as what its module makes of it."""
    return "".join(str.__iter__(text))


def _shortened(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    return f"{text[: most // 2]}\n[{len(text) - most:,} characters left out]\n{text[-(most // 2) :]}"


def execute_alone(planned: Planned, run: str) -> tuple[Outcome, bool]:
    """(the outcome of ``execute``, whether the process is fit for another cell).

    Whatever the cell raises or gives becomes one row. The process-wide generators start from a seed of the cell's
    own, so that a learner that draws from them gives the same numbers in any order of the cells.
    """
    start, process, cell = time.perf_counter(), os.getpid(), planned.cell
    for module in modules_of(cell):  # first: what a module sets when it is loaded is to stay
        with suppress(BaseException):  # told by ``execute``, which comes to it again
            import_module(module)
    state = ProcessState()
    try:
        seed_shared_generators(cell)
        outcome = bounded(execute(cell, planned.key, run))
    except BaseException as error:
        seconds, message = time.perf_counter() - start, _told(str, error)
        text = _told(traceback.format_exc)
        outcome = bounded(lost(planned, run, seconds, "failed", type(error).__name__, message, text))
    if os.getpid() != process:  # a fork that the cell forgot: it would answer a second time
        os._exit(0)
    return outcome, state.put_back() and (outcome.result.n_train is None or _rows_are_as_they_were(cell))


def _told(tell: Callable[..., str], *of: BaseException) -> str:
    try:
        return tell(*of)
    except BaseException as other:
        return f"(cannot be told: that raised {type(other).__name__})"


def _rows_are_as_they_were(cell: Cell) -> bool:
    """Whether the arrays that the next cell of this split shares can still not be written to."""
    return not any(part.flags.writeable for part in rows_of(cell) if isinstance(part, np.ndarray))
