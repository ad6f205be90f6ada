"""Stored predictions of a data set and column, and their curves: ROC curve, cost curve and reliability diagram.

Cost curves are those of Drummond & Holte (2006), Machine Learning 65: the cost of the best threshold at every ratio of
costs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sklearn.isotonic import isotonic_regression

from probcal.errors import StoreError
from probcal.metrics.checked_rows import checked_numbers, checked_two_classes
from probcal.metrics.curves import bin_numbers, wilson
from probcal.metrics.ranking import RankedRows
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


MOST_POINTS = 200
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class RocCurve:
    """Hold points of the curve from (0, 0) to (1, 1). Both coordinates rise, and arrays have shape (points,)."""

    negative: Counts
    """Number of negative rows with a larger prediction than the threshold."""
    positive: Counts
    """Number of positive rows with a larger prediction than the threshold."""

    @property
    def x(self) -> Array:
        """Return the false positive rate."""
        return np.asarray(self.negative / self.negative[-1])

    @property
    def y(self) -> Array:
        """Return the true positive rate."""
        return np.asarray(self.positive / self.positive[-1])


def roc_curve(predictions: StoredPredictions, points: int = MOST_POINTS) -> RocCurve | None:
    """Return at most ``points`` points of the ROC curve, or None for more than two classes or rows of one class only.

    The points on the convex hull are kept, since the cost curve depends on them, and others at even distances. All
    splits share one curve, since a threshold on probabilities means the same in each split.
    """
    if predictions.top_label:
        return None
    rows = RankedRows.of(checked_two_classes(predictions.y, predictions.p))
    if not rows.has_both_classes():
        return None
    totals = (np.rint(rows.up_to(labels)).astype(np.int64) for labels in (1 - rows.y, rows.y))
    # From the largest prediction down.
    negative, positive = (counts[-1] - counts[::-1] for counts in totals)
    places = _select_points(negative, positive, points)
    return RocCurve(negative[places], positive[places])


def hull_places(negative: Counts, positive: Counts) -> Counts:
    """Return the places of the points on the upper convex hull. Isotonic regression finds its falling slopes."""
    steps = np.diff(negative) + np.diff(positive)
    slopes = isotonic_regression(np.diff(positive) / steps, sample_weight=steps, increasing=False)
    return np.concatenate([[0], np.flatnonzero(np.diff(slopes)) + 1, [len(steps)]])


def _select_points(negative: Counts, positive: Counts, points: int) -> Counts:
    """Return at most so many places of points: corners of the hull, then others at even distances."""
    distances = negative / negative[-1] + positive / positive[-1]

    def select_even(places: Counts, most: int) -> Counts:
        """Return at most so many of ``places``, with first and last."""
        if len(places) <= most:
            return places
        values = distances[places]
        even = np.searchsorted(values, np.linspace(values[0], values[-1], most))
        return np.asarray(places[np.unique(even.clip(0, len(values) - 1))])

    all_places = np.arange(len(negative))
    if len(negative) <= points:
        return all_places
    corners = select_even(hull_places(negative, positive), points)
    n_left = points - len(corners)
    # Two more, because the first and the last point are corners already.
    return np.union1d(corners, select_even(all_places, n_left + 2)) if n_left else corners


@dataclass(frozen=True)
class CostCurve:
    """Hold the corners of the lower envelope of the lines of all thresholds, (corners,) each.

    The curve is straight between corners. It begins at (0, 0), where a classifier that always says negative costs
    nothing, and ends at (1, 0). Always predicting the same class costs min(x, 1 - x).
    """

    x: Array
    """Probability cost p(+) C(-|+) / (p(+) C(-|+) + p(-) C(+|-)), in rising order."""
    y: Array
    """Normalised expected cost, over the cost of being wrong on every row: (1 - TPR) x + FPR (1 - x)."""


def cost_curve(roc: RocCurve) -> CostCurve:
    """Return the cost curve of the thresholds in ``roc``. Two neighbours on its hull cost the same at a corner.

    The class frequencies of the test rows do not matter, since x stands for both frequencies and costs.
    """
    corners = hull_places(roc.negative, roc.positive)
    fpr, tpr = roc.x[corners], roc.y[corners]
    x = np.diff(fpr) / (np.diff(fpr) + np.diff(tpr))
    y = (1 - tpr[:-1]) * x + fpr[:-1] * (1 - x)
    return CostCurve(np.r_[0.0, x, 1.0], np.r_[0.0, y, 0.0])


RELIABILITY_BINS = 10


@dataclass(frozen=True)
class Reliability:
    """Hold a reliability diagram with one entry per bin, by rising prediction. Arrays have shape (bins,)."""

    mean: Array
    """Mean prediction."""
    observed: Array
    """Observed frequency of y = 1."""
    low: Array
    high: Array
    """Upper end of the 95 % interval of ``observed``, within [0, 1]. ``low`` is the lower end."""
    n: Array
    """Expected number of distinct rows. It may be fractional where a row is tested in several splits."""
    counts: tuple[int, ...]
    """Rows of all splits."""
    positive: tuple[int, ...]
    """Rows of all splits with y = 1."""

    @classmethod
    def of(
        cls, mean: Sequence[float], counts: Sequence[int], positive: Sequence[int], appearances: float
    ) -> Reliability:
        """Build the diagram from the counts over all splits. ``appearances`` is as in ``StoredPredictions``."""
        n = np.asarray(counts) / appearances
        observed = np.asarray(positive) / np.asarray(counts)
        low, high = wilson(observed, n)
        return cls(np.asarray(mean, float), observed, low, high, n, tuple(counts), tuple(positive))


def reliability(predictions: StoredPredictions, bins: int = RELIABILITY_BINS) -> Reliability:
    """Return at most ``bins`` bins with nearly the same number of rows.

    Rows with equal predictions are never in two bins. All are in the bin of their middle row. Bins without rows are
    left out.

    The interval is that of Wilson (1927) for the rows of a bin. With several random splits a row is tested more than
    once, which does not make the frequency more certain. So the number of rows is divided by ``appearances``.
    """
    numbers = bin_numbers(predictions.p, np.ones(len(predictions.p)), bins)
    _, places, counts = np.unique(numbers, return_inverse=True, return_counts=True)
    mean = np.bincount(places, predictions.p) / counts
    positive = np.rint(np.bincount(places, predictions.y)).astype(np.int64)
    return Reliability.of(mean.tolist(), counts.tolist(), positive.tolist(), predictions.appearances)
