"""How a table was read, as a plan that a model stores, and new rows read by it: the same values, or a refusal."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from probcal._io import counted, join_first, printable
from probcal.errors import DataError, did_you_mean
from probcal.reading.dates import MIXED_ZONES, ZERO_DATES, DateOrder, mixes_zones, parse_dates, typed_days
from probcal.reading.decimal_mark import decimal_marks
from probcal.reading.levels import match_levels
from probcal.reading.number_form import Floats, Mark, NumberForm, parse_numbers
from probcal.reading.reading_options import READ_AS_IT_IS, ReadingOptions
from probcal.reading.table import UserTable, read_table, table_of_frame
from probcal.reading.text_column import MISSING, TextColumn, is_date, is_number, is_text, one_array, text_of

VERSION = 4
_LONGEST_NAME = 80
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


@dataclass(frozen=True)
class TablePlan:
    """Hold how the table was read: its input columns, its target and what the classes mean."""

    inputs: tuple[ColumnPlan, ...]
    target: str
    classes: tuple[str, ...]
    """The label of each class number. The second of two is the positive one."""
    labels: Mapping[str, int]
    """Label of the target -> class number."""
    target_mark: Mark
    native: bool
    """Whether the learner gets categories as they are. Unknown levels are then missing values."""
    bound: float
    """The smallest probability that is predicted."""
    groups: ColumnPlan | None = None
    """The column of groups (as a category) or of time, which is no input."""
    model: str = ""
    """Digest of the file of the model."""
    weight: str | None = None
    """The column of the weights of the rows, which only training and measuring need."""
    reading: ReadingOptions = READ_AS_IT_IS
    """How the file was read."""
    threshold: float | None = None
    """From which probability to decide for the positive label, if the user named costs."""


@dataclass(frozen=True)
class NewRows:
    """Hold the input columns ``X``, (n_rows, n_inputs), the whole table as it was read, and what was doubtful."""

    X: pd.DataFrame
    table: UserTable
    warnings: list[str]


def write_table_plan(plan: TablePlan, path: Path) -> None:
    """Write ``plan`` as JSON."""
    content = {"version": VERSION, **asdict(plan)}
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def load_table_plan(path: Path) -> TablePlan:
    """Return what ``write_table_plan`` wrote. Raise DataError for another file."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content.pop("version") != VERSION:
            raise DataError(f"{path}: is of another version of probcal; export the model again")
        inputs, groups = tuple(map(plan_from, content.pop("inputs"))), content.pop("groups")
        content |= {"groups": groups and plan_from(groups)}
        reading = content.pop("reading", {})
        reading = ReadingOptions(**{**reading, "missing": tuple(reading.get("missing", ()))})
        return TablePlan(inputs=inputs, **{**content, "classes": tuple(content["classes"]), "reading": reading})
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}; export the model again") from None
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise DataError(f"{path}: says nothing about columns ({error}); export the model again") from None


def read_inputs(source: str | Path | pd.DataFrame, plan: TablePlan) -> NewRows:
    """Read the input columns of a file, or of a frame, as ``plan`` says.

    Raises DataError for a table that cannot be read, or that lacks an input column.
    """
    reading = replace(plan.reading, is_of_another_file=True)
    if isinstance(source, pd.DataFrame):
        return inputs_of(table_of_frame(source, reading), plan)
    return inputs_of(read_table(str(source), reading, needed_columns(plan)), plan)


def needed_columns(plan: TablePlan) -> list[str]:
    """Return the columns of a table that the inputs are read from, each once."""
    return list(dict.fromkeys(column.source or column.name for column in plan.inputs))


