"""Processes that a learner forks: they are the learner's to end, which multiprocessing does by SIGTERM."""

from __future__ import annotations

import os
import signal
import threading

from probcal.interruption import SIGNALS, heeded


class _Mask(threading.local):
    before: frozenset[int] | set[int] = frozenset()


_ENDING = SIGNALS
_mask = _Mask()


def let_forks_be_ended() -> None:
    """Give every process that this one forks the usual answer to ``_ENDING``, which this one itself does not heed."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=_wait, after_in_parent=_go_on, after_in_child=_heed)


def _wait() -> None:
    """A signal that comes before the new process has its own answer is not to be lost."""
    _mask.before = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)


def _go_on() -> None:
    signal.pthread_sigmask(signal.SIG_SETMASK, _mask.before)


def _heed() -> None:
    for number in heeded():
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    _go_on()
