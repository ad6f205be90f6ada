"""The steps of ``probcal watch``: sort the rows, leave out those that were seen, and judge periods and the monitor."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc
from tabulate import tabulate

from probcal._io import counted
from probcal.errors import DataError, ProbcalError
from probcal.metrics import cross_entropy
from probcal.metrics.checked_rows import checked
from probcal.metrics.closed_forms import Bounds, intercept_interval, share_interval, slope_interval
from probcal.metrics.recalibration import intercept_of, slope_of
from probcal.protection import CalibrationMonitor
from probcal.reading.dates import AMBIGUOUS, MIXED_ZONES, DateOrder, as_date, date_order, parse_dates, typed_days
from probcal.reading.output_file import write_output
from probcal.reading.prediction_file import PredictionsRequest, named_column, read_predictions
from probcal.reading.table import UserTable, read_table
from probcal.reading.text_column import TEXT, is_date, is_text

Every = Literal["day", "week", "month", "quarter", "year"]
PERIODS: tuple[Every, ...] = ("day", "week", "month", "quarter", "year")
_LEVEL = 0.95
_BOUND = 1e-9
"""The monitor moves probabilities into [1e-9, 1 - 1e-9], so that they have log-odds. Intercept and slope do, too."""
_FORMAT, _VERSION = "probcal watch", 1


@dataclass(frozen=True)
class WatchRequest:
    """Hold what ``probcal watch`` was asked for."""

    predictions: PredictionsRequest
    time: str
    every: Every
    false_alarm_rate: float
    state: Path | None = None


@dataclass(frozen=True)
class Period:
    """Hold the calibration of one period. Intervals are of 95 % and in closed form. NaN where a value has no meaning.

    The intercept is in nats. The log loss and the log loss of always predicting the base rate of the period are in
    bits.
    """

    name: str
    rows: int
    base_rate: float
    base_rate_interval: Bounds
    mean_prediction: float
    intercept: float
    intercept_interval: Bounds
    slope: float
    slope_interval: Bounds
    log_loss: float
    log_loss_of_base_rate: float


@dataclass(frozen=True)
class Watched:
    """Hold what was found: the periods of the new rows, and the monitor of all rows so far."""

    periods: list[Period]
    monitor: CalibrationMonitor
    n_new: int
    n_waiting: int
    n_seen: int
    n_late: int
    dates: dict[str, str]
    """Attributes of the monitor that are rows, such as ``onset`` -> their dates."""
    notes: list[str]

    @property
    def has_alarm(self) -> bool:
        return self.monitor.alarm_ is not None


@dataclass
class _State:
    """Hold what is kept between two runs: the monitor, the time of its last row, and the times of some rows."""

    monitor: CalibrationMonitor
    last: float = -math.inf
    n_last: int = 0
    """Number of rows at the last time."""
    times: list[tuple[int, float]] | None = None
    """Number of the first row of a day, counted from 1, and this day."""


def watch(request: WatchRequest) -> Watched:
    """Read the log, update the monitor, and write the state if there is one.

    Raises ProbcalError for a table or a state that cannot be used. Nothing is written then.
    """
    state = _read_state(request)
    table = read_table(request.predictions.source, request.predictions.reading)
    table, n_waiting = _labelled(table, request.predictions.target)
    if n_waiting and table.n_rows == 0:  # a log begins without any label
        return Watched([], state.monitor, 0, n_waiting, 0, 0, _dates(state), [])
    predictions = read_predictions(request.predictions, table)
    if not predictions.is_binary:
        raise DataError(f"{table.origin_name} has {len(predictions.classes)} classes, and watch needs two")
    days = _days(table, request.time)
    order = np.argsort(days, kind="stable")
    days, y, p = days[order], predictions.y[order], predictions.p[order]
    n_before, n_at_last = int(np.sum(days < state.last)), int(np.sum(days == state.last))
    # the rows of the last time that were there before come first, because sorting keeps the order of the file
    n_seen = min(n_before + n_at_last, state.monitor.n_rows_)
    n_late = max(0, n_before - (state.monitor.n_rows_ - state.n_last))
    is_new = days > state.last
    if state.last > -math.inf:
        is_new |= (days == state.last) & (np.cumsum(days == state.last) > state.n_last)
    days, y, p = days[is_new], y[is_new], p[is_new]
    if len(y):
        marks = state.times or []
        whole, first = np.unique(np.floor(days), return_index=True)
        marks += [(state.monitor.n_rows_ + int(place) + 1, float(day)) for day, place in zip(whole, first, strict=True)]
        state.times = marks
        state.monitor.update(p, y)
        state.n_last = int(np.sum(days == days[-1])) + (state.n_last if days[-1] == state.last else 0)
        state.last = float(days[-1])
    if request.state is not None:
        _write_state(request.state, state)
    periods = periods_of(y, p, period_names(days, request.every)) if len(y) else []
    return Watched(periods, state.monitor, len(y), n_waiting, n_seen - n_late, n_late, _dates(state), predictions.notes)


def _labelled(table: UserTable, target: str | None) -> tuple[UserTable, int]:
    """Return the table without the rows whose label has not come, and their number."""
    column = table.columns[named_column(table, "--target", target).index]
    has_label = column.is_valid()
    if is_text(column.type):
        has_label = pc.and_(has_label, pc.not_equal(pc.utf8_trim_whitespace(column.cast(TEXT)), "").fill_null(False))
    mask = np.asarray(has_label.to_numpy(), dtype=bool)
    if mask.all():
        return table, 0
    lines = None if table.lines is None else table.lines[mask]
    return replace(table, columns=[one.filter(has_label) for one in table.columns], lines=lines), int((~mask).sum())


def _days(table: UserTable, name: str) -> npt.NDArray[np.float64]:
    """Return the column of time as days since 1970, (n_rows,)."""
    place = named_column(table, "--time", name).index
    column = table.columns[place]
    if is_date(column.type):
        days = typed_days(column)
    elif is_text(column.type):
        text = table.texts[place]
        counts = np.array([text.counts.get(one, 0) for one in text.distinct.to_pylist()])
        order = date_order(text.distinct, counts)
        if order is None or order in (AMBIGUOUS, MIXED_ZONES):
            reason = "holds no dates" if order is None else order
            raise DataError(
                f'--time: column "{name}" of {table.origin_name} {reason}; write dates such as 2026-11-28 or '
                "2026-11-28 14:30"
            )
        days = np.asarray(text.spread(parse_dates(text.distinct, cast("DateOrder", order)), np.nan), dtype=np.float64)
    else:
        raise DataError(f'--time: column "{name}" of {table.origin_name} holds no dates; write them as 2026-11-28')
    if (missing := np.isnan(days)).any():
        raise DataError(f'{table.where(int(np.argmax(missing)))}: column "{name}" has no date; give each row its time')
    return days


def _read_state(request: WatchRequest) -> _State:
    path = request.state
    if path is None or not path.exists():
        return _State(CalibrationMonitor(request.false_alarm_rate))
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["format"] != _FORMAT or content["version"] != _VERSION:
            raise ValueError("it is of another version")
        state = _State(
            CalibrationMonitor.from_json(json.dumps(content["monitor"])),
            float(content["last"]) if content["last"] is not None else -math.inf,
            int(content["rows_of_last"]),
            [(int(row), float(day)) for row, day in content["times"]],
        )
    except OSError as error:
        raise ProbcalError(f"--state: {path}: {error.strerror or error}; name another file") from None
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise ProbcalError(
            f"--state: {path} holds no state of probcal watch ({error!s:.100}); name another file"
        ) from None
    if state.monitor.false_alarm_rate != request.false_alarm_rate:
        rate = state.monitor.false_alarm_rate
        raise ProbcalError(f"--state: {path} was begun with --false-alarms {rate:g}; give this, or name another file")
    return state


def _write_state(path: Path, state: _State) -> None:
    content = {
        "format": _FORMAT,
        "version": _VERSION,
        "last": state.last if math.isfinite(state.last) else None,
        "rows_of_last": state.n_last,
        "times": state.times or [],
        "monitor": json.loads(state.monitor.to_json()),
    }
    write_output("--state", path, json.dumps(content) + "\n")


def _dates(state: _State) -> dict[str, str]:
    monitor = state.monitor
    if monitor.alarm_ is None or monitor.onset_ is None or monitor.onset_interval_ is None or not state.times:
        return {}
    rows, days = zip(*state.times, strict=True)
    first, last = monitor.onset_interval_
    places = {"alarm": monitor.alarm_, "onset": monitor.onset_, "onset_from": first, "onset_to": last}
    return {name: as_date(days[int(np.searchsorted(rows, row, side="right")) - 1]) for name, row in places.items()}


def period_names(days: npt.NDArray[np.float64], every: Every) -> npt.NDArray[Any]:
    """Return the period of each day number, (n_rows,), such as 2026-11, 2026-Q4 or the Monday of a week."""
    dates = np.floor(days).astype(np.int64).astype("datetime64[D]")
    if every == "day":
        return dates.astype(str)
    if every == "week":
        return (dates - (dates.astype(np.int64) + 3) % 7).astype(str)  # day 0, 1970-01-01, was a Thursday
    if every == "quarter":
        months = dates.astype("datetime64[M]").astype(np.int64)
        return np.array([f"{1970 + month // 12}-Q{month % 12 // 3 + 1}" for month in months.tolist()])
    return dates.astype("datetime64[M]" if every == "month" else "datetime64[Y]").astype(str)


def periods_of(y: npt.NDArray[Any], p: npt.NDArray[np.float64], names: npt.NDArray[Any]) -> list[Period]:
    """Return the periods of rows in the order of time, in this order."""
    starts = np.flatnonzero(np.append(True, names[1:] != names[:-1]))
    ends = np.append(starts[1:], len(names))
    return [_period(str(names[a]), y[a:b], p[a:b]) for a, b in zip(starts.tolist(), ends.tolist(), strict=True)]


def _period(name: str, y: npt.NDArray[Any], p: npt.NDArray[np.float64]) -> Period:
    rows, inner = checked(y, p), checked(y, np.clip(p, _BOUND, 1 - _BOUND))
    rate, intercept, slope = float(np.mean(y)), intercept_of(inner), slope_of(inner)
    return Period(
        name=name,
        rows=len(y),
        base_rate=rate,
        base_rate_interval=share_interval(rows, _LEVEL),
        mean_prediction=float(np.mean(p)),
        intercept=intercept,
        intercept_interval=intercept_interval(inner, intercept, _LEVEL),
        slope=slope,
        slope_interval=slope_interval(inner, slope, _LEVEL),
        log_loss=cross_entropy(y, p),
        log_loss_of_base_rate=cross_entropy(y, np.full(len(y), rate)),
    )


def watched_text(watched: Watched) -> Iterator[str]:
    """Yield the paragraphs that the command prints."""
    monitor = watched.monitor
    if watched.periods:
        yield tabulate([_line(period) for period in watched.periods], _HEADERS, tablefmt="plain", disable_numparse=True)
    counts = [counted(watched.n_new, "new row")]
    counts += [f"{counted(watched.n_seen)} seen before"] if watched.n_seen else []
    counts += [f"{counted(watched.n_waiting)} without a label"] if watched.n_waiting else []
    yield ", ".join(counts)
    if watched.n_late:
        yield (
            f"left out: {counted(watched.n_late)} whose time is before the last one of the state. If labels come late, "
            "run watch when they have come, or without --state"
        )
    yield from watched.notes
    level = -math.log10(monitor.false_alarm_rate)
    reached = round(monitor.log10_evidence_, 1) + 0.0  # no negative zero
    evidence = f"evidence 10^{reached:.1f} after {counted(monitor.n_rows_)} (alarm at 10^{level:.1f})"
    if not watched.has_alarm:
        yield f"no alarm: {evidence}"
        return
    dates = watched.dates
    yield (
        f"ALARM since {dates['alarm']}: calibration has changed; {evidence}\n"
        f"it began about {dates['onset']} (between {dates['onset_from']} and {dates['onset_to']}): log-odds times "
        f"{monitor.slope_:g}, plus {monitor.shift_:g}"
    )
    advice = "sigmoid" if monitor.slope_ == 1 else "beta"
    yield (
        f"what to do: calibrate on the rows since {dates['onset']} (probcal measure ... --calibrate {advice} --export "
        "map.json), then begin a new state"
    )


_HEADERS = ["period", "rows", "base rate", "", "mean p", "intercept", "", "slope", "", "log loss", "of base rate"]


def _line(period: Period) -> list[str]:
    return [
        period.name,
        f"{period.rows:,}",
        f"{period.base_rate:.4f}",
        _interval(period.base_rate_interval, 4),
        f"{period.mean_prediction:.4f}",
        _number(period.intercept),
        _interval(period.intercept_interval, 2),
        _number(period.slope),
        _interval(period.slope_interval, 2),
        _number(period.log_loss, 4),
        _number(period.log_loss_of_base_rate, 4),
    ]


def _number(value: float, digits: int = 2) -> str:
    return "-" if math.isnan(value) else f"{value:.{digits}f}"


def _interval(bounds: tuple[float, float], digits: int) -> str:
    return "" if math.isnan(bounds[0]) else f"{bounds[0]:.{digits}f} to {bounds[1]:.{digits}f}"


def watched_json(watched: Watched) -> Iterator[str]:
    """Yield a JSON line for each period, and one for the monitor."""
    for period in watched.periods:
        values = {name: _json_value(value) for name, value in vars(period).items()}
        yield json.dumps({"period": values})
    monitor = watched.monitor
    summary: dict[str, Any] = {
        "rows": monitor.n_rows_,
        "new_rows": watched.n_new,
        "waiting_rows": watched.n_waiting,
        "late_rows": watched.n_late,
        "log10_evidence": monitor.log10_evidence_,
        "has_alarm": watched.has_alarm,
        "shift": monitor.shift_,
        "slope": monitor.slope_,
        **watched.dates,
    }
    yield json.dumps({"monitor": summary})


def _json_value(value: Any) -> Any:
    """Return a value as JSON has it: None for what has no meaning or is infinite, which JSON cannot say."""
    if isinstance(value, tuple):
        return [_json_value(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
