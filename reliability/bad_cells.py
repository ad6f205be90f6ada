"""Learners that misbehave, each in its own way; ``Bad(how=...)`` is one of them, ``Good`` is their neighbour."""

from __future__ import annotations

import contextlib
import ctypes
import multiprocessing
import os
import random
import resource
import signal
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import sklearn
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.tree import DecisionTreeClassifier

_LEFT = []


class Good(DecisionTreeClassifier):
    """Draws from its own generator and from numpy's, feels what a neighbour may leave behind."""

    def predict_proba(self, X):
        with contextlib.suppress(OSError), open("/dev/null") as file:
            file.read()
        noise = np.random.random(len(X)) * 1e-3 + random.random() * 1e-3 + np.array([1e-320]) ** 2
        p = super().predict_proba(X)[:, 1] * 0.9 + noise + (0.01 if "LEFT_BEHIND" in os.environ else 0)
        return np.column_stack([1 - p, p])


class Bad(ClassifierMixin, BaseEstimator):
    def __init__(self, how="raises", random_state=None):
        self.how, self.random_state = how, random_state

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        if self.how in IN_FIT:
            IN_FIT[self.how](X)
        return self

    def predict(self, X):
        return np.zeros(len(X), dtype=np.int8)

    def predict_proba(self, X):
        p = np.full((len(X), 2), 0.5)
        return ESTIMATES[self.how](p) if self.how in ESTIMATES else p


class Str(str):
    def __str__(self):
        return self

    def __len__(self):
        raise RuntimeError("no length")

    def encode(self, *_):
        raise RuntimeError("no bytes")


class Hostile(np.ndarray):
    def __array_function__(self, *_, **__):
        raise RuntimeError("no functions")

    def __array_ufunc__(self, *_, **__):
        raise RuntimeError("no arithmetic")


class NoMessage(Exception):
    def __str__(self):
        raise RuntimeError("no message")


class NotToBePickled(Exception):
    def __init__(self):
        super().__init__(threading.Lock(), lambda: None)


def _raise(error):
    def fault(_):
        raise error

    return fault


def _print(_):
    for stream in (sys.stdout, sys.stderr):
        stream.write("x" * 999_999 + "\n")
    subprocess.run(["sh", "-c", "head -c 1000000 /dev/zero; head -c 1000000 /dev/zero >&2"], check=True)


def _print_and_raise(_):
    print("y" * 1_000_000 + "\nthe last words")
    raise ValueError("after a megabyte")


def _allocate(_):
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, resource.getrlimit(resource.RLIMIT_AS)[1]))
    _LEFT.append(np.ones(1 << 40, dtype=np.int8))


def _grandchild(_):
    if os.fork() == 0:
        os.setsid()
        time.sleep(3)
        os._exit(0)


def _hold_lock_in_a_thread(_):
    threading.Thread(target=ctypes.PyDLL(None).sleep, args=(600,), daemon=True).start()
    time.sleep(600)


def _write_into(X):
    with contextlib.suppress(Exception):
        X.flags.writeable = True
    with contextlib.suppress(Exception):
        X[:] = 0
    with contextlib.suppress(Exception):
        X.iloc[:] = 0


def _open_files(_):
    for _number in range(1000):
        with contextlib.suppress(OSError):
            _LEFT.append(open("/dev/null"))  # noqa: SIM115


def _threads(_):
    for _number in range(100):
        threading.Thread(target=time.sleep, args=(600,), daemon=True).start()


def _drawing_thread(_):
    def draw():
        while True:
            np.random.seed(0)
            time.sleep(0.0005)

    threading.Thread(target=draw, daemon=True).start()


def _forked_and_ended(_):
    process = multiprocessing.get_context("fork").Process(target=time.sleep, args=(600,))
    process.start()
    process.terminate()  # which waits for ever where SIGTERM is not heard
    process.join()


def _pool(_):
    _LEFT.append(multiprocessing.get_context("fork").Pool(2))


