"""Warnings about the data of a table that make its results too good or too bad to trust."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from probcal.data.dataset import as_text
from probcal.try_table.column_types import TableColumn

_FEW = 20
"""Number of rows. In a smaller table any column may determine the labels by chance."""
_MOST_VALUES = 20
"""Different values for each class. A column with more is no copy of the target, and can separate rows by chance."""
_MISSING = frozenset(sign * number for number in (99, 999, 9_999, 99_999) for sign in (1, -1)) | {-9.0}
"""Numbers that surveys and laboratories write for a missing value."""
_FEWEST = 3
_FEWEST_RANGES = 2.0
"""Such a number lies this many times the range of all other values away from them."""
_NAMED = 5


def warnings(columns: Sequence[TableColumn], labels: npt.NDArray[Any]) -> Iterator[str]:
    """Yield a warning for each doubtful column, (n_rows,), or pair of ``labels`` of the same rows."""
    copies = [column.name for column in columns if _determines(column, labels)]
    if copies:
        yield f"{_names(copies)} alone determines the target in every row; --drop it unless you know it beforehand"
    for column in columns:
        if column.kind == "number" and (found := _missing_code(column)):
            number, rows = found
            yield (
                f"{_names([column.name])} is {as_text(number)} in {rows:,} rows, far from all others, and read "
                "as a number; if it stands for a missing value, make those fields empty"
            )
    alike: dict[str, list[str]] = {}
    for label in sorted(set(labels)):
        alike.setdefault(label.casefold(), []).append(label)
    for several in alike.values():
        if len(several) > 1:
            yield f"labels that differ only in capitals are read as different classes: {_names(several)}"


def _determines(column: TableColumn, labels: npt.NDArray[Any]) -> bool:
    """Return whether each of its few values, a missing one too, occurs with only one label."""
    if column.values is None or len(labels) < _FEW:
        return False
    codes, values = pd.factorize(column.values.astype(object), use_na_sentinel=False)
    if len(values) > _MOST_VALUES * len(set(labels)) or len(values) > len(labels) / 4:
        return False
    _, label_codes = np.unique(labels.astype(str), return_inverse=True)
    return len(np.unique(np.stack([codes, label_codes]), axis=1).T) == len(values)


def _missing_code(column: TableColumn) -> tuple[float, int] | None:
    """Return a number of ``column`` that looks like a missing value, and how many rows have it."""
    assert column.values is not None
    seen = column.values.dropna().to_numpy(np.float64)
    for number in (seen.min(), seen.max()):
        others = seen[seen != number]
        rows = len(seen) - len(others)
        if number not in _MISSING or rows < _FEWEST or len(others) == 0:
            continue
        beside_zero = number < 0 <= others.min()
        if beside_zero or np.abs(others - number).min() > _FEWEST_RANGES * np.ptp(others):
            return float(number), rows
    return None


def _names(names: Sequence[str]) -> str:
    return ", ".join(f'"{name}"' for name in names[:_NAMED]) + (", …" if len(names) > _NAMED else "")
