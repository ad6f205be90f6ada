"""Summaries of predictions that are too many to keep: sums in cells of equal or nearly equal probability.

Summaries of two parts of the rows add up to that of all rows, in any order. Up to ``MOST_DISTINCT`` different
probabilities, each is a cell of its own, so every metric is exact. Beyond it, a cell holds the probabilities whose
log-odds differ by less than ``1 / CELLS_PER_NAT`` and that lie in one bin of the ECE. All rows of a cell then count
with their mean probability. That moves a probability by less than 6.2e-5.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from probcal.metrics.bootstrap import LEVEL, NO_INTERVAL, Interval
from probcal.metrics.checked_rows import Rows, effective_rows, equal_weights
from probcal.metrics.closed_forms import normal_interval
from probcal.metrics.drawn_rows import ECE_BINS
from probcal.metrics.losses import squared_errors
from probcal.metrics.reliability import top_label
from probcal.reading.prediction_file import FilePredictions

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]

CELLS_PER_NAT = 4096
MOST_DISTINCT = 200_000
# Smallest and largest probability beside 0 and 1, which have cells of their own.
_LEAST, _MOST = 5e-324, 1 - 2**-53
_EDGES = np.arange(1, ECE_BINS) / ECE_BINS
_ROWS, _WEIGHT, _SQUARES, _PROBABILITY = range(4)


@dataclass(frozen=True, eq=False)
class CellSums:
    """Hold sums over the rows of one label, in cells of probability.

    ``codes``, (n_cells,), rise. Each is the bits of a probability, or the number of a cell of the grid if ``is_grid``.
    ``sums`` is (4, n_cells): rows, weights, squared weights, and weight times probability.
    """

    codes: Codes
    sums: Floats
    is_grid: bool = False

    @classmethod
    def of(cls, p: Floats, weight: Floats, n_classes: int = 1) -> CellSums:
        """Return the sums of rows with probabilities ``p`` and weights above 0, (n_rows,).

        ``n_classes`` share ``MOST_DISTINCT``, so that memory grows slowly with them.
        """
        values = np.array([np.ones(len(p)), weight, weight**2, weight * p])
        # + 0.0: a negative zero has other bits, and would be a cell of its own
        return cls(*_grouped((p + 0.0).view(np.int64), values))._within_limit(n_classes)

    def merged(self, other: CellSums, n_classes: int = 1) -> CellSums:
        """Return the sums of the rows of both."""
        # the bits of probabilities and the numbers of cells are no common codes
        one, two = (self, other) if self.is_grid == other.is_grid else (self.on_grid(), other.on_grid())
        codes, sums = np.append(one.codes, two.codes), np.append(one.sums, two.sums, axis=1)
        return CellSums(*_grouped(codes, sums), one.is_grid)._within_limit(n_classes)

    @property
    def n_rows(self) -> int:
        return int(self.sums[_ROWS].sum())

    def on_grid(self) -> CellSums:
        """Return the sums in cells of the grid."""
        return (
            self if self.is_grid else CellSums(*_grouped(_grid_numbers(self.codes.view(np.float64)), self.sums), True)
        )

    def _within_limit(self, n_classes: int) -> CellSums:
        return self.on_grid() if len(self.codes) > MOST_DISTINCT // n_classes else self


Folds = dict[int, tuple[CellSums, CellSums]]
"""Number of a fold -> the sums of its negative and of its positive rows."""
NO_ROWS = CellSums(np.empty(0, np.int64), np.empty((4, 0)))


def _grouped(codes: Codes, values: Floats) -> tuple[Codes, Floats]:
    """Return the distinct codes, rising, and the sums of ``values``, (n_sums, n), over equal codes."""
    order = np.argsort(codes, kind="stable")
    codes = codes[order]
    starts = np.flatnonzero(np.append(True, codes[1:] != codes[:-1])[: len(codes)])
    sums = np.add.reduceat(values[:, order], starts, axis=1) if len(codes) else values
    return codes[starts], np.asarray(sums)


def _grid_numbers(p: Floats) -> Codes:
    """Return the number of the cell of each probability, (n,). Numbers rise with the probabilities."""
    inside = np.clip(p, _LEAST, _MOST)
    log_odds = np.log(inside) - np.log1p(-inside)
    cells = np.floor(log_odds * CELLS_PER_NAT).astype(np.int64)
    # far beyond all other cells, and small enough to be multiplied as int64
    cells[p == 0], cells[p == 1] = np.iinfo(np.int32).min, np.iinfo(np.int32).max
    return np.asarray(cells * ECE_BINS + np.searchsorted(_EDGES, p))


@dataclass(frozen=True, eq=False)
class Cells:
    """Hold the rows of a section: up to two for each cell and fold, one of negative and one of positive label.

    ``y``, ``p``, ``weight``, ``squares`` (sum of squared weights) and ``fold`` are (n,). ``counts`` is the number of
    rows of each label that they stand for. ``calibrated``, (n, 2), is None without a map.
    """

    y: npt.NDArray[np.int64]
    p: Floats
    weight: Floats
    squares: Floats
    counts: tuple[int, int]
    fold: Codes
    calibrated: Floats | None = None

    @classmethod
    def of_folds(cls, folds: Folds) -> Cells:
        """Return the rows of all folds."""
        parts = [cls.of(*pair, fold) for fold, pair in sorted(folds.items())]
        y, p, weight, squares, fold = (
            np.concatenate([getattr(part, name) for part in parts]) for name in ("y", "p", "weight", "squares", "fold")
        )
        negative, positive = map(sum, zip(*(part.counts for part in parts), strict=True))
        return cls(y, p, weight, squares, (negative, positive), fold)

    @classmethod
    def of(cls, negative: CellSums, positive: CellSums, fold: int = 0) -> Cells:
        """Return the rows of one fold. Both labels of a cell have its mean probability, as equals in rank."""
        if negative.is_grid != positive.is_grid:
            negative, positive = negative.on_grid(), positive.on_grid()
        codes, number = np.unique(np.append(negative.codes, positive.codes), return_inverse=True)
        sums = np.append(negative.sums, positive.sums, axis=1)
        if positive.is_grid:
            total = [np.bincount(number, sums[part], len(codes)) for part in (_PROBABILITY, _WEIGHT)]
            # rounding of a mean must not move it over the edge of a bin
            edges, numbers = np.concatenate([[_LEAST], _EDGES, [_MOST]]), codes % ECE_BINS
            low = np.where(numbers > 0, np.nextafter(edges[numbers], 1), _LEAST)
            p = np.clip(total[0] / total[1], low, edges[numbers + 1])
            ends = _grid_numbers(np.array([0.0, 1.0]))
            p[codes == ends[0]], p[codes == ends[1]] = 0.0, 1.0
        else:
            p = codes.view(np.float64)
        y = np.repeat([0, 1], [len(negative.codes), len(positive.codes)])
        counts = negative.n_rows, positive.n_rows
        return cls(y, p[number], sums[_WEIGHT], sums[_SQUARES], counts, np.full(len(y), fold))


@dataclass(frozen=True)
class Summary(FilePredictions):
    """Hold the sums of many files, of which no row is kept. ``cells`` are those of all rows, and have ``counts``."""

    cells: Any = field(kw_only=True)
    group_cells: dict[tuple[str, str], Any] = field(kw_only=True)
    """Column and group -> its cells."""

    @property
    def n_rows(self) -> int:
        return sum(self.cells.counts)

    def counts(self) -> dict[str, int]:
        return dict(zip(self.classes, self.cells.counts, strict=True))


@dataclass(frozen=True)
class SummarisedPredictions(Summary):
    """Hold the cells of two classes. ``y``, ``p`` and ``weight`` are those of the cells of all rows."""

    cells: Cells = field(kw_only=True)
    group_cells: dict[tuple[str, str], Cells] = field(kw_only=True)


def folds_text(predictions: FilePredictions) -> str:
    """Return in words how the folds of a map were drawn. Rows of many files are drawn one by one."""
    if isinstance(predictions, Summary):
        return "random folds"
    return "stratified folds" if predictions.cluster is None else "stratified folds of whole clusters"


Pair = tuple[CellSums, CellSums]
"""The sums of the negative and of the positive rows."""


@dataclass(frozen=True, eq=False)
class ClassSums:
    """Hold sums over rows of several classes.

    ``labels``, (3, n_classes), are the rows, weights and squared weights of each label. ``losses``, (2, 3), are the
    sums of weight times loss, squared weight times loss, and squared weight times squared loss: of the log loss in
    nats, and of the Brier score. ``against`` has a pair for each class against all others. ``likeliest`` has the rows
    whose likeliest class is wrong, and those where it is right. ``rounding`` is the largest distance of a row's sum of
    probabilities from 1, before they were divided by it.
    """

    labels: Floats
    losses: Floats
    against: tuple[Pair, ...]
    likeliest: Pair
    rounding: float = 0.0

    @classmethod
    def of(cls, y: Codes, p: Floats, weight: Floats, rounding: float = 0.0) -> ClassSums:
        """Return the sums of rows with numbers of classes ``y``, probabilities ``p`` and weights above 0."""
        labels = np.array([np.bincount(y, one, p.shape[1]) for one in (np.ones(len(y)), weight, weight**2)])
        rows = Rows(y, p, equal_weights(len(y)))
        with np.errstate(divide="ignore"):  # an observed label of probability 0 has an infinite loss
            losses = [np.abs(np.log(rows.p_of_label)), squared_errors(rows)]
        sums = [[weight @ one, weight**2 @ one, weight**2 @ one**2] for one in losses]
        n_classes = p.shape[1]
        against = tuple(_pair(y == label, p[:, label], weight, n_classes) for label in range(n_classes))
        is_right, highest = top_label(y, p)
        return cls(labels, np.array(sums), against, _pair(is_right == 1, highest, weight, n_classes), rounding)

    def merged(self, other: ClassSums) -> ClassSums:
        """Return the sums of the rows of both."""
        n_classes = len(self.against)
        pairs = zip(self.against, other.against, strict=True)
        return ClassSums(
            self.labels + other.labels,
            self.losses + other.losses,
            tuple(_merged(*pair, n_classes) for pair in pairs),
            _merged(self.likeliest, other.likeliest, n_classes),
            max(self.rounding, other.rounding),
        )

    @property
    def is_grid(self) -> bool:
        """Return whether some probabilities share cells."""
        return any(part.is_grid for pair in (*self.against, self.likeliest) for part in pair)


def _pair(is_positive: npt.NDArray[np.bool_], p: Floats, weight: Floats, n_classes: int) -> Pair:
    negative, positive = (
        CellSums.of(p[rows], weight[rows], n_classes) if rows.any() else NO_ROWS for rows in (~is_positive, is_positive)
    )
    return negative, positive


def _merged(one: Pair, two: Pair, n_classes: int) -> Pair:
    return one[0].merged(two[0], n_classes), one[1].merged(two[1], n_classes)


@dataclass(frozen=True, eq=False)
class ClassCells:
    """Hold what a table of several classes is measured on."""

    against: list[Cells]
    """Each class against all others."""
    likeliest: Cells
    """Whether the likeliest class of each row is right, beside its probability."""
    counts: tuple[int, ...]
    """Rows of each class."""
    weight: Floats
    """Sum of the weights of each class, (n_classes,)."""
    squares: Floats
    """Sum of the squared weights of each class, (n_classes,)."""
    log_loss: Interval
    """Log loss in nats, with its normal interval."""
    brier: Interval

    @classmethod
    def of(cls, sums: ClassSums) -> ClassCells:
        counts, weight, squares = sums.labels
        log_loss, brier = (_mean_loss(one, float(weight.sum()), float(squares.sum())) for one in sums.losses)
        against = [Cells.of(*pair) for pair in sums.against]
        numbers = tuple(map(int, counts))
        return cls(against, Cells.of(*sums.likeliest), numbers, weight, squares, log_loss, brier)


@dataclass(frozen=True)
class SummarisedClasses(Summary):
    """Hold the cells of several classes. Each row of ``y``, ``p`` and ``weight`` stands for all rows of a class."""

    cells: ClassCells = field(kw_only=True)
    group_cells: dict[tuple[str, str], ClassCells] = field(kw_only=True)


def _mean_loss(sums: Sequence[float] | Floats, weight: float, squares: float) -> Interval:
    """Return the mean loss with its normal interval, as ``mean_interval`` computes it from single rows."""
    first, second, third = map(float, sums)
    mean = first / weight
    n = effective_rows(np.array([weight]), np.array([squares]))
    if not math.isfinite(mean) or n <= 1:
        return Interval(mean, *NO_INTERVAL)
    # rounding must not make a sum of squares negative
    deviations = max(0.0, third - 2 * mean * second + mean**2 * squares)
    return Interval(mean, *normal_interval(mean, deviations / weight**2 * n / (n - 1), LEVEL))
