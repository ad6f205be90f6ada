"""How a column was read, as a plan that can be stored, and new rows read by it: the same values, or a refusal."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from probcal._io import counted, join_first
from probcal.errors import DataError
from probcal.reading.dates import MIXED_ZONES, ZERO_DATES, DateOrder, mixes_zones, parse_dates, typed_days
from probcal.reading.levels import match_levels
from probcal.reading.number_form import Floats, NumberForm, parse_numbers
from probcal.reading.text_column import MISSING, TextColumn, is_text, one_array, text_of

_MOST_SHOWN = 5


@dataclass(frozen=True)
class ColumnPlan:
    """Describe how one column was read."""

    name: str
    kind: Literal["number", "category", "date", "indicator"]
    form: NumberForm = field(default_factory=NumberForm)
    """How its numbers are written."""
    is_flag: bool = False
    """Whether its only numbers are 0 and 1, which another file may write as false and true."""
    dates: DateOrder = "year month day"
    words: tuple[str, ...] = ()
    """Texts between numbers or dates that are missing values. An indicator is 1 where ``source`` is one of them."""
    levels: tuple[str, ...] = ()
    """The levels of a category among the training rows."""
    source: str = ""
    """The column of an indicator."""


def plan_from(content: dict[str, Any]) -> ColumnPlan:
    """Return the plan that ``dataclasses.asdict`` turned into ``content``. Raise TypeError or KeyError for another."""
    parts = {key: tuple(content[key]) for key in ("words", "levels")}
    return ColumnPlan(**{**content, "form": NumberForm(**content["form"]), **parts})


def typed_numbers(column: pa.ChunkedArray) -> Floats:
    """Return (n_rows,) a column of numbers as float64, NaN where missing. A float32 .1 is .1, as it is in a text."""
    array = one_array(column)
    if pa.types.is_float16(array.type):
        array = array.cast(pa.float32())
    if pa.types.is_float32(array.type) or pa.types.is_decimal(array.type):
        # By way of text, because the float64 nearest to a float32 .1 is another number than .1.
        array = array.cast(pa.large_string())
    return np.array(array.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False), dtype=np.float64)


def is_number(kind: pa.DataType) -> bool:
    """Return whether a column of this type holds numbers. Booleans are none."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def is_date(kind: pa.DataType) -> bool:
    """Return whether a column of this type holds dates or times."""
    return bool(pa.types.is_timestamp(kind) or pa.types.is_date(kind))


class NewColumn:
    """Read a column of new rows by its plan. ``where`` says in words where a row is."""

    def __init__(self, plan: ColumnPlan, column: pa.ChunkedArray, where: Callable[[int], str]) -> None:
        self.plan, self._column, self._where = plan, column, where

    def read(self, native: bool, warnings: list[str]) -> pd.Series:
        """Return (n_rows,) float64 numbers, or categorical text.

        Levels that did not occur among the training rows give a warning. They are missing values where ``native``.
        Raises DataError for a value that is not written as in the training rows.
        """
        plan, column = self.plan, self._column
        if pa.types.is_null(column.type):
            where = self._where(0)
            raise DataError(f'{where}: column "{plan.name}" holds values of a type that is not read, such as lists')
        if plan.kind == "category":
            return self._read_category(native, warnings)
        text = TextColumn(column, MISSING | set(ZERO_DATES)) if is_text(column.type) else None
        if plan.kind == "indicator":
            return pd.Series(np.zeros(len(column)) if text is None else words_mask(text, plan.words))
        return pd.Series(self._read_typed() if text is None else text.spread(self._parse_text(text), np.nan))

    def _read_typed(self) -> Floats:
        plan, column = self.plan, self._column
        if column.null_count == len(column):
            return np.full(len(column), np.nan)
        if plan.kind == "date" and is_date(column.type):
            return typed_days(column)
        if plan.kind == "number" and is_number(column.type):
            values = typed_numbers(column)
            # Typed numbers have no sign that says whether 5 stands for 5 % or for 5.
            if plan.form.percent and (values > 1).any():
                row = int(np.argmax(values > 1))
                raise DataError(
                    f'{self._where(row)}: column "{plan.name}" holds {values[row]:g}, and {self._expected()}; '
                    "write parts of 1, or texts with the sign"
                )
            return np.where(np.isfinite(values), values, np.nan)
        if plan.kind == "number" and pa.types.is_boolean(column.type) and plan.is_flag:
            return typed_numbers(column.cast(pa.int8()))
        raise DataError(f'{self._where(0)}: column "{plan.name}" is of the type {column.type}, and {self._expected()}')

    def _parse_text(self, text: TextColumn) -> Floats:
        """Return the number or day of each of ``text.distinct``, NaN for a missing one."""
        plan, texts = self.plan, text.distinct
        if plan.kind == "date":
            values = parse_dates(texts, plan.dates)
            if mixes_zones(texts):
                raise DataError(f'{self._where(0)}: column "{plan.name}": {MIXED_ZONES}; write such values alike')
        else:
            values = parse_numbers(texts, plan.form)
            if plan.is_flag:
                lower = pc.utf8_lower(texts)
                for word, value in (("true", 1.0), ("false", 0.0)):
                    values[np.asarray(pc.equal(lower, word).fill_null(False).to_numpy(zero_copy_only=False))] = value
        is_unread = np.isnan(values) & np.asarray(texts.is_valid().to_numpy(zero_copy_only=False))
        if not is_unread.any():
            return values
        unread = [" ".join(level.split()) for level in pc.unique(texts.filter(pa.array(is_unread))).to_pylist()]
        # a level of a Parquet file may be in no row
        if refused := [level for level in unread if level in text.counts and level not in plan.words]:
            rows = sum(text.counts[level] for level in refused)
            raise DataError(
                f'{self._where(min(map(text.first_row, refused)))}: column "{plan.name}" holds '
                f"{join_first(map(repr, refused), _MOST_SHOWN)} in {counted(rows)}, and {self._expected()}; write such "
                "values alike, or leave their fields empty"
            )
        return values

    def _expected(self) -> str:
        if self.plan.kind == "date":
            return f"the model reads dates in the order {self.plan.dates}"
        return f"the model reads numbers written like {self.plan.form.example!r}"

    def _read_category(self, native: bool, warnings: list[str]) -> pd.Series:
        plan, text = self.plan, text_of(self._column)
        codes, levels = text.encoded
        matched, clashes = match_levels(levels, plan.levels, is_number(self._column.type))
        if clashes:
            level, known_level = clashes[0]
            raise DataError(
                f'{self._where(text.first_row(level))}: column "{plan.name}" holds {level!r} in '
                f"{counted(text.counts[level])}, and the training rows have {known_level!r}; write it as there"
            )
        new_levels = [level for level in levels if level not in matched]
        if new_levels:
            rows = sum(text.counts[level] for level in new_levels)
            warnings.append(
                f'column "{plan.name}": {join_first(map(repr, new_levels), _MOST_SHOWN)} in {counted(rows)} did '
                "not occur when the model was fitted"
            )
        categories = [*plan.levels, *([] if native else new_levels)]
        code_of = {level: code for code, level in enumerate(categories)}
        new_codes = np.array([*(code_of.get(matched.get(level, level), -1) for level in levels), -1])[codes]
        return pd.Series(pd.Categorical.from_codes(new_codes, categories=pd.Index(categories, dtype=object)))


def words_mask(text: TextColumn, words: Collection[str]) -> Floats:
    """Return (n_rows,) 1 where a row has one of ``words``, otherwise 0."""
    codes, levels = text.encoded
    return np.array([*(float(level in words) for level in levels), 0.0])[codes]
