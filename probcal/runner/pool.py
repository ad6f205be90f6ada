"""Where cells run: in worker processes, each cell alone with its time limit and its crashes.

One worker process: gets a cell, sends back its outcome, and can be ended at any moment.
"""

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
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING, Any

from probcal.errors import ProbcalError
from probcal.runner.execute import Outcome
from probcal.runner.fingerprint import modules_of
from probcal.runner.fit_predict import one_thread_each
from probcal.runner.interruption import heeded, held
from probcal.runner.isolation import how_it_ended, lost, with_output
from probcal.runner.plan import Planned
from probcal.runner.worker_process import Output, flush, let_forks_be_ended, print_into, start_server, start_tracker

if TYPE_CHECKING:
    from probcal.runner.execute import Outcome
    from probcal.runner.plan import Planned


if sys.platform == "linux":
    import fcntl


# Forked from a process that has imported the libraries once and has no threads. Not forked from this
# one: the child would inherit the locks of its numeric libraries as they are at that moment.
_METHOD = "spawn" if sys.platform == "win32" else "forkserver"
_CONTEXT: Any = multiprocessing.get_context(_METHOD)
_F_SETSIG = 10  # of <fcntl.h> of Linux; Python 3.11 and 3.12 do not name it


def load_beforehand(modules: Iterable[str]) -> None:
    """Have ``modules`` imported once for all workers. They are not if a worker was started before."""
    if _METHOD == "forkserver":
        _CONTEXT.set_forkserver_preload(["probcal.runner.fork_server", *modules])


def run_cell(planned: Planned, run: str) -> tuple[Outcome, bool]:
    """What a worker does with what it is given, unless it was started for something else."""
    from probcal.runner.isolation import execute_alone

    return execute_alone(planned, run)


_GRACE = 10.0
"""Seconds from the end of a worker's connection, or from SIGKILL, to the end of its process."""


class WorkerDied(Exception):
    """The process ended, or cannot be heard any more; its exit code, None if it still ran, is the only argument."""


class Worker:
    """A process that runs one cell after the other. ``busy``: the cell it has now, None before the first.

    ``work`` is what it does with each: of what it is given and of ``run`` it makes an answer and tells whether the
    process can have another.
    """

    def __init__(
        self, run: str, work: Callable[[Any, str], tuple[Any, bool]] = run_cell, context: Any = _CONTEXT
    ) -> None:
        self._ours, theirs = context.Pipe()
        self._output = Output(context)
        arguments = (theirs, self._output.theirs, run, work, dict(os.environ))
        self._process = context.Process(target=_serve, args=arguments)
        _start(self._process, context)
        theirs.close()
        self._output.theirs.close()
        self.busy: Any = None
        self._since = time.monotonic()

    @property
    def seconds(self) -> float:
        """How long it has had its cell."""
        return time.monotonic() - self._since

    def waitables(self) -> list[Any]:
        """What ``multiprocessing.connection.wait`` can wait for: a message, the end of the process, what it prints."""
        return [self._ours, self._process.sentinel, *self._output.waitables()]

    def has_news(self) -> bool:
        """Whether ``receive`` has something to tell; reads what was printed meanwhile."""
        self._output.take()
        return bool(wait([self._ours, self._process.sentinel], 0))

    def receive(self) -> tuple[Any, bool]:
        """(the answer to what it was given, or None when it has just started; whether it can have another).

        Raises WorkerDied.
        """
        with suppress(Exception):  # of an end, or of a learner that wrote into a connection that is not its own
            if self._ours.poll():
                answer: tuple[Any, bool] = self._ours.recv()
                return answer
        self._process.join(_GRACE)  # one that has closed its connection may go on with its cell
        raise WorkerDied(self._process.exitcode)

    def last_printed(self) -> str:
        """The end of what its cell has printed so far."""
        return self._output.last()

    def give(self, planned: Any) -> None:
        """Let it run one more cell. One that died meanwhile says so at the next ``receive``."""
        self._output.forget()
        self.busy, self._since = planned, time.monotonic()
        with suppress(OSError):
            self._ours.send(planned)

    def kill(self) -> None:
        """Kill it and whatever it started, in the middle of its cell or not; ``end`` has still to be called."""
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except (AttributeError, OSError):  # no process groups on Windows; none of its own yet at the start
            self._process.kill()

    def end(self) -> None:
        """Kill it and whatever it started, and wait until it is gone."""
        self.kill()
        self._process.join(_GRACE)  # a disk or a network that does not answer may hold it for longer
        self._ours.close()
        self._output.close()


def _start(process: Any, context: Any) -> None:
    """Start a worker. It begins with the signals of an interruption blocked, until it has its own answer to them."""
    if context is _CONTEXT and _METHOD == "forkserver":
        start_server()
        process.start()  # signals may interrupt this, which takes seconds until the server has loaded the libraries
    else:
        if sys.platform != "win32":
            start_tracker()
        with held():
            process.start()


def _serve(
    parent: Connection,
    output: Connection,
    run: str,
    work: Callable[[Any, str], tuple[Any, bool]],
    environment: dict[str, str],
) -> None:
    os.environ.clear()  # the fork server's is that of its own start
    os.environ.update(environment)
    if hasattr(os, "setpgid"):
        os.setpgid(0, 0)  # so that ``end`` reaches programs that a learner started
    # Ctrl-C, a scheduler's SIGTERM and a lost terminal are the parent's business; handlers, unlike SIG_IGN,
    # are not inherited by programs
    for number in heeded():
        signal.signal(number, lambda *_: None)
    let_forks_be_ended()
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, heeded())  # see _start
    _end_with_parent()
    print_into(output)
    faulthandler.enable(2)  # where a crash was
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
    """Have this process and all it starts killed when the run is gone, however that ended."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return
    if sys.platform == "linux":  # by the kernel, for native code may keep every thread of ours from running
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
