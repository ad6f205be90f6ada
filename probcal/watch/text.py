"""What ``probcal watch`` prints: tables and sentences, or lines of JSON."""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Iterator, Sequence
from typing import Any

from tabulate import tabulate

from probcal._io import counted
from probcal.metrics.closed_forms import Bounds
from probcal.watch.log import Log
from probcal.watch.monitors import ALL_ROWS, DatedMonitor
from probcal.watch.periods import Period, odds_ratio_of, rows_by_group
from probcal.watch.watch import Watched

HEADERS = (
    "rows", "base rate", "", "mean p", "intercept", "", "slope", "", "log loss", "of base rate", "no label", "expected",
)  # fmt: skip
_OF_WAITING = 2
"""The last columns, which the command shows only where rows wait for their label."""
EVIDENCE_HEADERS = ("log10 evidence", "alarm at", "alarm since")
LEGEND = "Calibrated predictions have intercept 0 and slope 1. Intervals are of 95 %, losses in bits."
LEGEND_OF_WAITING = (
    "expected: log loss of all rows, with and without a label, if their predictions are calibrated. It needs no labels."
)


def watched_text(watched: Watched) -> Iterator[str]:
    """Yield the paragraphs that the command prints."""
    if watched.periods:
        shown = slice(None) if watched.n_waiting else slice(-_OF_WAITING)
        headers = HEADERS[shown]
        yield _table(["period", *headers], [[one.name, *line(one)[shown]] for one in watched.periods])
        if watched.groups:
            lines = [[one.name, *evidence_cells(watched, one), *line(one)[shown]] for one in watched.groups]
            yield _table(["group", *EVIDENCE_HEADERS, *headers], lines)
        yield f"{LEGEND}\n{LEGEND_OF_WAITING}" if watched.n_waiting else LEGEND
    counts = [counted(watched.n_new, "new row")]
    counts += [f"{counted(watched.rows.n_seen)} seen before"] if watched.rows.n_seen else []
    counts += [f"{counted(watched.n_waiting)} without a label"] if watched.n_waiting else []
    yield ", ".join(counts)
    if watched.rows.n_late:
        yield (
            f"left out: {counted(watched.rows.n_late)} whose time is before the last one of the state, and in no "
            "earlier log; put each row into the log when it is predicted, with an empty label, or run without --state"
        )
    if n_days := watched.rows.n_changed_days:
        yield f"labels of {counted(n_days, 'day')} have changed since they were counted; a new --state counts them anew"
    yield from watched.log.notes
    yield from verdict(watched)


def verdict(watched: Watched) -> list[str]:
    """Return for each alarm what has changed and what to do, or that there is none."""
    alarms = [(name, one) for name, one in watched.monitors.by_name.items() if one.monitor.alarm_ is not None]
    if not alarms:
        everything = watched.monitors.all_rows
        groups = ", and in no group" if watched.monitors.families else ""
        return [f"no alarm{groups}: {_evidence(everything)}; nothing to do"]
    of_groups = [name for name, _ in alarms if name != ALL_ROWS]
    n_groups = sum(len(family) for family in watched.monitors.families)
    texts = [_alarm(watched, name, one, _advice(watched, name, one)) for name, one in alarms if name != ALL_ROWS]
    if alarms[0][0] == ALL_ROWS:
        one = alarms[0][1]
        advice = _advice(watched, ALL_ROWS, one)
        if 0 < len(of_groups) < n_groups:
            advice = (
                f"What to do: first calibrate {' and '.join(of_groups)}. The other groups have no alarm yet. If the "
                "table shows that they changed too (an interval of their intercept without 0), calibrate all rows."
            )
        texts.insert(0, _alarm(watched, ALL_ROWS, one, advice))
    return texts


def _alarm(watched: Watched, name: str, dated: DatedMonitor, advice: str) -> str:
    monitor, dates = dated.monitor, dated.dates()
    meaning = (
        "when the labels came" if dated.has_late_labels else f"between {dates['onset_from']} and {dates['onset_to']}"
    )
    change = f": log-odds times {monitor.slope_:g}, plus {monitor.shift_:g}"
    if monitor.slope_ == 1 and monitor.shift_ is not None:
        rows = _rows_since_onset(watched.log, name, dated)
        ratio, (low, high) = odds_ratio_of(rows)
        times = "the odds of the positive label are {:.3g} times as high as predicted"
        change = f": {times.format(math.exp(monitor.shift_))}"  # the nearest that the monitor tries
        if not math.isnan(low):
            interval = f"95 % interval {low:.3g} to {high:.3g}"
            change = f". In the {counted(len(rows.y))} since then, {times.format(ratio)} on average ({interval})"
    return (
        f"ALARM{_where(name)} since {dates['alarm']}: calibration has changed; {_evidence(dated)}\n"
        f"It began about {dates['onset']} ({meaning}){change}\n{advice}"
    )


