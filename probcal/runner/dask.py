"""Run cells on a Dask cluster. On a Dask worker, each cell runs in a process of its own."""

from __future__ import annotations

import asyncio
import logging
import math
import multiprocessing
import operator
import os
import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import cache, partial
from multiprocessing.connection import wait
from multiprocessing.util import Finalize
from pathlib import Path
from typing import TYPE_CHECKING, Any

from probcal import __version__
from probcal.data.cache import cache_folder
from probcal.data.load import obtain_once
from probcal.errors import ProbcalError
from probcal.runner import identity, package_versions
from probcal.runner.cell import PlannedCell
from probcal.runner.execute import Outcome
from probcal.runner.instruction_set import instructions
from probcal.runner.pool import worker_outcome
from probcal.runner.run_options import RunOptions
from probcal.runner.worker import Worker, WorkerDied
from probcal.runner.worker_process import run_isolated_cell

if TYPE_CHECKING:
    from distributed import Client

CONNECT_SECONDS, RECONNECT_SECONDS, CHECK_SECONDS, POLL_SECONDS, IDLE_SECONDS = 5.0, 60.0, 1.0, 0.01, 10.0
# A scheduler that is stopped keeps its connections, and a slow import can take this long.
ANSWER_SECONDS = 15.0
LOSSES = 3  # times that a cell may lose all workers that it could run on
_identities, _obtain_once = cache(identity.Identities), cache(obtain_once)
_pool: dict[Worker, str] = {}  # process without a cell -> its run; another run may need newer code
# Before multiprocessing waits for these processes, as it does at the end of an interpreter.
Finalize(None, lambda: list(map(Worker.end, _pool)), exitpriority=1)


