"""Web page of a log: calibration over time, the evidence, and reliability before and after a change."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from probcal._io import printable
from probcal.errors import is_installed
from probcal.reading.periods import Every
from probcal.reporting.html.page import missing_pictures_note, render, styled_picture
from probcal.watch.log import Log
from probcal.watch.monitors import ALL_ROWS, DatedMonitor, Monitors
from probcal.watch.periods import Period, groups_of, period_rows, periods_of, rows_by_group
from probcal.watch.text import EVIDENCE_HEADERS, HEADERS, LEGEND, LEGEND_OF_WAITING, evidence_cells, line, verdict
from probcal.watch.watch import Watched

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MARK = b'<meta name="generator" content="probcal watch'
_MOST_DIAGRAMS = 6
_MOST_CURVES = 4
_GUARANTEE = (
    "The evidence is a test martingale: as long as predictions are calibrated, any evidence ever reaches its alarm "
    "line with at most the probability of --false-alarms, however often you look. This needs that the delay of a label "
    "does not depend on the label."
)


def page(watched: Watched, every: Every) -> str:
    """Return the text of the page. It shows all rows of the log, also those that an earlier run has seen."""
    log, monitors = watched.log, watched.monitors
    # without an earlier run, the command has measured all rows already
    is_new = watched.n_new + watched.n_waiting == len(log.y)
    periods = watched.periods if is_new else periods_of(log, every)
    groups = watched.groups if is_new else groups_of(log)
    labelled = log.take(log.has_label)
    group_rows = rows_by_group(labelled)
    alarms = [name for name, one in monitors.by_name.items() if one.monitor.alarm_ is not None]
    diagrams = [
        styled_picture(f"Reliability: {name}", partial(reliability_figure, name, rows, dated))
        for name in (alarms[:_MOST_DIAGRAMS] or [ALL_ROWS])
        for dated in [monitors.by_name[name]]
        for rows in [labelled.take(group_rows[name]) if name in group_rows else labelled]
        if len(labelled.y)
    ]
    return render(
        "watch.html",
        title=f"Calibration over time: {log.name}",
        findings=[sentence.replace("\n", ". ").rstrip(".") + "." for sentence in verdict(watched)],
        about=[f"{len(log.y):,} rows, of which {watched.n_waiting:,} have no label yet", *log.notes],
        over_time=styled_picture("Calibration over time", partial(time_figure, periods, monitors, log, every)),
        period_header=["period", *HEADERS],
        periods=[[one.name, *line(one)] for one in periods],
        groups=[[one.name, *evidence_cells(watched, one), *line(one)] for one in groups],
        group_header=["group", *EVIDENCE_HEADERS, *HEADERS],
        diagrams=[diagram for diagram in diagrams if diagram is not None],
        legend=[
            LEGEND, LEGEND_OF_WAITING, _GUARANTEE, *([] if is_installed("matplotlib") else [missing_pictures_note()]),
        ],
    )  # fmt: skip


def is_own_page(path: Path) -> bool:
    """Return whether a file is a page that ``probcal watch`` wrote, which the next run may replace."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return _MARK in file.read(1000)


