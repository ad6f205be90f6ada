"""What a Dask worker is asked to do: hand a job to a process of its own, and tell what became of it.

A job that crashes or takes all memory ends that process and not the worker, a job over its time can be
ended, and however many threads a worker has, no process does two jobs at a time.

The workers of a Dask cluster that may have cells of a run: those that were looked at and found fit.
"""

from __future__ import annotations

import itertools
import multiprocessing
import pickle
import signal
import threading
from collections import defaultdict
from collections.abc import Callable
from multiprocessing.connection import wait
from multiprocessing.util import Finalize
from typing import Any, Literal, NamedTuple

import cloudpickle
from distributed import Client, Future, get_worker
from distributed.scheduler import KilledWorker

from probcal.errors import ProbcalError
from probcal.runner import dask_versions
from probcal.runner.dask_jobs import Check
from probcal.runner.dask_versions import differences, versions_here
from probcal.runner.isolation import how_it_ended
from probcal.runner.pool import Worker, WorkerDied

_LOOK = 0.5
"""Seconds between two looks at whether anybody still waits for the job."""
_IDLE = 10.0
"""Seconds after which a process without a job is ended: its run is over."""

_MASKS = hasattr(signal, "pthread_sigmask")  # not on Windows
_lock = threading.Lock()
_idle: dict[str, list[tuple[Worker, threading.Timer]]] = defaultdict(list)
"""Run -> its processes that have no job, each with what will end it."""


class Answer(NamedTuple):
    """``said``: the pickled answer of a job that is done; ``exitcode``: of the process of one that is not;
    ``printed``: the last that it printed."""

    how: Literal["done", "died", "timeout", "not wanted"]
    seconds: float
    said: bytes = b""
    exitcode: int | None = None
    printed: str = ""


def do(job: bytes, run: str, timeout: float | None = None) -> Answer:
    """Have a process do ``job``, a pickled one. ``timeout``: seconds after which it is ended."""
    process = _process(run)
    try:
        if process.busy is None:  # it has just been started; what it imports is not the cell's time
            for asked in (("prepare", job), None):
                if not _heard(process, None):
                    return _ended("not wanted", process)
                process.receive()
                if asked:
                    process.give(asked)
        process.give(("do", job))
        if not _heard(process, timeout):
            over = timeout is not None and process.seconds >= timeout
            return _ended("timeout" if over else "not wanted", process)
        (said, fit), seconds, printed = process.receive(), process.seconds, process.last_printed()
    except WorkerDied as death:
        return _ended("died", process, death.args[0])
    if fit:
        _put_aside(process, run)
    else:
        process.end()
    return Answer("done", seconds, said, printed=printed)


def answer(asked: tuple[Literal["prepare", "do"], bytes], run: str) -> tuple[bytes, bool]:
    """What the process does with a pickled job; only there is anything of it imported."""
    what, pickled = asked
    job = pickle.loads(pickled)
    said, fit = (job.prepare(), True) if what == "prepare" else job.do(run)
    return pickle.dumps(said), fit


def _ended(how: Literal["died", "timeout", "not wanted"], process: Worker, exitcode: int | None = None) -> Answer:
    printed = process.last_printed()
    process.end()
    return Answer(how, process.seconds, exitcode=exitcode, printed=printed)


def _heard(process: Worker, timeout: float | None) -> bool:
    """Wait for the process to say something or to end; False when its time is over or the job is not wanted."""
    while timeout is None or process.seconds < timeout:
        left = _LOOK if timeout is None else min(_LOOK, max(0.0, timeout - process.seconds))
        wait(process.waitables(), left)
        if process.has_news():  # and not only more that it prints
            return True
        if not _wanted():
            return False
    return False


def _wanted() -> bool:
    """Whether the task that we run in still counts: its client may have cancelled it, or be gone."""
    worker = get_worker()
    task = worker.state.tasks.get(worker.get_current_task())
    return worker.status.name not in ("closing", "closed") and task is not None and task.state == "executing"


def _process(run: str) -> Worker:
    with _lock:
        if _idle[run]:
            process, end = _idle[run].pop()
            end.cancel()
            return process
        return _started(run)


def _started(run: str) -> Worker:
    # Dask's nanny makes its workers daemonic, and such a process may not start any
    here = multiprocessing.current_process()
    daemonic, here.daemon = here.daemon, False
    # a Ctrl-C while it imports waits until it has its handlers
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM)) if _MASKS else None
    try:
        return Worker(run, answer, multiprocessing.get_context("spawn"))
    finally:
        here.daemon = daemonic
        if before is not None:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _put_aside(process: Worker, run: str) -> None:
    end = threading.Timer(_IDLE, _end_idle, (process, run))
    end.daemon = True
    with _lock:
        _idle[run].append((process, end))
    end.start()


