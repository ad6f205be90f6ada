"""The rows of a table in codes, for all trees that are grown on them or on samples of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from probcal.learners.frame_columns import codes_of, levels_of, numbers_of

ROW = 32
"""An entry of a numeric column is an int64: the code of the value from this bit on, and the row below it.

One number for both means that sorted entries are copied and compared at once.
"""
_ROW = (1 << ROW) - 1
MOST_BARS, ROWS_OF_A_BAR = 128, 8
"""A numeric column is counted in bars if it has no more values than the first, and on average so many rows with each.

With more bars than that, small nodes would pay for bars that are empty.
"""


@dataclass(frozen=True)
class Columns:
    """Hold what is known of a table without its rows: the levels of each column, or None for a numeric one.

    Declared categories that do not occur are levels too, as in the header of an ARFF file.
    """

    levels: list[list[Any] | None]
    declared: list[bool]
    """Whether the levels of a column are declared, and not those that occur."""

    @classmethod
    def of(cls, X: pd.DataFrame) -> Columns:
        """Return the columns of a frame. Raises TypeError if one is neither numbers nor categories."""
        declared = [isinstance(kind, pd.CategoricalDtype) or pd.api.types.is_bool_dtype(kind) for kind in X.dtypes]
        return cls([levels_of(*item) for item in X.items()], declared)

    @property
    def n_levels(self) -> np.ndarray:
        """Return the number of levels of each column, (n_columns,), and 0 for a numeric one."""
        # a column without any level has one, because 0 stands for a numeric column
        return np.array([0 if levels is None else max(len(levels), 1) for levels in self.levels], dtype=np.int64)

    @property
    def places(self) -> np.ndarray:
        """Return the position of each column among the nominal or among the numeric ones, (n_columns,)."""
        is_nominal = self.n_levels > 0
        return np.where(is_nominal, np.cumsum(is_nominal), np.cumsum(~is_nominal)) - 1

    def coded(self, X: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows of a frame as levels, (n_rows, n_nominal) int32, and numbers, (n_rows, n_numeric) float64.

        Both are contiguous by column. A missing or unknown level is -1, and a missing number NaN. Raises ValueError for
        infinite values.
        """
        pairs = list(zip(X.items(), self.levels, strict=True))
        codes = [codes_of(column, levels) for (_, column), levels in pairs if levels is not None]
        numbers = [numbers_of(*item) for item, levels in pairs if levels is None]
        return _table(codes, len(X), np.int32), _table(numbers, len(X), np.float64)


