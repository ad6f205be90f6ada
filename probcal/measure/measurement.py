"""Measurements of predictions: metrics of the registry with bootstrap intervals, for all rows and for each group."""

from __future__ import annotations

import math
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from probcal.data.text_values import sort_labels
from probcal.measure.decision_costs import cost_quantities
from probcal.measure.few_rows import RowSupport, row_support
from probcal.measure.quantity import Quantity
from probcal.measure.summary import Cells, SummarisedPredictions
from probcal.metrics.closed_forms import auc_interval, brier_interval, log_loss_interval, mean_interval, share_interval
from probcal.metrics.decisions import Costs
from probcal.metrics.drawn_rows import Blocks, DrawnRows
from probcal.metrics.metric import Metric, Prediction
from probcal.metrics.registry import ASKED_METRICS, METRICS, metric_named
from probcal.reading.file_columns import MISSING_GROUP
from probcal.reading.prediction_file import FilePredictions

Floats = npt.NDArray[np.float64]

LEVEL = 0.95
NO_INTERVAL = (math.nan, math.nan)
MOST_DRAWS, FEWEST_DRAWS = 1000, 200
# Number of rows in all draws, which takes about half a minute, and twice that with calibration.
_MOST_RESAMPLED_ROWS = 100_000_000
# Number of draws of all tables, each of which takes a millisecond however small the group is.
_MOST_TABLE_DRAWS = 20_000
# Metrics that grow with the number of rows, so that groups cannot be compared.
_SUMS = ("errors", "log10_loss")
# The forms that one paper's tables have. Here they would repeat the log loss and the Brier score.
_EXPERIMENT_METRICS = ("accuracy", "log_loss", "brier")
FEW_DRAWS = 200
"""Most draws of the metrics that an experiment must ask for. Loess curves take a hundred times as long as an AUC."""
# A p-value is not an estimate of anything. It holds for probabilities that the labels of these rows did not make.
_P_VALUES = ("c_emp_p",)


def quantities(two_classes: bool, costs: Costs | None = None) -> list[Quantity]:
    """Return the lines of the table. Each metric of the registry is one, and needs no entry here.

    ``costs`` of two classes add those on decisions.
    """
    base = metric_named("frequency")
    lines = []
    if two_classes:
        lines += [
            Quantity(
                "base_rate", "base rate", lambda data: data.rows.mean(data.rows.y), base, DrawnRows.base_rate,
                has_calibration=False, closed_form=lambda data: share_interval(data.rows, LEVEL),
            ),
            Quantity(
                "mean_probability", "mean probability", lambda data: data.rows.mean(data.rows.p), base,
                DrawnRows.mean_probability,
                closed_form=lambda data: mean_interval(data.rows, data.rows.p, LEVEL),
            ),
        ]  # fmt: skip
        lines += [] if costs is None else cost_quantities(costs, LEVEL)
    for name in (*METRICS, *ASKED_METRICS):
        metric = metric_named(name)
        has_value = metric.value is not None and not metric.of_the_truth and name not in (*_SUMS, *_EXPERIMENT_METRICS)
        if has_value and metric.value and (two_classes or not metric.two_classes):
            lines += _quantities_of(metric, metric.value)
    return lines


def _quantities_of(metric: Metric, value: Callable[[Prediction], float]) -> list[Quantity]:
    if metric.name == "cxe":
        return [
            Quantity(
                "log_loss_bits", "log loss (bits)", value, metric, DrawnRows.log_loss,
                closed_form=lambda data: log_loss_interval(data.rows, LEVEL),
            ),
            Quantity(
                "log_loss_nats", "log loss (nats)", lambda prediction: value(prediction) * math.log(2), metric,
                lambda draws: draws.log_loss() * math.log(2),
                closed_form=lambda data: log_loss_interval(data.rows, LEVEL, math.e),
            ),
        ]  # fmt: skip
    if metric.name == "rms":
        return [
            Quantity(
                "brier", "Brier score", lambda prediction: value(prediction) ** 2, metric, DrawnRows.squared_error,
                closed_form=lambda data: brier_interval(data.rows, LEVEL),
            )
        ]  # fmt: skip
    estimate = metric.name not in _P_VALUES
    closed_form = _auc_interval if metric.name == "auc" else None
    return [Quantity(metric.name, metric.short, value, metric, metric.drawn, estimate, estimate, closed_form)]


