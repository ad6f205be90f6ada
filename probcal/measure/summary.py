"""Summaries of predictions that are too many to keep: sums in cells of equal or nearly equal probability.

Summaries of two parts of the rows add up to that of all rows, in any order. Up to ``MOST_DISTINCT`` different
probabilities, each is a cell of its own, so every metric is exact. Beyond it, a cell holds the probabilities whose
log-odds differ by less than ``1 / CELLS_PER_NAT`` and that lie in one bin of the ECE. All rows of a cell then count
with their mean probability. That moves a probability by less than 6.2e-5.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from probcal.metrics.drawn_rows import ECE_BINS
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
