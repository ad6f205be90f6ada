"""One worker process: gets a cell, sends back its outcome, and can be ended at any moment."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

from probcal.run.threads import one_thread_each

if TYPE_CHECKING:
    from probcal.run.execute import Outcome
    from probcal.run.plan import Planned

# Forked from a process that has imported the libraries once and has no threads. Not forked from this
# one: the child would inherit the locks of its numeric libraries as they are at that moment.
_METHOD = "spawn" if sys.platform == "win32" else "forkserver"
_CONTEXT: Any = multiprocessing.get_context(_METHOD)


def load_beforehand(modules: Iterable[str]) -> None:
    """Have ``modules`` imported once for all workers. They are not if a worker was started before."""
    if _METHOD == "forkserver":
        _CONTEXT.set_forkserver_preload(["probcal.run.fork_server", *modules])


def run_cell(planned: Planned, run: str) -> Outcome:
    """What a worker does with what it is given, unless it was started for something else."""
    from probcal.run.execute import execute

    return execute(planned.cell, planned.key, run)


class WorkerDied(Exception):
    """The process ended by itself; its ``exitcode`` is the only argument."""


class Worker:
    """A process that runs one cell after the other. ``busy``: the cell it has now, None before the first.

    ``work`` is what it does with each, a function of what it is given and of ``run``.
    """

    def __init__(self, run: str, work: Callable[[Any, str], Any] = run_cell, context: Any = _CONTEXT) -> None:
        self._ours, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, run, work, dict(os.environ)))
        self._process.start()
        theirs.close()
        self.busy: Any = None
        self._since = time.monotonic()

    @property
    def seconds(self) -> float:
        """How long it has had its cell."""
        return time.monotonic() - self._since

    def waitables(self) -> list[Any]:
        """What ``multiprocessing.connection.wait`` can wait for: a message, or the end of the process."""
        return [self._ours, self._process.sentinel]

    def has_news(self, ready: list[Any]) -> bool:
        return self._ours in ready or self._process.sentinel in ready

    def receive(self) -> Any:
        """The outcome of its cell, or None when it has just started. Raises WorkerDied."""
        with suppress(EOFError, OSError):
            if self._ours.poll():
                return self._ours.recv()
        self._process.join()
        raise WorkerDied(self._process.exitcode)

    def give(self, planned: Any) -> None:
        """Let it run one more cell. One that died meanwhile says so at the next ``receive``."""
        self.busy, self._since = planned, time.monotonic()
        with suppress(OSError):
            self._ours.send(planned)

    def end(self) -> None:
        """End it and whatever it started, in the middle of its cell or not."""
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except (AttributeError, OSError):  # no process groups on Windows; none of its own yet at the start
            self._process.kill()
        self._process.join()
        self._ours.close()


def _serve(parent: Connection, run: str, work: Callable[[Any, str], Any], environment: dict[str, str]) -> None:
    os.environ.clear()  # the fork server's is that of its own start
    os.environ.update(environment)
    if hasattr(os, "setpgid"):
        os.setpgid(0, 0)  # so that ``end`` reaches programs that a learner started
    # Ctrl-C and a scheduler's SIGTERM are the parent's business; handlers, unlike SIG_IGN, are not
    # inherited by programs
    signal.signal(signal.SIGINT, lambda *_: None)
    signal.signal(signal.SIGTERM, lambda *_: None)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGINT, signal.SIGTERM))  # see run/dask_worker.py
    threading.Thread(target=_end_with_parent, daemon=True).start()
    one_thread_each()
    try:
        parent.send(None)
        while True:
            parent.send(work(parent.recv(), run))
    except (EOFError, OSError):
        pass  # the parent is gone


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        try:
            os.killpg(0, signal.SIGKILL)
        except AttributeError:
            os._exit(1)
