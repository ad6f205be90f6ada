"""Measurements of predictions: the quantities of all rows and of each group, with their intervals."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from probcal.data.text_values import sort_labels
from probcal.measure.quantities import P_VALUES, quantities
from probcal.measure.summary import Cells, SummarisedPredictions
from probcal.metrics.bootstrap import (
    FEWEST_DRAWS,
    MOST_DRAWS,
    NO_INTERVAL,
    Interval,
    Quantity,
    basic_interval,
    bootstrap_values,
)
from probcal.metrics.decisions import Costs
from probcal.metrics.metric import Prediction
from probcal.metrics.row_support import RowSupport, row_support
from probcal.reading.file_columns import MISSING_GROUP
from probcal.reading.prediction_file import FilePredictions

Floats = npt.NDArray[np.float64]

# Number of rows in all draws, which takes about half a minute, and twice that with calibration.
_MOST_RESAMPLED_ROWS = 100_000_000
# Number of draws of all tables, each of which takes a millisecond however small the group is.
_MOST_TABLE_DRAWS = 20_000

MOST_CLASSES = 12
"""Number of classes that are shown one by one."""
_CLASS_QUANTITIES = ("base_rate", "mean_probability", "ece", "slope", "intercept")


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
            _Part.of_rows(*part, predictions, calibrated, table_quantities, has_forms) for part in _rows_of(predictions)
        ]
    if show_values is not None:
        show_values([part.section(table_quantities, 0, seed) for part in parts])
    return [part.section(table_quantities, draws, seed) for part in progress(parts)]


def class_sections(
    predictions: FilePredictions, calibrated: Floats | None, draws: int, seed: int
) -> list[MeasuredSection]:
    """Measure each of several classes against all others, with the quantities of a reliability diagram.

    Two classes have none, because one is the mirror image of the other. Of many classes, see ``shown_classes``.
    """
    if predictions.is_binary:
        return []
    chosen = [quantity for quantity in quantities(True) if quantity.name in _CLASS_QUANTITIES]
    has_weight = np.flatnonzero(predictions.weight > 0)
    sections = []
    for number in shown_classes(predictions):
        label = predictions.classes[number]
        y, p = class_rows(predictions, number)
        against = replace(predictions, classes=(f"not {label}", label), y=y, p=p)
        after = None if calibrated is None else calibrated[:, number]
        names = (f"class {label}", "", label)
        sections.append(
            _Part.of_rows(names, has_weight, against, after, chosen, not draws).section(chosen, draws, seed)
        )
    return sections


def shown_classes(predictions: FilePredictions) -> list[int]:
    """Return the numbers of the classes that are shown one by one: at most the ``MOST_CLASSES`` most frequent."""
    counts = np.array([*predictions.counts().values()])
    return sorted(np.argsort(-counts, kind="stable")[:MOST_CLASSES].tolist())


def class_rows(predictions: FilePredictions, number: int) -> tuple[npt.NDArray[np.int64], Floats]:
    """Return the labels and probabilities of one of several classes against all others, (n_rows,) each."""
    return (predictions.y == number).astype(np.int64), predictions.p[:, number]


def default_draws(predictions: FilePredictions) -> int:
    """Return the number of draws without an option: 1000, and fewer for more than 100,000 rows or 20 groups."""
    sections = 1 + sum(len(set(groups)) for groups in predictions.groups.values())
    return max(FEWEST_DRAWS, min(MOST_DRAWS, _MOST_RESAMPLED_ROWS // predictions.n_rows, _MOST_TABLE_DRAWS // sections))


def _cells_of(predictions: SummarisedPredictions) -> Iterator[tuple[tuple[str, str, str], Cells]]:
    """Yield the names and cells of each section."""
    yield ("all rows", "", ""), predictions.cells
    for column in dict.fromkeys(column for column, _ in predictions.group_cells):
        groups = {group: cells for (other, group), cells in predictions.group_cells.items() if other == column}
        for group in in_order(groups):
            yield (f"{column} = {group}", column, group), groups[group]


def _rows_of(predictions: FilePredictions) -> Iterator[tuple[tuple[str, str, str], npt.NDArray[np.intp]]]:
    """Yield the names and rows of each section. Rows of weight 0 are in none."""
    has_weight = predictions.weight > 0
    yield ("all rows", "", ""), np.flatnonzero(has_weight)
    for column, groups in predictions.groups.items():
        for group in in_order(groups[has_weight]):
            yield (f"{column} = {group}", column, group), np.flatnonzero(has_weight & (groups == group))


def in_order(groups: Iterable[str]) -> list[str]:
    """Return each group once in the order of a table, that of the rows without a value last."""
    names = set(groups)
    return [*sort_labels(names - {MISSING_GROUP}), *({MISSING_GROUP} & names)]


@dataclass(frozen=True, eq=False)
class _Part:
    """Hold the rows of a section, and the values of their metrics."""

    names: tuple[str, str, str]
    """Name of the section, column and group."""
    rows: npt.NDArray[np.intp]
    """Numbers of the rows in the file. Rows of a summary have none."""
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
    cluster: npt.NDArray[np.intp] | None = None
    """Number of the cluster of each row, (n_rows,). None if all rows are independent."""

    @classmethod
    def of_cells(
        cls, names: tuple[str, str, str], cells: Cells, classes: tuple[str, ...], quantities: Sequence[Quantity]
    ) -> _Part:
        """Return the part of a summary, which has neither a p-value nor closed forms. Both need single rows."""
        y, p, weight = cells.y, cells.p, cells.weight
        stages = [p] if cells.calibrated is None else [p, cells.calibrated]
        values = [
            [float(quantity.value(data)) for quantity in quantities]
            for data in (Prediction(y, stage, weight) for stage in stages)
        ]
        support = replace(row_support(y, p, weight, classes, cells.squares), has_p_value=False)
        closed_forms = [[NO_INTERVAL] * len(quantities) for _ in stages]
        no_rows = np.empty(0, np.intp)
        return cls(names, no_rows, y, stages, weight, values, closed_forms, support, cells.counts, cells.squares)

    @classmethod
    def of_rows(
        cls, names: tuple[str, str, str], rows: npt.NDArray[np.intp], predictions: FilePredictions,
        calibrated: Floats | None, quantities: Sequence[Quantity], has_forms: bool,
    ) -> _Part:  # fmt: skip
        """Return the part of some rows. Intervals in closed form are computed if ``has_forms``."""
        p, y, weight = predictions.p[rows], predictions.y[rows], predictions.weight[rows]
        stages = [p] if calibrated is None else [p, calibrated[rows]]
        cluster = None
        if predictions.cluster is not None:
            _, cluster = np.unique(predictions.cluster[1][rows], return_inverse=True)
        support = row_support(y, p, weight, predictions.classes, cluster=cluster)
        values, closed_forms = [], []
        for stage in stages:
            data = Prediction(y, stage, weight, cluster=cluster)
            values.append([float(quantity.value(data)) for quantity in quantities])
            forms = [one.closed_form if has_forms and one.is_supported(support) else None for one in quantities]
            closed_forms.append([NO_INTERVAL if form is None else form(data) for form in forms])
        counts = tuple(np.bincount(y, minlength=len(predictions.classes)).tolist())
        return cls(names, rows, y, stages, weight, values, closed_forms, support, counts, cluster=cluster)

    def section(self, quantities: Sequence[Quantity], draws: int, seed: int) -> MeasuredSection:
        """Return the section, with intervals of ``draws`` bootstrap draws. With 0 draws, they are in closed form."""
        y, p, values = self.y, self.stages[0], [[*row] for row in self.values]
        samples = np.full((len(self.stages), draws, len(quantities)), np.nan)
        supported = [index for index, quantity in enumerate(quantities) if quantity.is_supported(self.support)]
        if supported and draws:
            chosen = [quantities[index] for index in supported]
            measured = np.array([[row[place] for place in supported] for row in values])
            own_seed = [seed, zlib.crc32(self.names[0].encode())]  # so that no group changes another's draws
            samples[:, :, supported] = bootstrap_values(
                y, self.stages, self.weight, chosen, measured, draws, own_seed, self.squares, self.cluster
            )
        if not self.support.has_p_value:
            for index, quantity in enumerate(quantities):
                values[0][index] = math.nan if quantity.name in P_VALUES else values[0][index]
        lines = []
        for index, quantity in enumerate(quantities):
            before, *others = [
                basic_interval(stage_values[index], stage_samples[:, index], *quantity.bounds)
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
                change = basic_interval(
                    np.subtract(after.value, before.value), samples[1, :, index] - samples[0, :, index]
                )
            lines.append(Line(quantity, before, after, change))
        observed = np.where(y == 1, p, 1 - p) if p.ndim == 1 else p[np.arange(len(y)), y]
        impossible = tuple(self.rows[observed == 0].tolist()) if len(self.rows) else ()
        calibrated = self.stages[1] if len(self.stages) > 1 else None
        return MeasuredSection(*self.names, y, p, self.weight, calibrated, self.counts, lines, self.support, impossible)
