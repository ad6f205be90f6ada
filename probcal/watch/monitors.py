"""The monitors of one log: of all rows, and of each group. They share one rate of false alarms."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from probcal.protection import CalibrationMonitor
from probcal.reading.dates import as_date
from probcal.watch.log import Log
from probcal.watch.periods import rows_by_group

ALL_ROWS = "all rows"


@dataclass
class DatedMonitor:
    """Hold a monitor, and the days of some of its rows, so that rows have dates."""

    monitor: CalibrationMonitor
    marks: list[tuple[int, float]] = field(default_factory=list)
    """Number of the first row of a day, counted from 1, and this day. Both grow."""
    has_late_labels: bool = False
    """Whether rows came after newer ones. Dates are then those of the newest row when a label came."""

    def update(self, log: Log) -> None:
        """Add the rows of a log, which all have labels."""
        if not len(log.y):
            return
        # a label that came late belongs to an old row; its date is that of the newest row when it came
        newest = np.maximum(np.floor(log.days), self.marks[-1][1] if self.marks else -np.inf)
        self.has_late_labels |= bool((np.floor(log.days) < newest).any())
        days, first = np.unique(np.maximum.accumulate(newest), return_index=True)
        known = self.marks[-1][1] if self.marks else None
        self.marks += [
            (self.monitor.n_rows_ + int(place) + 1, float(day))
            for day, place in zip(days, first, strict=True)
            if day != known
        ]
        self.monitor.update(log.p, log.y)

    def day(self, row: float) -> float:
        """Return the day of a row, counted from 1."""
        rows, days = zip(*self.marks, strict=True)
        return float(days[max(int(np.searchsorted(rows, row, side="right")) - 1, 0)])

    def dates(self) -> dict[str, str]:
        """Return the dates of the alarm, and of the onset with its interval. Empty without an alarm."""
        monitor = self.monitor
        if monitor.alarm_ is None or monitor.onset_ is None or monitor.onset_interval_ is None:
            return {}
        first, last = monitor.onset_interval_
        rows = {"alarm": monitor.alarm_, "onset": monitor.onset_, "onset_from": first, "onset_to": last}
        return {name: as_date(self.day(row)) for name, row in rows.items()}

    def to_content(self) -> dict[str, Any]:
        monitor = json.loads(self.monitor.to_json())
        return {"times": self.marks, "has_late_labels": self.has_late_labels, "monitor": monitor}

    @classmethod
    def from_content(cls, content: dict[str, Any]) -> Self:
        marks = [(int(row), float(day)) for row, day in content["times"]]
        monitor = CalibrationMonitor.from_json(json.dumps(content["monitor"]))
        if monitor.n_rows_ and not marks:
            raise ValueError("its rows have no times")
        return cls(monitor, marks, bool(content["has_late_labels"]))


class Monitors:
    """Watch all rows, and each group of some columns. Any false alarm has at most one probability.

    Without groups, it is all for the monitor of all rows. With groups, this monitor has half of it. The other half is
    for groups, of which new ones may come at any time: those that come together are a family, and the k-th family has
    the share 1 / (k (k + 1)). These shares sum to 1. Within a family of m groups, of which r have an alarm, each other
    group has the share 1 / (m - r): Holm's step-down test. Its p-values 10 ** -e, with the largest evidence e so far,
    are valid after any number of looks. ``false_alarm_rate`` is this probability. ``columns`` are those of the groups.
    """

    def __init__(self, false_alarm_rate: float, columns: tuple[str, ...] = ()) -> None:
        self.false_alarm_rate, self.columns = false_alarm_rate, columns
        self.all_rows = DatedMonitor(CalibrationMonitor(false_alarm_rate / 2 if columns else false_alarm_rate))
        self.families: list[dict[str, DatedMonitor]] = []

    @property
    def by_name(self) -> dict[str, DatedMonitor]:
        """Return all monitors by their names, that of all rows first."""
        groups = {name: one for family in self.families for name, one in family.items()}
        return {ALL_ROWS: self.all_rows} | dict(sorted(groups.items()))

    @property
    def has_alarm(self) -> bool:
        return any(one.monitor.alarm_ is not None for one in self.by_name.values())

    def update(self, log: Log) -> None:
        """Add rows in the order of time, which all have labels."""
        self.all_rows.update(log)
        known = self.by_name
        groups = rows_by_group(log)
        if new := [name for name in groups if name not in known]:
            place = len(self.families) + 1
            rate = self.false_alarm_rate / 2 / (place * (place + 1)) / len(new)
            self.families.append({name: DatedMonitor(CalibrationMonitor(rate)) for name in new})
            known = self.by_name
        for name, rows in groups.items():
            known[name].update(log.take(rows))
        for place, family in enumerate(self.families, start=1):
            self._step_down(list(family.values()), self.false_alarm_rate / 2 / (place * (place + 1)))

    @staticmethod
    def _step_down(family: list[DatedMonitor], rate: float) -> None:
        """Raise the rates of the groups without an alarm for each alarm that there is, until there is no new one."""
        n_left = len(family) + 1
        while (left := [one.monitor for one in family if one.monitor.alarm_ is None]) and len(left) < n_left:
            n_left = len(left)
            for monitor in left:
                # rounding must not lower it
                monitor.raise_false_alarm_rate(max(rate / n_left, monitor.false_alarm_rate))

    def to_content(self) -> dict[str, Any]:
        """Return the state as plain JSON values."""
        return {
            "false_alarm_rate": self.false_alarm_rate,
            "columns": list(self.columns),
            "all_rows": self.all_rows.to_content(),
            "families": [{name: one.to_content() for name, one in family.items()} for family in self.families],
        }

    @classmethod
    def from_content(cls, content: dict[str, Any]) -> Self:
        """Read what ``to_content`` returned. Other content raises ValueError, TypeError, KeyError or AttributeError."""
        monitors = cls(float(content["false_alarm_rate"]), tuple(map(str, content["columns"])))
        monitors.all_rows = DatedMonitor.from_content(content["all_rows"])
        monitors.families = [
            {name: DatedMonitor.from_content(one) for name, one in family.items()} for family in content["families"]
        ]
        return monitors
