"""One cell in a process that has others after it: what it gives is checked, what it changed is put back."""

from __future__ import annotations

import os
import time
import traceback
from contextlib import suppress
from importlib import import_module

from probcal.data.splits import stream_seed
from probcal.run.execute import Outcome, execute
from probcal.run.keys import modules_of
from probcal.run.lost import bounded, lost
from probcal.run.plan import Planned
from probcal.run.process_state import ProcessState, seed_what_is_shared


def execute_alone(planned: Planned, run: str) -> tuple[Outcome, bool]:
    """(the outcome of ``execute``, whether the process is fit for another cell).

    Whatever the cell raises or gives becomes one row. The process-wide generators start from a seed of the cell's
    own, so that a learner that draws from them gives the same numbers in any order of the cells.
    """
    start, process, cell = time.perf_counter(), os.getpid(), planned.cell
    state = ProcessState()
    try:
        for module in modules_of(cell):
            with suppress(Exception, SystemExit):  # told by ``execute``, which comes to it again
                import_module(module)
        state = ProcessState()  # once more: what a module sets when it is loaded is to stay
        seed_what_is_shared(stream_seed(cell.seed, "shared", cell.id) % 2**32)
        outcome = bounded(execute(cell, planned.key, run))
    except BaseException as error:
        seconds, name, text = time.perf_counter() - start, type(error).__name__, traceback.format_exc()
        outcome = bounded(lost(planned, run, seconds, name, _told(error), text))
    if os.getpid() != process:  # a fork that the cell forgot: it would answer a second time
        os._exit(0)
    return outcome, state.put_back()


def _told(error: BaseException) -> str:
    try:
        return str(error)
    except BaseException as other:
        return f"(its message raised {type(other).__name__})"
