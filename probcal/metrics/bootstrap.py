"""Metrics of rows with their 95 % intervals: in closed form where there is one, otherwise of bootstrap draws."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from probcal.metrics.drawn_rows import Blocks, DrawnRows
from probcal.metrics.metric import Metric, Prediction
from probcal.metrics.row_support import RowSupport, row_support

Floats = npt.NDArray[np.float64]

LEVEL = 0.95
NO_INTERVAL = (math.nan, math.nan)
MOST_DRAWS, FEWEST_DRAWS = 1000, 200
FEW_DRAWS = 200
"""Most draws of the metrics that an experiment must ask for. Loess curves take a hundred times as long as an AUC."""
# Blocks of predictions in a draw. Pooling moves a draw by less than a twentieth of the interval.
_MOST_BLOCKS = 1000
# Draws that are measured together. It divides FEW_DRAWS.
_BATCH = 200
# Most rows that are drawn one by one where all have the same weight.
_FEW_ROWS = 20_000
# Losses, which cross-fitting measures without bias, since they are means over rows. Together the maps of all folds saw
# every label, which makes the sum of y - p over all folds nearly 0, and every calibration error smaller than on new
# rows. The AUC compares rows of different maps, which makes it a little too small.
_LOSSES = ("cxe", "rms", "cost")


@dataclass(frozen=True)
class Quantity:
    """Describe a line of the table: a metric of the registry in the form that it is shown in."""

    name: str
    """Its name in CSV files, such as ``log_loss_bits``."""
    label: str
    value: Callable[[Prediction], float]
    metric: Metric
    drawn: Callable[[DrawnRows], Floats] | None = None
    """Function of many draws of two classes, as ``Metric.drawn``."""
    has_calibration: bool = True
    """Whether it is shown for the calibrated probabilities, too."""
    has_interval: bool = True
    """Whether it has an interval."""
    closed_form: Callable[[Prediction], tuple[float, float]] | None = None
    """Function of the rows that returns the interval without any draw."""
    of_rows: Callable[[Prediction], Floats] | None = None
    """Function that returns the values of single rows, (n_rows,), whose mean this is."""
    is_small: bool = False
    """Whether values below .001 are shown with two significant digits, and not as 0."""
    cut: float | None = None
    """A probability at which the value jumps. Blocks of pooled predictions end there."""

    @property
    def decimals(self) -> int:
        """Return how many digits the tables show after the point: three for slopes, which may have a sign."""
        return 3 if self.metric.least < 0 and not self.is_small else 4

    @property
    def is_fast(self) -> bool:
        """Return whether all draws are measured, and not only ``FEW_DRAWS``."""
        return self.metric.measured == "always"

    @property
    def is_tested(self) -> bool:
        """Return whether the interval of a change says that calibration helps."""
        return self.metric.name in _LOSSES

    @property
    def bounds(self) -> tuple[float, float]:
        """Return the least and the largest value of the metric."""
        return self.metric.least, self.metric.most

    def is_supported(self, support: RowSupport) -> bool:
        """Return whether its interval rests on enough rows."""
        return self.has_interval and (support.has_losses if self.is_tested else support.has_all)


@dataclass(frozen=True)
class Interval:
    """Hold a number and its 95 % interval. ``low`` and ``high`` are NaN where there is none."""

    value: float
    low: float = math.nan
    high: float = math.nan

    @property
    def excludes_zero(self) -> bool:
        return self.low > 0 or self.high < 0


def measure_quantities(
    y: npt.NDArray[np.int64], p: Floats, classes: tuple[str, ...], chosen: Sequence[Quantity], draws: int,
    weight: Floats | None = None, cluster: npt.NDArray[np.intp] | None = None,
) -> list[Interval]:  # fmt: skip
    """Return each quantity of these rows with its interval: in closed form if it has one, else of bootstrap draws.

    Intervals that rest on too few rows are left out. ``p`` is (n_rows,) for two classes, and else (n_rows, n_classes).
    ``weight``, (n_rows,), are the weights of the rows, all above 0. With ``cluster``, (n_rows,), whole clusters are
    independent, and not their rows.
    """
    data = Prediction(y, p, weight, cluster=cluster)
    weight = np.ones(len(y)) if weight is None else weight
    support = row_support(y, p, weight, classes, cluster=cluster)
    values = {quantity.name: float(quantity.value(data)) for quantity in chosen}
    shown = [quantity for quantity in chosen if quantity.is_supported(support)]
    intervals = {}
    if drawn := [quantity for quantity in shown if quantity.closed_form is None]:
        measured = np.array([[values[quantity.name] for quantity in drawn]])
        [samples] = bootstrap_values(y, [p], weight, drawn, measured, draws, [0], cluster=cluster)
        for quantity, of_draws in zip(drawn, samples.T, strict=True):
            intervals[quantity.name] = basic_interval(values[quantity.name], of_draws, *quantity.bounds)
    for quantity in shown:
        if quantity.closed_form is not None:
            low, high = np.clip(quantity.closed_form(data), *quantity.bounds).tolist()
            intervals[quantity.name] = Interval(values[quantity.name], low, high)
    return [intervals.get(quantity.name, Interval(values[quantity.name])) for quantity in chosen]


def bootstrap_values(
    y: npt.NDArray[np.int64], stages: Sequence[Floats], weight: Floats, quantities: Sequence[Quantity],
    measured: Floats, draws: int, seed: Sequence[int], squares: Floats | None = None,
    cluster: npt.NDArray[np.intp] | None = None,
) -> Floats:  # fmt: skip
    """Return (n_stages, draws, n_quantities) values of rows drawn with replacement, the same rows in each stage.

    ``y`` is (n_rows,), or (n_stages, n_rows) where the stages have labels of their own. With ``squares``, each row
    stands for many, with this sum of squared weights. With ``cluster``, (n_rows,), whole clusters are drawn. Slow
    metrics are NaN after ``FEW_DRAWS`` draws. ``measured``, (n_stages, n_quantities), are the values of the rows
    themselves.
    """
    values = np.full((len(stages), draws, len(quantities)), np.nan)
    order = np.argsort(stages[0] if stages[0].ndim == 1 else stages[0][:, -1])  # sorting sorted rows again is faster
    weight, stages = weight[order], [stage[order] for stage in stages]
    labels = np.broadcast_to(y[..., order], (len(stages), len(weight)))
    squares = None if squares is None else squares[order]
    cluster = None if cluster is None else _numbered_as_met(cluster[order])
    has_two_classes = stages[0].ndim == 1 or stages[0].shape[1] == 2
    drawn_of = {
        place: quantity.drawn
        for place, quantity in enumerate(quantities)
        if has_two_classes and quantity.has_interval and quantity.drawn is not None
    }
    single = [place for place, quantity in enumerate(quantities) if quantity.has_interval and place not in drawn_of]
    with warnings.catch_warnings(action="ignore"):  # a draw may lack a class, which nobody needs to know
        if drawn_of:
            cuts = np.unique([quantity.cut for quantity in quantities if quantity.cut is not None])
            pooled = [_PooledRows.of(*stage, weight, cuts) for stage in zip(labels, stages, strict=True)]
            for number, rows in enumerate(pooled):
                itself = rows.drawn(rows.counts(weight)[None])
                for place, drawn in drawn_of.items():
                    # what pooling of predictions moves in the values themselves is taken out of each draw
                    shift = measured[number, place] - float(drawn(itself)[0])
                    values[number, :, place] = shift if math.isfinite(shift) else 0.0
            begin = 0
            for batch in _drawn_batches(pooled, weight, draws, np.random.default_rng(seed), squares, cluster):
                end = begin + len(batch[0].total)
                for place, drawn in drawn_of.items():
                    is_measured = begin < FEW_DRAWS or quantities[place].is_fast
                    for number, drawn_rows in enumerate(batch):
                        values[number, begin:end, place] += drawn(drawn_rows) if is_measured else np.nan
                begin = end
        random = np.random.default_rng(seed)
        # a row of a summary stands for many, which cannot be drawn one by one
        for draw in range(draws if single and squares is None else 0):
            few = [place for place in single if draw < FEW_DRAWS or quantities[place].is_fast]
            weight_drawn = weight * _drawn_times(len(weight), cluster, random)
            for number, stage in enumerate(zip(labels, stages, strict=True)):
                data = Prediction(*stage, weight_drawn, coarse=True)
                values[number, draw, few] = [float(quantities[place].value(data)) for place in few]
    return values


@dataclass(frozen=True, eq=False)
class _PooledRows:
    """Hold the blocks of one stage, and the number of the block and label of each row, (n_rows,)."""

    blocks: Blocks
    cells: npt.NDArray[np.intp]

    @classmethod
    def of(cls, y: npt.NDArray[np.int64], p: Floats, weight: Floats, cuts: Floats) -> _PooledRows:
        blocks, numbers = Blocks.of(y, p, weight, _MOST_BLOCKS, cuts)
        return cls(blocks, numbers + len(blocks.p) * (y == 1))

    def counts(self, weight: Floats) -> Floats:
        """Return the weight of each block of negative rows, then of positive rows, (2 n_blocks,)."""
        return np.asarray(np.bincount(self.cells, weight, 2 * len(self.blocks.p)), dtype=np.float64)

    def drawn(self, counts: Floats) -> DrawnRows:
        """Return the draws with these ``counts``, (n_draws, 2 n_blocks)."""
        negative, positive = np.split(counts, 2, axis=1)
        return DrawnRows(self.blocks, positive, negative)


def _drawn_batches(
    pooled: Sequence[_PooledRows], weight: Floats, draws: int, random: np.random.Generator, squares: Floats | None,
    cluster: npt.NDArray[np.intp] | None,
) -> Iterator[list[DrawnRows]]:  # fmt: skip
    """Yield batches of draws, each with one ``DrawnRows`` for each stage. Rows of one cluster are drawn together."""
    n_rows = len(weight)
    # Many rows of equal weight are not drawn one by one. The number of rows that a draw takes from each block and label
    # has a multinomial distribution, which is drawn instead.
    draws_counts = len(pooled) == 1 and n_rows > _FEW_ROWS and bool((weight == weight[0]).all()) and cluster is None
    shares = pooled[0].counts(weight) / weight.sum()
    for begin in range(0, draws, _BATCH):
        size = min(_BATCH, draws - begin)
        if squares is not None:
            # Rows that stand for many are drawn by Poisson's distribution, with the mean and the variance of their
            # weight. For equal weights this is the number of rows that a bootstrap draws, but for the fixed sum. Rows
            # that share their blocks in every stage are drawn together.
            cells, numbers = np.unique([rows.cells for rows in pooled], axis=1, return_inverse=True)
            total, square = np.bincount(numbers, weight), np.bincount(numbers, squares)
            unit = square / total  # the weight of each row
            drawn = unit * random.poisson(total / unit, size=(size, len(total)))
            yield [
                rows.drawn(np.array([np.bincount(places, one, 2 * len(rows.blocks.p)) for one in drawn]))
                for rows, places in zip(pooled, cells, strict=True)
            ]
            continue
        if draws_counts:
            yield [pooled[0].drawn(weight[0] * random.multinomial(n_rows, shares, size=size))]
            continue
        weights = (weight * _drawn_times(n_rows, cluster, random) for _ in range(size))
        counts = [[rows.counts(drawn) for rows in pooled] for drawn in weights]
        yield [rows.drawn(np.array(of_stage)) for rows, of_stage in zip(pooled, zip(*counts, strict=True), strict=True)]


def _drawn_times(
    n_rows: int, cluster: npt.NDArray[np.intp] | None, random: np.random.Generator
) -> npt.NDArray[np.intp]:
    """Return how often each row is drawn, (n_rows,)."""
    n = n_rows if cluster is None else int(cluster.max()) + 1
    times = np.bincount(random.integers(n, size=n), minlength=n)
    return times if cluster is None else times[cluster]


def _numbered_as_met(cluster: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    """Return numbers from 0 in the order of the first rows, so that the draws do not depend on names of clusters."""
    _, first, numbers = np.unique(cluster, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[numbers]


def basic_interval(value: float, draws: Floats, minimum: float = -math.inf, maximum: float = math.inf) -> Interval:
    """Return the basic bootstrap interval (Davison & Hinkley 1997, section 5.2) within the bounds of the metric."""
    finite = draws[np.isfinite(draws)]
    if not math.isfinite(value) or len(finite) < 2:
        return Interval(float(value))
    # A calibration error of drawn rows is larger than that of the rows, as that is larger than the error of many rows.
    # The basic interval reflects the draws at the value, which removes this bias once. Percentiles would add it.
    low, high = 2 * value - np.quantile(finite, [(1 + LEVEL) / 2, (1 - LEVEL) / 2])
    # where the bias is large, the reflected draws may miss the value itself
    return Interval(float(value), float(max(minimum, min(low, value))), float(min(maximum, max(high, value))))
