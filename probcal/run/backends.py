"""Where cells run: in this process, or in worker processes that can be ended one by one."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait

from pebble import ProcessExpired, ProcessPool
from threadpoolctl import threadpool_limits

from probcal.run.execute import Outcome, execute
from probcal.run.plan import Planned
from probcal.store import CellResult


def outcomes(planned: list[Planned], run: str, jobs: int = 1, timeout: float | None = None) -> Iterator[Outcome]:
    """The outcome of each cell as it ends. ``timeout``: seconds a cell may take before it is ended.

    A cell over its time, and one whose process died, give a result like any other. Closing the
    iterator ends the cells that still run.
    """
    if jobs == 1 and timeout is None:
        return _in_this_process(planned, run)
    return _in_workers(planned, run, jobs, timeout)


def one_thread_each() -> None:
    """One thread for linear algebra, so that the number of processes never changes a sum's order."""
    threadpool_limits(1)


def _in_this_process(planned: list[Planned], run: str) -> Iterator[Outcome]:
    one_thread_each()
    for one in planned:
        yield execute(one.cell, one.key, run)


def _in_workers(planned: list[Planned], run: str, jobs: int, timeout: float | None) -> Iterator[Outcome]:
    # spawn: a forked worker would inherit the threads' locks of the parent's numeric libraries
    context = multiprocessing.get_context("spawn")
    pool = ProcessPool(min(jobs, len(planned) or 1), initializer=one_thread_each, context=context)
    try:
        running: dict[Future, Planned] = {
            pool.schedule(execute, args=(one.cell, one.key, run), timeout=timeout): one for one in planned
        }
        while running:
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                yield _outcome(future, running.pop(future), run, timeout)
    finally:
        pool.stop()
        pool.join()


def _outcome(future: Future, planned: Planned, run: str, timeout: float | None) -> Outcome:
    try:
        return future.result()
    except TimeoutError:
        return _lost(planned, run, "timeout", "TimeoutError", f"took longer than {timeout:g} s", timeout or 0.0)
    except ProcessExpired as error:
        return _lost(planned, run, "failed", "ProcessExpired", f"its process died (exit code {error.exitcode})", 0.0)


def _lost(planned: Planned, run: str, status: str, error_type: str, message: str, seconds: float) -> Outcome:
    cell = planned.cell
    return Outcome(
        CellResult(
            dataset=cell.card.name,
            repetition=cell.repetition,
            learner=cell.column.learner.name,
            method=cell.column.method.name,
            status=status,
            run=run,
            seconds=seconds,
            key=planned.key,
            error_type=error_type,
            message=message,
        )
    )
