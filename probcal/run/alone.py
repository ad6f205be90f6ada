"""One cell in a process that has others after it: what it gives is checked, what it changed is put back."""

from __future__ import annotations

import os
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module

import numpy as np

from probcal.data.splits import stream_seed
from probcal.run.execute import Outcome, _rows_of, execute
from probcal.run.keys import modules_of
from probcal.run.lost import bounded, lost
from probcal.run.plan import Cell, Planned
from probcal.run.process_state import ProcessState, seed_what_is_shared


def execute_alone(planned: Planned, run: str) -> tuple[Outcome, bool]:
    """(the outcome of ``execute``, whether the process is fit for another cell).

    Whatever the cell raises or gives becomes one row. The process-wide generators start from a seed of the cell's
    own, so that a learner that draws from them gives the same numbers in any order of the cells.
    """
    start, process, cell = time.perf_counter(), os.getpid(), planned.cell
    for module in modules_of(cell):  # first: what a module sets when it is loaded is to stay
        with suppress(BaseException):  # told by ``execute``, which comes to it again
            import_module(module)
    state = ProcessState()
    try:
        seed_what_is_shared(stream_seed(cell.seed, "shared", cell.id) % 2**32)
        outcome = bounded(execute(cell, planned.key, run))
    except BaseException as error:
        seconds, message = time.perf_counter() - start, _told(str, error)
        text = _told(traceback.format_exc)
        outcome = bounded(lost(planned, run, seconds, "failed", type(error).__name__, message, text))
    if os.getpid() != process:  # a fork that the cell forgot: it would answer a second time
        os._exit(0)
    return outcome, state.put_back() and (outcome.result.n_train is None or _rows_are_as_they_were(cell))


def _told(tell: Callable[..., str], *of: BaseException) -> str:
    try:
        return tell(*of)
    except BaseException as other:
        return f"(cannot be told: that raised {type(other).__name__})"


def _rows_are_as_they_were(cell: Cell) -> bool:
    """Whether the arrays that the next cell of this split shares can still not be written to."""
    return not any(part.flags.writeable for part in _rows_of(cell) if isinstance(part, np.ndarray))