def time_figure(periods: list[Period], monitors: Monitors, log: Log, every: Every) -> Figure:
    """Return three panels with one axis of time: base rate and mean prediction, the intercept, and the evidence."""
    dated = monitors.all_rows
    from probcal.reporting.drawing import COLOURS, GREY, titled_figure

    figure = titled_figure("", 5.8, 6.2)
    rates, intercepts, evidence = figure.subplots(3, sharex=True)
    rows_of_periods = [rows for _, rows in period_rows(log.days, every)]
    middle = np.array([_dates(np.median(log.days[rows])) for rows in rows_of_periods])
    known = np.array([one.rows > 0 for one in periods], dtype=bool)
    _band(rates, middle[known], [one.base_rate_interval for one in periods if one.rows], COLOURS[0])
    rates.plot(middle[known], [one.base_rate for one in periods if one.rows], "o-", color=COLOURS[0], markersize=3,
               label="observed frequency")  # fmt: skip
    means = [float(log.p[rows].mean()) for rows in rows_of_periods]
    rates.plot(middle, means, "--", color=COLOURS[1], label="mean prediction")
    rates.set_ylabel("Frequency")
    rates.set_ylim(bottom=0)
    rates.legend(frameon=False, loc="best")
    defined = np.array([np.isfinite(one.intercept_interval).all() for one in periods], dtype=bool)
    shown = [one for one, is_defined in zip(periods, defined, strict=True) if is_defined]
    _band(intercepts, middle[defined], [one.intercept_interval for one in shown], COLOURS[0])
    intercepts.plot(middle[defined], [one.intercept for one in shown], "o-", color=COLOURS[0], markersize=3)
    intercepts.axhline(0, color=GREY, linewidth=0.8)
    intercepts.set_ylabel("Intercept (nats)")
    monitor = dated.monitor
    if monitor.n_rows_:
        alarmed = [
            name for name, one in monitors.by_name.items() if one.monitor.alarm_ is not None and name != ALL_ROWS
        ]
        for name, color in zip([ALL_ROWS, *alarmed[:_MOST_CURVES]], (COLOURS[0], *COLOURS[2:]), strict=False):
            one = monitors.by_name[name]
            path = one.monitor.path_
            days = np.array([_dates(one.day(row)) for row in path[:, 0]])
            evidence.plot(days, path[:, 1], color=color, label=printable(name, 24))
        evidence.axhline(-np.log10(monitor.false_alarm_rate), color=COLOURS[1], linestyle="--", label="alarm")
        evidence.legend(frameon=False, loc="upper left")
    evidence.set_ylabel("Evidence (log10)")
    if monitor.alarm_ is not None and monitor.onset_interval_ is not None:
        first, last = (_dates(dated.day(row)) for row in monitor.onset_interval_)
        for axes in (rates, intercepts, evidence):
            axes.axvspan(first, last + np.timedelta64(1, "D"), color=COLOURS[5], alpha=0.25, linewidth=0)
            axes.axvline(_dates(dated.day(monitor.alarm_)), color=COLOURS[1], linewidth=0.9)
    for axes in (rates, intercepts, evidence):
        axes.spines[["top", "right"]].set_visible(False)
    for label in evidence.get_xticklabels():
        label.set_rotation(30)
        label.set_horizontalalignment("right")
    return figure


def reliability_figure(name: str, labelled: Log, dated: DatedMonitor) -> Figure:
    """Return the diagram of rows before and since the onset, or of all rows without an alarm."""
    from probcal.plots.reliability import ReliabilityDisplay
    from probcal.reporting.drawing import COLOURS, titled_figure
    from probcal.reporting.reliability_figure import usual_scale

    figure = titled_figure(printable(name, 40), 4.2, 4.2)
    axes = figure.add_subplot()
    scale = usual_scale(float(labelled.y.mean()))
    parts = {"all rows": labelled}
    if (onset := dated.monitor.onset_) is not None:
        since = labelled.days >= dated.day(onset)
        parts = {"before the onset": labelled.take(~since), "since the onset": labelled.take(since)}
    for (part, rows), color in zip(parts.items(), COLOURS, strict=False):
        if len(rows.y):
            ReliabilityDisplay.from_predictions(
                rows.y, rows.p, bands="confidence" if len(np.unique(rows.y)) > 1 else None, name=part, n_resamples=40,
                ax=axes, color=color, scale=scale,
            )  # fmt: skip
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def _band(axes: Axes, days: np.ndarray, bounds: list[tuple[float, float]], color: str) -> None:
    if bounds:
        low, high = np.array(bounds).T
        axes.fill_between(days, low, high, color=color, alpha=0.2, linewidth=0)


def _dates(day: float) -> np.datetime64:
    """Return a number of days since 1970 as a date with a time, for an axis."""
    return np.datetime64(round(day * 86_400), "s")
