"""Worker processes that run cells, each cell with its time limit, so that a crash ends only its own cell."""

from __future__ import annotations

import faulthandler
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import islice
from multiprocessing.connection import Connection, wait
from typing import Any

from probcal.errors import ProbcalError
from probcal.runner.cell import PlannedCell
from probcal.runner.execute import Outcome, append_output, exit_reason, failed_outcome
from probcal.runner.fit_predict import one_thread_each
from probcal.runner.identity import modules_of
from probcal.runner.interruption import block_signals, handled_signals
from probcal.runner.processor import instructions
from probcal.runner.worker_process import (
    Output,
    execute_alone,
    flush,
    redirect_output,
    restore_signals_in_forks,
    start_server,
    start_tracker,
)

if sys.platform == "linux":
    import fcntl


# Workers are forked from a process that has imported the libraries once and has no threads. A fork of this
# process would inherit the locks of its numeric libraries as they are at that moment.
_START_METHOD = "spawn" if sys.platform == "win32" else "forkserver"
_CONTEXT: Any = multiprocessing.get_context(_START_METHOD)
_F_SETSIG = 10  # from <fcntl.h> of Linux, because Python 3.11 and 3.12 do not name it


def preload_modules(modules: Iterable[str]) -> None:
    """Import ``modules`` once for all workers. This has no effect after the first worker has started."""
    if _START_METHOD == "forkserver":
        _CONTEXT.set_forkserver_preload(["probcal.runner.fork_server", *modules])


_GRACE_SECONDS = 10.0
"""Seconds from the end of a worker's connection, or from SIGKILL, to the end of its process."""


class WorkerDied(Exception):
    """Report that a worker ended or closed its connection. The argument is its exit code, None if it still ran."""


class Worker:
    """Run one cell after another in a process. ``entry`` is its present cell, None before the first.

    ``work`` is called with each given item and with ``run``. It returns an answer, and whether the process can take
    another item.
    """

    def __init__(
        self, run: str, work: Callable[[Any, str], tuple[Any, bool]] = execute_alone, context: Any = _CONTEXT
    ) -> None:
        self._connection, child_end = context.Pipe()
        self._output = Output(context)
        arguments = (child_end, self._output.write_end, run, work, dict(os.environ))
        self._process = context.Process(target=_serve, args=arguments)
        _start(self._process, context)
        child_end.close()
        self._output.write_end.close()
        self.entry: PlannedCell | None = None
        self._since = time.monotonic()

    @property
    def seconds(self) -> float:
        """Return how long the worker has had its cell."""
        return time.monotonic() - self._since

    def waitables(self) -> list[Any]:
        """Return what ``multiprocessing.connection.wait`` can wait for: a message, the process's end, its output."""
        return [self._connection, self._process.sentinel, *self._output.waitables()]

    def has_messages(self) -> bool:
        """Return whether ``receive`` has something to return. Also read what was printed meanwhile."""
        self._output.read()
        return bool(wait([self._connection, self._process.sentinel], 0))

    def receive(self) -> tuple[Any, bool]:
        """Return the answer to the given item, None after the start, and whether the worker can take another.

        Raises WorkerDied.
        """
        with suppress(Exception):  # the process ended, or its learner wrote into this connection
            if self._connection.poll():
                answer: tuple[Any, bool] = self._connection.recv()
                return answer
        self._process.join(_GRACE_SECONDS)  # a process can close its connection and still run
        raise WorkerDied(self._process.exitcode)

    def last_output(self) -> str:
        """Return the end of what its cell has printed so far."""
        return self._output.last_text()

    def give(self, entry: PlannedCell, item: Any = None) -> None:
        """Give it one more cell, or an ``item`` about it. If it has died meanwhile, the next ``receive`` reports it."""
        self._output.clear()
        self.entry, self._since = entry, time.monotonic()
        with suppress(OSError):
            self._connection.send(item or entry)

    def kill(self) -> None:
        """Kill it and everything it started. Call ``end`` afterwards."""
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except (AttributeError, OSError):  # Windows has no process groups, and a new worker has none yet
            self._process.kill()

    def end(self) -> None:
        """Kill it and everything it started, and wait until it has ended."""
        self.kill()
        self._process.join(_GRACE_SECONDS)  # a disk or network that does not answer can delay its end
        self._connection.close()
        self._output.close()


