"""The column by which the rows are split: groups that stay together, or a time that orders the rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from probcal._io import counted
from probcal.errors import DataError
from probcal.try_table.column_types import TableColumn, as_text_column
from probcal.try_table.split_choice import SplitChoice


def group_column(name: str, raw: pd.Series) -> TableColumn:
    """Return the column of groups. A row without a value is a group of its own."""
    text = as_text_column(raw).astype(object)
    missing = text.isna()
    if missing.all():
        raise DataError(f'--group: column "{name}" is empty')
    named = text.where(~missing, "row " + pd.Series(np.arange(1, len(text) + 1)).astype(str) + " without a value")
    n_groups, largest = named.nunique(), int(named.value_counts().iloc[0])
    n_missing = int(missing.sum())
    alone = f"; {counted(n_missing)} without a value, each a group of its own" if n_missing else ""
    about = f"{counted(n_groups, 'group')} of up to {counted(largest)}; no input{alone}"
    return TableColumn(name, "group", about, 0, named.astype("category"))


def time_column(name: str, guessed: TableColumn) -> TableColumn:
    """Return the column of time, read as dates or numbers. Raise DataError where it is neither or has gaps."""
    if guessed.kind not in ("date", "number") or guessed.values is None:
        raise DataError(f'--time: column "{name}" holds no dates and no numbers ({guessed.kind}: {guessed.about})')
    if guessed.missing:
        raise DataError(
            f'--time: column "{name}" is empty in {counted(guessed.missing)}; fill them in, or remove these rows'
        )
    about = guessed.about.removesuffix(", as days since 1970")
    return TableColumn(name, "time", f"{about}; no input", 0, guessed.values)


def refuse_few_groups(columns: Sequence[TableColumn], rows: npt.NDArray[np.intp], split: SplitChoice) -> None:
    """Raise DataError where the used ``rows`` have fewer groups than there are folds."""
    for column in columns:
        if column.kind == "group" and column.values is not None:
            n_groups = column.values.iloc[rows].nunique()
            if n_groups < split.folds:
                raise DataError(
                    f'--group: column "{column.name}" has {counted(n_groups, "different value")}, too few for '
                    f"{split.folds} folds; give fewer --splits, or another column"
                )