def _auc_interval(data: Prediction) -> tuple[float, float]:
    return auc_interval(data.ranked[0], LEVEL) if len(data.ranked) == 1 else (math.nan, math.nan)


@dataclass(frozen=True)
class Interval:
    """Hold a number and its 95 % interval. ``low`` and ``high`` are NaN where there is none."""

    value: float
    low: float = math.nan
    high: float = math.nan

    @property
    def excludes_zero(self) -> bool:
        return self.low > 0 or self.high < 0


@dataclass(frozen=True)
class Line:
    """Hold one quantity of the given probabilities, of the calibrated ones, and the difference of the two."""

    quantity: Quantity
    before: Interval
    after: Interval | None = None
    change: Interval | None = None


@dataclass(frozen=True)
class MeasuredSection:
    """Hold the table of all rows, or of one group."""

    name: str
    """Such as ``all rows`` or ``sex = F``."""
    column: str
    """The column of the group, empty for all rows."""
    group: str
    y: npt.NDArray[np.int64]
    p: Floats
    """Given probabilities."""
    weight: Floats
    calibrated: Floats | None
    counts: tuple[int, ...]
    """Rows of each class."""
    lines: list[Line]
    support: RowSupport
    """Whether the rows suffice for intervals and a p-value."""
    impossible_rows: tuple[int, ...] = field(default=())
    """Numbers of the rows whose observed class had predicted probability 0, in the given probabilities."""

    @property
    def n_rows(self) -> int:
        return sum(self.counts)

    def line(self, name: str) -> Line | None:
        """Return the line of a quantity, or None if it has none."""
        return next((line for line in self.lines if line.quantity.name == name), None)


def measure_sections(
    predictions: FilePredictions, calibrated: Floats | None, draws: int, seed: int,
    show_values: Callable[[list[MeasuredSection]], None] | None = None,
    progress: Callable[[list[_Part]], Iterable[_Part]] = iter, costs: Costs | None = None,
) -> list[MeasuredSection]:  # fmt: skip
    """Measure all rows, then each group. ``calibrated``, (n_rows, n_classes), is measured beside if it is not None.

    ``costs`` of wrong decisions, for two classes only, add lines on decisions.

    ``show_values`` gets the sections before they have intervals, which take most of the time. ``progress`` wraps the
    list of parts of the table while their intervals are drawn.
    """
    table_quantities = quantities(predictions.is_binary, costs)
    if isinstance(predictions, SummarisedPredictions):
        parts = [_Part.of_cells(*part, predictions.classes, table_quantities) for part in _cells_of(predictions)]
    else:
        has_forms = show_values is not None or not draws
        parts = [
            _Part.of(predictions, calibrated, *names, table_quantities, has_forms) for names in _parts(predictions)
        ]
    if show_values is not None:
        show_values([part.section(table_quantities, 0, seed) for part in parts])
    return [part.section(table_quantities, draws, seed) for part in progress(parts)]


def measure_quantities(
    y: npt.NDArray[np.int64], p: Floats, classes: tuple[str, ...], chosen: Sequence[Quantity], draws: int
) -> list[Interval]:
    """Return each quantity of these rows with its interval: in closed form if it has one, else of bootstrap draws.

    Intervals that rest on too few rows are left out. ``p`` is (n_rows,) for two classes, and else (n_rows, n_classes).
    """
    data, weight = Prediction(y, p), np.ones(len(y))
    support = row_support(y, p, weight, classes)
    values = {quantity.name: float(quantity.value(data)) for quantity in chosen}
    shown = [quantity for quantity in chosen if _has_interval(quantity, support)]
    intervals = {}
    if drawn := [quantity for quantity in shown if quantity.closed_form is None]:
        measured = np.array([[values[quantity.name] for quantity in drawn]])
        [samples] = _bootstrap_values(y, [p], weight, drawn, measured, draws, [0])
        for quantity, of_draws in zip(drawn, samples.T, strict=True):
            intervals[quantity.name] = _interval(values[quantity.name], of_draws, *_bounds(quantity))
    for quantity in shown:
        if quantity.closed_form is not None:
            low, high = np.clip(quantity.closed_form(data), *_bounds(quantity)).tolist()
            intervals[quantity.name] = Interval(values[quantity.name], low, high)
    return [intervals.get(quantity.name, Interval(values[quantity.name])) for quantity in chosen]


