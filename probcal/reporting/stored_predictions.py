"""Predictions that a folder stores for one data set and column, of all its splits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from probcal.errors import StoreError
from probcal.metrics.checked_rows import checked_numbers
from probcal.metrics.reliability import top_label
from probcal.store.cell_result import Results
from probcal.store.folder import CellResult, Store
from probcal.store.stored_experiment import ResultColumn, Row, StoredExperiment
from probcal.store.summary import done_cells

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class StoredPredictions:
    """Hold the predictions for the test rows of all splits of one data set under one column, one split after the other.

    With more than two classes they are about the likeliest class of each row, the first of several. Then ``p`` is its
    predicted probability, and ``y`` says whether it is the right class.
    """

    row: Row
    column: ResultColumn
    y: Array
    """(n,) of 0 and 1."""
    p: Array
    """(n,) predictions of P(y = 1)."""
    n_splits: int
    appearances: float
    """Mean number of these splits in which a tested row is tested, at least 1."""
    top_label: bool
    """Whether there are more than two classes."""


def read_stored_predictions(
    store: Store, stored: StoredExperiment, results: Results, row: Row, column: ResultColumn
) -> StoredPredictions | None:
    """Return the predictions of one data set and column.

    Returns None where none are stored, where they have several labels, or where they are not probabilities.
    """
    cells = done_cells(stored, results, row, column)
    splits = [predictions for cell in cells if (predictions := _read_two_classes(store, cell)) is not None]
    if not splits:
        return None
    y, p = (np.concatenate([split[part] for split in splits]) for part in (0, 1))
    top_label = any((cell.predictions or {}).get("columns", 2) > 2 for cell in cells)
    return StoredPredictions(row, column, y, p, len(splits), appearances(row, cells[0], len(splits)), top_label)


def appearances(row: Row, cell: CellResult, n_splits: int) -> float:
    """Return in how many of ``n_splits`` a tested row is tested, on average.

    That is every split where all test the same rows, and one where each split draws its own rows. Of the folds of one
    repetition, one tests the row. With random splits that test a share s, a row is tested in n s of n splits, and in
    none of them with probability (1 - s)^n.
    """
    if row.drawn:
        return 1.0
    if row.has_fixed_rows:
        return float(n_splits)
    if row.folds:
        return max(1.0, n_splits / row.folds)
    n_train, n_test = cell.n_train or 0, cell.n_test or 0
    # Results of earlier versions lack the numbers of rows. Then every split is taken to test every row.
    share = n_test / (n_train + n_test) if n_test else 1.0
    return max(1.0, n_splits * share / (1 - (1 - share) ** n_splits))


def _read_two_classes(store: Store, cell: CellResult) -> tuple[Array, Array] | None:
    """Return (y, p), (n,) each, or None where they are absent, of several labels, weighted, or not probabilities."""
    # without their weights, these rows would show the frequencies of another population
    if not store.has_predictions(cell) or {"labels", "weights"} & (cell.predictions or {}).keys():
        return None
    try:
        rows = checked_numbers(*store.predictions(cell))
    except (StoreError, ValueError):  # ValueError: a folder from elsewhere may hold anything
        return None
    return (rows.y, rows.p) if rows.p.ndim == 1 else top_label(rows.y, rows.p)
