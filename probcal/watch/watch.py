"""The steps of ``probcal watch``: read the log, find the rows that are new, and judge periods, groups and monitors."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from probcal._io import counted
from probcal.errors import ProbcalError
from probcal.reading.dates import as_date
from probcal.reading.output_file import write_output
from probcal.reading.periods import Every
from probcal.reading.prediction_file import PredictionsRequest
from probcal.watch.log import Bools, Log, count_copies, read_log
from probcal.watch.monitors import Monitors
from probcal.watch.periods import Period, groups_of, periods_of

_FORMAT, _VERSION = "probcal watch", 2

RowKey = tuple[float, float, tuple[str, ...]]
"""Time, prediction and groups of a row. Rows with the same key differ in nothing but their label."""


@dataclass
class RowCounts:
    """Hold how many rows were counted with a label, how many of them are positive, and how many have no label yet."""

    counted: int = 0
    positive: int = 0
    waiting: int = 0


class NewRows(NamedTuple):
    """Hold which rows of a log are new, and what was noticed about the others."""

    mask: Bools
    """(n_rows,) whether the label of a row has come since the last run."""
    n_seen: int
    n_late: int
    """Rows before the newest time that were in no earlier log."""
    n_changed_days: int
    """Days whose labels are others than when they were counted."""


@dataclass
class State:
    """Hold the monitors, and what tells rows that were counted from new ones.

    A row that waits for its label, and a row of the newest time, is known by its key. Of older rows only the number on
    each day is known, so that the state stays small.
    """

    monitors: Monitors
    options: dict[str, Any] = field(default_factory=dict)
    """The columns and the positive label, which must stay the same."""
    last: float = -math.inf
    """Newest time of a row with a label."""
    rows: dict[RowKey, RowCounts] = field(default_factory=dict)
    days: dict[float, RowCounts] = field(default_factory=dict)

    def update(self, log: Log) -> NewRows:
        """Add the rows of a log whose label is new to the monitors, and remember what the next run must know.

        Raises ProbcalError where labels that were counted are gone.
        """
        mask = (log.has_label & (log.days > self.last)) | self._arrived(log)
        new = self._compared(log, mask)
        self.monitors.update(log.take(mask))
        self._remember(log, mask)
        return new

    def _arrived(self, log: Log) -> Bools:
        """Return which rows up to the newest time have a label that was not counted."""
        mask = np.zeros(len(log.y), dtype=bool)
        times = np.array([self.last, *(day for day, _, _ in self.rows)])
        by_key: dict[RowKey, list[int]] = defaultdict(list)
        for row, key in _keys(log, log.has_label & (log.days <= self.last) & np.isin(log.days, times)):
            by_key[key].append(row)
        for key, rows in by_key.items():
            known = self.rows.get(key, RowCounts())
            n_new = max(len(rows) - known.counted, 0)
            if key[0] < self.last:
                n_new = min(n_new, known.waiting)
            # rows of one key are alike but for their labels, so the new ones are known by the number of each label
            positives = [row for row in rows if log.y[row] == 1]
            negatives = [row for row in rows if log.y[row] == 0]
            n_positive = min(max(len(positives) - known.positive, 0), n_new)
            n_negative = min(n_new - n_positive, len(negatives))
            mask[positives[len(positives) - n_positive :]] = True
            mask[negatives[len(negatives) - n_negative :]] = True
        return mask

    def _compared(self, log: Log, mask: Bools) -> NewRows:
        """Return what is noticed about the rows that are not new, day by day."""
        old = log.has_label & ~mask
        n_seen = n_late = n_changed = 0
        for day, now in _by_day(log, old, ~log.has_label).items():
            before = self.days.get(day, RowCounts())
            if now.counted < before.counted and now.waiting > before.waiting:
                raise ProbcalError(
                    f"{log.name}: {counted(before.counted)} of {as_date(day)} had a label when it was counted, and "
                    f"{now.counted} {'has' if now.counted == 1 else 'have'} one now; put the labels back, or begin "
                    "another --state"
                )
            n_seen += min(now.counted, before.counted)
            n_late += max(now.counted - before.counted, 0)
            n_changed += now.counted == before.counted and now.positive != before.positive
        return NewRows(mask, n_seen, n_late, n_changed)

    def _remember(self, log: Log, mask: Bools) -> None:
        for day, new in _by_day(log, mask, ~log.has_label).items():
            known = self.days.setdefault(day, RowCounts())
            known.counted += new.counted
            known.positive += new.positive
            known.waiting = new.waiting
        if mask.any():
            self.last = max(self.last, float(log.days[mask].max()))
        rows: dict[RowKey, RowCounts] = defaultdict(RowCounts)
        new_rows: dict[RowKey, RowCounts] = defaultdict(RowCounts)
        for _, key in _keys(log, ~log.has_label):
            rows[key].waiting += 1
        times = np.array([self.last, *(day for day, _, _ in [*rows, *self.rows])])
        for row, key in _keys(log, log.has_label & np.isin(log.days, times)):
            for counts in (rows[key], new_rows[key]) if mask[row] else (rows[key],):
                counts.counted += 1
                counts.positive += int(log.y[row])
        for key, known in self.rows.items():
            # a log may have lost rows that were counted
            n_counted = known.counted + new_rows[key].counted
            if key not in rows or rows[key].counted < n_counted:
                gone = key not in rows
                rows[key].counted = n_counted
                rows[key].positive = known.positive + new_rows[key].positive
                rows[key].waiting = known.waiting if gone else rows[key].waiting
        self.rows = {key: counts for key, counts in rows.items() if counts.waiting or key[0] == self.last}

    @classmethod
    def read(cls, path: Path | None, false_alarm_rate: float, request: PredictionsRequest) -> State:
        """Read the state at ``path``, or begin a new one. Raises ProbcalError for another file, or other options."""
        options = {"-p": request.probability[0], "-t": request.target, "--positive": request.positive}
        if path is None or not path.exists():
            return cls(Monitors(false_alarm_rate, request.groups), options)
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            if content["format"] != _FORMAT:
                raise ValueError("its format is another")
            if content["version"] != _VERSION:
                raise ValueError(f"it is of version {content['version']!r}, and this probcal reads {_VERSION}")
            last = -math.inf if content["last"] is None else float(content["last"])
            state = cls(
                Monitors.from_content(content["monitors"]),
                dict(content["options"]),
                last,
                {
                    (float(day), float(p), tuple(map(str, groups))): _counts(*counts)
                    for day, p, groups, *counts in content["rows"]
                },
                {float(day): _counts(*counts) for day, *counts in content["days"]},
            )
            n_rows = sum(one.counted for one in state.days.values())
            if math.isnan(last) or n_rows != state.monitors.all_rows.monitor.n_rows_:
                raise ValueError("its rows do not fit each other")
        except OSError as error:
            raise ProbcalError(f"--state: {path}: {error.strerror or error}; name another file") from None
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise ProbcalError(
                f"--state: {path} holds no state of probcal watch ({error!s:.100}); name another file"
            ) from None
        given = options | {"--false-alarms": f"{false_alarm_rate:g}", "--group": " ".join(request.groups) or None}
        begun = state.options | {
            "--false-alarms": f"{state.monitors.false_alarm_rate:g}",
            "--group": " ".join(state.monitors.columns) or None,
        }
        for name, value in given.items():
            if begun.get(name) != value:
                words = f"without {name}" if begun.get(name) is None else f"with {name} {begun[name]}"
                raise ProbcalError(f"--state: {path} was begun {words}; do the same, or name another file")
        return state

    def write(self, path: Path) -> None:
        """Write the state in one step."""
        content = {
            "format": _FORMAT,
            "version": _VERSION,
            "options": self.options,
            "last": self.last if math.isfinite(self.last) else None,
            "rows": [[*key, one.counted, one.positive, one.waiting] for key, one in self.rows.items()],
            "days": [[day, one.counted, one.positive, one.waiting] for day, one in self.days.items()],
            "monitors": self.monitors.to_content(),
        }
        write_output("--state", path, json.dumps(content) + "\n")


def _counts(n_counted: int, positive: int, waiting: int) -> RowCounts:
    counts = RowCounts(int(n_counted), int(positive), int(waiting))
    if min(counts.positive, counts.waiting) < 0 or counts.positive > counts.counted:
        raise ValueError("its rows do not fit each other")
    return counts


def _by_day(log: Log, labelled: Bools, waiting: Bools) -> dict[float, RowCounts]:
    """Return the counts of each day of the log."""
    days, place = np.unique(np.floor(log.days), return_inverse=True)
    parts = (labelled, labelled & (log.y == 1), waiting)
    sums = [np.bincount(place, part, len(days)).astype(int).tolist() for part in parts]
    return {day: RowCounts(*counts) for day, *counts in zip(days.tolist(), *sums, strict=True)}


def _keys(log: Log, rows: Bools) -> list[tuple[int, RowKey]]:
    """Return the number and the key of each row of a mask."""
    columns = list(log.groups.values())
    return [
        (row, (float(log.days[row]), float(log.p[row]), tuple(str(column[row]) for column in columns)))
        for row in np.flatnonzero(rows).tolist()
    ]


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