@dataclass(frozen=True, eq=False)
class Instances:
    """Hold rows in codes. The code of a number is its position among the distinct values of its column.

    A tree needs the numbers of a column in order at every node. They are sorted once here, and a node takes its entries
    out of those of its parent, in their order.
    """

    columns: Columns
    names: np.ndarray | None
    """Names of the columns, as in scikit-learn."""
    nominal: np.ndarray
    """(n_rows, n_nominal) int32, codes of the levels. A missing level is -1."""
    numbers: np.ndarray
    """(n_rows, n_numeric) float64. A missing number is NaN."""
    entries: np.ndarray
    """(n_entries,), an entry for each number that is not missing, sorted by column and code."""
    ends: np.ndarray
    """(n_numeric + 1,). The entries of a column lie between two of these positions."""
    values: np.ndarray
    """(n_values,), the distinct values of all numeric columns."""
    first: np.ndarray
    """(n_numeric + 1,). The values of a column lie between two of these positions."""

    def __len__(self) -> int:
        return len(self.nominal)

    @cached_property
    def histograms(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return where nominal columns, and numeric ones with few values and none missing, are counted.

        The first two are (n_columns,): the number of bars, which is 0 for a column without any, and the first bar. The
        third is (n_rows, n_columns_with_bars) int32, the bar of each row. Missing values have the last bar.
        """
        n_values, places, is_nominal = np.diff(self.first), self.columns.places, self.columns.n_levels > 0
        most = min(MOST_BARS, len(self) // ROWS_OF_A_BAR)
        n_few = np.where((n_values <= most) & (np.diff(self.ends) == len(self)), n_values, 0)
        n_bars = self.columns.n_levels.copy()
        n_bars[~is_nominal] = n_few
        first = np.cumsum(n_bars) - n_bars
        bins = []
        for column in np.flatnonzero(n_bars):
            place = places[column]
            if is_nominal[column]:
                codes = self.nominal[:, place]
            else:
                entries = self.entries[self.ends[place] : self.ends[place + 1]]
                codes = np.empty(len(self), dtype=np.int64)
                codes[entries & _ROW] = entries >> ROW
            bins.append(np.where(codes < 0, n_bars.sum(), codes + first[column]))
        # by row, because all columns of a row are counted at once
        return n_bars, first, np.ascontiguousarray(_table(bins, len(self), np.int32))

    def take(self, rows: np.ndarray) -> Instances:
        """Return the table of some rows by number, in any order and perhaps repeated, without sorting it again.

        Undeclared levels that are not in the sample are left out.
        """
        counts = np.bincount(rows, minlength=len(self))
        places = np.argsort(rows, kind="stable")  # new positions of row 0, of row 1, ...
        begins = np.cumsum(counts) - counts
        samples = [_sample_entries(self.entries[a:b], counts, begins, places) for a, b in pairwise(self.ends.tolist())]
        # by column, as in the whole table: numba compiles its functions anew for another layout
        columns, nominal = _levels_that_occur(self.columns, np.asfortranarray(self.nominal[rows]))
        return replace(
            self, columns=columns, nominal=nominal, numbers=np.asfortranarray(self.numbers[rows]),
            entries=_joined(samples, np.int64), ends=_offsets(samples),
        )  # fmt: skip


def instances_of(X: pd.DataFrame, names: np.ndarray | None = None) -> Instances:
    """Return the rows of a frame in codes. ``names`` are those of the columns, as in scikit-learn.

    Raises TypeError for a column that is neither numbers nor categories, and ValueError for infinite values.
    """
    columns = Columns.of(X)
    nominal, numbers = columns.coded(X)
    entries, values = [], []
    for column in np.ascontiguousarray(numbers.T):
        rows = np.flatnonzero(~np.isnan(column))
        distinct, codes = np.unique(column[rows], return_inverse=True)
        order = np.argsort(codes, kind="stable")
        entries.append(codes[order].astype(np.int64) << ROW | rows[order])
        values.append(distinct)
    return Instances(
        columns, names, nominal, numbers, _joined(entries, np.int64), _offsets(entries), _joined(values, np.float64),
        _offsets(values),
    )  # fmt: skip


def _levels_that_occur(columns: Columns, nominal: np.ndarray) -> tuple[Columns, np.ndarray]:
    """Return the columns of a sample and its ``nominal`` codes, without undeclared levels that are not in it."""
    levels = list(columns.levels)
    places = columns.places
    for column, of_column in enumerate(levels):
        if of_column is None or columns.declared[column]:
            continue
        codes = nominal[:, places[column]]
        kept = np.unique(codes[codes >= 0])
        levels[column] = [of_column[code] for code in kept]
        nominal[:, places[column]] = np.where(codes < 0, -1, np.searchsorted(kept, codes))
    return replace(columns, levels=levels), nominal


def _sample_entries(entries: np.ndarray, counts: np.ndarray, begins: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Return the ``entries`` of a column for a sample.

    ``counts``: how often each row is in it. ``begins``: where its copies begin in ``places``, their new row numbers.
    """
    rows = entries & _ROW
    copies = counts[rows]
    after = np.cumsum(copies)
    which = np.arange(copies.sum()) + np.repeat(begins[rows] + copies - after, copies)
    sample: np.ndarray = np.repeat(entries - rows, copies) | places[which]
    return sample


def _table(columns: list[np.ndarray], n_rows: int, kind: Any) -> np.ndarray:
    return np.array(columns, dtype=kind).reshape(len(columns), n_rows).T


def _joined(parts: Sequence[np.ndarray], kind: Any) -> np.ndarray:
    # an empty part, because there may be no numeric column
    return np.concatenate([np.empty(0, dtype=kind), *parts])


def _offsets(parts: Sequence[np.ndarray]) -> np.ndarray:
    return np.cumsum([0, *(len(part) for part in parts)])
