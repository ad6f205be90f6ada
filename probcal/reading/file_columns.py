"""Single columns of a file of predictions: probabilities, weights and groups, checked line by line."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from probcal._io import counted
from probcal.data.text_values import NUMBER, as_text
from probcal.errors import DataError, did_you_mean
from probcal.reading.number_form import Mark, plain_values, rounded_numbers
from probcal.reading.table import UserTable
from probcal.reading.text_column import TEXT, TextColumn

Floats = npt.NDArray[np.float64]
Texts = npt.NDArray[np.object_]

MISSING_GROUP = "(missing)"
ROUNDING = 1e-6
"""How far a probability may lie beyond 0 or 1: ten roundings of float32."""
MOST_GROUPS = 50
_MOST_NAMES = 10
# Share of the rows. Percent lie mostly above 1, and a slip of the pen is a single row.
_PERCENT_SHARE = 0.5
_SIGN = "[%\N{FULLWIDTH PERCENT SIGN}]"
_PERCENT = re.compile(rf"(.*[0-9.,])\s*{_SIGN}", re.DOTALL)
# The exponent in place of a per-cent sign, so that 63.7% is the same float as .637.
_HUNDREDTH = "e-2"
_DATE, _TIME = re.compile(r"\d{4}-\d\d-\d\d"), re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?")
_WHOLE_WITH_ZEROS = re.compile(r"([-+]?[0-9]+)\.0+")
_BOOLEANS = {"true", "false"}
# Sums and squares of weights between these are finite.
_SAFE_WEIGHTS = (1e-100, 1e100)
# Largest ratio of two weights. A sum has 16 digits, so it does not notice a smaller weight, and fits lose theirs.
_LARGEST_RATIO = 1e30


class FileColumn:
    """Read one column of a table. What does not fit is refused with its line."""

    def __init__(self, table: UserTable, index: int) -> None:
        self.table, self.index = table, index
        self.name = str(table.names[index]).strip()
        self.text: TextColumn | None = table.texts.get(index)
        """The column as text, None for a typed one."""

    @cached_property
    def values(self) -> pd.Series:
        """Return the values as pandas has them. Many distinct texts take a while."""
        return self.table.pandas_column(self.index)

    @property
    def missing_mask(self) -> npt.NDArray[np.bool_]:
        """Return (n_rows,) whether each row has no value. No text is read in Python."""
        return np.asarray(self.values.isna() if self.text is None else self.text.missing_mask, dtype=bool)

    def refuse(self, bad: Any, fault: Callable[[int], str], advice: str) -> None:
        """Raise DataError with the first row of ``bad``, (n_rows,) bool, and the number of such rows."""
        refuse_rows(self.table, bad, lambda row: f'column "{self.name}" {fault(row)}', advice)

    def replace_percent_signs(self) -> None:
        """Replace the numbers by hundredths if a per-cent sign follows each of them."""
        # few columns hold a sign, and the others are not turned into Python's texts
        if self.text is None or not pc.any(pc.match_substring_regex(self.text.distinct, _SIGN)).as_py():
            return
        codes, levels = pd.factorize(self.values.astype(object))
        level_has_sign = [isinstance(level, str) and bool(_PERCENT.fullmatch(level)) for level in levels]
        has_sign, has_value = np.array([*level_has_sign, False], dtype=bool)[codes], self.values.notna().to_numpy()
        if has_sign.sum() <= _PERCENT_SHARE * has_value.sum():  # single signs are refused like any other text
            return
        texts = texts_of(self.values)
        signs = counted(int(has_sign.sum()), "other row")
        self.refuse(
            has_value & ~has_sign,
            lambda row: f'holds "{texts[row]}" without the per-cent sign of {signs}',
            "write all values of the column alike",
        )
        hundredths = [None if text is None else _PERCENT.sub(rf"\1{_HUNDREDTH}", text) for text in texts]
        self.values, self.text = pd.Series(hundredths, dtype=object), TextColumn(pa.array(hundredths, TEXT))

    def probabilities(self, mark: Mark) -> Floats:
        values = self._numbers(mark, "a number from 0 to 1")
        bad = (values < -ROUNDING) | (values > 1 + ROUNDING)
        low, high = values.min(), values.max()
        advice = f"the values reach from {low:.4g} to {high:.4g}"
        if low >= 0 and high <= 100 and bad.mean() > _PERCENT_SHARE:
            advice += ", like percent; divide the column by 100"
        else:
            advice += "; scores are no probabilities, but a calibrator of the library with input='score' reads them"
        self.refuse(bad, lambda row: f"holds {self._text_of(row)}, and a probability lies from 0 to 1", advice)
        return np.clip(values, 0, 1)

    def scores(self, mark: Mark) -> Floats:
        values = self._numbers(mark, "a number")
        self.refuse(~np.isfinite(values), lambda row: f"holds the score {self._text_of(row)}", "give finite scores")
        return values

    def weights(self, mark: Mark) -> Floats:
        """Return (n_rows,) weights, times a power of two where sums could overflow or squares be 0.

        Only ratios of weights matter, and a power of two changes none.
        """
        values = self._numbers(mark, "a weight of at least 0")
        self.refuse(
            ~(np.isfinite(values) & (values >= 0)),
            lambda row: f"holds the weight {self._text_of(row)}",
            "give finite weights of at least 0",
        )
        if not values.any():
            raise DataError(f'{self.table.origin_name}: column "{self.name}" is 0 in every row; give a weight above 0')
        largest = float(values.max())
        self.refuse(
            (values > 0) & (values < largest / _LARGEST_RATIO),
            lambda row: f"holds the weight {self._text_of(row)} beside {largest:.4g}",
            f"give weights that differ by a factor of at most {_LARGEST_RATIO:.0e}, or 0",
        )
        low, high = _SAFE_WEIGHTS
        return values if low <= largest <= high else np.asarray(np.ldexp(values, -np.frexp(largest)[1]))

    def groups(self, option: str = "--group") -> Texts:
        """Return (n_rows,) the group of each row, ``MISSING_GROUP`` where it has none.

        A group is a name and never a number: ``2026-01`` and ``007`` stay as they are written. Only what CSV and
        Parquet files write in two ways is one group: ``1`` and ``1.0``, ``true`` and ``True``, a date with and without
        midnight.
        """
        codes, groups = self._names()
        if (n := len(set(groups)) + bool((codes < 0).any())) > MOST_GROUPS:
            raise DataError(
                f'{option}: column "{self.name}" of {self.table.origin_name} has {n:,} different values, and at most '
                f"{MOST_GROUPS} groups are measured; join groups, or name another column"
            )
        names: Texts = np.array([*groups, MISSING_GROUP], dtype=object)
        return np.asarray(names[codes])

    def clusters(self) -> npt.NDArray[np.intp]:
        """Return (n_rows,) the number of the cluster of each row, which is read as a group is.

        A row without a value is a cluster of its own.
        """
        codes, names = self._names()
        _, numbers = np.unique(names, return_inverse=True)
        clusters = np.append(numbers, -1)[codes]
        missing = clusters < 0
        clusters[missing] = len(names) + np.arange(missing.sum())
        return np.asarray(clusters)

    def _names(self) -> tuple[npt.NDArray[np.intp], list[str]]:
        """Return the code of each row's value, -1 for none, and what each code is called. Two may have one name."""
        texts = texts_of(self.values)
        self.refuse(
            rounded_numbers(self.values),
            lambda row: f"holds {texts[row]}, a number whose last digits may be lost",
            "write the names of groups as text",
        )
        codes, levels = pd.factorize(texts)
        groups = [" ".join(text.split()) for text in levels]
        distinct = set(groups)
        if any(map(_TIME.fullmatch, distinct)) and all(
            _TIME.fullmatch(group) or _DATE.fullmatch(group) for group in distinct
        ):
            groups = [f"{group} 00:00:00" if _DATE.fullmatch(group) else group for group in groups]
        elif all(map(NUMBER.fullmatch, distinct)):
            whole = {group: match[1] for group in distinct if (match := _WHOLE_WITH_ZEROS.fullmatch(group))}
            groups = [whole.get(group, group) for group in groups]
        elif {group.casefold() for group in distinct} <= _BOOLEANS:
            groups = [group.casefold() if group in distinct else group for group in groups]
        return codes, groups

    def _numbers(self, mark: Mark, kind: str) -> Floats:
        """Return (n_rows,) numbers. ``kind`` says in words what is needed."""
        if (plain := self._plain_numbers(mark)) is not None:
            return plain
        raw = self.values
        is_missing = raw.isna().to_numpy()
        self.refuse(is_missing, lambda _: "has no value", f"give every row {kind}, or remove such rows")
        if pd.api.types.is_numeric_dtype(raw) and not pd.api.types.is_bool_dtype(raw):
            values = np.asarray(raw.to_numpy(np.float64, na_value=np.nan))
        elif all(isinstance(value, Real | Decimal) and not isinstance(value, bool) for value in raw):
            values = np.array([float(value) for value in raw])
        else:
            codes, levels = pd.factorize(texts_of(raw))
            values = np.append(plain_values(list(levels), mark), np.nan)[codes]
        self.refuse(
            np.isnan(values),
            lambda row: f'holds "{self._text_of(row)}", no number',
            f"give {kind}{_advice(self._text_of(int(np.argmax(np.isnan(values)))))}",
        )
        return np.asarray(values)

    def _plain_numbers(self, mark: Mark) -> Floats | None:
        """Return the numbers of a column of plain numbers with a decimal point, or None. No value is read in Python."""
        column = self.table.columns[self.index]
        if self.text is None:
            is_number = pa.types.is_floating(column.type) or pa.types.is_integer(column.type)
            values = column.to_numpy().astype(np.float64) if is_number and not column.null_count else None
        else:
            numbers = self.text.point_numbers if mark == "." else None
            values = None if numbers is None else self.text.spread(numbers, np.nan)
        return None if values is None or np.isnan(values).any() else np.asarray(values, dtype=np.float64)

    def _text_of(self, row: int) -> str:
        """Return a value as it stands in the file, for messages."""
        return str(texts_of(self.table.pandas_column(self.index).iloc[[row]])[0])


