"""The steps of ``probcal watch``: read the log, find the rows that are new, and judge periods, groups and monitors."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from probcal.reading.periods import Every
from probcal.reading.prediction_file import PredictionsRequest
from probcal.watch.copies import count_copies
from probcal.watch.log import Log, read_log
from probcal.watch.monitors import Monitors
from probcal.watch.periods import Period, groups_of, periods_of
from probcal.watch.state import NewRows, State


@dataclass(frozen=True)
class WatchRequest:
    """Hold what ``probcal watch`` was asked for."""

    predictions: PredictionsRequest
    time: str
    every: Every
    false_alarm_rate: float
    state: Path | None = None


@dataclass(frozen=True)
class Watched:
    """Hold what was found: periods and groups of the new rows, and the monitors of all rows so far."""

    log: Log
    """All rows of the file."""
    rows: NewRows
    periods: list[Period]
    """Those with rows that are new, or that wait for their label."""
    groups: list[Period]
    state: State

    @property
    def monitors(self) -> Monitors:
        return self.state.monitors

    @property
    def n_new(self) -> int:
        return int(self.rows.mask.sum())

    @property
    def n_waiting(self) -> int:
        return int((~self.log.has_label).sum())


def watch(request: WatchRequest) -> Watched:
    """Read the log, and update the monitors. The caller writes the state when nothing can fail any more.

    Raises ProbcalError for a table or a state that cannot be used.
    """
    state = State.read(request.state, request.false_alarm_rate, request.predictions)
    log = count_copies(read_log(request.predictions, request.time))
    rows = state.update(log)
    shown = log.take(rows.mask | ~log.has_label)
    return Watched(log, rows, periods_of(shown, request.every), groups_of(shown), state)
