"""New rows of a table for an exported model: read as the trial read its table, and given their probabilities."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain, count
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from probcal._io import counted, data_text, join_first
from probcal.errors import DataError, did_you_mean
from probcal.reading.column_plan import ColumnPlan, NewColumn, plan_from
from probcal.reading.decimal_mark import decimal_marks
from probcal.reading.number_form import Mark
from probcal.reading.table import UserTable, read_table
from probcal.reading.target import label_named
from probcal.reading.text_column import text_of
from probcal.try_table.preparation import card_names
from probcal.try_table.split_choice import group_column

VERSION = 3


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


def read_new_rows(source: str | Path, columns: str | Path) -> NewRows:
    """Read the input columns of the table ``source`` as the file ``columns`` says.

    Raises DataError for a table that cannot be read, or that lacks an input column.
    """
    return _read_inputs(source, load_table_plan(Path(columns)))


def _read_inputs(source: str | Path, plan: TablePlan) -> NewRows:
    table = read_table(str(source))
    names = card_names(table.names)
    needed = list(dict.fromkeys(column.source or column.name for column in plan.inputs))
    if missing := [name for name in needed if name not in names]:
        hint = did_you_mean(missing[0], names)
        missing_names = join_first((f'"{name}"' for name in missing), 5)
        raise DataError(f"{source}: the model needs the column{'s' * (len(missing) > 1)} {missing_names}{hint}")
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


def read_labelled_rows(source: str | Path, columns: str | Path) -> tuple[pd.DataFrame, npt.NDArray[np.int64]]:
    """Return the input columns of the rows that have a label, and their class numbers, (n_rows,).

    Raises DataError as ``read_new_rows`` does, and for a table without the target.
    """
    X, y, _ = _read_labelled(source, load_table_plan(Path(columns)))
    return X, y[y >= 0]


def read_grouped_rows(
    source: str | Path, columns: str | Path
) -> tuple[pd.DataFrame, npt.NDArray[np.int64], npt.NDArray[Any]]:
    """Return what ``read_labelled_rows`` returns, and the group or the time of each row, (n_rows,).

    Raises DataError as ``read_labelled_rows`` does, and for a table without the column of groups or time.
    """
    plan = load_table_plan(Path(columns))
    X, y, table = _read_labelled(source, plan)
    column, names = plan.groups, card_names(table.names)
    if column is None or column.name not in names:
        raise DataError(f'{source}: has no column "{column.name if column else ""}" of groups or time')
    raw = table.columns[names.index(column.name)].filter(pa.array(y >= 0))
    if column.kind == "category":
        return X, y[y >= 0], group_column(column.name, raw).values.cat.codes.to_numpy()
    times = NewColumn(column, raw, table.where).read(False, []).to_numpy()
    if n_missing := int(np.isnan(times).sum()):
        raise DataError(f'{source}: column "{column.name}" has no time in {counted(n_missing)}')
    return X, y[y >= 0], times


def _read_labelled(source: str | Path, plan: TablePlan) -> tuple[pd.DataFrame, npt.NDArray[np.int64], UserTable]:
    """Return the input columns of the rows that have a label, the class number or -1 of every row, and the table."""
    rows = _read_inputs(source, plan)
    names = card_names(rows.table.names)
    if plan.target not in names:
        raise DataError(f'{source}: has no target "{plan.target}"')
    text = text_of(rows.table.columns[names.index(plan.target)])
    codes, levels = text.with_words(text.words).encoded
    classes = [plan.labels.get(label_named(level, plan.labels, plan.target_mark), -1) for level in levels]
    y = np.array([*classes, -1], dtype=np.int64)[codes]
    return rows.X[y >= 0].reset_index(drop=True), y, rows.table


def clip_probabilities(p: npt.NDArray[np.float64], bound: float) -> npt.NDArray[np.float64]:
    """Return (n_rows, n_classes) the probabilities within the bound, each row divided by its sum."""
    clipped = np.clip(p, bound, 1 - bound)
    return np.asarray(clipped / clipped.sum(axis=1, keepdims=True))


def probability_names(classes: Sequence[str]) -> list[str]:
    """Return the names of the columns of probabilities: that of the positive class, or of each of several."""
    return [f"p({label})" for label in (classes[1:] if len(classes) == 2 else classes)]


def with_probabilities(source: str, folder: Path) -> tuple[str, list[str]]:
    """Return the table ``source`` as CSV with the probabilities of the model in ``folder``, and warnings.

    The columns are the number of the row, those of the table, and the probability of the positive class or of each of
    several classes. Where the table has a column of that name, theirs ends in ``.1``. Columns that an earlier run added
    are replaced, so that the output may be an input again.

    Raises DataError for a table that does not fit the model, and for a model that cannot be read.
    """
    import joblib

    plan, file = load_table_plan(folder / "columns.json"), folder / "model.joblib"
    rows = _read_inputs(source, plan)
    try:
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError as error:
        raise DataError(f"{file}: cannot be read: {error.strerror or error}") from None
    if digest != plan.model:
        rows.warnings.append(f"{file} is not the file that was exported; the model card describes another one")
    try:
        model = joblib.load(file)
    except ModuleNotFoundError as error:
        raise DataError(f"{file}: needs the module {error.name}; install the package that has it") from None
    p = clip_probabilities(model.predict_proba(rows.X), plan.bound)
    probabilities = p[:, 1:] if len(plan.classes) == 2 else p
    header = list(rows.table.names)
    frame = pd.DataFrame(dict(enumerate(map(_output_texts, rows.table.columns))))
    if old_columns := _earlier_columns(header, plan):
        names = join_first((f'"{header[index]}"' for index in old_columns), 5)
        rows.warnings.append(f"the columns {names} of an earlier run of predict.py are replaced")
        frame = frame.drop(columns=old_columns)
    table_names = [header[index] for index in frame.columns]
    number_name, *p_names = _added_names(table_names, plan.classes)
    cells = frame.astype(object).where(frame.notna(), "")
    lines: Iterator[list[str]] = (
        [str(number), *row, *(f"{value:.6g}" for value in row_p)]
        for number, (row, row_p) in enumerate(zip(cells.to_numpy(), probabilities, strict=True), 1)
    )
    return data_text([[number_name, *table_names, *p_names], *lines]), rows.warnings


def _output_texts(column: pa.ChunkedArray) -> pd.Series:
    """Return (n_rows,) the values of a column as text, words for missing values among them."""
    if pa.types.is_null(column.type):
        return pd.Series([""] * len(column), dtype=object)
    text = text_of(column)
    return text.with_words(text.words).categories()


def _added_names(header: Sequence[str], classes: Sequence[str]) -> list[str]:
    """Return the names of the row number and of the probabilities, none of which is in ``header``."""
    names = []
    for name in ("row", *probability_names(classes)):
        candidates = chain([name], (f"{name}.{number}" for number in count(1)))
        names.append(next(candidate for candidate in candidates if candidate not in header))
    return names


def _earlier_columns(header: Sequence[str], plan: TablePlan) -> list[int]:
    """Return the indices of the columns that ``with_probabilities`` added to this table before, or none."""
    end = len(header) - len(probability_names(plan.classes))
    number_name, *p_names = _added_names(header[1:end], plan.classes)
    indices = [0, *range(end, len(header))]
    # an input of the model is never such a column, because its values are needed
    inputs = {column.source or column.name for column in plan.inputs}
    is_match = end > 0 and [header[index] for index in indices] == [number_name, *p_names]
    return indices if is_match and inputs <= set(card_names(header[1:end])) else []