def _signals(_):
    for number in (signal.SIGALRM, signal.SIGTERM, signal.SIGINT, signal.SIGUSR1, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
    signal.setitimer(signal.ITIMER_REAL, 0.3)


def _ignore_and_hang(_):
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    while True:
        pass


def _forever(depth):
    return _forever(depth + 1)


def _overflow(_):
    sys.setrecursionlimit(2**30)
    _through_c(0)


def _through_c(depth):
    return list(map(_through_c, [depth + 1]))


def _close(_):
    os.closerange(0, 4096)


def _close_and_hang(_):
    _close(_)
    time.sleep(600)


def _drop_limits(_):
    resource.setrlimit(resource.RLIMIT_NOFILE, (16, 16))


def _in_three_dimensions(p):
    return p[:, :, None]


IN_FIT = {
    "raises": _raise(ValueError("the matrix is singular")),
    "raises KeyboardInterrupt": _raise(KeyboardInterrupt()),
    "raises GeneratorExit": _raise(GeneratorExit()),
    "raises StopIteration": _raise(StopIteration()),
    "raises a message that raises": _raise(NoMessage()),
    "raises what cannot be pickled": _raise(NotToBePickled()),
    "raises a message of 10 MB": _raise(ValueError("m" * 10_000_000)),
    "raises surrogates and NUL": _raise(ValueError("a\udc80\ud800\0b")),
    "raises a hostile message": _raise(ValueError(Str("hostile"))),
    "raises a group": _raise(BaseExceptionGroup("some", [KeyboardInterrupt(), ValueError()])),
    "raises an end of file": _raise(EOFError("as if the run were gone")),
    "raises OSError": _raise(OSError(28, "No space left on device")),
    "sys.exit(0)": lambda _: sys.exit(0),
    "os._exit(0)": lambda _: os._exit(0),
    "os._exit(7)": lambda _: os._exit(7),
    "os.abort": lambda _: os.abort(),
    "a segmentation fault": lambda _: ctypes.string_at(0),
    "a floating point signal": lambda _: os.kill(os.getpid(), signal.SIGFPE),
    "a signal for real time": lambda _: os.kill(os.getpid(), signal.SIGRTMIN + 3),
    "SIGKILL, as for want of memory": lambda _: os.kill(os.getpid(), signal.SIGKILL),
    "SIGTERM to itself": lambda _: os.kill(os.getpid(), signal.SIGTERM),
    "SIGINT to its group": lambda _: os.killpg(0, signal.SIGINT),
    "all memory, under a limit": _allocate,
    "recursion without end": _forever,
    "overflow of the C stack": _overflow,
    "prints 4 MB": _print,
    "prints 1 MB and raises": _print_and_raise,
    "hangs in Python": lambda _: time.sleep(600),
    "hangs in native code with the interpreter lock": lambda _: ctypes.PyDLL(None).sleep(600),
    "hangs in native code of a thread with the lock": _hold_lock_in_a_thread,
    "hangs, ignores SIGTERM": _ignore_and_hang,
    "hangs in a program": lambda _: subprocess.run(["sleep", "600"], check=False),
    "stops itself with SIGSTOP": lambda _: os.kill(os.getpid(), signal.SIGSTOP),
    "hangs after closing all files": _close_and_hang,
    "closes all files": _close,
    "a grandchild in its own session": _grandchild,
    "forks, and both come back": lambda _: os.fork(),
    "changes the folder": lambda _: os.chdir("/"),
    "changes the environment": lambda _: os.environ.update(LEFT_BEHIND="yes", OMP_NUM_THREADS="7"),
    "empties the environment": lambda _: os.environ.clear(),
    "numpy raises from now on": lambda _: np.seterr(all="raise"),
    "warnings are errors from now on": lambda _: warnings.simplefilter("error"),
    "seeds the global generators": lambda _: (np.random.seed(0), random.seed(0)),
    "sets scikit-learn's output to pandas": lambda _: sklearn.set_config(transform_output="pandas"),
    "writes into X": _write_into,
    "closes stdout and stderr": lambda _: (sys.stdout.close(), sys.stderr.close()),
    "puts None for stdout": lambda _: (setattr(sys, "stdout", None), setattr(sys, "stderr", None)),
    "threads that do not end": _threads,
    "a thread that goes on drawing numbers": _drawing_thread,
    "a process that it forks and ends": _forked_and_ended,
    "leaves a pool of processes": _pool,
    "1,000 open files": _open_files,
    "lowers its limit of files for good": _drop_limits,
    "signal handlers, mask and an alarm": _signals,
    "a recursion limit of 60": lambda _: sys.setrecursionlimit(60),
}
ESTIMATES = {
    "NaN": lambda p: p * np.nan,
    "one NaN": lambda p: np.where(np.arange(len(p))[:, None] == 3, np.nan, p),
    "infinity": lambda p: p * np.inf,
    "negative": lambda p: p - 1,
    "more than 1": lambda p: p + 1,
    "rows that do not sum to 1": lambda p: p * 0.5,
    "a row too few": lambda p: p[1:],
    "a row too many": lambda p: np.vstack([p, p[:1]]),
    "three columns": lambda p: np.hstack([p, p[:, :1]]),
    "one dimension": lambda p: p[:, 1],
    "three dimensions": _in_three_dimensions,
    "nothing at all": lambda p: p[:0],
    "None": lambda p: None,
    "a list of strings": lambda p: ["a"] * len(p),
    "a sparse matrix": sparse.csr_matrix,
    "objects": lambda p: np.array([[object(), object()]] * len(p)),
    "complex numbers": lambda p: p + 1j,
    "a generator": lambda p: (row for row in p),
    "an array with hostile methods": lambda p: p.view(Hostile),
    "the estimator itself": lambda p: Bad(),
}
HANG = [how for how in IN_FIT if how.startswith(("hangs", "stops"))]