def _end_idle(process: Worker, run: str) -> None:
    with _lock:
        left = [one for one in _idle[run] if one[0] is not process]
        ended = len(left) < len(_idle[run])
        _idle[run] = left
    if ended:
        process.end()


def _end_all() -> None:
    for process, _ in [one for of_run in _idle.values() for one in of_run]:
        process.end()


# Before the interpreter waits for its processes to end, as it does where it ends in good order
Finalize(None, _end_all, exitpriority=1)


PATIENCE = 60.0
"""Seconds for an answer that is there to be brought; its worker may have died since."""
_numbers = itertools.count()


class Crew:
    """``fit``: address -> cells it takes at a time, of every worker that is there and may have some.

    ``ended`` is called with the future of a check, when it has ended; it belongs to ``heard``.
    """

    def __init__(
        self,
        client: Client,
        check: Check,
        versions: dict[str, str],
        run: str,
        ended: Callable[[Future], Any],
        say: Callable[[str], None],
    ) -> None:
        self.fit: dict[str, int] = {}
        self._client, self._run, self._ended, self._say = client, run, ended, say
        self._check, self._versions = pickle.dumps(check), versions
        self._there: dict[str, int] = {}
        self._checks: dict[Future, str] = {}
        self._refused: dict[str, str] = {}
        self._told_that_none = self._had_some = False

    def look(self) -> None:
        """See who is there. Raises OSError when the scheduler does not answer, ProbcalError when none is fit."""
        self._there = dict(self._client.nthreads())
        self.fit = {address: cells for address, cells in self.fit.items() if address in self._there}
        for future, address in list(self._checks.items()):
            if address not in self._there:  # it would wait for that worker for ever
                del self._checks[future]
                self._client.cancel([future], force=True)
        known = {*self.fit, *self._refused, *self._checks.values()}
        new = [address for address in self._there if address not in known]
        for address, found in self._versions_of(new).items():
            if not isinstance(found, dict):
                continue  # it is gone again, or will be asked again
            if others := differences(found, self._versions):
                self._refuse(address, "; ".join(others))
            else:
                self._begin_check(address)
        self._see_that_some_are_fit()

    def is_check(self, future: Future) -> bool:
        return future in self._checks

    def heard(self, future: Future) -> None:
        """Take in what a check found."""
        address = self._checks.pop(future)
        if future.status == "error":
            error = future.exception()
            if not isinstance(error, KilledWorker):  # which is gone, and no longer looked at
                self._refuse(address, f"it cannot be checked: {type(error).__name__}: {error}")
            return
        answer: Answer = future.result(timeout=PATIENCE)
        if answer.how == "died":
            said = answer.printed.strip() or "its log says more"
            self._refuse(address, f"it cannot be checked: {how_it_ended(answer.exitcode)}; {said}")
        elif answer.how == "done" and (faults := pickle.loads(answer.said)):
            self._refuse(address, "; ".join(faults))
        elif answer.how == "done" and address in self._there:
            self.fit[address] = self._there[address]
        self._see_that_some_are_fit()

    def _versions_of(self, addresses: list[str]) -> dict[str, Any]:
        if not addresses:
            return {}
        cloudpickle.register_pickle_by_value(dask_versions)
        try:
            return self._client.run(versions_here, list(self._versions), workers=addresses, on_error="return")  # type: ignore[no-any-return]
        finally:
            cloudpickle.unregister_pickle_by_value(dask_versions)

    def _begin_check(self, address: str) -> None:
        key = f"probcal-check-{self._run}-{next(_numbers)}"
        future = self._client.submit(
            do, self._check, self._run, key=key, workers=[address], allow_other_workers=False, pure=False
        )
        self._checks[future] = address
        future.add_done_callback(self._ended)

    def _refuse(self, address: str, why: str) -> None:
        self._refused[address] = why
        self._say(f"worker {address} is refused: {why}")

    def _see_that_some_are_fit(self) -> None:
        if self.fit or self._checks:
            self._told_that_none, self._had_some = False, self._had_some or bool(self.fit)
        elif self._there and not self._had_some and self._there.keys() <= self._refused.keys():
            raise ProbcalError("no worker of the cluster is fit for this run; why is said above")
        elif not self._told_that_none:
            self._told_that_none = True
            self._say("no worker is there yet; waiting for one to join (Ctrl-C ends the run)")
