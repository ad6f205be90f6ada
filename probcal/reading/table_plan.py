"""How an exported model reads a table: as the trial read its table, column by column."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from probcal._io import join_first, printable
from probcal.errors import DataError, did_you_mean
from probcal.reading.column_plan import ColumnPlan, NewColumn, plan_from
from probcal.reading.decimal_mark import decimal_marks
from probcal.reading.number_form import Mark
from probcal.reading.table import UserTable, read_table, table_of_frame

VERSION = 4
_LONGEST_NAME = 80


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
        return TablePlan(inputs=inputs, **{**content, "classes": tuple(content["classes"])})
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise DataError(f"{path}: says nothing about columns ({error}); export the model again") from None


def read_inputs(source: str | Path | pd.DataFrame, plan: TablePlan) -> NewRows:
    """Read the input columns of a file, or of a frame, as ``plan`` says.

    Raises DataError for a table that cannot be read, or that lacks an input column.
    """
    table = table_of_frame(source) if isinstance(source, pd.DataFrame) else read_table(str(source))
    return inputs_of(table, plan)


def inputs_of(table: UserTable, plan: TablePlan) -> NewRows:
    """Read the input columns of ``table`` as ``plan`` says. Raise DataError as ``read_inputs`` does."""
    names = card_names(table.names)
    needed = list(dict.fromkeys(column.source or column.name for column in plan.inputs))
    if missing := [name for name in needed if name not in names]:
        hint = did_you_mean(missing[0], names)
        missing_names = join_first((f'"{name}"' for name in missing), 5)
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
