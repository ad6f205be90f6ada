"""Run cells on a Dask cluster. On the worker each is in a process of its own, which a crash or its time limit ends.

That process is started anew for every run: a Dask worker lives for days, and what it has imported may be older than
what is on its disk.
"""

from __future__ import annotations

import asyncio
import logging
import math
import multiprocessing
import os
import pickle
import queue
import secrets
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from functools import cache, partial
from importlib import import_module
from importlib.metadata import version
from multiprocessing.connection import wait
from multiprocessing.util import Finalize
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

from filelock import FileLock

import probcal
from probcal.config.components import import_class
from probcal.config.nested import paths
from probcal.data.cache import cache_folder
from probcal.data.card import Card
from probcal.data.load import data_folder, obtain
from probcal.errors import ProbcalError
from probcal.runner.execute import Outcome, failed_outcome, how_it_ended
from probcal.runner.fingerprint import Fingerprints, code_of, code_of_metrics, modules_of, versions_of
from probcal.runner.plan import Planned
from probcal.runner.pool import Worker, WorkerDied, news_of
from probcal.runner.worker_process import execute_alone

if TYPE_CHECKING:
    from distributed import Client, Future

_AT_FIRST, _AGAIN = 5.0, 60.0  # seconds to wait for a scheduler: one never seen, and one that was there before
_LOOK, _LOOK_IF_WANTED = 1.0, 0.5  # seconds between looks at the workers, and at whether a cell is still waited for
_IDLE, _PATIENCE = 10.0, 60.0  # seconds until a process without a cell is ended, and for a result to be brought


# Which cluster


@dataclass(frozen=True)
class Cluster:
    """The cluster of the ``scheduler`` at this address. None: one of ``workers`` here, for this run alone."""

    scheduler: str | None
    workers: int = 0

    @classmethod
    def asked_for(cls, scheduler: str | None, workers: int | None, jobs: int | None) -> Cluster | None:
        """Return what the options of the command line ask for; each is None where it was not given.

        Raises ProbcalError when several were given, Dask is not installed or the address cannot be one.
        """
        options = {"-j": jobs, "--workers": workers, "--scheduler": scheduler}
        given = [option for option, value in options.items() if value is not None]
        if len(given) > 1:
            raise ProbcalError(f"{' and '.join(given)} are different ways to run cells; give one of them")
        if given in ([], ["-j"]):
            return None
        try:
            import distributed  # noqa: F401
        except ImportError as error:
            raise ProbcalError(f'{given[0]} needs Dask ({error}): pip install "probcal[dask]"') from None
        return cls(scheduler, workers or 0)

    def told(self) -> dict[str, Any]:
        """Return what the record of the run says of it."""
        return {"scheduler": self.scheduler} if self.scheduler else {"workers": self.workers}

    @contextmanager
    def client(self, patience: float = _AT_FIRST) -> Iterator[Client]:
        """Connect to it. Raises ProbcalError when no scheduler answers within ``patience`` seconds."""
        from distributed import Client, LocalCluster

        for name in ("distributed", *logging.root.manager.loggerDict):  # what a user has to know, we say
            if name.startswith(("distributed", "tornado.application", "asyncio")):
                logging.getLogger(name).setLevel(logging.CRITICAL)
        with ExitStack() as stack:
            address = self.scheduler
            if address is None:  # its workers are threads of this process, for each cell has a process anyway
                own = LocalCluster(
                    n_workers=self.workers, threads_per_worker=1, memory_limit=0, processes=False,
                    dashboard_address=None, local_directory=stack.enter_context(TemporaryDirectory()),
                    silence_logs=logging.CRITICAL,
                )  # fmt: skip
                address = stack.enter_context(own).scheduler_address
            try:
                if self.scheduler:
                    asyncio.run(_reach(address, patience))
                client = Client(address, timeout=patience, set_as_default=False)
            except Exception as error:  # each way to talk has its own
                raise ProbcalError(
                    f"no Dask scheduler answers at {address}: {error}; "
                    "give an address such as tcp://host:8786, or tls:// with certificates in Dask's configuration; "
                    "finished cells are kept, the same command goes on from there"
                ) from None
            try:
                yield client
            finally:
                with suppress(Exception):  # of a scheduler that is gone
                    client.close(timeout=5)


async def _reach(address: str, seconds: float) -> None:
    """Raise an error when nothing answers at ``address``. A Client would print pages of its own then.

    A scheduler that just ends may still close a connection, so an attempt that fails early is repeated.
    """
    from distributed.comm import connect
    from distributed.security import Security

    until = time.monotonic() + seconds
    while True:
        try:
            left = max(until - time.monotonic(), 0.1)
            comm = await connect(address, timeout=left, **Security().get_connection_args("client"))
        except OSError:
            if time.monotonic() >= until:
                raise
            await asyncio.sleep(0.1)
        else:
            comm.abort()
            return


