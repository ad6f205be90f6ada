"""Cells on a Dask cluster. Which worker runs which is Dask's business; that each ends in one outcome is ours."""

from __future__ import annotations

import itertools
import pickle
import queue
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, NamedTuple

from distributed import CancelledError, Client, Future
from distributed.scheduler import KilledWorker

from probcal.runner.dask_cluster import Running
from probcal.runner.dask_jobs import Check, Folders, RunCell
from probcal.runner.dask_versions import versions_here
from probcal.runner.dask_worker import PATIENCE, Answer, Crew, do
from probcal.runner.execute import Outcome
from probcal.runner.fingerprint import modules_of, versions_of
from probcal.runner.isolation import how_it_ended, lost, with_output
from probcal.runner.plan import Planned

_LOOK = 1.0
"""Seconds between two looks at who has joined the cluster or left it."""
_DEATHS = 4
"""A cell whose workers died so often is not given to another one: Dask's own rule, unless it was set otherwise."""
_numbers = itertools.count()


class _SchedulerGone(Exception):
    """The connection is lost, and with it whatever was not yet brought home."""


class _Given(NamedTuple):
    planned: Planned
    workers: frozenset[str]
    since: float


def outcomes(
    planned: list[Planned],
    run: str,
    *,
    cluster: Running,
    folders: Folders,
    timeout: float | None = None,
    say: Callable[[str], None] = lambda line: None,
    started: Callable[[Planned], None] = lambda planned: None,
) -> Iterator[Outcome]:
    """The outcome of each cell as it ends, like ``probcal.runner.pool.outcomes``.

    Raises ProbcalError when no worker is fit, or the scheduler is gone and does not come back.
    """
    waiting, deaths, before = deque(planned), Counter[str](), False
    check = Check.of(planned, folders)
    versions = versions_here(list(versions_of(*sorted({name for one in planned for name in modules_of(one.cell)}))))
    while waiting:
        with cluster.connected(before) as client:
            ended: queue.SimpleQueue[Future] = queue.SimpleQueue()
            crew = Crew(client, check, versions, run, ended.put, say)
            desk = _Desk(client, crew, ended, waiting, deaths, run, timeout, folders, started)
            try:
                yield from desk.outcomes()
            except (_SchedulerGone, CancelledError, OSError):
                say(f"the scheduler at {cluster.address} is gone; waiting for it to come back")
            finally:
                desk.take_back()
        before = True


class _Desk:
    """Gives cells to the fit workers, as many as they have places, for as long as one client is connected."""

    def __init__(
        self,
        client: Client,
        crew: Crew,
        ended: queue.SimpleQueue[Future],
        waiting: deque[Planned],
        deaths: Counter[str],
        run: str,
        timeout: float | None,
        folders: Folders,
        started: Callable[[Planned], None],
    ) -> None:
        self._client, self._crew, self._ended = client, crew, ended
        self._waiting, self._deaths = waiting, deaths
        self._run, self._timeout, self._folders, self._started = run, timeout, folders, started
        self._given: dict[Future, _Given] = {}

    def outcomes(self) -> Iterator[Outcome]:
        looked = -_LOOK
        while self._waiting or self._given:
            if time.monotonic() - looked >= _LOOK:
                self._look()
                looked = time.monotonic()
                yield from self._without_workers()
            while self._waiting and len(self._given) < sum(self._crew.fit.values()):
                self._give(self._waiting.popleft())
            try:
                future = self._ended.get(timeout=_LOOK)
            except queue.Empty:
                continue
            if not self._crew.is_check(future) and future not in self._given:
                continue  # it was taken back
            if future.cancelled():
                raise _SchedulerGone
            if self._crew.is_check(future):
                self._crew.heard(future)
                continue
            outcome = self._outcome(future, self._given[future])
            del self._given[future]
            if outcome is not None:
                yield outcome

    def take_back(self) -> None:
        """What was given and has not ended is to be done again, if at all."""
        futures = list(self._given)
        self._waiting.extendleft(given.planned for given in reversed(self._given.values()))
        self._given.clear()
        if futures and self._client.status == "running":
            with suppress(OSError):  # of a scheduler that is gone
                self._client.cancel(futures, force=True)

    def _look(self) -> None:
        if self._client.status != "running":
            raise _SchedulerGone
        self._crew.look()

    def _give(self, planned: Planned) -> None:
        job = pickle.dumps(RunCell(planned, self._folders))
        key = f"probcal-cell-{self._run}-{next(_numbers)}"
        workers = frozenset(self._crew.fit)
        future = self._client.submit(
            do, job, self._run, self._timeout,
            key=key, workers=sorted(workers), allow_other_workers=False, pure=False,
        )  # fmt: skip
        self._given[future] = _Given(planned, workers, time.monotonic())
        future.add_done_callback(self._ended.put)
        self._started(planned)

    def _without_workers(self) -> Iterator[Outcome]:
        """Cells of which every worker that might have run them is gone: others may have joined since."""
        stranded = [future for future, given in self._given.items() if not given.workers & self._crew.fit.keys()]
        for future in stranded:
            given = self._given.pop(future)
            self._client.cancel([future], force=True)
            outcome = self._died(given, 1)
            if outcome is not None:
                yield outcome

    def _outcome(self, future: Future, given: _Given) -> Outcome | None:
        """None when the cell has to be given once more."""
        if future.status == "error":
            error: Any = future.exception()
            if isinstance(error, KilledWorker):
                return self._died(given, error.allowed_failures + 1, last=True)
            spent, why = time.monotonic() - given.since, f"a Dask worker could not run it: {error}"
            return lost(given.planned, self._run, spent, "failed", type(error).__name__, why)
        try:
            answer: Answer = future.result(timeout=PATIENCE)
        except TimeoutError:
            return self._died(given, 1)
        planned = given.planned
        if answer.how == "done":
            return with_output(pickle.loads(answer.said), answer.printed)
        if answer.how == "timeout":
            said = f"took longer than {self._timeout:g} s"
            late = lost(planned, self._run, answer.seconds, "timeout", "TimeoutError", said)
            return with_output(late, answer.printed)
        if answer.how == "died":
            how = how_it_ended(answer.exitcode)
            dead = lost(planned, self._run, answer.seconds, "failed", "WorkerDied", how)
            return with_output(dead, answer.printed)
        self._waiting.append(planned)
        return None

    def _died(self, given: _Given, times: int, last: bool = False) -> Outcome | None:
        """The workers of a cell died ``times`` more; None when it is to be given to others."""
        cell = given.planned.cell.id
        times = self._deaths[cell] = self._deaths[cell] + times
        if not last and times < _DEATHS:
            self._waiting.appendleft(given.planned)
            return None
        workers = f"{times} Dask worker{'s' * (times > 1)}"
        why = f"{workers} died while they had the cell {cell}"
        return lost(given.planned, self._run, time.monotonic() - given.since, "failed", "WorkerDied", why)
