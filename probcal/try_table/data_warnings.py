"""What a table holds that makes its numbers too good or too bad to be believed, in a line each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from probcal.data.dataset import as_text
from probcal.try_table.column_types import Column

_FEW = 20
"""Rows; in a smaller table any column may tell the labels by chance."""
_MOST_VALUES = 20
"""Different values for each class: a column of more is no copy of the target, and by chance tells many rows apart."""
_MISSING = frozenset(sign * number for number in (99, 999, 9_999, 99_999) for sign in (1, -1)) | {-9.0}
"""Numbers by which surveys and laboratories say that there is none."""
_FEWEST = 3
_AWAY = 2.0
"""Such a number lies so many widths of all others away from them."""
_NAMED = 5


def warnings(columns: Sequence[Column], labels: npt.NDArray[Any]) -> Iterator[str]:
    """Of ``columns``, (n_rows,) each, beside the ``labels`` of the same rows, and of the labels themselves."""
    telling = [column.name for column in columns if _gives_away(column, labels)]
    if telling:
        yield f"{_names(telling)} alone tells the target in every row; --drop it unless it is known beforehand"
    for column in columns:
        if column.kind == "number" and (found := _stand_ins(column)):
            number, rows = found
            yield (
                f"{_names([column.name])} is {as_text(number)} in {rows:,} rows, far from all others, and taken "
                "as a number; if it stands for a missing value, make those fields empty"
            )
    alike: dict[str, list[str]] = {}
    for label in sorted(set(labels)):
        alike.setdefault(label.casefold(), []).append(label)
    for several in alike.values():
        if len(several) > 1:
            yield f"labels that differ in capitals alone are different classes here: {_names(several)}"


def _gives_away(column: Column, labels: npt.NDArray[Any]) -> bool:
    """Whether each of its few values, a missing one too, comes with one label only."""
    if column.values is None or len(labels) < _FEW:
        return False
    codes, values = pd.factorize(column.values.astype(object), use_na_sentinel=False)
    if len(values) > _MOST_VALUES * len(set(labels)) or len(values) > len(labels) / 4:
        return False
    _, of_label = np.unique(labels.astype(str), return_inverse=True)
    return len(np.unique(np.stack([codes, of_label]), axis=1).T) == len(values)


def _stand_ins(column: Column) -> tuple[float, int] | None:
    """A number of ``column`` that looks like a missing value, and the rows that have it."""
    assert column.values is not None
    seen = column.values.dropna().to_numpy(np.float64)
    for number in (seen.min(), seen.max()):
        others = seen[seen != number]
        rows = len(seen) - len(others)
        if number not in _MISSING or rows < _FEWEST or len(others) == 0:
            continue
        beside_zero = number < 0 <= others.min()
        if beside_zero or np.abs(others - number).min() > _AWAY * np.ptp(others):
            return float(number), rows
    return None


def _names(names: Sequence[str]) -> str:
    return ", ".join(f'"{name}"' for name in names[:_NAMED]) + (", …" if len(names) > _NAMED else "")
