"""What a column of a table is: guessed from its values, said in words, and changed by whoever knows better.

Dates written as text: told from other text, and made numbers.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import Any, Literal

import numpy as np
import pandas as pd

from probcal.data.dataset import as_text, text_column
from probcal.errors import DataError
from probcal.try_table.numbers_in_text import Mark, holds_numbers, mark_alone, read_numbers

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


Kind = Literal["number", "category", "date", "left out"]

MOST_LEVELS = 200
"""Each becomes a column of its own for most learners."""
_FEW = 20
"""Rows; in a smaller table every column may have a value of its own in each of them."""
_ID = re.compile(
    r"(?i:(.*[ _.-])?(id|index|idx|key|uuid|guid|no|nr|number|row|rowid)|unnamed: 0|.*nummer|ssn|mrn"
    r"|(account|case|client|contract|customer|loan|member|order|patient|person|policy|record|subject|user)(id|no|nr))"
    r"|.*[a-z](ID|Id|No|Nr|Number|Key)"
)
"""With a word of its own at the end, or written together as CustomerID and customerid are."""


@dataclass(frozen=True)
class Column:
    """One column of the table. ``values``: (n_rows,) float64, or categorical text; None where it is left out."""

    name: str
    kind: Kind
    about: str
    """What it holds, or why it is left out."""
    missing: int
    values: pd.Series | None = None


@dataclass(frozen=True)
class Wishes:
    """What was said of columns on the command line, by their names."""

    category: Collection[str] = ()
    number: Collection[str] = ()
    drop: Collection[str] = ()


def guess(name: str, raw: pd.Series, wishes: Wishes, declared: bool = False, mark: Mark | None = None) -> Column:
    """The column ``raw`` of any kind, (n_rows,), under its ``name``.

    ``declared``: text is text, whatever it looks like. ``mark``: the decimal mark of its numbers; without it the
    column decides alone. Raises DataError for a wish that cannot be had.
    """
    missing = int(raw.isna().sum())
    if name in wishes.drop:
        return Column(name, "left out", "as --drop says", missing)
    if raw.dtype == object and _is_nested(raw):
        return Column(name, "left out", "lists or other values that are not single ones", missing)
    if missing == len(raw):
        return Column(name, "left out", "empty", missing)
    if name in wishes.category:
        return _category(name, _as_text_column(raw))
    if pd.api.types.is_datetime64_any_dtype(raw):
        return _date(name, pd.Series(days(raw)))
    if pd.api.types.is_numeric_dtype(raw) and not pd.api.types.is_bool_dtype(raw):
        return _number(name, pd.Series(raw.to_numpy(np.float64, na_value=np.nan)), wishes)
    if raw.dtype == object and _are_numbers(raw):
        return _number(name, pd.Series([np.nan if pd.isna(one) else float(one) for one in raw]), wishes)
    text = _as_text_column(raw)
    is_category = declared or pd.api.types.is_bool_dtype(raw)
    return _guess_text(name, text, wishes, is_category, mark)


def _guess_text(name: str, text: pd.Series, wishes: Wishes, is_category: bool, mark: Mark | None) -> Column:
    levels, missing = list(text.cat.categories), int(text.isna().sum())
    if name in wishes.number or not is_category:
        rows_of = {str(level): int(rows) for level, rows in text.value_counts().items()}
        numbers, words, marks = read_numbers(levels, mark or mark_alone(rows_of))
        if len(words) == len(levels) and name in wishes.number:
            raise DataError(f'--number: column "{name}" holds no number, but {_listed(levels)}')
        if name in wishes.number or holds_numbers(words, rows_of):
            values = pd.Series(np.append(numbers, np.nan)[text.cat.codes.to_numpy()])
            said = marks + (f"; {_listed(words)} taken as missing" if words else "")
            return _number(name, values, wishes, said)
    if not is_category:
        found = days_of(levels)
        if isinstance(found, np.ndarray):
            return _date(name, pd.Series(np.append(found, np.nan)[text.cat.codes.to_numpy()]))
        if found == AMBIGUOUS:
            return Column(name, "left out", "dates, but which is day and which month? write 2026-11-21", missing)
    if reason := _no_category(len(levels), int(text.notna().sum()), is_category):
        return Column(name, "left out", reason, missing)
    return _category(name, text)


def _no_category(levels: int, rows: int, is_category: bool) -> str | None:
    """Why a text of so many different values in so many rows is not a category."""
    if rows >= _FEW and levels == rows:
        return "a value of its own in every row, as an id or free text has"
    if rows >= _FEW and levels > rows / 2 and not is_category:
        return f"{levels:,} different values in {rows:,} rows, as ids or free text have"
    if levels > MOST_LEVELS:
        return f"{levels:,} different values, more than {MOST_LEVELS}; --category keeps it"
    return None


def _category(name: str, text: pd.Series) -> Column:
    missing, levels = int(text.isna().sum()), list(text.cat.categories)
    if len(levels) < 2:
        return _constant(name, levels[0], missing)
    common = [str(level) for level in text.value_counts().index[:4]]
    return Column(name, "category", f"{len(levels):,} values: {_listed(common, len(levels))}", missing, text)


def _number(name: str, values: pd.Series, wishes: Wishes, said: str = "") -> Column:
    if infinite := int(np.isinf(values).sum()):
        values, said = values.where(np.isfinite(values)), f"{said}; {infinite:,} infinite ones taken as missing"
    seen = values.dropna()
    missing = len(values) - len(seen)
    if seen.empty:
        return Column(name, "left out", f"empty{said}", missing)
    if seen.nunique() < 2:
        return _constant(name, as_text(seen.iloc[0]), missing)
    if name not in wishes.number and (reason := _running(name, seen)):
        return Column(name, "left out", reason, missing)
    return Column(name, "number", f"{_short(seen.min())} to {_short(seen.max())}{said}", missing, values)


def _running(name: str, seen: pd.Series) -> str | None:
    """Why a number tells rows apart, and nothing else."""
    if len(seen) < _FEW or seen.nunique() < len(seen) or not (seen == seen.round()).all():
        return None
    if seen.max() - seen.min() == len(seen) - 1:
        return "a running number: the rows counted"
    if _ID.fullmatch(name):
        return "an id: a number of its own in every row"
    return None


def _date(name: str, values: pd.Series) -> Column:
    seen = values.dropna()
    if seen.nunique() < 2:
        return _constant(name, as_date(seen.iloc[0]), len(values) - len(seen))
    about = f"{as_date(seen.min())} to {as_date(seen.max())}, as days since 1970"
    return Column(name, "date", about, len(values) - len(seen), values)


def _constant(name: str, value: str, missing: int) -> Column:
    return Column(name, "left out", f"constant: {_cut(value)}" + (" or missing" if missing else ""), missing)


def _as_text_column(raw: pd.Series) -> pd.Series:
    """Categorical text without line breaks, which the file of rows could not hold; levels that no row has left out."""
    if isinstance(raw.dtype, pd.CategoricalDtype):
        raw = raw.astype(object)
    text = text_column(raw.map(as_text, na_action="ignore").astype(object), _one_line)
    return text.reset_index(drop=True)


def _one_line(value: str) -> str | None:
    return " ".join(value.encode("utf-8", "replace").decode().split()) or None


def _is_nested(raw: pd.Series) -> bool:
    return any(isinstance(value, list | dict | set | tuple | bytes | np.ndarray) for value in raw.dropna().head(100))


def _are_numbers(raw: pd.Series) -> bool:
    """Whether all are numbers and no text, as the decimals of a Parquet file are: their mark is in no doubt."""
    return all(isinstance(value, Real | Decimal) and not isinstance(value, bool) for value in raw.dropna())


def _listed(values: list[str], total: int | None = None) -> str:
    shown = [_cut(value) for value in values[:3]]
    return ", ".join(shown) + (", …" if (total or len(values)) > len(shown) else "")


def _cut(value: str) -> str:
    return value if len(value) <= 20 else f"{value[:19]}…"


def _short(number: float) -> str:
    return f"{number:,.0f}" if float(number).is_integer() and abs(number) < 1e12 else f"{number:.4g}"
