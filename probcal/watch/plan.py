"""How many labels it takes to notice a change of calibration, and to repair it: a simulation with your predictions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import expit, logit
from tabulate import tabulate

from probcal.methods.calibrators.sigmoid import SigmoidCalibrator
from probcal.protection import CalibrationMonitor
from probcal.reading.number_form import Mark
from probcal.reading.prediction_file import number_columns
from probcal.reading.reading_options import READ_AS_IT_IS, ReadingOptions
from probcal.reading.table import read_table

CHANGES = ((0.25, 1.0), (0.5, 1.0), (1.0, 1.0), (0.0, 0.7), (0.0, 1.5))
"""Shift and slope of the log-odds: the usual sizes of a drift."""
ROWS = (50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000)
_STREAMS, _LONGEST, _BEFORE = 31, 20_000, 1_000
_ROWS_AT_ONCE = 1_000
_DRAWS, _SHARE = 40, 0.9
# The predictions over which losses are expected: as many quantiles, because a million would only cost time.
_QUANTILES = 1_000
_LEAST = 1e-6


@dataclass(frozen=True)
class PlannedChange:
    """Hold what one change of the log-odds costs, and how many labels it takes. None means more than 20,000."""

    shift: float
    slope: float
    base_rate: float
    """Share of positive labels after the change."""
    loss: float
    """Bits of log loss a row that the change costs, as long as nobody calibrates again."""
    rows_to_alarm: int | None
    """Median number of labels after the change until ``CalibrationMonitor`` alarms."""
    rows_to_recalibrate: int | None
    """Least number of ``ROWS`` after the change with which a new sigmoid map is better than none in 90 % of draws."""


def plan(p: npt.ArrayLike, false_alarm_rate: float = 0.01, random_state: int = 0) -> list[PlannedChange]:
    """Return a line for each of ``CHANGES``, for predictions like ``p``, (n,), such as those of last month.

    No labels are needed. Predictions are drawn from 1,000 quantiles of ``p``, and labels from the changed
    probabilities. The monitor sees 1,000 calibrated rows before the change. A map is better if it lowers the expected
    log loss over these quantiles.
    """
    values = np.clip(np.asarray(p, dtype=np.float64), _LEAST, 1 - _LEAST)
    log_odds = logit(np.quantile(values, (np.arange(_QUANTILES) + 0.5) / _QUANTILES))
    return [
        _planned(log_odds, shift, slope, false_alarm_rate, np.random.default_rng(random_state))
        for shift, slope in CHANGES
    ]


def _planned(log_odds: np.ndarray, shift: float, slope: float, rate: float, rng: np.random.Generator) -> PlannedChange:
    truth = expit(shift + slope * log_odds)
    old_loss = _expected_bits(truth, log_odds)
    best = _expected_bits(truth, shift + slope * log_odds)
    enough = None
    for rows in ROWS:
        better = sum(_bits_of_new_map(log_odds, shift, slope, rows, rng, truth) < old_loss for _ in range(_DRAWS))
        if better >= _SHARE * _DRAWS:
            enough = rows
            break
    alarms = [_rows_to_alarm(log_odds, shift, slope, rate, rng) for _ in range(_STREAMS)]
    middle = float(np.median(alarms))
    return PlannedChange(
        shift, slope, float(truth.mean()), old_loss - best, int(middle) if np.isfinite(middle) else None, enough
    )


def _bits_of_new_map(
    log_odds: np.ndarray, shift: float, slope: float, rows: int, rng: np.random.Generator, truth: np.ndarray
) -> float:
    """Return the expected log loss of a sigmoid map that is fitted on ``rows`` labels, in bits a row."""
    drawn = rng.choice(log_odds, rows)
    y = rng.random(rows) < expit(shift + slope * drawn)
    if y.all() or not y.any():
        return np.inf
    sigmoid = SigmoidCalibrator(input="score").fit(drawn, y.astype(int))
    mapped = np.clip(sigmoid.predict_proba(log_odds)[:, 1], _LEAST, 1 - _LEAST)
    return _expected_bits(truth, logit(mapped))


def _expected_bits(truth: np.ndarray, log_odds: np.ndarray) -> float:
    losses = truth * np.logaddexp(0, -log_odds) + (1 - truth) * np.logaddexp(0, log_odds)
    return float(losses.mean() / np.log(2))


def _rows_to_alarm(log_odds: np.ndarray, shift: float, slope: float, rate: float, rng: np.random.Generator) -> float:
    """Return the number of labels after the change until the alarm, or infinity."""
    drawn = rng.choice(log_odds, _BEFORE + _LONGEST)
    changed = np.where(np.arange(len(drawn)) < _BEFORE, drawn, shift + slope * drawn)
    y = (rng.random(len(drawn)) < expit(changed)).astype(int)
    monitor = CalibrationMonitor(rate)
    for first in range(0, len(drawn), _ROWS_AT_ONCE):  # most changes are found long before the last row
        rows = slice(first, first + _ROWS_AT_ONCE)
        alarm = monitor.update(expit(drawn[rows]), y[rows]).alarm_
        if alarm is not None:
            return max(alarm - _BEFORE, 0)  # a false alarm before the change counts as one at once
    return np.inf


def plan_of_log(
    source: str, column: str, decimal: Mark | None, false_alarm_rate: float, reading: ReadingOptions = READ_AS_IT_IS
) -> tuple[int, list[PlannedChange]]:
    """Return the number of rows, and ``plan`` for a column of probabilities.

    Raises ProbcalError for a table that cannot be used.
    """
    p = number_columns(read_table(source, reading), (column,), decimal, as_probabilities=True).values
    return len(p), plan(p[:, 0], false_alarm_rate)


def planned_text(n_rows: int, planned: list[PlannedChange]) -> Iterator[str]:
    """Yield the paragraphs that ``probcal watch --plan`` prints."""
    lines = [
        [
            f"times {one.slope:g}, plus {one.shift:g}",
            f"{one.base_rate:.4f}",
            f"{one.loss:.4f}",
            _count(one.rows_to_alarm),
            _count(one.rows_to_recalibrate),
        ]
        for one in planned
    ]
    head = [
        "change of the log-odds",
        "base rate then",
        "bits a row lost",
        "labels to the alarm",
        "labels for a new map",
    ]
    yield tabulate(lines, head, tablefmt="plain", disable_numparse=True, colalign=("left", *("right",) * 4))
    yield (
        f"Simulated with predictions like these {n_rows:,}. Those nearer to 0 or 1 than {_LEAST:g} are moved there. "
        f"Labels to the alarm: median of {_STREAMS} streams, after {_BEFORE:,} calibrated rows. Labels for a new map: "
        "with so many labels since the change, a sigmoid map lowers the log loss in 9 of 10 draws. With fewer, keep "
        "the old map."
    )


def planned_json(planned: list[PlannedChange]) -> Iterator[str]:
    """Yield one line of JSON for each change."""
    for one in planned:
        yield json.dumps(asdict(one))


def _count(rows: int | None) -> str:
    return f"over {_LONGEST:,}" if rows is None else f"{rows:,}"
