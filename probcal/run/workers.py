"""One worker process: gets a cell, sends back its outcome, and can be ended at any moment."""

from __future__ import annotations

import faulthandler
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING, Any

from probcal.interruption import heeded, held
from probcal.run.forked import let_forks_be_ended
from probcal.run.server_start import start_server, start_tracker
from probcal.run.threads import one_thread_each
from probcal.run.worker_output import Output, flush, print_into

if sys.platform == "linux":
    import fcntl

if TYPE_CHECKING:
    from probcal.run.execute import Outcome
    from probcal.run.plan import Planned

# Forked from a process that has imported the libraries once and has no threads. Not forked from this
# one: the child would inherit the locks of its numeric libraries as they are at that moment.
_METHOD = "spawn" if sys.platform == "win32" else "forkserver"
_CONTEXT: Any = multiprocessing.get_context(_METHOD)
_F_SETSIG = 10  # of <fcntl.h> of Linux; Python 3.11 and 3.12 do not name it


def load_beforehand(modules: Iterable[str]) -> None:
    """Have ``modules`` imported once for all workers. They are not if a worker was started before."""
    if _METHOD == "forkserver":
        _CONTEXT.set_forkserver_preload(["probcal.run.fork_server", *modules])


def run_cell(planned: Planned, run: str) -> tuple[Outcome, bool]:
    """What a worker does with what it is given, unless it was started for something else."""
    from probcal.run.alone import execute_alone

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
