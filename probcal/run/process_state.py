"""What a cell can change of its process that the next cell would feel, and how it is put back."""

from __future__ import annotations

import os
import random
import signal
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import sklearn

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

_LIMITS = sorted({getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_")})
_USUAL = "HUP INT QUIT USR1 USR2 PIPE ALRM TERM CHLD VTALRM PROF XCPU"
_SIGNALS = [getattr(signal, f"SIG{name}") for name in _USUAL.split() if hasattr(signal, f"SIG{name}")]
_TIMERS = [getattr(signal, name) for name in ("ITIMER_REAL", "ITIMER_VIRTUAL", "ITIMER_PROF") if hasattr(signal, name)]
_WAITING = ("joblib.", "loky.", "multiprocessing.queues")
"""Whose threads wait for other processes, and draw nothing."""


def seed_what_is_shared(seed: int) -> None:
    """Let the process-wide generators of ``random`` and numpy start from ``seed``, below 2**32."""
    random.seed(seed)
    np.random.seed(seed)


@dataclass(frozen=True)
class ProcessState:
    """Limits, timers, signal handlers, environment, folder, standard streams, depth of recursion, numpy's error
    state, scikit-learn's settings and the threads, as they are when it is made."""

    limits: dict[int, tuple[int, int]] = field(default_factory=lambda: _limits())
    handlers: dict[int, Any] = field(default_factory=lambda: _handlers())
    environment: dict[str, str] = field(default_factory=lambda: dict(os.environ))
    folder: str = field(default_factory=os.getcwd)
    streams: tuple[Any, Any] = field(default_factory=lambda: (sys.stdout, sys.stderr))
    deepest: int = field(default_factory=sys.getrecursionlimit)
    numpy: dict[str, Any] = field(default_factory=lambda: np.geterr())  # type: ignore[arg-type, return-value]
    sklearn: dict[str, Any] = field(default_factory=sklearn.get_config)
    threads: list[threading.Thread] = field(default_factory=threading.enumerate)

    def put_back(self) -> bool:
        """Whether that could be done, and the process has room for another cell."""
        steps: list[Callable[[], Any]] = [  # memory first, which the others may need
            self._limits_back,
            self._signals_back,
            self._environment_back,
            lambda: os.chdir(self.folder),
            self._streams_back,
            lambda: sys.setrecursionlimit(self.deepest),
            lambda: np.seterr(**self.numpy),
            lambda: sklearn.set_config(**self.sklearn),
        ]
        try:
            for step in steps:
                step()
            return _room() and not self._threads_left()
        except Exception:
            return False

    def _limits_back(self) -> None:
        for kind, limit in _limits().items():
            if limit != self.limits[kind]:
                resource.setrlimit(kind, self.limits[kind])

    def _signals_back(self) -> None:
        for timer in _TIMERS:
            signal.setitimer(timer, 0)
        if hasattr(signal, "pthread_sigmask"):
            signal.pthread_sigmask(signal.SIG_SETMASK, ())
        for number, handler in _handlers().items():
            if handler != self.handlers[number]:
                signal.signal(number, self.handlers[number])

    def _environment_back(self) -> None:
        if os.environ != self.environment:
            os.environ.clear()
            os.environ.update(self.environment)

    def _streams_back(self) -> None:
        sys.stdout, sys.stderr = self.streams

    def _threads_left(self) -> list[threading.Thread]:
        """What may go on drawing from the generators that the next cell shares."""
        return [one for one in threading.enumerate() if one not in self.threads and not _waits_for_processes(one)]


def _handlers() -> dict[int, Any]:
    """Of the signals whose handlers are Python's to set."""
    return {number: handler for number in _SIGNALS if (handler := signal.getsignal(number)) is not None}


def _limits() -> dict[int, tuple[int, int]]:
    return {kind: resource.getrlimit(kind) for kind in _LIMITS}


def _waits_for_processes(thread: threading.Thread) -> bool:
    modules = (getattr(getattr(thread, "_target", None), "__module__", None), type(thread).__module__)
    return any(module is not None and module.startswith(_WAITING) for module in modules)


def _room() -> bool:
    """Files that a cell has left open cannot be told from what a later cell of its learner needs."""
    try:
        files = len(os.listdir("/proc/self/fd"))
    except OSError:
        files = 0
    return resource is None or files < resource.getrlimit(resource.RLIMIT_NOFILE)[0] / 2
