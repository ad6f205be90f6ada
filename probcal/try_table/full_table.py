"""The whole table of a trial: all its labelled rows for a last fit, and how new rows are read as they were."""

from __future__ import annotations

import numpy as np
import pandas as pd

from probcal.reading.column_plan import ColumnPlan
from probcal.reading.table_plan import TablePlan
from probcal.try_table import choices
from probcal.try_table.preparation import PreparedTable


def full_bound(prepared: PreparedTable) -> float:
    """Return the bound of probabilities for all labelled rows."""
    return choices.bound(prepared.table_class_counts.values())


def table_plan(prepared: PreparedTable, is_native: bool = False, is_nested: bool = False) -> TablePlan:
    """Return how the table was read, for new rows.

    ``is_native`` says that the learner gets categories as they are, and ``is_nested`` that the method needs the column
    of groups or time.
    """
    target, names = prepared.target, prepared.class_names
    split_column, groups = prepared.split_column, None
    if split_column is not None and is_nested:
        groups = split_column.plan or ColumnPlan(split_column.name, "category")
    class_of = dict(zip(target.labels[target.label_mask], target.classes[target.label_mask], strict=True))
    return TablePlan(
        inputs=tuple(column.plan for column in prepared.inputs if column.plan is not None),
        target=target.name,
        classes=tuple(names),
        labels={label: names.index(class_name) for label, class_name in class_of.items()},
        target_mark=prepared.target_mark,
        native=is_native,
        bound=full_bound(prepared),
        groups=groups,
    )


def training_rows(prepared: PreparedTable) -> tuple[pd.DataFrame, np.ndarray, np.ndarray | None]:
    """Return the inputs of all labelled rows, their class numbers, and their group or time where they have one."""
    X = pd.DataFrame({column.name: column.values for column in prepared.inputs})
    code_of = {name: code for code, name in enumerate(prepared.class_names)}
    y = np.array([code_of[name] for name in prepared.target.classes[prepared.target.label_mask]])
    split_column = prepared.split_column
    if split_column is None:
        return X, y, None
    return X, y, np.asarray(split_column.values.cat.codes if split_column.kind == "group" else split_column.values)