# In a process on a worker's machine


@dataclass(frozen=True)
class _Requirements:
    """What a process needs to make the same numbers."""

    data: Path | None
    cache: Path
    folder: Path
    code: dict[str, str]
    modules: tuple[str, ...]
    classes: tuple[str, ...]
    cards: tuple[Card, ...]

    def faults(self) -> list[str]:
        """Import what the cells need, and return what speaks against running them here."""
        # the folders of the run's machine, where there are none here and they are there
        for name, folder in (("PROBCAL_DATA_DIR", self.data), ("PROBCAL_CACHE_DIR", self.cache)):
            if name not in os.environ and folder is not None and folder.is_dir():
                os.environ[name] = str(folder)
        if str(self.folder) not in sys.path and self.folder.is_dir():
            sys.path.append(str(self.folder))  # last, to hide no module
        here = _digests(self.modules)
        if lacking := sorted(self.code.keys() - here.keys()):
            must = "must be there under the same path or on the worker's PYTHONPATH"
            return [f"cannot find {', '.join(lacking)}; the folder of your modules, {self.folder}, {must}"]
        if other := [name for name, digest in self.code.items() if here[name] != digest]:
            return [f"has other code of {', '.join(other)}"]
        faults = []
        steps = [partial(import_class, one) for one in self.classes] + [partial(obtain_once, one) for one in self.cards]
        for step in steps:
            try:
                step()
            except ProbcalError as error:
                faults.append(str(error))
        return faults


@cache
def _faults(requirements: bytes) -> list[str]:
    return pickle.loads(requirements).faults()  # type: ignore[no-any-return]  # bytes tell no type


_fingerprints = cache(Fingerprints)


def _digests(modules: Iterable[str]) -> dict[str, str]:
    return {**code_of(*modules), **code_of_metrics()}


def obtain_once(card: Card) -> None:
    """Bring the data set that ``card`` is bound to into this machine's cache, one process at a time.

    The others find it there. Raises DataError when the data that are to be had here are others.
    """
    lock: Any = nullcontext()
    if not (card.generator or card.bundled):  # of which nothing is kept
        cache_folder().mkdir(parents=True, exist_ok=True)
        lock = FileLock(cache_folder() / f".{card.name}-{card.digest}.lock")
    with lock:
        obtain(card, data_folder())


def _work(step: tuple[bytes, Planned, bool], run: str) -> tuple[Any, bool]:
    """Check or run a cell. Return its faults or its outcome, and whether the process can have another cell."""
    requirements, planned, is_checked = step
    if is_checked:
        return execute_alone(planned, run)
    if faults := _faults(requirements):
        return faults, True
    key = _fingerprints().key(planned.cell)
    other = [part for part, digest in planned.key.items() if key.get(part) != digest]
    return [f"the worker has other {' and '.join(other)} than the run was planned with"] if other else [], True


# In a Dask worker

_lock = threading.Lock()
_idle: dict[Worker, tuple[str, threading.Timer]] = {}  # process without a cell -> its run, and what will end it


def run_in_process(requirements: bytes, cell: bytes, run: str, limit: float) -> Outcome | str | None:
    """Have a process of this Dask worker run a cell in ``limit`` seconds.

    Return why it cannot be run here, or None when nobody waits for it any more.
    """
    planned, process, can_go_on = pickle.loads(cell), _take(run), False
    # A new process first says that it has started. Neither this nor what it imports is the cell's time
    checks = [*([None] if process.busy is None else []), (requirements, planned, False)]
    try:
        for step in checks:
            if step:
                process.give(planned, step)
            if _await_news(process) is None:
                return None
            said, can_go_on = process.receive()
            if said:
                return "; ".join(said)
        can_go_on = False
        process.give(planned, (requirements, planned, True))
        is_late = _await_news(process, limit)
        if is_late is None:
            return None
        outcome, can_go_on = news_of(process, run, limit if is_late else None, last_try=True)
        return outcome
    except WorkerDied as death:
        can_go_on, printed = False, process.last_printed().strip()
        return f"it cannot be checked: {how_it_ended(death.args[0])}; {printed or 'its log says more'}"
    finally:
        if can_go_on:
            _put_aside(process, run)
        else:
            process.end()


def _await_news(process: Worker, limit: float = math.inf) -> bool | None:
    """Wait for an answer. Return whether ``limit`` has passed before, or None when nobody waits for the cell."""
    while not process.has_news():  # asked first: what has ended is not late
        left = limit - process.seconds
        if left <= 0:
            return True
        if not _is_wanted():
            return None
        wait(process.waitables(), min(left, _LOOK_IF_WANTED))
    return False


