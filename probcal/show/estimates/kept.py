"""The estimates behind the results of one data set and column, as far as they are kept."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from probcal.errors import StoreError
from probcal.metrics.rows import checked
from probcal.show.outline import Column, Outline, Row
from probcal.show.summary import Results, planned_ids
from probcal.store import CellResult, Store

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Estimates:
    """The test rows of all splits of one data set under one column, one after the other.

    Of more than two classes they are about the likeliest class of each row, the first of several: ``p`` is its
    estimate and ``y`` whether it is the right one.
    """

    row: Row
    column: Column
    y: Array
    """(n,) of 0 and 1."""
    p: Array
    """(n,) estimates of P(y = 1)."""
    n_splits: int
    appearances: float
    """In how many of these splits a row that is tested at all is tested, in the mean; 1 at least."""
    top_label: bool
    """Whether there are more than two classes."""


def estimates_of(store: Store, outline: Outline, results: Results) -> list[Estimates]:
    """Those of every data set and column whose estimates are kept, in the order of the ``outline``."""
    pairs = [(row, column) for row in outline.datasets for column in outline.columns]
    found = [estimates_for(store, outline, results, row, column) for row, column in pairs]
    return [one for one in found if one is not None]


def estimates_for(store: Store, outline: Outline, results: Results, row: Row, column: Column) -> Estimates | None:
    """Those of one data set and column; None where none are kept, where they are of several labels or no estimates."""
    cells = done_cells(outline, results, row, column)
    splits = [one for cell in cells if (one := _two_classes(store, cell)) is not None]
    if not splits:
        return None
    y, p = (np.concatenate([split[part] for split in splits]) for part in (0, 1))
    top_label = any((cell.predictions or {}).get("columns", 2) > 2 for cell in cells)
    return Estimates(row, column, y, p, len(splits), appearances(row, cells[0], len(splits)), top_label)


def done_cells(outline: Outline, results: Results, row: Row, column: Column) -> list[CellResult]:
    """The finished repetitions, in their order."""
    found = [results[one] for one in planned_ids(outline, row, column) if one in results]
    return [cell for cell in found if cell.status == "done"]


def appearances(row: Row, cell: CellResult, n_splits: int) -> float:
    """In how many of ``n_splits`` a row that is tested at all is tested, in the mean.

    Every one where all splits test the same rows, one where each draws rows of its own. Of random splits that test a
    share s, a row is tested in n s of n, and in none of them with the chance (1 - s)^n.
    """
    if row.drawn:
        return 1.0
    if row.fixed:
        return float(n_splits)
    n_train, n_test = cell.n_train or 0, cell.n_test or 0
    share = n_test / (n_train + n_test) if n_test else 1.0
    return max(1.0, n_splits * share / (1 - (1 - share) ** n_splits))


def _two_classes(store: Store, cell: CellResult) -> tuple[Array, Array] | None:
    """(y, p), (n,) each; None where they are not there, of several labels, or no probabilities."""
    if not store.has_predictions(cell) or "labels" in (cell.predictions or {}):
        return None
    try:
        rows = checked(*store.predictions(cell))
    except (StoreError, ValueError):  # ValueError: a folder from elsewhere may hold any numbers
        return None
    if rows.p.ndim == 1:
        return rows.y, rows.p
    top = rows.p.argmax(axis=1)
    return (rows.y == top).astype(np.float64), rows.p[np.arange(len(top)), top]
