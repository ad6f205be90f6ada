"""Labelled rows of a table for the script that trains an exported model anew."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from probcal._io import counted
from probcal.errors import DataError, did_you_mean
from probcal.reading.decimal_mark import decimal_marks
from probcal.reading.file_columns import FileColumn
from probcal.reading.table import UserTable
from probcal.reading.table_plan import NewColumn, TablePlan, card_names, load_table_plan, read_inputs
from probcal.reading.target import label_named
from probcal.reading.text_column import text_of
from probcal.try_table.split_choice import group_column


def read_labelled_rows(source: str | Path, columns: str | Path) -> tuple[pd.DataFrame, npt.NDArray[np.int64]]:
    """Return the input columns of the rows that have a label, and their class numbers, (n_rows,).

    Raises DataError for a table that cannot be read, or that lacks an input column or the target.
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
    return X, y[y >= 0], _read_groups(table, plan, y >= 0)


def read_weighted_rows(
    source: str | Path, columns: str | Path
) -> tuple[pd.DataFrame, npt.NDArray[np.int64], npt.NDArray[Any] | None, npt.NDArray[np.float64]]:
    """Return what ``read_grouped_rows`` returns, and the weight of each row, (n_rows,). Rows of weight 0 are left out.

    The groups are None if the model needs none. Raises DataError as ``read_grouped_rows`` does, and for a table
    without the column of weights, or with a weight that is no number of at least 0.
    """
    plan = load_table_plan(Path(columns))
    X, y, table = _read_labelled(source, plan)
    labelled = y >= 0
    weight = read_weights(table, plan.weight or "")
    kept = weight[labelled] > 0
    labelled &= weight > 0
    groups = None if plan.groups is None else _read_groups(table, plan, labelled)
    return X[kept].reset_index(drop=True), y[labelled], groups, weight[labelled]


def _read_groups(table: UserTable, plan: TablePlan, rows: npt.NDArray[np.bool_]) -> npt.NDArray[Any]:
    """Return the group or the time of each of the ``rows``, (n_rows,) bool."""
    column, names = plan.groups, card_names(table.names)
    if column is None or column.name not in names:
        raise DataError(f'{table.origin}: has no column "{column.name if column else ""}" of groups or time')
    raw = table.columns[names.index(column.name)].filter(pa.array(rows))
    if column.kind == "category":
        return np.asarray(group_column(column.name, raw).values.cat.codes)
    times = np.asarray(NewColumn(column, raw, table.where).read(False, []))
    if n_missing := int(np.isnan(times).sum()):
        raise DataError(f'{table.origin}: column "{column.name}" has no time in {counted(n_missing)}')
    return times


def read_weights(table: UserTable, name: str) -> npt.NDArray[np.float64]:
    """Return the weights of all rows, (n_rows,), from the column ``name``.

    Raises DataError, with the line, for a weight that is no number of at least 0, and for a table without the column.
    """
    names = card_names(table.names)
    if name not in names:
        raise DataError(f'{table.origin}: has no column "{name}" of weights{did_you_mean(name, names)}')
    index = names.index(name)
    texts = {index: table.texts[index]} if index in table.texts else {}
    marks = decimal_marks(texts, table.separator, numbers=[index])
    marks.refuse_undecided(index, name, table.origin_name)
    return FileColumn(table, index).weights(marks[index] if texts else ".")


def _read_labelled(source: str | Path, plan: TablePlan) -> tuple[pd.DataFrame, npt.NDArray[np.int64], UserTable]:
    """Return the input columns of the rows that have a label, the class number or -1 of every row, and the table."""
    rows = read_inputs(source, plan)
    labels = read_labels(rows.table, plan)
    return rows.X[labels.y >= 0].reset_index(drop=True), labels.y, rows.table


@dataclass(frozen=True)
class ReadLabels:
    """Hold the class number ``y``, (n_rows,), of every row, -1 without a known label, and the ``unknown`` labels."""

    y: npt.NDArray[np.int64]
    unknown: Mapping[str, int]
    """Label that the training rows do not have -> the first row that has it, counted from 0."""


def read_labels(table: UserTable, plan: TablePlan) -> ReadLabels:
    """Return the labels of ``table``, read as those of the training rows. Raise DataError without the target."""
    names = card_names(table.names)
    if plan.target not in names:
        hint = table.header_hint(plan.target) or did_you_mean(plan.target, names)
        raise DataError(f'{table.origin}: has no target "{plan.target}"{hint}')
    raw = text_of(table.columns[names.index(plan.target)])
    text = raw.with_words(raw.words)
    codes, levels = text.encoded
    classes = [plan.labels.get(label_named(level, plan.labels, plan.target_mark), -1) for level in levels]
    unknown = {
        level: text.first_row(level)
        for level, number in zip(levels, classes, strict=True)
        if number < 0 and level not in raw.words
    }
    return ReadLabels(np.array([*classes, -1], dtype=np.int64)[codes], unknown)
