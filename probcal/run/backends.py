"""Where cells run: in worker processes, each cell alone with its time limit and its crashes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from multiprocessing.connection import wait

from probcal.errors import ProbcalError
from probcal.run.execute import Outcome
from probcal.run.keys import modules_of
from probcal.run.lost import how_it_ended, lost, with_output
from probcal.run.plan import Planned
from probcal.run.workers import Worker, WorkerDied, load_beforehand

_STARTS = 3
"""Workers that end one after the other before they have a cell; the fault is then none of the moment."""


def outcomes(
    planned: list[Planned],
    run: str,
    jobs: int = 1,
    timeout: float | None = None,
    started: Callable[[Planned], None] = lambda planned: None,
) -> Iterator[Outcome]:
    """The outcome of each cell as it ends. ``timeout``: seconds a cell may take before it is ended.
    ``started`` is called with each cell that a worker is given.

    A cell over its time, and one whose process died, give a result like any other. Closing the
    iterator ends the cells that still run. Raises ProbcalError when no worker process can be started.
    """
    waiting, lost_starts = deque(planned), 0
    workers: list[Worker] = []
    load_beforehand(_shipped_modules(planned))
    try:
        workers += [Worker(run) for _ in range(min(jobs, len(planned)))]
        while workers:
            wait([one for worker in workers for one in worker.waitables()], _patience(workers, timeout))
            for worker in list(workers):
                late = timeout is not None and worker.busy is not None and worker.seconds >= timeout
                news = worker.has_news()  # in this order: what ended while another was seen to is not late
                if not news and not late:
                    continue
                outcome, alive = _news(worker, run, None if news else timeout, last_try=lost_starts + 1 >= _STARTS)
                lost_starts = 0 if alive or worker.busy else lost_starts + 1
                if alive and waiting:
                    worker.give(waiting.popleft())
                    started(worker.busy)
                else:
                    workers.remove(worker)
                    worker.end()
                    workers += [Worker(run) for _ in range(not alive and bool(waiting))]
                if outcome is not None:
                    yield outcome
    finally:
        for worker in workers:  # all of them first: the end of each may be waited for
            worker.kill()
        for worker in workers:
            worker.end()


def _shipped_modules(planned: list[Planned]) -> list[str]:
    """The modules of the cells' classes, but for the user's own, which may change while we run."""
    modules = {module for one in planned for module in modules_of(one.cell)}
    return sorted(module for module in modules if module.partition(".")[0] in ("probcal", "sklearn"))


def _patience(workers: list[Worker], timeout: float | None) -> float | None:
    """Seconds until the first of the running cells is over its time."""
    if timeout is None:
        return None
    return min((max(0.0, timeout - worker.seconds) for worker in workers if worker.busy), default=None)


def _news(worker: Worker, run: str, overtime: float | None, last_try: bool) -> tuple[Outcome | None, bool]:
    """What has become of the worker's cell, and whether the worker can go on.

    Raises ProbcalError when it could not even start and this was the ``last_try``.
    """
    planned = worker.busy
    if overtime is not None and planned is not None:
        said = f"took longer than {overtime:g} s"
        late = lost(planned, run, worker.seconds, "timeout", "TimeoutError", said)
        return with_output(late, worker.last_printed()), False
    try:
        outcome, alive = worker.receive()
    except WorkerDied as death:
        how = how_it_ended(death.args[0])
        if planned is None and not last_try:
            return None, False
        if planned is None:
            said = worker.last_printed().strip() or "what it said is above"
            raise ProbcalError(f"a worker process cannot start: {how}; {said}") from None
        outcome, alive = lost(planned, run, worker.seconds, "failed", "WorkerDied", how), False
    return outcome and with_output(outcome, worker.last_printed()), alive
