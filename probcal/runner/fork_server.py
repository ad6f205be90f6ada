"""Imports of the process from which workers are forked. Only that process imports this module.

It starts with SIGINT, SIGTERM and SIGHUP blocked (``probcal.runner.worker_process``) and keeps them blocked. The run
answers them and ends its workers, and with them this process. If this process ended first, its workers would look dead.
"""

import ctypes
import os
import signal
import sys

import probcal.runner.worker_process  # noqa: F401

_PR_SET_PDEATHSIG = 1
_run_pid = os.getppid()


def _end_with_run(*_: object) -> None:
    if os.getppid() != _run_pid:  # the end of a thread sends the signal, too
        os._exit(0)


# First, because the imports take a second in which this process handles nothing.
if sys.platform == "linux":
    signal.signal(signal.SIGUSR1, _end_with_run)
    # Not SIGKILL: Linux sends the signal also when only the thread ends that started this process.
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGUSR1)
