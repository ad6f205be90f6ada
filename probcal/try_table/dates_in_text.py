"""Dates written as text: in which order they have day and month, and the days that they stand for."""

from __future__ import annotations

import re
from typing import Any, Literal

import numpy as np
import pandas as pd

_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept(?:ember)?|sep|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\.?"
)
_DATE_PATTERN = re.compile(
    rf"(\d{{1,4}}[-/.]\d{{1,2}}[-/.]\d{{1,4}}|\d{{1,2}}[- .]{{1,2}}{_MONTH}[- ,]{{1,2}}(?:\d\d){{1,2}}"
    rf"|{_MONTH} \d{{1,2}},? (?:\d\d){{1,2}})([ T]\d{{1,2}}:\d{{2}}.*)?Z?",
    re.I,
)
_MONTH_NAME = re.compile(_MONTH, re.I)
_TIMES = ("", " %H:%M", " %H:%M:%S")
_DAY_FIRST = ("%d/%m/%Y", "%d.%m.%Y", "%d-%m-%Y", "%d/%m/%y", "%d.%m.%y")
_MONTH_FIRST = ("%m/%d/%Y", "%m.%d.%Y", "%m-%d-%Y", "%m/%d/%y")
_NAMED_MONTH = ("%d %b %Y", "%d %b %y", "%b %d %Y", "%b %d %y")
_DAY = pd.Timedelta(days=1)

AMBIGUOUS = "ambiguous"

DateOrder = Literal["iso", "month in letters", "day first", "month first"]
_UNAMBIGUOUS_ORDERS: tuple[DateOrder, ...] = ("iso", "month in letters")
"""Orders in which day and month cannot be exchanged."""


def parse_dates(texts: list[str]) -> np.ndarray[Any, Any] | str | None:
    """Return (n,) days since 1970-01-01 with fractions, or None where not all ``texts`` are dates.

    Return ``AMBIGUOUS`` where day and month could be exchanged in every date.
    """
    if not texts or not all(map(_DATE_PATTERN.fullmatch, texts)):
        return None
    for order in _UNAMBIGUOUS_ORDERS:
        if (day_numbers := _parse_in_order(texts, order)) is not None:
            return day_numbers
    day_first, month_first = _parse_in_order(texts, "day first"), _parse_in_order(texts, "month first")
    if day_first is not None and month_first is not None:
        return day_first if np.array_equal(day_first, month_first) else AMBIGUOUS
    return day_first if day_first is not None else month_first


def date_order(texts: list[str]) -> DateOrder:
    """Return in which order ``texts``, which are all dates, have day and month."""
    orders: tuple[DateOrder, ...] = (*_UNAMBIGUOUS_ORDERS, "day first")
    return next((order for order in orders if _parse_in_order(texts, order) is not None), "month first")


def parse_ordered_dates(texts: list[str], order: DateOrder) -> np.ndarray[Any, Any]:
    """Return (n,) days since 1970-01-01, with NaN for a text that is no date in this ``order``."""
    if not texts:
        return np.zeros(0)
    day_numbers = _parse_in_order(texts, order)
    if day_numbers is not None:
        return day_numbers
    dates = (_parse_in_order([text], order) if _DATE_PATTERN.fullmatch(text) else None for text in texts)
    return np.array([np.nan if date is None else date[0] for date in dates])


def _parse_in_order(texts: list[str], order: DateOrder) -> np.ndarray[Any, Any] | None:
    if order == "iso":
        return _parse_formats(texts, ("ISO8601", *(f"%Y/%m/%d{time}" for time in _TIMES)))
    if order == "month in letters":
        short_texts = [_MONTH_NAME.sub(lambda name: f" {name[0][:3]} ", text) for text in texts]
        short_texts = [" ".join(re.sub(r"[-,.](?!\d*$)|(?<= )[-,.]", " ", text).split()) for text in short_texts]
        return _parse_formats(short_texts, [f"{date_format}{time}" for date_format in _NAMED_MONTH for time in _TIMES])
    days_and_months = _DAY_FIRST if order == "day first" else _MONTH_FIRST
    return _parse_formats(texts, [f"{date_format}{time}" for date_format in days_and_months for time in _TIMES])


def days(times: pd.Series | pd.DatetimeIndex) -> np.ndarray[Any, Any]:
    """Return (n,) times as days since 1970-01-01, with NaN for a missing one."""
    index = pd.DatetimeIndex(pd.to_datetime(times, utc=True))
    return np.asarray((index - pd.Timestamp(0, tz="UTC")) / _DAY, dtype=np.float64)


def _parse_formats(texts: list[str], formats: tuple[str, ...] | list[str]) -> np.ndarray[Any, Any] | None:
    for date_format in formats:
        try:
            return days(pd.to_datetime(texts, format=date_format, utc=True))
        except (ValueError, OverflowError):
            continue
    return None


def as_date(day: float) -> str:
    """Return the date of a day number, such as ``2026-11-21``."""
    return str((pd.Timestamp(0) + day * _DAY).date())
