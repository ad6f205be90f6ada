"""How a column was read, as a plan that can be stored, and new rows read by it: the same values, or a refusal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
from probcal.reading.text_column import MISSING, TextColumn, is_text, text_of

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
    array = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
    if pa.types.is_float16(array.type):
        array = array.cast(pa.float32())
    if pa.types.is_float32(array.type) or pa.types.is_decimal(array.type):
        array = array.cast(pa.large_string())
    return np.array(array.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False), dtype=np.float64)


def is_number(kind: pa.DataType) -> bool:
    """Return whether a column of this type holds numbers. Booleans are none."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def is_date(kind: pa.DataType) -> bool:
    """Return whether a column of this type holds dates or times."""
    return bool(pa.types.is_timestamp(kind) or pa.types.is_date(kind))


class NewColumn:
    """Read a column of new rows by its plan. ``where`` returns the place of a row for a message."""

    def __init__(self, plan: ColumnPlan, column: pa.ChunkedArray, where: Callable[[int], str]) -> None:
        self.plan, self._column, self._where = plan, column, where
        self._text = TextColumn(column, MISSING | set(ZERO_DATES)) if is_text(column.type) else None

    @property
    def text(self) -> TextColumn | None:
        """Return the column as text, None for a typed one."""
        return self._text

    def read(self, native: bool, warnings: list[str]) -> pd.Series:
        """Return (n_rows,) float64 numbers, or categorical text.

        Levels that did not occur among the training rows give a warning. They are missing values where ``native``.
        Raises DataError for a value that is not written as in the training rows.
        """
        plan, kind, column = self.plan, self.plan.kind, self._column
        if pa.types.is_null(column.type):
            raise DataError(f'column "{self.plan.name}" holds values of a type that is not read, such as lists')
        if kind == "indicator":
            return self._indicator()
        if kind == "category":
            return self._category(native, warnings)
        if self._text is not None:
            return self._of_text(self._text)
        if column.null_count == len(column):
            return pd.Series(np.full(len(column), np.nan))
        if kind == "date" and is_date(column.type):
            return pd.Series(typed_days(column))
        if kind == "number" and is_number(column.type):
            values = typed_numbers(column)
            if plan.form.percent and (values > 1).any():
                row = int(np.argmax(values > 1))
                raise DataError(
                    f'{self._where(row)}: column "{plan.name}" holds {values[row]:g}, and {self._expected()}; '
                    "write parts of 1, or texts with the sign"
                )
            return pd.Series(np.where(np.isfinite(values), values, np.nan))
        if kind == "number" and pa.types.is_boolean(column.type) and self.plan.is_flag:
            return pd.Series(typed_numbers(column.cast(pa.int8())))
        raise DataError(
            f'{self._where(0)}: column "{self.plan.name}" is of the type {column.type}, and {self._expected()}'
        )

    def _of_text(self, text: TextColumn) -> pd.Series:
        plan, levels = self.plan, text.distinct
        if plan.kind == "date":
            values = parse_dates(levels, plan.dates)
            if mixes_zones(levels):
                raise DataError(f'{self._where(0)}: column "{plan.name}": {MIXED_ZONES}; write such values alike')
        else:
            values = parse_numbers(levels, plan.form)
            if plan.is_flag:
                lower = pc.utf8_lower(levels)
                for word, value in (("true", 1.0), ("false", 0.0)):
                    values[np.asarray(pc.equal(lower, word).fill_null(False).to_numpy(zero_copy_only=False))] = value
        present = np.asarray(levels.is_valid().to_numpy(zero_copy_only=False))
        unread = np.isnan(values) & present
        if unread.any():
            texts = pc.unique(levels.filter(pa.array(unread))).to_pylist()
            known = set(plan.words)
            used = text.counts
            self._refuse([" ".join(one.split()) for one in texts if " ".join(one.split()) in used], known, text)
        return pd.Series(text.spread(values, np.nan))

    def _refuse(self, texts: Sequence[str], known: set[str], text: TextColumn) -> None:
        bad = [one for one in texts if one not in known]
        if not bad:
            return
        rows = sum(text.counts[one] for one in bad)
        row = min(text.first_row(one) for one in bad)
        raise DataError(
            f'{self._where(row)}: column "{self.plan.name}" holds {join_first(map(repr, bad), _MOST_SHOWN)} in '
            f"{counted(rows)}, and {self._expected()}; write such values alike, or leave their fields empty"
        )

    def _expected(self) -> str:
        plan = self.plan
        if plan.kind == "date":
            return f"the model reads dates in the order {plan.dates}"
        return f"the model reads numbers written like {plan.form.example!r}"

    def _category(self, native: bool, warnings: list[str]) -> pd.Series:
        text = text_of(self._column)
        codes, levels = text.encoded
        found, clashes = match_levels(levels, self.plan.levels, is_number(self._column.type))
        if clashes:
            level, known = clashes[0]
            raise DataError(
                f'{self._where(text.first_row(level))}: column "{self.plan.name}" holds {level!r} in '
                f"{counted(text.counts[level])}, and the training rows have {known!r}; write it as there"
            )
        new_levels = [level for level in levels if level not in found]
        if new_levels:
            rows = sum(text.counts[level] for level in new_levels)
            warnings.append(
                f'column "{self.plan.name}": {join_first(map(repr, new_levels), _MOST_SHOWN)} in {counted(rows)} did '
                "not occur when the model was fitted"
            )
        categories = [*self.plan.levels, *([] if native else new_levels)]
        places = {level: place for place, level in enumerate(categories)}
        new_codes = np.array([*(places.get(found.get(level, level), -1) for level in levels), -1])[codes]
        return pd.Series(pd.Categorical.from_codes(new_codes, categories=pd.Index(categories, dtype=object)))

    def _indicator(self) -> pd.Series:
        if self._text is None:
            return pd.Series(np.zeros(len(self._column)))
        codes, levels = self._text.encoded
        is_word = np.array([*(float(level in self.plan.words) for level in levels), 0.0])
        return pd.Series(is_word[codes])
