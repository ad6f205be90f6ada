"""One table of a measurement: the rows of a section, their metrics, and the intervals of these."""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from probcal.measure.quantities import P_VALUES
from probcal.measure.summary import Cells, ClassCells
from probcal.metrics.bootstrap import LEVEL, NO_INTERVAL, Interval, Quantity, basic_interval, bootstrap_values
from probcal.metrics.closed_forms import mean_interval
from probcal.metrics.metric import Prediction
from probcal.metrics.row_support import RowSupport, row_support
from probcal.reading.prediction_file import FilePredictions

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int64]


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
    y: Labels
    p: Floats
    """Given probabilities."""
    weight: Floats
    calibrated: Floats | None
    counts: tuple[int, ...]
    """Rows of each class."""
    class_weight: Floats
    """Sum of the weights of each class, (n_classes,)."""
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


@dataclass(frozen=True, eq=False)
class Part:
    """Hold the rows of a section, and the values of their metrics."""

    names: tuple[str, str, str]
    """Name of the section, column and group."""
    rows: npt.NDArray[np.intp]
    """Numbers of the rows in the file. Rows of a summary have none."""
    y: Labels
    """(n_rows,), or (n_stages, n_rows) where the stages have labels of their own."""
    stages: list[Floats]
    """Given probabilities, and calibrated ones if there are any."""
    weight: Floats
    values: list[list[float]]
    """The value of each quantity, for each stage."""
    closed_forms: list[list[tuple[float, float]]]
    """The interval of each quantity without any draw, for each stage. NaN where there is none."""
    support: RowSupport
    counts: tuple[int, ...]
    class_weight: Floats
    squares: Floats | None = None
    """Sums of squared weights, (n_rows,), if each row stands for many. None otherwise."""
    cluster: npt.NDArray[np.intp] | None = None
    """Number of the cluster of each row, (n_rows,). None if all rows are independent."""
    changes: list[tuple[float, float]] | None = None
    """The interval of the change of each quantity without any draw. NaN where there is none."""

    @classmethod
    def of_cells(
        cls, names: tuple[str, str, str], cells: Cells, classes: tuple[str, ...], quantities: Sequence[Quantity]
    ) -> Part:
        """Return the part of a summary, which has neither a p-value nor closed forms. Both need single rows."""
        y, p, weight = cells.y, cells.p, cells.weight
        stages = [p] if cells.calibrated is None else [p, cells.calibrated]
        values = [
            [float(quantity.value(data)) for quantity in quantities]
            for data in (Prediction(y, stage, weight) for stage in stages)
        ]
        support = replace(row_support(y, p, weight, classes, cells.squares, cells.counts), has_p_value=False)
        closed_forms = [[NO_INTERVAL] * len(quantities) for _ in stages]
        class_weight = _class_weights(y, weight, len(classes))
        return cls(
            names, _NO_ROWS, y, stages, weight, values, closed_forms, support, cells.counts, class_weight, cells.squares
        )

    @classmethod
    def of_rows(
        cls, names: tuple[str, str, str], rows: npt.NDArray[np.intp], predictions: FilePredictions,
        calibrated: Floats | None, quantities: Sequence[Quantity], has_forms: bool, calibrated_y: Labels | None = None,
    ) -> Part:  # fmt: skip
        """Return the part of some rows. Intervals in closed form are computed if ``has_forms``.

        ``calibrated_y``, (n_rows,), are the labels of the calibrated probabilities, if they have labels of their own.
        """
        p, y, weight = predictions.p[rows], predictions.y[rows], predictions.weight[rows]
        stages = [p] if calibrated is None else [p, calibrated[rows]]
        cluster = None
        if predictions.cluster is not None:
            _, cluster = np.unique(predictions.cluster[1][rows], return_inverse=True)
        support = row_support(y, p, weight, predictions.classes, cluster=cluster)
        labels = y if calibrated_y is None else np.array([y, calibrated_y[rows]])
        values, closed_forms, measured = [], [], []
        for one, stage in zip(_of_stages(labels, stages), stages, strict=True):
            data = Prediction(one, stage, weight, cluster=cluster)
            measured.append(data)
            values.append([float(quantity.value(data)) for quantity in quantities])
            forms = [one.closed_form if has_forms and one.is_supported(support) else None for one in quantities]
            closed_forms.append([NO_INTERVAL if form is None else form(data) for form in forms])
        changes = None
        if has_forms and len(measured) > 1:
            shown = [one if one.is_supported(support) else None for one in quantities]
            changes = [NO_INTERVAL if one is None else _change_interval(one, *measured) for one in shown]
        n_classes = len(predictions.classes)
        counts = tuple(np.bincount(y, minlength=n_classes).tolist())
        class_weight = _class_weights(y, weight, n_classes)
        return cls(
            names, rows, labels, stages, weight, values, closed_forms, support, counts, class_weight, cluster=cluster,
            changes=changes,
        )  # fmt: skip

    def section(self, quantities: Sequence[Quantity], draws: int, seed: int) -> MeasuredSection:
        """Return the section, with intervals of ``draws`` bootstrap draws. With 0 draws, they are in closed form."""
        y, p, values = _of_stages(self.y, self.stages)[0], self.stages[0], [[*row] for row in self.values]
        samples = np.full((len(self.stages), draws, len(quantities)), np.nan)
        supported = [index for index, quantity in enumerate(quantities) if quantity.is_supported(self.support)]
        if supported and draws:
            chosen = [quantities[index] for index in supported]
            measured = np.array([[row[place] for place in supported] for row in values])
            own_seed = [seed, zlib.crc32(self.names[0].encode())]  # so that no group changes another's draws
            samples[:, :, supported] = bootstrap_values(
                self.y, self.stages, self.weight, chosen, measured, draws, own_seed, self.squares, self.cluster
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
                difference = float(np.subtract(after.value, before.value))
                change = basic_interval(difference, samples[1, :, index] - samples[0, :, index])
            if not draws and self.changes is not None:
                change = Interval(difference, *self.changes[index])
            lines.append(Line(quantity, before, after, change))
        observed = np.where(y == 1, p, 1 - p) if p.ndim == 1 else p[np.arange(len(y)), y]
        impossible = tuple(self.rows[observed == 0].tolist()) if len(self.rows) else ()
        calibrated = self.stages[1] if len(self.stages) > 1 else None
        return MeasuredSection(
            *self.names, y, p, self.weight, calibrated, self.counts, self.class_weight, lines, self.support, impossible
        )


@dataclass(frozen=True, eq=False)
class ClassesPart:
    """Hold the summary of a section of several classes, and the values of its metrics for each class."""

    names: tuple[str, str, str]
    cells: ClassCells
    classes: list[list[float]]
    """The value of each quantity, for each class against all others."""
    support: RowSupport

    @classmethod
    def of_cells(
        cls, names: tuple[str, str, str], cells: ClassCells, classes: tuple[str, ...], quantities: Sequence[Quantity]
    ) -> ClassesPart:
        data = [Prediction(one.y, one.p, one.weight) for one in cells.against]
        values = [[float(quantity.value(one)) for quantity in quantities] for one in data]
        found = np.flatnonzero(cells.counts)
        weight, squares = cells.weight[found], cells.squares[found]
        support = row_support(found, np.zeros(len(found)), weight, classes, squares, cells.counts)
        return cls(names, cells, values, replace(support, has_p_value=False))

    def section(self, quantities: Sequence[Quantity], draws: int, seed: int) -> MeasuredSection:
        """Return the section. The losses have exact sums. All others follow from each class against all others."""
        losses = {
            "log_loss_bits": _scaled(self.cells.log_loss, 1 / math.log(2)),
            "log_loss_nats": self.cells.log_loss,
            "brier": self.cells.brier,
        }
        drawn = [one for one in quantities if one.metric.of_classes is not None and one.is_supported(self.support)]
        # How the classes vary together is not in their cells. Sorted draws vary together as much as they can, so that
        # the interval of a mean over the classes is the mean of their intervals, which is never too short.
        samples = np.sort([self._samples(quantities, drawn, draws, seed, n) for n in range(len(self.classes))], axis=1)
        lines = []
        for index, quantity in enumerate(quantities):
            of_classes = quantity.metric.of_classes
            interval = Interval(math.nan)
            if quantity.name in losses:
                interval = losses[quantity.name]
                ends = np.clip([interval.low, interval.high], *quantity.bounds).tolist()
                interval = Interval(interval.value, *(ends if quantity.is_supported(self.support) else NO_INTERVAL))
            elif of_classes is not None:
                value = float(of_classes(np.array([values[index] for values in self.classes])))
                chosen = samples[:, :, drawn.index(quantity)] if quantity in drawn else np.empty((1, 0))
                interval = basic_interval(value, of_classes(chosen), *quantity.bounds)
            lines.append(Line(quantity, interval))
        one = self.cells.likeliest
        return MeasuredSection(
            *self.names, one.y, one.p, one.weight, None, self.cells.counts, self.cells.weight, lines, self.support
        )

    def _samples(
        self, quantities: Sequence[Quantity], drawn: Sequence[Quantity], draws: int, seed: int, number: int
    ) -> Floats:
        """Return the quantities of draws of one class against all others, (draws, n_drawn)."""
        if not draws or not drawn:
            return np.empty((0, len(drawn)))
        cells, own_seed = self.cells.against[number], [seed, zlib.crc32(self.names[0].encode()), number]
        measured = np.array([[self.classes[number][quantities.index(one)] for one in drawn]])
        [samples] = bootstrap_values(cells.y, [cells.p], cells.weight, drawn, measured, draws, own_seed, cells.squares)
        return np.asarray(samples, np.float64)


def _change_interval(quantity: Quantity, before: Prediction, after: Prediction) -> tuple[float, float]:
    """Return the normal interval of the mean of the rows' differences. NaN for a quantity that is no mean."""
    if quantity.of_rows is None:
        return NO_INTERVAL
    with np.errstate(invalid="ignore"):  # two infinite losses have no difference
        differences = quantity.of_rows(after) - quantity.of_rows(before)
    return mean_interval(after.rows, differences, LEVEL)


_NO_ROWS = np.empty(0, np.intp)


def _of_stages(y: Labels, stages: Sequence[Floats]) -> Labels:
    return np.broadcast_to(y, (len(stages), y.shape[-1]))


def _class_weights(y: Labels, weight: Floats, n_classes: int) -> Floats:
    return np.array([weight[y == label].sum() for label in range(n_classes)])


def _scaled(interval: Interval, factor: float) -> Interval:
    return Interval(interval.value * factor, interval.low * factor, interval.high * factor)
