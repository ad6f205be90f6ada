"""Start the process that workers are forked from, whatever folder is for temporary files."""

from __future__ import annotations

import os
import tempfile
from multiprocessing import util

from probcal.errors import ProbcalError
from probcal.interruption import held

_LONGEST = 60
"""Bytes of a folder: a socket's whole name may have 103, and multiprocessing puts some 35 behind the folder's."""
_SHORT = ("/tmp", "/var/tmp", "/dev/shm")


def start_server() -> None:
    """Start it unless it runs, with the signals of an interruption blocked, which it leaves to the run.

    Raises ProbcalError when no folder for its socket is to be had.
    """
    from multiprocessing import forkserver  # not on Windows

    _choose_folder()
    start_tracker()
    with held():
        forkserver.ensure_running()


def start_tracker() -> None:
    """Start the process in which multiprocessing keeps count, now: it unblocks signals where it is started."""
    from multiprocessing import resource_tracker  # not on Windows

    resource_tracker.ensure_running()


def _choose_folder() -> None:
    """Have multiprocessing put its sockets elsewhere where the user's TMPDIR has too long a name for that."""
    folder = tempfile.gettempdir()
    if len(os.fsencode(folder)) <= _LONGEST:
        return
    for short in _SHORT:
        if os.access(short, os.W_OK | os.X_OK):
            tempfile.tempdir = short
            try:
                util.get_temp_dir()  # which it keeps from now on
            finally:
                tempfile.tempdir = folder
            return
    raise ProbcalError(
        f"the folder for temporary files is too long for a socket, and none of {', '.join(_SHORT)} can be written to:"
        f" {folder}; set TMPDIR to a folder of at most {_LONGEST} characters"
    )