def _where(name: str) -> str:
    return "" if name == ALL_ROWS else f" in {name}"


def _rows_since_onset(log: Log, name: str, dated: DatedMonitor) -> Log:
    """Return the rows with a label of the group ``name``, or of all rows, since the day of the onset."""
    mask = log.has_label & (log.days >= dated.day(dated.monitor.onset_ or 1))
    return log.take(mask if name == ALL_ROWS else mask & rows_by_group(log).get(name, False))


def _advice(watched: Watched, name: str, dated: DatedMonitor) -> str:
    options = watched.state.options
    given = [(option, options[option]) for option in ("-p", "-t", "--positive") if options[option] is not None]
    command = shlex.join(["probcal", "measure", "FILE", *(word for option in given for word in option)])
    map_, onset = "sigmoid" if dated.monitor.slope_ == 1 else "beta", dated.dates()["onset"]
    # a name of its own, because map.json may be the map that production uses
    return (
        f"What to do: put the rows{_where(name)} since {onset} into a file, and fit a map: {command} "
        f'--calibrate {map_} --export map-{onset}.json. If "{options["-p"]}" is the output of a map, fit on the '
        "prediction of the model itself, because the new map replaces the present one. Before you use it, compare it "
        "with the present probabilities on rows that did not fit it. Then watch the mapped predictions with a new "
        "--state."
    )


def _evidence(dated: DatedMonitor) -> str:
    monitor = dated.monitor
    return (
        f"evidence 10^{_power(monitor.log10_evidence_)} after {counted(monitor.n_rows_)} (alarm at "
        f"10^{_power(-math.log10(monitor.false_alarm_rate))})"
    )


def _power(value: float) -> str:
    return f"{round(value, 1) + 0.0:.1f}"  # no negative zero


def line(period: Period) -> list[str]:
    """Return the cells of ``HEADERS``."""
    return [
        f"{period.rows:,}",
        _number(period.base_rate, 4),
        _interval(period.base_rate_interval, 4),
        _number(period.mean_prediction, 4),
        _number(period.intercept),
        _interval(period.intercept_interval, 2),
        _number(period.slope),
        _interval(period.slope_interval, 2),
        _number(period.log_loss, 4),
        _number(period.log_loss_of_base_rate, 4),
        f"{period.waiting_rows:,}" if period.waiting_rows else "",
        _number(period.expected_log_loss, 4),
    ]


def evidence_cells(watched: Watched, group: Period) -> list[str]:
    """Return the cells of ``EVIDENCE_HEADERS``."""
    dated = watched.monitors.by_name.get(group.name)  # a group without a label has no monitor yet
    if dated is None:
        return ["", "", ""]
    level = -math.log10(dated.monitor.false_alarm_rate)
    return [_power(dated.monitor.log10_evidence_), _power(level), dated.dates().get("alarm", "")]


def _table(headers: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    return tabulate(lines, headers, tablefmt="plain", disable_numparse=True)


def _number(value: float, digits: int = 2) -> str:
    return "-" if math.isnan(value) else f"{value:.{digits}f}"


def _interval(bounds: Bounds, digits: int) -> str:
    return "" if math.isnan(bounds[0]) else f"{bounds[0]:.{digits}f} to {bounds[1]:.{digits}f}"


def watched_json(watched: Watched) -> Iterator[str]:
    """Yield a JSON line for each period, for each group, and for each monitor, that of all rows last."""
    for kind, periods in (("period", watched.periods), ("group", watched.groups)):
        for period in periods:
            yield json.dumps({kind: {name: _json_value(value) for name, value in vars(period).items()}})
    for name, dated in reversed(watched.monitors.by_name.items()):
        monitor = dated.monitor
        summary: dict[str, Any] = {
            "name": name,
            "rows": monitor.n_rows_,
            "log10_evidence": monitor.log10_evidence_,
            "log10_alarm": -math.log10(monitor.false_alarm_rate),
            "has_alarm": monitor.alarm_ is not None,
            "shift": monitor.shift_,
            "slope": monitor.slope_,
            **dated.dates(),
        }
        if name == ALL_ROWS:
            summary |= {
                "new_rows": watched.n_new, "waiting_rows": watched.n_waiting, "late_rows": watched.rows.n_late,
                "copied_rows": watched.log.n_copies,
            }  # fmt: skip
        yield json.dumps({"monitor": summary})


def _json_value(value: Any) -> Any:
    """Return a value as JSON has it: None for what has no meaning or is infinite, which JSON cannot say."""
    if isinstance(value, tuple):
        return [_json_value(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
