"""One import of the libraries for the command and its workers, which is most of the time of a small run.

The command computes with the instructions that the experiment declares, so it starts again under their variables
(``restart_with``). Then its fork server is a fork of itself (``fork_early_server``), made when the classes of the
experiment are imported and nothing else has begun: no thread of Python, no open results, no pool of a library. So it is
the process that would otherwise start from nothing, with the same imports.

Only the program ``probcal`` does this, on Linux. A notebook has threads of its own, and an experiment with classes of
the user imports them in the server's workers, because they may change during the run.
"""

from __future__ import annotations

import atexit
import gc
import os
import select
import sys
import threading
import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import util
from typing import Any, NoReturn

from probcal.components.classes import comes_with_probcal
from probcal.config.experiment import Experiment
from probcal.metrics.plugins import metric_modules
from probcal.runner.identity import used_modules
from probcal.runner.instruction_set import has_level
from probcal.runner.interruption import forget_command, is_command
from probcal.runner.pool import start_early

_OPEN_FILES = "/proc/self/fd"
"""The open files of this process, on Linux."""
_DEFAULT_OBJECTS_PER_COLLECTION = 700
"""Python's own number, which ``probcal.__main__`` raises for the command."""


def fork_early_server(experiment: Experiment) -> None:
    """Fork the server of the workers from this process, if that is safe. Otherwise the first worker starts one."""
    if not is_command() or not os.path.isdir(_OPEN_FILES) or threading.active_count() > 1:
        return
    if experiment.processor is not None and not has_level(experiment.processor):
        return
    pairs = (experiment.with_overrides(card, column) for card in experiment.cards for column in experiment.columns)
    columns = {id(pair[1]): pair[1] for pair in pairs if pair is not None}.values()
    modules = {module for column in columns for module in used_modules(column)} | {*metric_modules(experiment.metrics)}
    if all(map(comes_with_probcal, modules)):
        with _forks():
            start_early(experiment.processor, modules)


@contextmanager
def _forks() -> Iterator[None]:
    """Fork this process where ``multiprocessing`` would start a new Python."""
    start = util.spawnv_passfds
    util.spawnv_passfds = _fork  # type: ignore[assignment]  # the types of what multiprocessing gives
    try:
        yield
    finally:
        util.spawnv_passfds = start


def _fork(_: Any, arguments: Sequence[str], descriptors: Sequence[int]) -> int:
    """Return the process that runs the code at the end of ``arguments``, and has these ``descriptors`` open."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()  # the other process would print it again
    with warnings.catch_warnings():
        # Python 3.12 warns of threads, and libraries start some that sleep when they are imported.
        warnings.simplefilter("ignore", DeprecationWarning)
        process = os.fork()
    if process == 0:
        _serve(arguments[-1], descriptors)
    return process


def _serve(code: str, descriptors: Sequence[int]) -> NoReturn:
    try:
        forget_command()
        atexit._clear()
        _close_all_but((0, 1, 2, *descriptors))
        gc.set_threshold(_DEFAULT_OBJECTS_PER_COLLECTION)
        gc.freeze()  # workers need not search what is imported
        select.select(descriptors, [], [])  # a run without cells needs no worker
        exec(code, {})  # noqa: S102  # the code of multiprocessing, as its own Python would run it
    except SystemExit:
        pass
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(0)


def _close_all_but(descriptors: Sequence[int]) -> None:
    # Above all the end of the pipe that tells the watchdog of the command that this one has ended.
    for name in os.listdir(_OPEN_FILES):
        if int(name) not in descriptors:
            with suppress(OSError):
                os.close(int(name))
