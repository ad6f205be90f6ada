"""What ``probcal watch --state`` keeps between two runs, and which rows of a log it has not seen yet."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from probcal.errors import ProbcalError
from probcal.reading.output_file import write_output
from probcal.watch.log import Bools, Log
from probcal.watch.monitors import Monitors

_FORMAT, _VERSION = "probcal watch", 2

RowKey = tuple[float, float, tuple[str, ...]]
"""Time, prediction and groups of a row. Rows with the same key differ in nothing but their label."""


@dataclass
class WaitingRows:
    """Hold the rows of one key, some of which wait for their label."""

    labelled: int = 0
    positive: int = 0
    waiting: int = 0


class NewRows(NamedTuple):
    """Hold which rows of a log are new, and how many are not."""

    mask: Bools
    """(n_rows,) whether the label of a row has come since the last run."""
    n_seen: int
    n_late: int
    """Rows before the last time that were in no earlier log."""


@dataclass
class State:
    """Hold the monitors, the time of the newest row, and the rows that wait for their label."""

    monitors: Monitors
    last: float = -math.inf
    n_last: int = 0
    """Number of rows with a label at the last time."""
    waiting: dict[RowKey, WaitingRows] = field(default_factory=dict)

    def new_rows(self, log: Log) -> NewRows:
        """Return which rows have a label that no earlier run saw."""
        arrived = self._arrived(log)
        before = log.has_label & ~arrived & (log.days < self.last)
        at_last = log.has_label & ~arrived & (log.days == self.last)
        # rows of one time keep the order of the file, so those of the earlier run come first
        new = arrived | (at_last & (np.cumsum(at_last) > self.n_last)) | (log.has_label & (log.days > self.last))
        n_before = int(before.sum())
        n_late = max(0, n_before - (self.monitors.all_rows.monitor.n_rows_ - self.n_last))
        n_seen = n_before - n_late + int((at_last & ~new).sum())
        return NewRows(new, n_seen, n_late)

    def update(self, log: Log) -> NewRows:
        """Add the new rows of a log to the monitors, and remember what the next run must know."""
        new = self.new_rows(log)
        self.monitors.update(log.take(new.mask))
        if new.mask.any():
            last = max(self.last, float(log.days[new.mask].max()))
            n_new = int((log.days[new.mask] == last).sum())
            self.n_last = n_new + (self.n_last if last == self.last else 0)
            self.last = last
        self._remember(log)
        return new

    def _arrived(self, log: Log) -> Bools:
        """Return which rows waited for their label at the last run, and have it now."""
        mask = np.zeros(len(log.y), dtype=bool)
        times = np.array([day for day, _, _ in self.waiting])
        rows_of: dict[RowKey, list[int]] = {}
        candidates = log.has_label & (log.days <= self.last) & np.isin(log.days, times)
        for row, key in _keys(log, candidates):
            rows_of.setdefault(key, []).append(row)
        for key, rows in rows_of.items():
            if (known := self.waiting.get(key)) is None or not known.waiting:
                continue
            n_new = min(max(len(rows) - known.labelled, 0), known.waiting)
            # rows of one key are alike but for their labels, so the new ones are known by the number of each label
            positives = [row for row in rows if log.y[row] == 1]
            negatives = [row for row in rows if log.y[row] == 0]
            n_positive = min(max(len(positives) - known.positive, 0), n_new, len(positives))
            mask[positives[len(positives) - n_positive :]] = True
            mask[negatives[len(negatives) - min(n_new - n_positive, len(negatives)) :]] = True
        return mask

    def _remember(self, log: Log) -> None:
        """Replace what waits by the rows of the log that have no label. Rows that the log has no more stay."""
        waiting: dict[RowKey, WaitingRows] = {}
        for _, key in _keys(log, ~log.has_label):
            waiting.setdefault(key, WaitingRows()).waiting += 1
        times = np.array([day for day, _, _ in [*waiting, *self.waiting]])
        in_log = set(waiting)
        for row, key in _keys(log, log.has_label & np.isin(log.days, times)):
            in_log.add(key)
            if key in waiting:
                waiting[key].labelled += 1
                waiting[key].positive += int(log.y[row])
        self.waiting = {key: rows for key, rows in self.waiting.items() if key not in in_log} | waiting

    @classmethod
    def read(cls, path: Path | None, false_alarm_rate: float, columns: tuple[str, ...]) -> State:
        """Read the state at ``path``, or begin a new one. Raises ProbcalError for another file, or other options."""
        if path is None or not path.exists():
            return cls(Monitors(false_alarm_rate, columns))
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            if content["format"] != _FORMAT:
                raise ValueError("its format is another")
            if content["version"] != _VERSION:
                raise ValueError(f"it is of version {content['version']!r}, and this probcal reads {_VERSION}")
            state = cls(
                Monitors.from_content(content["monitors"]),
                float(content["last"]) if content["last"] is not None else -math.inf,
                int(content["rows_of_last"]),
                {
                    (float(day), float(p), tuple(map(str, groups))): WaitingRows(*map(int, counts))
                    for day, p, groups, *counts in content["waiting"]
                },
            )
        except OSError as error:
            raise ProbcalError(f"--state: {path}: {error.strerror or error}; name another file") from None
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise ProbcalError(
                f"--state: {path} holds no state of probcal watch ({error!s:.100}); name another file"
            ) from None
        if (rate := state.monitors.false_alarm_rate) != false_alarm_rate:
            raise ProbcalError(
                f"--state: {path} was begun with --false-alarms {rate:g}; give this, or name another file"
            )
        if (begun := state.monitors.columns) != columns:
            words = " ".join(f"--group {name}" for name in begun) or "no --group"
            raise ProbcalError(f"--state: {path} was begun with {words}; give this, or name another file")
        return state

    def write(self, path: Path) -> None:
        """Write the state in one step."""
        content = {
            "format": _FORMAT,
            "version": _VERSION,
            "last": self.last if math.isfinite(self.last) else None,
            "rows_of_last": self.n_last,
            "waiting": [[*key, rows.labelled, rows.positive, rows.waiting] for key, rows in self.waiting.items()],
            "monitors": self.monitors.to_content(),
        }
        write_output("--state", path, json.dumps(content) + "\n")


def _keys(log: Log, rows: Bools) -> list[tuple[int, RowKey]]:
    """Return the number and the key of each row of a mask."""
    columns = list(log.groups.values())
    return [
        (row, (float(log.days[row]), float(log.p[row]), tuple(str(column[row]) for column in columns)))
        for row in np.flatnonzero(rows).tolist()
    ]
