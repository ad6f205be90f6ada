"""Calibration of the rows of one period or one group."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import entr

from probcal.metrics import cross_entropy
from probcal.metrics.checked_rows import checked
from probcal.metrics.closed_forms import Bounds, intercept_interval, share_interval, slope_interval
from probcal.metrics.recalibration import intercept_of, slope_of
from probcal.reading.periods import Every, period_names
from probcal.watch.log import Bools, Log

_LEVEL = 0.95
_BOUND = 1e-9
"""The monitor moves probabilities into [1e-9, 1 - 1e-9], so that they have log-odds. Intercept and slope do, too."""
_NO_BOUNDS = (np.nan, np.nan)


@dataclass(frozen=True)
class Period:
    """Hold the calibration of one period. Intervals are of 95 % and in closed form. NaN where a value has no meaning.

    The intercept is in nats. Log losses are in bits.
    """

    name: str
    rows: int
    """Rows whose label is known. Only ``waiting_rows`` and ``expected_log_loss`` count the others, too."""
    waiting_rows: int
    base_rate: float
    base_rate_interval: Bounds
    mean_prediction: float
    """Of the rows with a label, or of all if none has one."""
    intercept: float
    intercept_interval: Bounds
    slope: float
    slope_interval: Bounds
    log_loss: float
    log_loss_of_base_rate: float
    """The log loss of always predicting the base rate of the period."""
    expected_log_loss: float
    """The log loss of all rows if their predictions are calibrated: the mean entropy of the predictions. It needs no
    labels (confidence-based estimation)."""


def periods_of(log: Log, every: Every) -> list[Period]:
    """Return the periods of a log in the order of time."""
    return [period_of(name, log.y[rows], log.p[rows]) for name, rows in period_rows(log.days, every)]


def period_rows(days: npt.NDArray[np.float64], every: Every) -> list[tuple[str, slice]]:
    """Return the name and the rows of each period, for days in order."""
    if not len(days):
        return []
    distinct, first_rows = np.unique(np.floor(days), return_index=True)
    names = period_names(distinct, every)
    is_first = np.append(True, names[1:] != names[:-1])
    starts = first_rows[is_first].tolist()
    ends = [*starts[1:], len(days)]
    return [(str(name), slice(a, b)) for name, a, b in zip(names[is_first], starts, ends, strict=True)]


def groups_of(log: Log) -> list[Period]:
    """Return a line for each group of each column, in the order of names."""
    return [period_of(name, log.y[rows], log.p[rows]) for name, rows in rows_by_group(log).items()]


def rows_by_group(log: Log) -> dict[str, Bools]:
    """Return the mask of the rows, (n_rows,), of each group by its name in tables, in the order of names."""
    return {
        f"{column} = {value}": np.asarray(values == value, dtype=bool)
        for column, values in log.groups.items()
        for value in sorted(set(values))
    }


def odds_ratio_of(log: Log) -> tuple[float, Bounds]:
    """Return the odds of the positive label over the predicted odds, and the 95 % interval. All rows have labels.

    They are NaN where all labels are equal, and for no rows.
    """
    if not len(log.y):
        return np.nan, _NO_BOUNDS
    rows = checked(log.y, np.clip(log.p, _BOUND, 1 - _BOUND))
    intercept = intercept_of(rows)
    low, high = intercept_interval(rows, intercept, _LEVEL)
    return float(np.exp(intercept)), (float(np.exp(low)), float(np.exp(high)))


def period_of(name: str, y: npt.NDArray[np.int64], p: npt.NDArray[np.float64]) -> Period:
    """Return the calibration of rows, of which those of label -1 have no label yet."""
    has_label = y >= 0
    expected = float(np.mean(entr(p) + entr(1 - p)) / np.log(2))
    waiting = int((~has_label).sum())
    if waiting == len(y):
        nan, mean = np.nan, float(np.mean(p))
        return Period(name, 0, waiting, nan, _NO_BOUNDS, mean, nan, _NO_BOUNDS, nan, _NO_BOUNDS, nan, nan, expected)
    y, p = y[has_label], p[has_label]
    rows, inner = checked(y, p), checked(y, np.clip(p, _BOUND, 1 - _BOUND))
    rate, intercept, slope = float(np.mean(y)), intercept_of(inner), slope_of(inner)
    return Period(
        name=name,
        rows=len(y),
        waiting_rows=waiting,
        base_rate=rate,
        base_rate_interval=share_interval(rows, _LEVEL),
        mean_prediction=float(np.mean(p)),
        intercept=intercept,
        intercept_interval=intercept_interval(inner, intercept, _LEVEL),
        slope=slope,
        slope_interval=slope_interval(inner, slope, _LEVEL),
        log_loss=cross_entropy(y, p),
        log_loss_of_base_rate=cross_entropy(y, np.full(len(y), rate)),
        expected_log_loss=expected,
    )
