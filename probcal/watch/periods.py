"""Periods of time, and the calibration of the predictions in each."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from probcal.metrics import cross_entropy
from probcal.metrics.checked_rows import checked
from probcal.metrics.closed_forms import Bounds, intercept_interval, share_interval, slope_interval
from probcal.metrics.recalibration import intercept_of, slope_of

Every = Literal["day", "week", "month", "quarter", "year"]
PERIODS: tuple[Every, ...] = ("day", "week", "month", "quarter", "year")
_LEVEL = 0.95
_BOUND = 1e-9
"""The monitor moves probabilities into [1e-9, 1 - 1e-9], so that they have log-odds. Intercept and slope do, too."""


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

    def as_json(self) -> dict[str, Any]:
        """Return name -> value, with None for what has no meaning or is infinite."""
        values: dict[str, Any] = {}
        for name, value in vars(self).items():
            numbers = [one if math.isfinite(one) else None for one in value] if isinstance(value, tuple) else None
            is_lost = isinstance(value, float) and not math.isfinite(value)
            values[name] = None if is_lost else value if numbers is None else numbers
        return values


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
    rate = float(np.mean(y))
    return Period(
        name=name,
        rows=len(y),
        base_rate=rate,
        base_rate_interval=share_interval(rows, _LEVEL),
        mean_prediction=float(np.mean(p)),
        intercept=intercept_of(inner),
        intercept_interval=intercept_interval(inner, _LEVEL),
        slope=slope_of(inner),
        slope_interval=slope_interval(inner, _LEVEL),
        log_loss=cross_entropy(y, p),
        log_loss_of_base_rate=cross_entropy(y, np.full(len(y), rate)),
    )
