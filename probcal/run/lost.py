"""The outcome of a cell that could not tell its own: its time was over, or its process is gone."""

from __future__ import annotations

import signal
from typing import Literal

from probcal.run.execute import Outcome
from probcal.run.plan import Planned
from probcal.store import CellResult


def lost(
    planned: Planned, run: str, seconds: float, status: Literal["failed", "timeout"], error_type: str, message: str
) -> Outcome:
    cell = planned.cell
    return Outcome(
        CellResult(
            dataset=cell.dataset,
            repetition=cell.repetition,
            learner=cell.column.learner.name,
            method=cell.column.method.name,
            status=status,
            run=run,
            seconds=round(seconds, 6),
            key=planned.key,
            error_type=error_type,
            message=message,
        )
    )


def how_it_ended(exitcode: int | None) -> str:
    if exitcode is None or exitcode >= 0:
        return f"ended by itself with exit code {exitcode}"
    name = signal.Signals(-exitcode).name
    return f"was ended by {name}" + (" (was there enough memory?)" if name == "SIGKILL" else "")
