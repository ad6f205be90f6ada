"""Dates and months written as text, and as typed values, as days since 1970."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from probcal.reading.text_column import TEXT

# skrub 0.11 reads 02/03/2026 beside 03/01/2026 as 3 February without a word, where this leaves the column out. It knows
# no names of months and no quarters, and gives no plan by which new rows are read in the same way.
Floats = npt.NDArray[np.float64]
DateOrder = Literal[
    "year month day", "day month year", "month day year", "year month", "month year", "year quarter",
]  # fmt: skip
AMBIGUOUS = "day and month can be exchanged in every date"
MIXED_ZONES = "some times have a time zone and others none"
MONTHS: tuple[DateOrder, ...] = ("year month", "month year", "year quarter")
"""Orders without a day. The value is the first day."""
ZERO_DATES = ("0000-00-00", "0000-00-00 00:00:00")
"""What MySQL writes for no date."""

_NAMES = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_NAME = (
    r"(?P<name>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_YEAR, _MONTH, _DAY = r"(?P<year>[0-9]{4})", r"(?P<month>[0-9]{1,2})", r"(?P<day>[0-9]{1,2})"
_TIME = (
    r"(?:[ tT](?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2}(?:[.,][0-9]{1,9})?))?)?"
    r" ?(?P<zone>[zZ]|UTC|[-+][0-9]{2}(?::?[0-9]{2})?)?"
)
_PATTERNS: dict[DateOrder, tuple[str, ...]] = {
    "year month day": tuple(f"{_YEAR}{mark}{_MONTH}{mark}{_DAY}{_TIME}" for mark in ("-", "/", r"\.")),
    "day month year": (
        *(f"{_DAY}{mark}{_MONTH}{mark}{_YEAR}{_TIME}" for mark in (r"\.", "/", "-")),
        rf"{_DAY}(?:[- ]|\. ){_NAME}[- ,]{{1,2}}{_YEAR}{_TIME}",
    ),
    "month day year": (
        *(f"{_MONTH}{mark}{_DAY}{mark}{_YEAR}{_TIME}" for mark in ("/", "-", r"\.")),
        rf"{_NAME} {_DAY},? {_YEAR}{_TIME}",
    ),
    "year month": (f"{_YEAR}-{_MONTH}", f"{_YEAR}/{_MONTH}"),
    "month year": (f"{_MONTH}/{_YEAR}", rf"{_NAME}[- ,]{{1,2}}{_YEAR}"),
    "year quarter": (f"{_YEAR}[- ]?[Qq](?P<quarter>[1-4])",),
}
_LONGEST = 60
_TEXTS_AT_ONCE = 1 << 16


def parse_dates(texts: pa.Array, order: DateOrder) -> Floats:
    """Return (n,) days since 1970-01-01 with fractions, NaN for a missing text and for no date in this ``order``.

    Times without a zone are taken as UTC. A time zone counts.
    """
    # the parts of a million dates would take hundreds of megabytes
    starts = range(0, max(len(texts), 1), _TEXTS_AT_ONCE)
    return np.concatenate([_parse_some(texts.slice(start, _TEXTS_AT_ONCE), order) for start in starts])


def _parse_some(texts: pa.Array, order: DateOrder) -> Floats:
    days = np.full(len(texts), np.nan)
    # A pattern on very long texts takes time, and no date is that long.
    short = pc.if_else(pc.less_equal(pc.binary_length(texts), _LONGEST), texts, pa.scalar(None, TEXT))
    for pattern in _PATTERNS[order]:
        if np.isnan(days).sum() == short.null_count:  # the patterns of an order exclude each other
            break
        parts = pc.extract_regex(short, f"(?i)^{pattern}$")
        if parts.null_count < len(parts):
            days = np.where(np.isnan(days), _days(parts), days)
    return days


def date_order(texts: pa.Array, rows: npt.NDArray[Any], share: float = 1.0) -> DateOrder | str | None:
    """Return in which order the ``texts`` have year, month and day, or None where they are no dates.

    At least this ``share`` of the ``rows`` of the texts must be dates. Return ``AMBIGUOUS`` or ``MIXED_ZONES`` where
    they can be read in two ways.
    """
    days: dict[DateOrder, Floats] = {}
    dated: dict[DateOrder, int] = {}
    for order in _PATTERNS:
        days[order] = parse_dates(texts, order)
        dated[order] = int(rows[~np.isnan(days[order])].sum())
        if order == "year month day" and dated[order] == rows.sum():  # no other order can read one of these texts
            break
    best = max(dated, key=lambda order: dated[order])
    if not dated[best] or dated[best] < share * rows.sum():
        return None
    if mixes_zones(texts):
        return MIXED_ZONES
    exchanged: dict[DateOrder, DateOrder] = {"day month year": "month day year", "month day year": "day month year"}
    if (other := exchanged.get(best)) is not None and dated[other] == dated[best]:
        return best if np.array_equal(days[best], days[other], equal_nan=True) else AMBIGUOUS
    return best


def mixes_zones(texts: pa.Array) -> bool:
    """Return whether some times have a zone and others none."""
    has_time = pc.match_substring_regex(texts, "[0-9]:[0-9]{2}").fill_null(False)
    has_zone = pc.match_substring_regex(texts, "(?i)[0-9]:[0-9]{2}.*(?:z|utc|[-+][0-9:]+)$").fill_null(False)
    n_zones = int(pc.sum(has_zone).as_py() or 0)
    return 0 < n_zones < int(pc.sum(has_time).as_py() or 0)


def _days(parts: pa.StructArray) -> Floats:
    month, day = _part(parts, "month", 0), _part(parts, "day", 1)
    if _has_part(parts, "quarter"):
        month = 3 * _part(parts, "quarter", 0) - 2
    if _has_part(parts, "name"):
        short = pc.utf8_slice_codeunits(pc.utf8_lower(parts.field("name")), 0, 3)
        indices = pc.index_in(short, value_set=pa.array(_NAMES, short.type))
        month = np.asarray(indices.cast(pa.float64()).fill_null(-1).to_numpy(zero_copy_only=False)) + 1
    year, hour, minute, second = (_part(parts, name, 0) for name in ("year", "hour", "minute", "second"))
    is_sound = np.asarray(parts.is_valid().to_numpy(zero_copy_only=False))
    # 24:00 is the end of a day, and second 60 is a leap second.
    is_sound = is_sound & (year >= 1) & (month >= 1) & (month <= 12) & (day >= 1) & (hour <= 24) & (minute < 60)
    is_sound &= (second < 61) & (60 * hour + minute + second / 60 <= 24 * 60)
    first = np.where(is_sound, (year - 1970) * 12 + month - 1, 0).astype(np.int64).astype("datetime64[M]")
    whole = first.astype("datetime64[D]") + np.where(is_sound, day - 1, 0).astype(np.int64)
    is_sound &= whole.astype("datetime64[M]") == first  # no 31 February
    seconds = 3600 * hour + 60 * minute + second - _offsets(parts)
    days = whole.astype(np.int64) + seconds / 86_400
    return np.where(is_sound, days, np.nan)


def _offsets(parts: pa.StructArray) -> Floats | float:
    """Return (n,) the seconds by which the zone of each time is ahead of UTC."""
    if not _has_part(parts, "zone"):
        return 0.0
    digits = pc.replace_substring_regex(parts.field("zone"), "[^-+0-9]", "")
    fields = pc.extract_regex(digits, "^(?P<sign>[-+])(?P<hour>[0-9]{2})(?P<minute>[0-9]{2})?$")
    if fields.null_count == len(fields):
        return 0.0
    sign = np.where(np.asarray(pc.equal(fields.field("sign"), "-").fill_null(False).to_numpy(False)), -1, 1)
    is_offset = np.asarray(fields.is_valid().to_numpy(zero_copy_only=False))
    return np.where(is_offset, sign * (3600 * _part(fields, "hour", 0) + 60 * _part(fields, "minute", 0)), 0.0)


def _has_part(parts: pa.StructArray, name: str) -> bool:
    return bool(parts.type.get_field_index(name) >= 0)


def _part(parts: pa.StructArray, name: str, default: float) -> Floats:
    """Return (n,) the numbers of one part of the dates, ``default`` where a date or the pattern has none."""
    if not _has_part(parts, name):
        return np.full(len(parts), default)
    texts = pc.replace_substring(parts.field(name), ",", ".")
    texts = pc.if_else(pc.equal(texts, ""), pa.scalar(None, texts.type), texts)
    return np.asarray(texts.cast(pa.float64()).fill_null(default).to_numpy(zero_copy_only=False))


def typed_days(column: pa.ChunkedArray) -> Floats:
    """Return (n_rows,) dates or times of any unit as days since 1970-01-01, with NaN for a missing one."""
    if pa.types.is_date(column.type):
        days = column.cast(pa.date32()).cast(pa.int32()).cast(pa.float64())
        return np.asarray(days.combine_chunks().to_numpy(zero_copy_only=False), dtype=np.float64)
    per_day = 86_400 * {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[column.type.unit]
    array = column.combine_chunks()
    ticks = array.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
    # Divided as whole numbers, because a float cannot hold the nanoseconds since 1970.
    whole, rest = np.divmod(ticks, per_day)
    return np.where(array.is_null().to_numpy(zero_copy_only=False), np.nan, whole + rest / per_day)


def as_date(day: float) -> str:
    """Return the date of a day number, such as ``2026-11-21``."""
    return str(np.datetime64(int(np.floor(day)), "D"))
