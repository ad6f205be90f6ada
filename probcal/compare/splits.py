"""The numbers that are compared: of each split, by data set and column."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from probcal.show.outline import Column, Outline, Row
from probcal.show.summary import Results, planned_ids
from probcal.store import CellResult

_DECIMALS = 10
"""Numbers that differ only beyond are one number: a sum in another order."""


@dataclass(frozen=True)
class Measured:
    """One metric of one data set. ``values``: (n_columns, n_splits) on the splits that all ``columns`` have."""

    row: Row
    columns: tuple[Column, ...]
    values: npt.NDArray[np.float64]
    planned: int
    test_share: float
    """n_test / (n_train + n_test) where splits overlap; 0 where each is a draw of its own."""

    @property
    def means(self) -> npt.NDArray[np.float64]:
        """(n_columns,), infinite as soon as one split is."""
        return np.asarray(self.values.mean(axis=1))


def finished(outline: Outline, results: Results, row: Row, column: Column) -> dict[int, CellResult]:
    """Repetition -> the planned cell that is done."""
    found = (results.get(one) for one in planned_ids(outline, row, column))
    return {one.repetition: one for one in found if one and one.status == "done"}


def measured(outline: Outline, results: Results, row: Row, columns: Sequence[Column], metric: str) -> Measured | None:
    """None where a column has no number of this data set, or no split has one of each column."""
    cells = [finished(outline, results, row, column) for column in columns]
    numbers = [
        {
            split: one.metrics[metric]
            for split, one in found.items()
            if not math.isnan(one.metrics.get(metric, math.nan))
        }
        for found in cells
    ]
    common = sorted(set.intersection(*(set(found) for found in numbers))) if numbers else []
    if not common:
        return None
    values = np.array([[found[split] for split in common] for found in numbers], dtype=np.float64)
    share = share_of_test_rows(row, [found[common[0]] for found in cells])
    return Measured(row, tuple(columns), np.round(values, _DECIMALS), outline.repetitions[row.name], share)


def share_of_test_rows(row: Row, cells: Sequence[CellResult]) -> float:
    """A quarter where folders of earlier versions, or tables written by hand, do not tell the sizes."""
    if row.drawn or row.fixed:
        return 0.0
    sizes = [(one.n_train, one.n_test) for one in cells if one.n_train and one.n_test]
    return sizes[0][1] / (sizes[0][0] + sizes[0][1]) if sizes else 0.25


def one_reading_each(outline: Outline) -> list[Row]:
    """The data sets, of several readings of one the first."""
    first: dict[str, Row] = {}
    for row in outline.datasets:
        first.setdefault(row.published, row)
    return list(first.values())
