"""The type of each column of a table: inferred from its values, described, overridden, and warned about."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from numbers import Real
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from probcal._io import counted, join_first, shortened
from probcal.data.dataset import as_text, text_column
from probcal.errors import DataError
from probcal.try_table.dates_in_text import AMBIGUOUS, as_date, days, parse_dates
from probcal.try_table.numbers_in_text import Mark, holds_numbers, read_numbers

Kind = Literal["number", "category", "date", "group", "time", "left out"]

MOST_LEVELS = 200
"""Largest number of levels of a category. Most learners get a column for each level."""
_FEW_ROWS = 20
_LARGEST_EXACT = 2.0**53
"""From here on, different integers can be equal as floats."""
"""Number of rows. In a smaller table a column can have a different value in every row by chance."""
_ID = re.compile(
    r"(?i:(.*[ _.-])?(id|index|idx|key|uuid|guid|no|nr|number|row|rowid)|unnamed: 0|.*nummer|ssn|mrn"
    r"|(account|case|client|contract|customer|loan|member|order|patient|person|policy|record|subject|user)(id|no|nr))"
    r"|.*[a-z](ID|Id|No|Nr|Number|Key)"
)
"""Names of ids. They end in a separate word, or are written together like CustomerID and customerid."""


@dataclass(frozen=True)
class TableColumn:
    """Describe one column of the table.

    ``values`` has shape (n_rows,): float64 or categorical text, None if left out.
    """

    name: str
    kind: Kind
    about: str
    """Its values in words, or why it is left out."""
    missing: int
    values: pd.Series | None = None
    mark: Mark = "."
    """The decimal mark of its numbers."""
    written: bool = False
    """Whether its numbers were written with units, currencies or as times."""
    units: tuple[str, ...] = ()
    """The units and currencies with which they were written."""
    words: tuple[str, ...] = ()
    """Texts between numbers, which keep the column from being read as numbers."""


@dataclass(frozen=True)
class ColumnChoices:
    """Hold the columns that the command line names for each type."""

    category: Collection[str] = ()
    number: Collection[str] = ()
    drop: Collection[str] = ()


def infer_column(
    name: str, raw: pd.Series, choices: ColumnChoices, mark: Mark = ".", declared: bool = False
) -> TableColumn:
    """Return the column ``raw``, (n_rows,) of any type, with its inferred type.

    ``mark`` is the decimal mark of its numbers. With ``declared``, text stays text, whatever it looks like. Raises
    DataError for a choice that does not fit the column.
    """
    missing = int(raw.isna().sum())
    if name in choices.drop:
        return TableColumn(name, "left out", "by --drop", missing)
    if raw.dtype == object and _is_nested(raw):
        return TableColumn(name, "left out", "lists or other nested values", missing)
    if missing == len(raw):
        return TableColumn(name, "left out", "empty", missing)
    if name in choices.category:
        return _category_column(name, as_text_column(raw))
    if pd.api.types.is_datetime64_any_dtype(raw):
        return _date_column(name, pd.Series(days(raw)))
    if pd.api.types.is_numeric_dtype(raw) and not pd.api.types.is_bool_dtype(raw):
        return _number_column(name, pd.Series(raw.to_numpy(np.float64, na_value=np.nan)), choices)
    if raw.dtype == object and _are_numbers(raw):
        return _number_column(name, pd.Series([np.nan if pd.isna(value) else float(value) for value in raw]), choices)
    text = as_text_column(raw)
    is_category = declared or pd.api.types.is_bool_dtype(raw)
    return _infer_text_column(name, text, choices, is_category, mark)


def _infer_text_column(
    name: str, text: pd.Series, choices: ColumnChoices, is_category: bool, mark: Mark
) -> TableColumn:
    levels, missing = list(text.cat.categories), int(text.isna().sum())
    stray_words: tuple[str, ...] = ()
    if name in choices.number or not is_category:
        counts = {str(level): int(rows) for level, rows in text.value_counts().items()}
        numbers, words, marks = read_numbers(levels, mark)
        dates = parse_dates(levels) if len(words) == len(levels) and name in choices.number else None
        if isinstance(dates, np.ndarray):
            return _date_column(name, pd.Series(np.append(dates, np.nan)[text.cat.codes.to_numpy()]))
        if len(words) == len(levels) and name in choices.number:
            raise DataError(f'--number: column "{name}" holds no number, but {_values_text(levels)}')
        if name in choices.number or holds_numbers(words, counts):
            values = pd.Series(np.append(numbers, np.nan)[text.cat.codes.to_numpy()])
            notes = marks + (f"; {join_first(words, _MOST_WORDS_SHOWN)} read as missing" if words else "")
            return _number_column(name, values, choices, notes)
        stray_words = _words_between_numbers(words, counts)
    if not is_category:
        dates = parse_dates(levels)
        if isinstance(dates, np.ndarray):
            return _date_column(name, pd.Series(np.append(dates, np.nan)[text.cat.codes.to_numpy()]))
        if dates == AMBIGUOUS:
            return TableColumn(name, "left out", "dates, but day and month are ambiguous; write 2026-11-21", missing)
    if reason := _category_fault(len(levels), int(text.notna().sum()), is_category):
        return TableColumn(name, "left out", reason, missing, words=stray_words)
    return replace(_category_column(name, text), words=stray_words)


def _words_between_numbers(words: Sequence[str], counts: Mapping[str, int]) -> tuple[str, ...]:
    """Return ``words``, if they are few and most rows of the column hold one of at least five different numbers.

    ``counts`` maps each text of the column to the number of rows that have it.
    """
    rows = sum(counts.values())
    word_rows = sum(counts[word] for word in words)
    has_numbers = len(counts) - len(words) >= _FEWEST_NUMBERS and word_rows < rows / 2
    return tuple(words) if has_numbers and len(words) <= _MOST_WORDS_BETWEEN else ()


def _category_fault(levels: int, rows: int, is_category: bool) -> str | None:
    """Return why a text with so many different values in so many rows is not a category, or None."""
    if rows >= _FEW_ROWS and levels == rows:
        return "a different value in every row, like an id or free text"
    if rows >= _FEW_ROWS and levels > rows / 2 and not is_category:
        return f"{levels:,} different values in {rows:,} rows, like ids or free text"
    if levels > MOST_LEVELS:
        return f"{levels:,} different values, more than {MOST_LEVELS}; --category keeps it"
    return None


def _category_column(name: str, text: pd.Series) -> TableColumn:
    missing, levels = int(text.isna().sum()), list(text.cat.categories)
    if len(levels) < 2:
        return _constant_column(name, levels[0], missing)
    common = [str(level) for level in text.value_counts().index[:4]]
    return TableColumn(name, "category", f"{len(levels):,} values: {_values_text(common)}", missing, text)


def _number_column(name: str, values: pd.Series, choices: ColumnChoices, notes: str = "") -> TableColumn:
    if infinite := int(np.isinf(values).sum()):
        values, notes = values.where(np.isfinite(values)), f"{notes}; {infinite:,} infinite values read as missing"
    present = values.dropna()
    missing = len(values) - len(present)
    if present.empty:
        return TableColumn(name, "left out", f"empty{notes}", missing)
    if present.nunique() < 2:
        if abs(present.iloc[0]) >= _LARGEST_EXACT:
            return TableColumn(name, "left out", "numbers too large to tell apart; --category keeps them", missing)
        return _constant_column(name, as_text(present.iloc[0]), missing)
    if name not in choices.number and (reason := _identifier_reason(name, present)):
        return TableColumn(name, "left out", reason, missing)
    return TableColumn(
        name, "number", f"{_number_text(present.min())} to {_number_text(present.max())}{notes}", missing, values
    )


def _identifier_reason(name: str, numbers: pd.Series) -> str | None:
    """Return why a number only identifies rows, or None."""
    if len(numbers) < _FEW_ROWS or numbers.nunique() < len(numbers) or not (numbers == numbers.round()).all():
        return None
    if numbers.max() - numbers.min() == len(numbers) - 1:
        return "a running number of the rows"
    if _ID.fullmatch(name):
        return "an id: a different number in every row"
    return None


def _date_column(name: str, values: pd.Series) -> TableColumn:
    present = values.dropna()
    if present.nunique() < 2:
        return _constant_column(name, as_date(present.iloc[0]), len(values) - len(present))
    description = f"{as_date(present.min())} to {as_date(present.max())}, as days since 1970"
    return TableColumn(name, "date", description, len(values) - len(present), values)


def _constant_column(name: str, value: str, missing: int) -> TableColumn:
    description = f"constant: {shortened(value, 20)}{' or missing' if missing else ''}"
    return TableColumn(name, "left out", description, missing)


def as_text_column(raw: pd.Series) -> pd.Series:
    """Return categorical text without line breaks, which the file of rows cannot hold. Unused levels are left out."""
    if isinstance(raw.dtype, pd.CategoricalDtype):
        raw = raw.astype(object)
    text = text_column(raw.map(as_text, na_action="ignore").astype(object), _one_line)
    return text.reset_index(drop=True)


def _one_line(value: str) -> str | None:
    return " ".join(value.encode("utf-8", "replace").decode().split()) or None


def _is_nested(raw: pd.Series) -> bool:
    return any(isinstance(value, list | dict | set | tuple | bytes | np.ndarray) for value in raw.dropna().head(100))


def _are_numbers(raw: pd.Series) -> bool:
    """Return whether all values are numbers and not text, like the decimals of a Parquet file."""
    return all(isinstance(value, Real | Decimal) and not isinstance(value, bool) for value in raw.dropna())


def _values_text(values: list[str]) -> str:
    return join_first([shortened(value, 20) for value in values], 3)


def _number_text(number: float) -> str:
    is_whole = float(number).is_integer() or abs(number) >= 1e4
    return f"{number:,.0f}" if is_whole and abs(number) < 1e12 else f"{number:.4g}"


def _names_text(names: Sequence[str]) -> str:
    return join_first((f'"{name}"' for name in names), _MOST_NAMES)


_MOST_VALUES = 20
"""Different values for each class. A column with more is no copy of the target, and can separate rows by chance."""
_MISSING_CODE = re.compile(r"-9|-?9{2,}(\.9+)?")
"""Numbers that surveys and laboratories write for a missing value."""
_REFUSED_CODE = re.compile(r"9+[678]")
"""Numbers beside 99 and 999 that surveys write where nobody answered."""
_FEWEST_CODE_ROWS = 3
_FEWEST_RANGES = 2.0
"""Such a number lies this many times the range of all other values away from them."""
_MOST_NAMES = 5
_MOST_WORDS_SHOWN = 50
_FEWEST_NUMBERS = 5
_MOST_WORDS_BETWEEN = 10


def warnings(columns: Sequence[TableColumn], labels: npt.NDArray[Any]) -> Iterator[str]:
    """Yield a warning for each doubtful column, (n_rows,), or pair of ``labels`` of the same rows."""
    for column in columns:
        if column.kind == "number" and (codes := _missing_codes(column)):
            listing = " and ".join(f"{as_text(number)} in {counted(rows)}" for number, rows in codes)
            yield (
                f"{_names_text([column.name])} is {listing}, far from all others, and read as a number; if it stands "
                "for a missing value, make those fields empty"
            )
        if len(column.units) > 1:
            yield (
                f"{_names_text([column.name])} mixes the units {' and '.join(column.units)}, and its numbers are read "
                "as they stand, so they are not comparable; write them in one unit"
            )
        if column.words:
            treatment = "left out" if column.kind == "left out" else f"read as a {column.kind}"
            yield (
                f"{_names_text([column.name])} holds numbers and {join_first(map(repr, column.words), _MOST_NAMES)}, "
                f'and is {treatment}; --number "{column.name}" reads the numbers and takes all else as missing'
            )
    spellings: dict[str, list[str]] = {}
    for label in sorted(set(labels)):
        spellings.setdefault(label.casefold(), []).append(label)
    for group in spellings.values():
        if len(group) > 1:
            yield f"labels that differ only in capitals are read as different classes: {_names_text(group)}"


def determines_label(column: TableColumn, labels: npt.NDArray[Any]) -> bool:
    """Return whether each of the column's few values, a missing one too, occurs with only one label."""
    if column.values is None or len(labels) < _FEW_ROWS:
        return False
    codes, values = pd.factorize(column.values.astype(object), use_na_sentinel=False)
    if len(values) > _MOST_VALUES * len(set(labels)) or len(values) > len(labels) / 4:
        return False
    return bool((pd.Series(labels).groupby(codes).nunique() == 1).all())