def inputs_of(table: UserTable, plan: TablePlan) -> NewRows:
    """Read the input columns of ``table`` as ``plan`` says. Raise DataError as ``read_inputs`` does."""
    names = card_names(table.names)
    if missing := [name for name in needed_columns(plan) if name not in names]:
        hint = did_you_mean(missing[0], names)
        missing_names = join_first((f'"{name}"' for name in missing), 5)
        if n_skipped := plan.reading.skip_lines:
            hint += (
                f" (neither its first line names them, nor that after {counted(n_skipped, 'line')}, which training "
                "skipped)"
            )
        raise DataError(f"{table.origin}: the model needs the column{'s' * (len(missing) > 1)} {missing_names}{hint}")
    warnings: list[str] = []
    new_columns = [
        NewColumn(column, table.columns[names.index(column.source or column.name)], table.where)
        for column in _plans_in_dialect(table, names, plan.inputs)
    ]
    X = pd.DataFrame({column.plan.name: column.read(plan.native, warnings) for column in new_columns})
    return NewRows(X, table, warnings)


def _plans_in_dialect(table: UserTable, names: list[str], plans: Sequence[ColumnPlan]) -> list[ColumnPlan]:
    """Return ``plans`` with the decimal marks of this table, where its own values decide them.

    Raises DataError for numbers such as 1,250 that the model and the separator of this table read differently.
    """
    numbers = {names.index(plan.name): plan for plan in plans if plan.kind == "number"}
    texts = {index: table.texts[index] for index in numbers if index in table.texts}
    marks = decimal_marks(texts, table.separator, numbers=texts)
    forms = {}
    for index in texts:
        plan = numbers[index]
        is_forced = index in marks.column_marks and index not in marks.uneven
        if index in marks.doubts and marks[index] != plan.form.mark and not is_forced:
            reading, _, _ = marks.doubts[index].description.partition(";")
            raise DataError(
                f'{table.origin}: column "{plan.name}": {reading}, and the model '
                f"reads numbers written like {plan.form.example!r}; write the numbers of this table so"
            )
        if index not in marks.undecided:
            forms[plan.name] = plan.form.with_mark(marks[index])
    return [replace(plan, form=forms.get(plan.name, plan.form)) for plan in plans]


def clip_probabilities(p: npt.NDArray[np.float64], bound: float) -> npt.NDArray[np.float64]:
    """Return (n_rows, n_classes) the probabilities within the bound, each row divided by its sum."""
    clipped = np.clip(p, bound, 1 - bound)
    return np.asarray(clipped / clipped.sum(axis=1, keepdims=True))


def probability_names(classes: Sequence[str]) -> list[str]:
    """Return the names of the columns of probabilities: that of the positive class, or of each of several."""
    return [f"p({label})" for label in (classes[1:] if len(classes) == 2 else classes)]


def card_names(names: Iterable[object]) -> list[str]:
    """Return ``names`` in their order, each unique.

    A repeated name gets its position appended, an empty one is named by it.

    A card reads ``a1..a3`` as three columns and ``*`` as all others, so both are changed.
    """
    unique_names: list[str] = []
    name_set: set[str] = set()
    for position, name in enumerate(names, 1):
        clean = clean_name(str(name))
        if not clean or clean == "*":
            clean = f"column {position}"
        while clean in name_set:
            clean = f"{clean} ({position})"
        name_set.add(clean)
        unique_names.append(clean)
    return unique_names


def clean_name(name: str) -> str:
    """Return a name as cards allow it. Names over 80 letters are cut in the middle."""
    text = "".join(" " if unicodedata.category(letter)[0] in "CZ" else letter for letter in name)
    return printable(re.sub(r"\.\.+", ".", " ".join(text.split())), _LONGEST_NAME)


def typed_numbers(column: pa.ChunkedArray) -> Floats:
    """Return (n_rows,) a column of numbers as float64, NaN where missing. A float32 .1 is .1, as it is in a text."""
    array = one_array(column)
    if pa.types.is_float16(array.type):
        array = array.cast(pa.float32())
    if pa.types.is_float32(array.type) or pa.types.is_decimal(array.type):
        # By way of text, because the float64 nearest to a float32 .1 is another number than .1.
        array = array.cast(pa.large_string())
    return np.array(array.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False), dtype=np.float64)


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
