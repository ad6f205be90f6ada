"""Dates written as text: told from other text, and made numbers."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd

_LIKE_A_DATE = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}([ T]\d{1,2}:\d{2}.*)?Z?")
_TIMES = ("", " %H:%M", " %H:%M:%S")
_DAY_FIRST = ("%d/%m/%Y", "%d.%m.%Y", "%d-%m-%Y")
_MONTH_FIRST = ("%m/%d/%Y", "%m.%d.%Y", "%m-%d-%Y")
_DAY = pd.Timedelta(days=1)

AMBIGUOUS = "ambiguous"


def days_of(texts: list[str]) -> np.ndarray[Any, Any] | str | None:
    """(n,) days since 1970-01-01, with their fractions; None where not all ``texts`` are dates.

    ``AMBIGUOUS`` where they are, and each could have day and month the other way round.
    """
    if not texts or not all(map(_LIKE_A_DATE.fullmatch, texts)):
        return None
    iso = _parsed(texts, ("ISO8601", *(f"%Y/%m/%d{time}" for time in _TIMES)))
    if iso is not None:
        return iso
    day_first = _parsed(texts, [f"{one}{time}" for one in _DAY_FIRST for time in _TIMES])
    month_first = _parsed(texts, [f"{one}{time}" for one in _MONTH_FIRST for time in _TIMES])
    if day_first is not None and month_first is not None:
        return day_first if np.array_equal(day_first, month_first) else AMBIGUOUS
    return day_first if day_first is not None else month_first


def days(times: pd.Series | pd.DatetimeIndex) -> np.ndarray[Any, Any]:
    """(n,) points of time as days since 1970-01-01, NaN where there is none."""
    index = pd.DatetimeIndex(pd.to_datetime(times, utc=True))
    return np.asarray((index - pd.Timestamp(0, tz="UTC")) / _DAY, dtype=np.float64)


def _parsed(texts: list[str], formats: tuple[str, ...] | list[str]) -> np.ndarray[Any, Any] | None:
    for one in formats:
        try:
            return days(pd.to_datetime(texts, format=one, utc=True))
        except (ValueError, OverflowError):
            continue
    return None


def as_date(day: float) -> str:
    """``2026-11-21`` for the number of that day."""
    return str((pd.Timestamp(0) + day * _DAY).date())