def _missing_codes(column: TableColumn) -> list[tuple[float, int]]:
    """Return the numbers of ``column`` that look like missing values, each with how many rows have it."""
    assert column.values is not None
    present = column.values.dropna().to_numpy(np.float64)
    numbers, rows = np.unique(present, return_counts=True)
    texts = [as_text(number) for number in numbers]
    is_code = np.array([bool(_MISSING_CODE.fullmatch(text)) for text in texts]) & (rows >= _FEWEST_CODE_ROWS)
    is_refusal = np.array([bool(_REFUSED_CODE.fullmatch(text)) for text in texts]) & (rows >= _FEWEST_CODE_ROWS)
    plain_numbers = numbers[~is_code & ~is_refusal]
    if not len(plain_numbers):
        return []
    low, high = plain_numbers.min(), plain_numbers.max()
    distance = _FEWEST_RANGES * (high - low)
    is_far = ((numbers < 0) & (low >= 0)) | (numbers < low - distance) | (numbers > high + distance)
    is_missing = (is_code & is_far) | (is_refusal & is_far & (numbers > _FEWEST_RANGES * max(abs(low), abs(high))))
    if is_missing.any():  # beside one such number, others need not be far
        is_missing |= is_code & ((numbers < low) | (numbers > high))
    return [(float(number), int(count)) for number, count in zip(numbers[is_missing], rows[is_missing], strict=True)]
