"""Labelled rows of a table for the script that trains an exported model anew."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from probcal._io import counted
from probcal.errors import DataError
from probcal.reading.column_plan import NewColumn
from probcal.reading.table import UserTable
from probcal.reading.table_plan import TablePlan, card_names, load_table_plan, read_inputs
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
    rows = read_inputs(source, plan)
    names = card_names(rows.table.names)
    if plan.target not in names:
        raise DataError(f'{source}: has no target "{plan.target}"')
    text = text_of(rows.table.columns[names.index(plan.target)])
    codes, levels = text.with_words(text.words).encoded
    classes = [plan.labels.get(label_named(level, plan.labels, plan.target_mark), -1) for level in levels]
    y = np.array([*classes, -1], dtype=np.int64)[codes]
    return rows.X[y >= 0].reset_index(drop=True), y, rows.table