def _advice(text: str) -> str:
    """Return how to write the number that ``text`` may be, or an empty text."""
    if re.search(_SIGN, text):
        return "; write 12 % as .12, or the sign behind every value"
    return "; for a decimal comma, add --decimal ," if "," in text else ""


def named_column(table: UserTable, option: str, name: str | None) -> FileColumn:
    if name is None:
        raise DataError(f"{table.origin_name}: name a column with {option}; there are: {listing_of(table)}")
    names = names_of(table)
    indices = [index for index, other in enumerate(names) if other == name.strip()]
    if len(indices) > 1:
        raise DataError(f'{option}: {len(indices)} columns of {table.origin_name} are called "{name}"; rename one')
    if not indices:
        hint = table.header_hint(name) or did_you_mean(name, names)
        raise DataError(f'{option}: {table.origin_name} has no column "{name}"{hint} (it has: {listing_of(table)})')
    return FileColumn(table, indices[0])


def names_of(table: UserTable) -> list[str]:
    return [str(name).strip() for name in table.names]


def listing_of(table: UserTable) -> str:
    names = names_of(table)
    return ", ".join(names[:_MOST_NAMES]) + (", …" if len(names) > _MOST_NAMES else "")


def refuse_rows(table: UserTable, bad: Any, fault: Callable[[int], str], advice: str) -> None:
    """Raise DataError with the first row of ``bad``, (n_rows,) bool, and the number of such rows."""
    if n := int(np.count_nonzero(bad)):
        row = int(np.argmax(bad))
        suffix = f" (and {n - 1:,} more of {len(bad):,} rows)" if n > 1 else ""
        raise DataError(f"{table.where(row)}: {fault(row)}{suffix}; {advice}")