def default_draws(predictions: FilePredictions) -> int:
    """Return the number of draws without an option: 1000, and fewer for more than 100,000 rows or 20 groups."""
    sections = 1 + sum(len(set(groups)) for groups in predictions.groups.values())
    return max(FEWEST_DRAWS, min(MOST_DRAWS, _MOST_RESAMPLED_ROWS // predictions.n_rows, _MOST_TABLE_DRAWS // sections))


def _cells_of(predictions: SummarisedPredictions) -> Iterator[tuple[tuple[str, str, str], Cells]]:
    """Yield the names and cells of each section."""
    yield ("all rows", "", ""), predictions.cells
    for column in dict.fromkeys(column for column, _ in predictions.group_cells):
        groups = {group: cells for (other, group), cells in predictions.group_cells.items() if other == column}
        for group in [*sort_labels(set(groups) - {MISSING_GROUP}), *({MISSING_GROUP} & set(groups))]:
            yield (f"{column} = {group}", column, group), groups[group]


def _parts(predictions: FilePredictions) -> Iterator[tuple[str, str, str, npt.NDArray[np.intp]]]:
    """Yield name, column, group and rows of each section. Rows of weight 0 are in none."""
    has_weight = predictions.weight > 0
    yield "all rows", "", "", np.flatnonzero(has_weight)
    for column, groups in predictions.groups.items():
        names = sort_labels(set(groups[has_weight]) - {MISSING_GROUP})
        for group in [*names, *({MISSING_GROUP} & set(groups[has_weight]))]:
            yield f"{column} = {group}", column, group, np.flatnonzero(has_weight & (groups == group))


@dataclass(frozen=True, eq=False)
class _Part:
    """Hold the rows of a section, and the values of their metrics."""

    names: tuple[str, str, str]
    """Name of the section, column and group."""
    rows: npt.NDArray[np.intp]
    y: npt.NDArray[np.int64]
    stages: list[Floats]
    """Given probabilities, and calibrated ones if there are any."""
    weight: Floats
    values: list[list[float]]
    """The value of each quantity, for each stage."""
    closed_forms: list[list[tuple[float, float]]]
    """The interval of each quantity without any draw, for each stage. NaN where there is none."""
    support: RowSupport
    counts: tuple[int, ...]
    squares: Floats | None = None
    """Sums of squared weights, (n_rows,), if each row stands for many. None otherwise."""

    @classmethod
    def of_cells(
        cls, names: tuple[str, str, str], cells: Cells, classes: tuple[str, ...], quantities: Sequence[Quantity]
    ) -> _Part:
        """Return the part of a summary, which has neither a p-value nor closed forms. Both need single rows."""
        y, p, weight = cells.y, cells.p, cells.weight
        values = _values(y, p, weight, quantities)
        support = replace(row_support(y, p, weight, classes, cells.squares), has_p_value=False)
        closed_forms = [NO_INTERVAL] * len(quantities)
        no_rows = np.empty(0, np.intp)
        return cls(names, no_rows, y, [p], weight, [values], [closed_forms], support, cells.counts, cells.squares)

    @classmethod
    def of(
        cls, predictions: FilePredictions, calibrated: Floats | None, name: str, column: str, group: str,
        rows: npt.NDArray[np.intp], quantities: Sequence[Quantity], has_forms: bool,
    ) -> _Part:  # fmt: skip
        """Return the part of some rows. Intervals in closed form are computed if ``has_forms``."""
        p, y, weight = predictions.p[rows], predictions.y[rows], predictions.weight[rows]
        stages = [p] if calibrated is None else [p, calibrated[rows]]
        data = [Prediction(y, stage, weight) for stage in stages]
        values = [[float(quantity.value(stage)) for quantity in quantities] for stage in data]
        support = row_support(y, p, weight, predictions.classes)
        closed_forms = [
            [
                quantity.closed_form(stage)
                if has_forms and quantity.closed_form and _has_interval(quantity, support)
                else NO_INTERVAL
                for quantity in quantities
            ]
            for stage in data
        ]
        counts = tuple(np.bincount(y, minlength=len(predictions.classes)).tolist())
        return cls((name, column, group), rows, y, stages, weight, values, closed_forms, support, counts)

    def section(self, quantities: Sequence[Quantity], draws: int, seed: int) -> MeasuredSection:
        """Return the section, with intervals of ``draws`` bootstrap draws. With 0 draws, they are in closed form."""
        y, p, values = self.y, self.stages[0], [[*row] for row in self.values]
        samples = np.full((len(self.stages), draws, len(quantities)), np.nan)
        supported = [index for index, quantity in enumerate(quantities) if _has_interval(quantity, self.support)]
        if supported and draws:
            chosen = [quantities[index] for index in supported]
            measured = np.array([[row[place] for place in supported] for row in values])
            own_seed = [seed, zlib.crc32(self.names[0].encode())]  # so that no group changes another's draws
            samples[:, :, supported] = _bootstrap_values(
                y, self.stages, self.weight, chosen, measured, draws, own_seed, self.squares
            )
        if not self.support.has_p_value:
            for index, quantity in enumerate(quantities):
                values[0][index] = math.nan if quantity.name in _P_VALUES else values[0][index]
        lines = []
        for index, quantity in enumerate(quantities):
            bounds = _bounds(quantity)
            before, *others = [
                _interval(stage_values[index], stage_samples[:, index], *bounds)
                if draws
                else Interval(stage_values[index], *stage_forms[index])
                for stage_values, stage_samples, stage_forms in zip(values, samples, self.closed_forms, strict=True)
            ]
            if not others or not quantity.has_calibration:
                lines.append(Line(quantity, before))
                continue
            [after] = others
            # two infinite log losses have no difference
            with np.errstate(invalid="ignore"):
                change = _interval(np.subtract(after.value, before.value), samples[1, :, index] - samples[0, :, index])
            lines.append(Line(quantity, before, after, change))
        observed = np.where(y == 1, p, 1 - p) if p.ndim == 1 else p[np.arange(len(y)), y]
        impossible = tuple(self.rows[observed == 0].tolist()) if len(self.rows) else ()
        calibrated = self.stages[1] if len(self.stages) > 1 else None
        return MeasuredSection(*self.names, y, p, self.weight, calibrated, self.counts, lines, self.support, impossible)


def _has_interval(quantity: Quantity, support: RowSupport) -> bool:
    return quantity.has_interval and (support.has_losses if quantity.is_tested else support.has_all)


def _values(
    y: npt.NDArray[np.int64], p: Floats, weight: Floats, quantities: Sequence[Quantity], coarse: bool = False
) -> list[float]:
    prediction = Prediction(y, p, weight, coarse=coarse)
    return [float(quantity.value(prediction)) for quantity in quantities]


def _bootstrap_values(
    y: npt.NDArray[np.int64], stages: Sequence[Floats], weight: Floats, quantities: Sequence[Quantity],
    measured: Floats, draws: int, seed: Sequence[int], squares: Floats | None = None,
) -> Floats:  # fmt: skip
    """Return (n_stages, draws, n_quantities) values of rows drawn with replacement, the same rows in each stage.

    With ``squares``, each row stands for many, with this sum of squared weights. Slow metrics are NaN after
    ``FEW_DRAWS`` draws. ``measured``, (n_stages, n_quantities), are the values of the rows themselves.
    """
    values = np.full((len(stages), draws, len(quantities)), np.nan)
    order = np.argsort(stages[0] if stages[0].ndim == 1 else stages[0][:, -1])  # sorting sorted rows again is faster
    y, weight, stages = y[order], weight[order], [stage[order] for stage in stages]
    squares = None if squares is None else squares[order]
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
            pooled = [_PooledRows.of(y, stage, weight, cuts) for stage in stages]
            for number, rows in enumerate(pooled):
                itself = rows.drawn(rows.counts(weight)[None])
                for place, drawn in drawn_of.items():
                    # what pooling of predictions moves in the values themselves is taken out of each draw
                    shift = measured[number, place] - float(drawn(itself)[0])
                    values[number, :, place] = shift if math.isfinite(shift) else 0.0
            begin = 0
            for batch in _drawn_batches(pooled, weight, draws, np.random.default_rng(seed), squares):
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
            weight_drawn = weight * _drawn_times(len(y), random)
            for number, p in enumerate(stages):
                values[number, draw, few] = _values(y, p, weight_drawn, [quantities[i] for i in few], coarse=True)
    return values


# Blocks of predictions in a draw. Pooling moves a draw by less than a twentieth of the interval.
_MOST_BLOCKS = 1000
# Draws that are measured together. It divides FEW_DRAWS.
_BATCH = 200
# Most rows that are drawn one by one where all have the same weight.
_FEW_ROWS = 20_000


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
    pooled: Sequence[_PooledRows], weight: Floats, draws: int, random: np.random.Generator, squares: Floats | None
) -> Iterator[list[DrawnRows]]:
    """Yield batches of draws, each with one ``DrawnRows`` for each stage."""
    n_rows = len(weight)
    # Many rows of equal weight are not drawn one by one. The number of rows that a draw takes from each block and label
    # has a multinomial distribution, which is drawn instead.
    draws_counts = len(pooled) == 1 and n_rows > _FEW_ROWS and bool((weight == weight[0]).all())
    shares = pooled[0].counts(weight) / weight.sum()
    for begin in range(0, draws, _BATCH):
        size = min(_BATCH, draws - begin)
        if squares is not None:
            # Rows that stand for many are drawn by Poisson's distribution, with the mean and the variance of their
            # weight. For equal weights this is the number of rows that a bootstrap draws, but for the fixed sum.
            total, square = pooled[0].counts(weight), pooled[0].counts(squares)
            unit = np.divide(square, total, out=np.ones_like(total), where=total > 0)  # the weight of each row
            yield [pooled[0].drawn(unit * random.poisson(total / unit, size=(size, len(total))))]
            continue
        if draws_counts:
            yield [pooled[0].drawn(weight[0] * random.multinomial(n_rows, shares, size=size))]
            continue
        weights = (weight * _drawn_times(n_rows, random) for _ in range(size))
        counts = [[rows.counts(drawn) for rows in pooled] for drawn in weights]
        yield [rows.drawn(np.array(of_stage)) for rows, of_stage in zip(pooled, zip(*counts, strict=True), strict=True)]


def _drawn_times(n_rows: int, random: np.random.Generator) -> npt.NDArray[np.intp]:
    """Return how often each row is drawn, (n_rows,)."""
    return np.bincount(random.integers(n_rows, size=n_rows), minlength=n_rows)


def _bounds(quantity: Quantity) -> tuple[float, float]:
    return quantity.metric.least, quantity.metric.most


def _interval(value: float, draws: Floats, minimum: float = -math.inf, maximum: float = math.inf) -> Interval:
    """Return the basic bootstrap interval (Davison & Hinkley 1997, section 5.2) within the bounds of the metric."""
    finite = draws[np.isfinite(draws)]
    if not math.isfinite(value) or len(finite) < 2:
        return Interval(float(value))
    # A calibration error of drawn rows is larger than that of the rows, as that is larger than the error of many rows.
    # The basic interval reflects the draws at the value, which removes this bias once. Percentiles would add it.
    low, high = 2 * value - np.quantile(finite, [(1 + LEVEL) / 2, (1 - LEVEL) / 2])
    # where the bias is large, the reflected draws may miss the value itself
    return Interval(float(value), float(max(minimum, min(low, value))), float(min(maximum, max(high, value))))