@contextmanager
def open_client(options: RunOptions, timeout: float = CONNECT_SECONDS) -> Iterator[Client]:
    """Connect to the cluster that the options name. Raises ProbcalError when no scheduler answers in time."""
    from distributed import Client, LocalCluster, Security, comm, utils_comm

    for name in ("distributed", "distributed.client", "tornado.application", "asyncio"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # probcal reports what the user must know
    # Threads are enough, because each cell has a process anyway.
    setup = {"processes": False, "dashboard_address": None, "memory_limit": 0}
    with LocalCluster(options.workers, 1, **setup) if options.workers else nullcontext(options.scheduler) as address:
        try:
            # A Client that fails prints a traceback, so a connection is tried first, and several times, because a
            # scheduler that ends drops connections while another one takes its place.
            if options.scheduler:
                connect = partial(comm.connect, address, timeout, **Security().get_connection_args("client"))
                asyncio.run(asyncio.wait_for(utils_comm.retry(connect, int(timeout), 0.1, 1), timeout))
            client = Client(address, timeout=timeout, set_as_default=False)
        except Exception as error:  # each protocol raises its own
            advice = "give an address such as tcp://host:8786, or tls:// with certificates in Dask's configuration"
            text = f"no Dask scheduler answers at {address}: {str(error) or f'no answer in {timeout:g} s'}; {advice}"
            raise ProbcalError(f"{text}; cells that ended are kept, the same command continues") from None
        try:
            yield client
        finally:
            with suppress(Exception):  # the scheduler may be gone
                client.close(timeout=5)


def find_fault(
    code: dict[str, str], folders: dict[str, Path | None], modules: Path, planned: PlannedCell, run_id: str
) -> tuple[str, bool]:
    """Return why this process would give other numbers, or an empty text, and that it can be used again."""
    # The folders of the process that started the run, where this machine has them.
    for name, folder in folders.items():
        if folder and name not in os.environ and (modules / folder).is_dir():
            os.environ[name] = str(modules / folder)
    sys.path.extend({str(modules)} - {*sys.path})  # last, to hide no module
    try:
        digests = identity.user_code_digests(planned.cell)
        key = _identities(planned.key.get("weka")).key(planned.cell)
        _obtain_once(planned.cell.card)
    except (ProbcalError, OSError) as error:
        return f"{error} (the run was started in {modules})", True
    # Also a module that is missing here.
    names = sorted({*digests, *(code.keys() & {*identity.used_modules(planned.cell.column)})})
    differences = [f"code of {name}" for name in names if code.get(name) != digests.get(name)]
    differences = differences or [part for part, digest in planned.key.items() if key.get(part) != digest]
    return f"has other {', '.join(differences)} than the run was planned with" if differences else "", True


def _end_process(process: Worker) -> None:
    if process.seconds >= IDLE_SECONDS and _pool.pop(process, ""):
        process.end()


def run_in_process(check: Callable[..., Any], planned: PlannedCell, run_id: str, limit: float) -> tuple[str, Any]:
    """Run a cell in a process of this Dask worker, in at most ``limit`` seconds. Return the worker and the outcome.

    Return the reason instead where this worker cannot run the cell, and None where the task was cancelled.
    """
    from distributed import get_worker

    dask_worker = get_worker()
    # A nanny's worker is daemonic, and Python lets no daemonic process start another one.
    multiprocessing.current_process().daemon = False
    # Tasks are threads of one process. Whoever pops a worker has it, so no two tasks get the same one.
    process = next((worker for worker, owner in list(_pool.items()) if owner == run_id and _pool.pop(worker, "")), None)
    with instructions(planned.cell.processor):
        # Not forked, because the threads of the Dask worker may hold locks at that moment.
        process = process or Worker(run_id, operator.call, multiprocessing.get_context("spawn"))
    steps, reusable = [partial(check, planned), partial(run_isolated_cell, planned)], False
    try:
        # A new process first reports its start.
        for step in steps if process.planned else [None, *steps]:
            if step:
                process.give(planned, step)
            while not (has_answer := process.has_news()) and (step is not steps[1] or process.seconds < limit):
                # Dask cannot stop a thread. So the task itself looks whether it was cancelled or its worker closes.
                task = dask_worker.state.tasks.get(dask_worker.get_current_task())
                if dask_worker.status.name in ("closing", "closed") or task is None or task.state != "executing":
                    return dask_worker.contact_address, None
                # At most half a second, so that a cancelled task is noticed.
                wait(process.waitables(), max(0.01, min(limit - process.seconds, 0.5)))
            if step is not steps[1] and (fault := process.receive()[0]):
                return dask_worker.contact_address, fault
        outcome, reusable = worker_outcome(process, run_id, None if has_answer else limit, last_try=True)
        return dask_worker.contact_address, outcome
    except WorkerDied as death:
        return dask_worker.contact_address, f"cannot run cells: {death}; {process.last_output()}"
    finally:
        # A later cell of this run finds the libraries loaded. The process ends when none comes for a while.
        if reusable:
            _pool[process] = run_id
            dask_worker.loop.add_callback(dask_worker.loop.call_later, IDLE_SECONDS, _end_process, process)
        else:
            process.end()


async def _version_faults(client: Client, names: list[str], versions: dict[str, str]) -> dict[str, Any]:
    """Ask each worker by itself, so that one that is stopped does not keep the answers of others."""

    async def ask(name: str) -> Any:
        # The coroutine behind ``Client.run``, because this function runs in the loop of the client.
        answer = client._run(package_versions.version_differences, versions, workers=[name], on_error="return")
        try:
            return (await asyncio.wait_for(answer, CONNECT_SECONDS)).get(name, OSError())
        except Exception as error:
            return error

    return dict(zip(names, await asyncio.gather(*map(ask, names)), strict=True))


def run_cells(  # noqa: C901
    plan: list[PlannedCell], run_id: str, client: Client, options: RunOptions, say: Callable[[str], None], notify: Any
) -> Iterator[Outcome]:
    """Yield the outcome of each cell as it ends, like ``probcal.runner.pool.run_cells``.

    Raises ProbcalError when no worker can run the cells, or the scheduler is gone and does not come back.
    """
    from distributed import CancelledError, as_completed
    from distributed.client import ClosedClientError
    from distributed.scheduler import KilledWorker

    # One cell of each column is enough: cells of a column differ only by their rows.
    cells = list({id(planned.cell.column): planned.cell for planned in plan}.values())
    packages = {name: text for cell in cells for name, text in identity.used_packages(cell).items()}
    versions = {"probcal": __version__, **packages}
    code = {name: digest for cell in cells for name, digest in identity.user_code_digests(cell).items()}
    folders = {"PROBCAL_DATA_DIR": options.data_folder, "PROBCAL_CACHE_DIR": cache_folder()}
    task = partial(run_in_process, partial(find_fault, code, folders, Path.cwd()))
    queue, losses, check_time, is_empty = deque(plan), Counter[str](), -math.inf, False
    faults, runners = dict[str, str](), set[str]()  # worker -> reason to refuse it, if any; workers that ran a cell
    reports: dict[str, Any] = {}  # worker -> fault that was found since the last look at the workers
    workers: dict[str, int] = {}  # present worker without a fault -> its threads
    tasks: dict[Any, tuple[PlannedCell, list[str]]] = {}  # future -> its cell, and the workers that may run it
    futures, connection = as_completed(loop=client.loop), client.scheduler_comm
    silent_since: float | None = None
    while queue or tasks:
        # a new connection of the same client knows nothing of a cell that was sent while there was none
        if client.status != "running" or client.scheduler_comm is not connection:
            say(f"the scheduler at {options.scheduler} is gone; waiting for it to come back")
            with open_client(options, RECONNECT_SECONDS) as client:
                yield from run_cells(
                    [*(planned for planned, _ in tasks.values()), *queue], run_id, client, options, say, notify
                )
            return
        if time.monotonic() - check_time >= CHECK_SECONDS:
            try:
                members = client.nthreads(callback_timeout=ANSWER_SECONDS)
                names = [worker for worker in members if worker not in faults]
                reports |= client.sync(_version_faults, client, names, versions) if names else {}
                silent_since = None
            except Exception as gone:
                # The scheduler may end meanwhile, and each part of the client raises its own error.
                if client.status == "running" and not isinstance(gone, OSError):
                    raise
                if silent_since is None and client.status == "running":
                    say(f"the scheduler at {options.scheduler} does not answer; waiting for it")
                silent_since = silent_since or time.monotonic()
                if time.monotonic() - silent_since >= RECONNECT_SECONDS:
                    text = f"the scheduler at {options.scheduler} has not answered for {RECONNECT_SECONDS:g} s"
                    raise ProbcalError(f"{text}; cells that ended are kept, the same command continues") from None
                continue
            for worker, fault in reports.items():
                # OSError means that the worker has left again.
                if not isinstance(fault, OSError) and not faults.get(worker):
                    faults[worker] = fault if isinstance(fault, str) else f"cannot run cells: {fault!r}"
                    if fault:
                        say(f"worker {worker} is refused: {faults[worker]}")
            if members and all(map(faults.get, {*members, *runners})):
                raise ProbcalError("no worker of the cluster can run the cells; the reasons are above")
            workers = {worker: threads for worker, threads in members.items() if faults.get(worker) == ""}
            if not workers and not is_empty:
                say("no worker is there yet; waiting for one to join (Ctrl-C ends the run)")
            check_time, reports, is_empty = time.monotonic(), {}, not workers
            for future, (_, addresses) in tasks.items():
                # A task may run only on the workers that were there when it was sent. Without any of them, Dask would
                # wait until one comes back.
                if members.keys().isdisjoint(addresses):
                    future.cancel()
        # One task for each thread, because a task cannot move to a worker that joins after it was sent.
        while queue and len(tasks) < sum(workers.values()):
            planned, addresses = queue[0], list(workers)
            try:
                # Not pure, because Dask gives the old future, or its failure, to a pure task that is sent again.
                future = client.submit(
                    task, planned, run_id, options.timeout or math.inf, workers=addresses, pure=False
                )
            except ClosedClientError:  # the connection has just broken
                break
            queue.popleft()
            tasks[future] = planned, addresses
            futures.add(future)
            notify(planned)
        batch = futures.next_batch(block=False)
        time.sleep(0 if batch else POLL_SECONDS)
        for future in batch:
            # Results are fetched one by one: as_completed(with_results=True) never returns a future whose result fails
            # to arrive.
            try:
                worker, answer = future.result(CHECK_SECONDS) if future.status == "finished" else ("", None)
            except (OSError, CancelledError):
                # The connection broke, or the worker that has the result is gone.
                futures.add(future)
                continue
            (planned, _), error = tasks.pop(future), future.exception() if future.status == "error" else None
            is_lost = future.cancelled() or isinstance(error, KilledWorker)
            # Dask gives up at the first loss that exceeds the allowed ones.
            losses[planned.cell.id] += is_lost * (getattr(error, "allowed_failures", 0) + 1)
            if isinstance(answer, Outcome):
                runners.add(worker)
                yield answer
            elif is_lost and (error or losses[planned.cell.id] > LOSSES):
                cell = planned.cell.id
                text = f"Dask workers that died or left while they had the cell {cell}: {losses[cell]}"
                yield Outcome.failed(planned, run_id, 0.0, ("WorkerDied", text))
            elif error:
                raise ProbcalError(f"the Dask cluster cannot run cells: {error}")
            else:
                queue.appendleft(planned)
                if answer:
                    reports[worker], check_time = answer, -math.inf
