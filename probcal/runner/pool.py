"""The pool of workers that run the cells of a run, each cell with its time limit.

A crash ends only its own cell: the result says how, and another worker takes the next cell.

Ready-made pools lack what a run needs. With pebble 5.2, a program that a cell started outlives the cell's time limit,
and a worker in native code outlives a killed run. Any worker gets any task, although cells share fits within a process.
What a cell prints goes to the terminal and not into its result.
"""

from __future__ import annotations

import multiprocessing
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from multiprocessing.connection import wait

from probcal.components.classes import comes_with_probcal
from probcal.errors import ProbcalError
from probcal.runner.cell import PlannedCell
from probcal.runner.execute import Outcome
from probcal.runner.identity import used_modules
from probcal.runner.instruction_set import instructions
from probcal.runner.worker import Worker, WorkerDied, preload_modules, start_server

_MOST_STARTS = 3
"""Number of workers in a row that may end before they have a cell. After that, the fault is permanent."""


def run_cells(
    plan: list[PlannedCell],
    run_id: str,
    jobs: int = 1,
    timeout: float | None = None,
    notify: Callable[[PlannedCell], None] = lambda planned: None,
    level: str | None = None,
) -> Iterator[Outcome]:
    """Yield the outcome of each cell as it ends. ``timeout`` is the largest number of seconds for a cell.

    ``level`` names the instructions that compute. The default is what the cells declare.

    ``notify`` is called with each cell that a worker gets. A cell over its time gives a result of status "timeout", and
    one whose process died a failed one. Closing the iterator ends the running cells. Raises ProbcalError when no worker
    process can be started.
    """
    queue, lost_starts = deque(plan), 0
    workers: list[Worker] = []
    level = level or next((planned.cell.processor for planned in plan), None)
    modules = {module for planned in plan for module in used_modules(planned.cell.column)}
    # The user's own modules are left out, because they may change during the run.
    preload_modules(sorted(filter(comes_with_probcal, modules)))
    try:
        workers += _start_workers(run_id, level, min(jobs, len(plan)))
        while workers:
            wait(
                [waitable for worker in workers for waitable in worker.waitables()],
                _seconds_to_timeout(workers, timeout),
            )
            for worker in list(workers):
                is_late = timeout is not None and worker.planned is not None and worker.seconds >= timeout
                # After ``is_late``, so that a cell that has just ended is not late.
                has_news = worker.has_news()
                if not has_news and not is_late:
                    continue
                outcome, is_alive = worker_outcome(
                    worker, run_id, None if has_news else timeout, last_try=lost_starts + 1 >= _MOST_STARTS
                )
                # A worker that dies with a cell is the fault of the cell, and one without is a fault of the machine.
                lost_starts = 0 if is_alive or worker.planned else lost_starts + 1
                if is_alive and queue:
                    planned = take_next(queue, worker.planned, [peer.planned for peer in workers if peer is not worker])
                    notify(planned)
                    worker.give(planned)
                else:
                    workers.remove(worker)
                    worker.end()
                    workers += _start_workers(run_id, level, int(not is_alive and bool(queue)))
                if outcome is not None:
                    yield outcome
    finally:
        for worker in workers:  # kill all of them first, because ``end`` waits for each
            worker.kill()
        for worker in workers:
            worker.end()


_server_level: list[str | None] = []
"""The level of instructions of the server that forks workers. It is empty before the server starts."""


def start_early(level: str | None, modules: Iterable[str]) -> None:
    """Start the server now, for workers that compute with the instructions of ``level``, with these ``modules``."""
    preload_modules(sorted(modules))
    start_server()
    _server_level.append(level)


def _start_workers(run_id: str, level: str | None, n: int) -> list[Worker]:
    """Start workers that compute with the instructions of ``level``."""
    if n and not _server_level:
        _server_level.append(level)
    # Libraries choose their code when they are loaded. The server has loaded them, so it can serve one level, and
    # workers of another one start without it.
    context = None if level in _server_level else multiprocessing.get_context("spawn")
    with instructions(level):
        return [Worker(run_id, context=context) for _ in range(n)]


_LOOKAHEAD = 200
"""Number of waiting cells among which a worker looks for its own."""


def take_next(
    queue: deque[PlannedCell], last_planned: PlannedCell | None, peer_cells: list[PlannedCell | None]
) -> PlannedCell:
    """Take a cell from ``queue`` for the worker that had ``last_planned``, while other workers have ``peer_cells``.

    Methods with a shared seed share the fits of a learner on a split, in one process. Methods of a random stream share
    those on all folds of a repetition. So the first cell of the same fits is taken, or else the first of fits that no
    other worker makes. All other cells are taken in their order.
    """
    own_fits, peer_fits = _shared_fits(last_planned), {_shared_fits(planned) for planned in peer_cells} - {None}
    next_fits = [_shared_fits(planned) for planned in islice(queue, _LOOKAHEAD if own_fits or peer_fits else 1)]
    position = next_fits.index(own_fits) if own_fits and own_fits in next_fits else 0
    if next_fits[position] in peer_fits and next_fits[position] != own_fits:
        position = next((number for number, fits in enumerate(next_fits) if fits not in peer_fits), 0)
    planned = queue[position]
    del queue[position]
    return planned


def _shared_fits(planned: PlannedCell | None) -> tuple[str, int, str] | None:
    """Return data set, split and learner, which name the fits that a cell shares. None for a cell that shares none."""
    if planned is None:
        return None
    cell, split = planned.cell, planned.cell.used_split
    if split.kind == "legacy_stratified_k_fold":
        # Folds of one random stream count as one split, because each needs the fits of those before it.
        return cell.dataset, cell.repetition // (split.folds or 1), cell.column.learner.name
    return (cell.dataset, cell.repetition, cell.column.learner.name) if cell.column.method.shared_seed else None


def _seconds_to_timeout(workers: list[Worker], timeout: float | None) -> float | None:
    """Return the seconds until the first of the running cells is over its time."""
    if timeout is None:
        return None
    return min((max(0.0, timeout - worker.seconds) for worker in workers if worker.planned), default=None)


def worker_outcome(
    worker: Worker, run_id: str, exceeded_limit: float | None, last_try: bool
) -> tuple[Outcome | None, bool]:
    """Return the outcome of the worker's cell, and whether the worker can take another.

    Raises ProbcalError when the worker could not start and this was the ``last_try``.
    """
    planned = worker.planned
    if exceeded_limit is not None and planned is not None:
        message = f"took longer than {exceeded_limit:g} s"
        error = "TimeoutError", message
        return Outcome.failed(planned, run_id, worker.seconds, error, status="timeout").with_output(
            worker.last_output()
        ), False
    try:
        outcome, is_alive = worker.receive()
    except WorkerDied as death:
        reason = str(death)
        if planned is None and not last_try:
            return None, False
        if planned is None:
            output = worker.last_output().strip() or "its output is above"
            raise ProbcalError(f"a worker process cannot start: {reason}; {output}") from None
        outcome, is_alive = Outcome.failed(planned, run_id, worker.seconds, ("WorkerDied", reason)), False
    if outcome is not None and outcome.result.status != "done":
        outcome = outcome.with_output(worker.last_output())
    return outcome, is_alive
