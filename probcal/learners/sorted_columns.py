"""The columns of a table, each sorted once, for all trees grown on them or on samples of their rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import scipy.sparse as sp

CODE = 33
"""An entry is an int64. The bits from here on hold the code of a value. Below it are one bit for a class and 32 for the
row.
"""


@dataclass(frozen=True, eq=False)
class SortedColumns:
    """Hold the attribute lists (Shafer, Agrawal & Mehta 1996, "SPRINT", section 2.1) of a (n_rows, n_columns) table.

    The code of a value is its position among the distinct values of its column, so codes lose nothing.

    ``entries``: (n_entries,) int64, sorted by column, code and row. There is one for each row and column, except for
    rows with the most common value of a column. ``common``: (n_columns,) the codes of these values. A column of zeros
    and ones thus lists its ones. ``ends``: (n_columns + 1,) where the entries of each column begin, and the last ones
    end. ``values``: the distinct values of all columns. Those of a column lie between two of ``first``, (n_columns +
    1,). ``names``: of the columns, as in scikit-learn, or None.
    """

    n_rows: int
    entries: np.ndarray
    ends: np.ndarray
    common: np.ndarray
    values: np.ndarray
    first: np.ndarray
    names: np.ndarray | None

    def take(self, rows: np.ndarray) -> SortedColumns:
        """Return the table of ``rows``, by number in any order, repeated or left out, without sorting it again."""
        counts = np.bincount(rows, minlength=self.n_rows)
        places = np.argsort(rows, kind="stable")  # new positions of row 0, of row 1, ...
        begins = np.cumsum(counts) - counts
        samples = [_sample_entries(self.entries[a:b], counts, begins, places) for a, b in pairwise(self.ends.tolist())]
        return replace(self, n_rows=len(rows), entries=np.concatenate(samples), ends=_offsets(samples))


_ROW = (1 << (CODE - 1)) - 1


def sort_columns(X: np.ndarray | sp.csc_array, names: np.ndarray | None = None) -> SortedColumns:
    """Return the sorted columns of ``X``, (n_rows, n_columns) float64 without missing values, dense or CSC."""
    column_of = _sparse_column if sp.issparse(X) else _column
    columns = [column_of(X, number) for number in range(X.shape[1])]
    entries, common, values = zip(*columns, strict=True)
    return SortedColumns(
        X.shape[0],
        np.concatenate(entries),
        _offsets(entries),
        np.array(common, dtype=np.int64),
        np.concatenate(values),
        _offsets(values),
        names,
    )


def _column(X: np.ndarray, number: int) -> tuple[np.ndarray, int, np.ndarray]:
    """Return (entries, common code, distinct values) of a column."""
    column = np.ascontiguousarray(X[:, number])
    rows = np.argsort(column, kind="stable")
    ordered = column[rows]
    new = np.append(True, ordered[1:] != ordered[:-1])
    starts = np.flatnonzero(new)
    common = int(np.argmax(np.diff(starts, append=len(rows))))
    codes = np.cumsum(new) - 1
    listed = codes != common
    return codes[listed] << CODE | rows[listed], common, ordered[starts]


def _sparse_column(X: sp.csc_array, number: int) -> tuple[np.ndarray, int, np.ndarray]:
    """Return what ``_column`` returns. Values that are not stored are 0, and 0 counts as the most common value."""
    stored = slice(X.indptr[number], X.indptr[number + 1])
    values = np.union1d(X.data[stored], [0.0])
    common = int(np.searchsorted(values, 0.0))
    codes, rows = np.searchsorted(values, X.data[stored]), X.indices[stored].astype(np.int64)
    listed = codes != common
    return np.sort(codes[listed] << CODE | rows[listed]), common, values


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


def _offsets(parts: Sequence[np.ndarray]) -> np.ndarray:
    return np.cumsum([0, *(len(part) for part in parts)])