def _is_wanted() -> bool:
    """Return whether the task that we run in still counts: its client may have cancelled it, or be gone."""
    from distributed import get_worker

    worker = get_worker()
    task = worker.state.tasks.get(worker.get_current_task())
    return worker.status.name not in ("closing", "closed") and task is not None and task.state == "executing"


def _take(run: str) -> Worker:
    with _lock:
        for process in [one for one, (of, _) in _idle.items() if of == run]:
            _idle.pop(process)[1].cancel()
            return process
        multiprocessing.current_process().daemon = False  # a nanny's worker is daemonic, and may start no process
        return Worker(run, _work, multiprocessing.get_context("spawn"))


def _put_aside(process: Worker, run: str) -> None:
    end = threading.Timer(_IDLE, _end_idle, [process])
    end.daemon = True
    with _lock:
        _idle[process] = run, end
    end.start()


def _end_idle(*processes: Worker) -> None:
    with _lock:
        idle = [one for one in processes or [*_idle] if _idle.pop(one, None)]
    for process in idle:
        process.end()


Finalize(None, _end_idle, exitpriority=1)  # before an interpreter that ends in good order waits for its processes


# In the run


def outcomes(
    planned: list[Planned],
    run: str,
    *,
    cluster: Cluster,
    client: Client,
    data: Path | None,
    timeout: float | None = None,
    say: Callable[[str], None] = lambda line: None,
    started: Callable[[Planned], None] = lambda planned: None,
) -> Iterator[Outcome]:
    """Yield the outcome of each cell as it ends, like ``probcal.runner.pool.outcomes``.

    ``client``: connected to the ``cluster``. Raises ProbcalError when no worker is fit, or the scheduler is gone and
    does not come back.
    """
    from distributed import CancelledError

    modules = tuple(sorted({module for one in planned for module in modules_of(one.cell)}))
    parts = [part for one in planned for part in (one.cell.column.learner, one.cell.column.method)]
    classes = {path for part in parts for path in (part.path, *paths(part.params))}
    cards = tuple(dict.fromkeys(one.cell.card for one in planned))
    folders = data and data.resolve(), cache_folder().resolve(), Path.cwd()
    needs = _Requirements(*folders, _digests(modules), modules, tuple(sorted(classes)), cards)
    versions = {"probcal": probcal.__version__, **versions_of(*modules)}
    limit, waiting, deaths = math.inf if timeout is None else timeout, deque(planned), Counter[str]()
    with ExitStack() as stack:
        while waiting:
            dispatcher = _Dispatcher(client, run, limit, pickle.dumps(needs), versions, waiting, deaths, say, started)
            try:
                yield from dispatcher.outcomes()
            except (CancelledError, OSError):
                say(f"the scheduler at {cluster.scheduler} is gone; waiting for it to come back")
            finally:
                dispatcher.take_back()
            if waiting:
                client = stack.enter_context(cluster.client(_AGAIN))


class _Task(NamedTuple):
    planned: Planned
    worker: str
    since: float


