"""Summaries of predictions of several classes: exact sums of the losses, and cells of each class against the others.

Memory grows with the number of classes, and not with the rows. Summaries of two parts of the rows add up to that of all
rows, in any order.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from probcal.measure.summary import NO_ROWS, Cells, CellSums, Codes, Floats, Summary
from probcal.metrics.bootstrap import LEVEL, NO_INTERVAL, Interval
from probcal.metrics.checked_rows import Rows, effective_rows, equal_weights
from probcal.metrics.closed_forms import normal_interval
from probcal.metrics.losses import squared_errors
from probcal.metrics.reliability import top_label

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
