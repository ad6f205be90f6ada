"""What the process that workers are forked from loads once. Imported by that process and by nothing else.

It starts with SIGINT, SIGTERM and SIGHUP blocked (``probcal.runner.worker_process``) and keeps them so. The run has
to answer them, which ends its workers and with them this process. Were it gone first, its workers would look dead.
"""

import ctypes
import os
import signal
import sys

import probcal.runner.isolation
import probcal.runner.pool  # noqa: F401

_PR_SET_PDEATHSIG = 1
_run = os.getppid()


def _end_with_the_run(*_: object) -> None:
    if os.getppid() != _run:  # a thread that ends gives the signal too
        os._exit(0)


if sys.platform == "linux":  # first: what follows takes a second in which this process notices nothing else
    signal.signal(signal.SIGUSR1, _end_with_the_run)
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGUSR1)
