"""The rows of a table in codes, for all trees that are grown on them or on samples of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from probcal.learners.c45.layout import ROW
from probcal.learners.frame_columns import codes_of, levels_of, numbers_of

MOST_BARS, ROWS_OF_A_BAR = 128, 8
"""A numeric column is counted in bars if it has no more values than the first, and on average so many rows with each.

With more bars than that, small nodes would pay for bars that are empty.
"""


@dataclass(frozen=True)
class Columns:
    """Hold what is known of a table without its rows: the levels of each column.

    Declared categories that do not occur are levels too, as in the header of an ARFF file.

    Parameters
    ----------
    levels : list of (list or None), of length n_columns
        Levels of each column, or None for a numeric one.
    declared : list of bool, of length n_columns
        Whether the levels of a column are declared, and not those that occur.
    """

    levels: list[list[Any] | None]
    declared: list[bool]
    """Whether the levels of a column are declared, and not those that occur."""

    @classmethod
    def of(cls, X: pd.DataFrame) -> Columns:
        """Return the columns of a frame.

        Parameters
        ----------
        X : DataFrame of shape (n_rows, n_columns)
            Rows.

        Returns
        -------
        Columns
            What is known of the columns.

        Raises
        ------
        TypeError
            If a column is neither numbers nor categories.
        """
        declared = [isinstance(kind, pd.CategoricalDtype) or pd.api.types.is_bool_dtype(kind) for kind in X.dtypes]
        return cls([levels_of(*item) for item in X.items()], declared)

    @property
    def n_levels(self) -> np.ndarray:
        """Return the number of levels of each column.

        Returns
        -------
        ndarray of shape (n_columns,)
            Numbers of levels, and 0 for a numeric column.
        """
        # a column without any level has one, because 0 stands for a numeric column
        return np.array([0 if levels is None else max(len(levels), 1) for levels in self.levels], dtype=np.int64)

    @property
    def places(self) -> np.ndarray:
        """Return the position of each column among those of its kind.

        Returns
        -------
        ndarray of shape (n_columns,)
            Positions among the nominal or among the numeric columns, from 0.
        """
        is_nominal = self.n_levels > 0
        return np.where(is_nominal, np.cumsum(is_nominal), np.cumsum(~is_nominal)) - 1

    def coded(self, X: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows of a frame as levels and numbers.

        Both arrays are contiguous by column.

        Parameters
        ----------
        X : DataFrame of shape (n_rows, n_columns)
            Rows with these columns.

        Returns
        -------
        nominal : ndarray of shape (n_rows, n_nominal)
            Codes of the levels, of type int32. A missing or unknown level is -1.
        numbers : ndarray of shape (n_rows, n_numeric)
            Numbers of type float64. A missing number is NaN.

        Raises
        ------
        ValueError
            If a numeric column holds infinite values.
        """
        pairs = list(zip(X.items(), self.levels, strict=True))
        codes = [codes_of(column, levels) for (_, column), levels in pairs if levels is not None]
        numbers = [numbers_of(*item) for item, levels in pairs if levels is None]
        return _table(codes, len(X), np.int32), _table(numbers, len(X), np.float64)


@dataclass(frozen=True, eq=False)
class Instances:
    """Hold rows in codes. The code of a number is its position among the distinct values of its column.

    Parameters
    ----------
    columns : Columns
        What is known of the table without its rows.
    names : ndarray of shape (n_columns,) or None
        Names of the columns, as in scikit-learn.
    nominal : ndarray of shape (n_rows, n_nominal)
        Codes of the levels, of type int32. A missing level is -1.
    numbers : ndarray of shape (n_rows, n_numeric)
        Numbers of type float64. A missing number is NaN.
    entries : ndarray of shape (n_entries,)
        An entry for each number that is not missing, sorted by column and code.
    ends : ndarray of shape (n_numeric + 1,)
        The entries of a column lie between two of these positions.
    values : ndarray of shape (n_values,)
        Distinct values of all numeric columns.
    first : ndarray of shape (n_numeric + 1,)
        The values of a column lie between two of these positions.
    """

    columns: Columns
    names: np.ndarray | None
    nominal: np.ndarray
    numbers: np.ndarray
    entries: np.ndarray
    ends: np.ndarray
    values: np.ndarray
    first: np.ndarray

    def __len__(self) -> int:
        return len(self.nominal)

    @cached_property
    def histograms(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return where nominal columns, and numeric ones with few values and none missing, are counted.

        Returns
        -------
        n_bars : ndarray of shape (n_columns,)
            Number of bars of each column. 0 if it has none.
        first : ndarray of shape (n_columns,)
            First bar of each column.
        bins : ndarray of shape (n_rows, n_columns_with_bars)
            Bar of each row in the columns that have bars, of type int32. Missing values have the last bar.
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
        """Return the table of some rows, without sorting it again.

        Parameters
        ----------
        rows : ndarray of int of shape (n_taken,)
            Numbers of the rows, in any order. Rows may be repeated or left out.

        Returns
        -------
        Instances
            The sample. Undeclared levels that are not in it are left out.
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
    """Return the rows of a frame in codes.

    Parameters
    ----------
    X : DataFrame of shape (n_rows, n_columns)
        Rows.
    names : ndarray of shape (n_columns,) or None
        Names of the columns, as in scikit-learn.

    Returns
    -------
    Instances
        The rows in codes.

    Raises
    ------
    TypeError
        If a column is neither numbers nor categories.
    ValueError
        If a numeric column holds infinite values.
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


_ROW = (1 << ROW) - 1


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