@dataclass
class _Dispatcher:
    """Gives cells to workers as long as they have places. Refuses the workers that would make other numbers."""

    client: Client
    run: str
    limit: float
    requirements: bytes
    versions: dict[str, str]
    waiting: deque[Planned]
    deaths: Counter[str]
    say: Callable[[str], None]
    started: Callable[[Planned], None]
    tasks: dict[Future, _Task] = field(default_factory=dict)
    ended: queue.SimpleQueue[Future] = field(default_factory=queue.SimpleQueue)
    places: dict[str, int] = field(default_factory=dict)  # worker -> cells that it takes at a time
    fit: set[str] = field(default_factory=set)
    refused: set[str] = field(default_factory=set)
    said_none: bool = False

    def outcomes(self) -> Iterator[Outcome]:
        """Yield outcomes until each cell has one. Raises CancelledError or OSError when the scheduler is gone."""
        looked = -math.inf
        while self.waiting or self.tasks:
            if time.monotonic() - looked >= _LOOK:
                yield from self._look()
                looked = time.monotonic()
            while self.waiting and (worker := self._free()):
                self._give(self.waiting.popleft(), worker)
            try:
                future = self.ended.get(timeout=_LOOK)
            except queue.Empty:
                continue
            if future in self.tasks:
                outcome = self._outcome(future, self.tasks[future])
                del self.tasks[future]
                if outcome is not None:
                    yield outcome

    def take_back(self) -> None:
        """Cancel what has not ended; it is to be done again, if at all."""
        self.waiting.extendleft(task.planned for task in reversed(self.tasks.values()))
        if self.tasks and self.client.status == "running":
            with suppress(OSError):  # of a scheduler that is gone
                self.client.cancel(list(self.tasks), force=True)

    def _look(self) -> Iterator[Outcome]:
        """Take in who has joined and who has left. Raises ProbcalError when all that are there were refused."""
        if self.client.status != "running":
            raise OSError
        there = dict(self.client.nthreads())
        self.places = {worker: there[worker] for worker in self.places if worker in there}
        for future, task in [one for one in self.tasks.items() if one[1].worker not in there]:
            self.client.cancel([future], force=True)
            del self.tasks[future]
            yield from filter(None, [self._worker_died(task)])
        if new := list(there.keys() - self.places.keys() - self.refused):
            found = self.client.run(_comparison(self.versions), workers=new, on_error="return")
            for worker, others in found.items():
                if others == []:
                    self.places[worker] = there[worker]
                elif isinstance(others, list):
                    self._refuse(worker, "; ".join(others))
                elif not isinstance(others, OSError):  # as of a worker that is gone again
                    self._refuse(worker, f"it cannot be checked: {others!r}")
        if there and not self.fit and there.keys() <= self.refused:
            raise ProbcalError("no worker of the cluster is fit for this run; why is said above")
        if not self.places and not self.said_none:
            self.say("no worker is there yet; waiting for one to join (Ctrl-C ends the run)")
        self.said_none = not self.places

    def _free(self) -> str | None:
        """Return the worker with the largest share of free places, None without one."""
        busy = Counter(task.worker for task in self.tasks.values())
        shares = {worker: busy[worker] / places for worker, places in self.places.items() if busy[worker] < places}
        return min(shares, key=shares.__getitem__, default=None)

    def _give(self, planned: Planned, worker: str) -> None:
        future = self.client.submit(
            run_in_process, self.requirements, pickle.dumps(planned), self.run, self.limit, workers=[worker],
            key=f"probcal-{self.run}-{secrets.token_hex(8)}", allow_other_workers=False, pure=False,
        )  # fmt: skip
        self.tasks[future] = _Task(planned, worker, time.monotonic())
        future.add_done_callback(self.ended.put)
        self.started(planned)

    def _outcome(self, future: Future, task: _Task) -> Outcome | None:
        """Return what became of a cell, None when it has to be given once more."""
        from distributed import CancelledError
        from distributed.scheduler import KilledWorker

        if future.cancelled():
            raise CancelledError
        error = future.exception() if future.status == "error" else None
        if isinstance(error, KilledWorker):  # at the first death, where Dask's configuration allows none
            return self._worker_died(task)
        try:
            answer = None if error else future.result(timeout=_PATIENCE)
        except TimeoutError:
            return self._worker_died(task)
        if error is not None:
            self._refuse(task.worker, f"it cannot run cells: {type(error).__name__}: {error}")
        elif isinstance(answer, str) and task.worker in self.fit:  # a file was edited meanwhile
            return failed_outcome(task.planned, self.run, 0.0, "failed", "ProbcalError", answer)
        elif isinstance(answer, str):
            self._refuse(task.worker, answer)
        elif answer:
            self.fit.add(task.worker)
            return answer  # type: ignore[no-any-return]  # what a future holds has no type
        self.waiting.appendleft(task.planned)
        return None

    def _refuse(self, worker: str, why: str) -> None:
        if worker not in self.refused:
            self.say(f"worker {worker} is refused: {why}")
        self.places.pop(worker, None)
        self.refused.add(worker)

    def _worker_died(self, task: _Task) -> Outcome | None:
        """Return the row of a cell whose workers died too often, None for one that is to be given to another."""
        from dask.config import get

        ends = [event for _, event in self.client.get_events(task.worker) if event.get("action") == "remove-worker"]
        if not (ends and ends[-1].get("expected")):  # as at the end of its --lifetime
            self.deaths[task.planned.cell.id] += 1
        times = self.deaths[task.planned.cell.id]
        if times <= self.client.run_on_scheduler(get, "distributed.scheduler.allowed-failures"):
            self.waiting.appendleft(task.planned)
            return None
        why = f"{times} Dask worker{'s' * (times > 1)} died while they had the cell {task.planned.cell.id}"
        return failed_outcome(task.planned, self.run, time.monotonic() - task.since, "failed", "WorkerDied", why)


def _comparison(versions: dict[str, str]) -> Callable[[], list[str]]:
    """Return a function that tells other versions. Dask sends its code, for a worker may lack probcal."""

    def differences() -> list[str]:
        found = []
        for package, here in versions.items():
            try:
                if package == "weka.jar":
                    there = str(import_module("probcal.learners.weka.jar").named_version())
                else:
                    there = import_module(package).__version__ if package == "probcal" else version(package)
            except Exception:
                there = "{}.{}".format(*sys.version_info) if package == "python" else "not installed"
            if there != here:
                found.append(f"{package} is {there} there and {here} here")
        return found

    return differences