def texts_of(raw: pd.Series) -> Texts:
    """Return (n_rows,) each value as text, None where it is missing."""
    if isinstance(raw.dtype, pd.CategoricalDtype):  # each level once
        levels = [as_text(level) for level in raw.cat.categories]
        texts: Texts = np.array([*levels, None], dtype=object)[raw.cat.codes.to_numpy()]
        return texts
    values = raw.astype(object).where(raw.notna(), None)
    return np.array([None if value is None else as_text(value) for value in values], dtype=object)


def one_spelling(raw: pd.Series) -> pd.Series:
    """Return a column of labels in which ``True`` and ``true`` are one label, if it holds both spellings."""
    texts = texts_of(raw)
    spellings = set(texts) - {None}
    lower = {text.casefold() for text in spellings}
    if not lower or not lower <= _BOOLEANS or len(lower) == len(spellings):
        return raw
    return pd.Series([None if text is None else text.casefold() for text in texts], dtype=object)


def same_label(label: str, labels: list[str]) -> str:
    """Return the one of ``labels`` that is the boolean ``label`` in another spelling, otherwise ``label``."""
    matches = [other for other in labels if other.casefold() == label.casefold() and other.casefold() in _BOOLEANS]
    return matches[0] if len(matches) == 1 and label not in labels else label