def _start(process: Any, context: Any) -> None:
    """Start a worker with the signals of an interruption blocked, until it has its own handlers."""
    if context is _CONTEXT and _START_METHOD == "forkserver":
        start_server()
        process.start()  # signals may interrupt this, because loading the libraries takes the server seconds
    else:
        if sys.platform != "win32":
            start_tracker()
        with block_signals():
            process.start()


def _serve(
    parent: Connection,
    output: Connection,
    run: str,
    work: Callable[[Any, str], tuple[Any, bool]],
    environment: dict[str, str],
) -> None:
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
        signal.pthread_sigmask(signal.SIG_UNBLOCK, handled_signals())  # see _start
    _end_with_parent()
    redirect_output(output)
    faulthandler.enable(2)  # prints where a crash happened
    one_thread_each()
    try:
        parent.send((None, True))
        while True:
            answer = work(parent.recv(), run)
            flush()
            parent.send(answer)
    except (EOFError, OSError):
        pass  # the parent is gone


def _end_with_parent() -> None:
    """Have this process and everything it starts killed when the run ends, in whatever way."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return
    if sys.platform == "linux":  # the kernel does it, because native code can block every thread of this process
        fcntl.fcntl(parent.sentinel, fcntl.F_SETOWN, -os.getpid())
        fcntl.fcntl(parent.sentinel, _F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(parent.sentinel, fcntl.F_SETFL, fcntl.fcntl(parent.sentinel, fcntl.F_GETFL) | os.O_ASYNC)
    threading.Thread(target=_wait_for_end, args=(parent,), daemon=True).start()


def _wait_for_end(parent: Any) -> None:
    parent.join()
    try:
        os.killpg(0, signal.SIGKILL)
    except AttributeError:
        os._exit(1)


_MOST_STARTS = 3
"""Number of workers in a row that may end before they have a cell. After that, the fault is permanent."""


def outcomes(
    plan: list[PlannedCell],
    run: str,
    jobs: int = 1,
    timeout: float | None = None,
    notify: Callable[[PlannedCell], None] = lambda entry: None,
    level: str | None = None,
) -> Iterator[Outcome]:
    """Yield the outcome of each cell as it ends. ``timeout`` is the largest number of seconds for a cell.

    ``level`` names the instructions that compute. The default is what the cells declare.

    ``notify`` is called with each cell that a worker gets. A cell over its time, and one whose process died, give a
    failed result. Closing the iterator ends the running cells. Raises ProbcalError when no worker process can be
    started.
    """
    queue, lost_starts = deque(plan), 0
    workers: list[Worker] = []
    level = level or next((entry.cell.processor for entry in plan), None)
    preload_modules(_shipped_modules(plan))
    try:
        workers += _start_workers(run, level, min(jobs, len(plan)))
        while workers:
            wait(
                [waitable for worker in workers for waitable in worker.waitables()],
                _seconds_to_timeout(workers, timeout),
            )
            for worker in list(workers):
                is_late = timeout is not None and worker.entry is not None and worker.seconds >= timeout
                has_news = worker.has_messages()  # after ``is_late``, so that a cell that has just ended is not late
                if not has_news and not is_late:
                    continue
                outcome, is_alive = worker_outcome(
                    worker, run, None if has_news else timeout, last_try=lost_starts + 1 >= _MOST_STARTS
                )
                lost_starts = 0 if is_alive or worker.entry else lost_starts + 1
                if is_alive and queue:
                    entry = take_next(queue, worker.entry, [peer.entry for peer in workers if peer is not worker])
                    notify(entry)
                    worker.give(entry)
                else:
                    workers.remove(worker)
                    worker.end()
                    workers += _start_workers(run, level, int(not is_alive and bool(queue)))
                if outcome is not None:
                    yield outcome
    finally:
        for worker in workers:  # kill all of them first, because ``end`` waits for each
            worker.kill()
        for worker in workers:
            worker.end()


_server_level: list[str | None] = []
"""The level of instructions of the server that forks workers. It is empty before the server starts."""


def _start_workers(run: str, level: str | None, n: int) -> list[Worker]:
    """Start workers that compute with the instructions of ``level``.

    Libraries choose their code when they are loaded. The server has loaded them, so it can serve one level. Workers of
    another one start without it.
    """
    if n and not _server_level:
        _server_level.append(level)
    context = _CONTEXT if level in _server_level else multiprocessing.get_context("spawn")
    with instructions(level):
        return [Worker(run, context=context) for _ in range(n)]


_LOOKAHEAD = 200
"""Number of waiting cells among which a worker looks for its own."""


def take_next(
    queue: deque[PlannedCell], last_entry: PlannedCell | None, peer_entries: list[PlannedCell | None]
) -> PlannedCell:
    """Take a cell from ``queue`` for the worker that had ``last_entry``, while other workers have ``peer_entries``.

    Methods with a shared seed share the fits of a learner on a split, in one process. Methods of a random stream share
    those on all folds of a repetition. So the first cell of the same fits is taken, or else the first of fits that no
    other worker makes. All other cells are taken in their order.
    """
    own_fits, peer_fits = _shared_fits(last_entry), {_shared_fits(entry) for entry in peer_entries} - {None}
    next_fits = [_shared_fits(entry) for entry in islice(queue, _LOOKAHEAD if own_fits or peer_fits else 1)]
    place = next_fits.index(own_fits) if own_fits and own_fits in next_fits else 0
    if next_fits[place] in peer_fits and next_fits[place] != own_fits:
        place = next((number for number, fits in enumerate(next_fits) if fits not in peer_fits), 0)
    entry = queue[place]
    del queue[place]
    return entry


def _shared_fits(entry: PlannedCell | None) -> tuple[str, int, str] | None:
    """Return data set, split and learner, which name the fits that a cell shares. None for a cell that shares none.

    Folds of one random stream count as one split, because each needs the fits of those before it.
    """
    if entry is None:
        return None
    cell, split = entry.cell, entry.cell.used_split
    if split.kind == "legacy_stratified_k_fold":
        return cell.dataset, cell.repetition // (split.folds or 1), cell.column.learner.name
    return (cell.dataset, cell.repetition, cell.column.learner.name) if cell.column.method.shared_seed else None


def _shipped_modules(plan: list[PlannedCell]) -> list[str]:
    """Return the modules of the cells' classes, without the user's own, which may change during the run."""
    modules = {module for entry in plan for module in modules_of(entry.cell)}
    return sorted(module for module in modules if module.partition(".")[0] in ("probcal", "sklearn"))


def _seconds_to_timeout(workers: list[Worker], timeout: float | None) -> float | None:
    """Return the seconds until the first of the running cells is over its time."""
    if timeout is None:
        return None
    return min((max(0.0, timeout - worker.seconds) for worker in workers if worker.entry), default=None)


def worker_outcome(worker: Worker, run: str, overtime: float | None, last_try: bool) -> tuple[Outcome | None, bool]:
    """Return the outcome of the worker's cell, and whether the worker can take another.

    Raises ProbcalError when the worker could not start and this was the ``last_try``.
    """
    entry = worker.entry
    if overtime is not None and entry is not None:
        message = f"took longer than {overtime:g} s"
        timeout_outcome = failed_outcome(entry, run, worker.seconds, "timeout", "TimeoutError", message)
        return append_output(timeout_outcome, worker.last_output()), False
    try:
        outcome, is_alive = worker.receive()
    except WorkerDied as death:
        reason = exit_reason(death.args[0])
        if entry is None and not last_try:
            return None, False
        if entry is None:
            output = worker.last_output().strip() or "its output is above"
            raise ProbcalError(f"a worker process cannot start: {reason}; {output}") from None
        outcome, is_alive = failed_outcome(entry, run, worker.seconds, "failed", "WorkerDied", reason), False
    if outcome is not None and outcome.result.status != "done":
        outcome = append_output(outcome, worker.last_output())
    return outcome, is_alive
