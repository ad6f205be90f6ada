"""What the winner of ``probcal try`` reached on the rows of the file of ``--test``, beside the cross-validation."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from probcal._io import aligned_lines, counted, join_first, printable, shortened, wrap_line
from probcal.metrics.bootstrap import (
    FEWEST_DRAWS,
    LEVEL,
    MOST_DRAWS,
    NO_INTERVAL,
    Interval,
    Quantity,
    measure_quantities,
)
from probcal.metrics.closed_forms import auc_interval_of, brier_interval, log_loss_interval, share_interval
from probcal.metrics.metric import Prediction
from probcal.try_table.measures import LOSS, Measure, MeasureScale, measure_predictions
from probcal.try_table.preparation import PreparedTable
from probcal.try_table.ranked_methods import interval_of
from probcal.try_table.unseen_rows import UnseenRows, percent

Floats = npt.NDArray[np.float64]

HEADER = ("measure", "test rows", "95 % interval", "cross-val.", "95 % interval", "base rate")
# Number of rows in all draws of a bootstrap, which takes some seconds.
_MOST_DRAWN_ROWS = 20_000_000
_MOST_NAMES = 5
_LONGEST_MEASURE = 16
# Ends of intervals below it have four digits, as values have: with rare events all are small.
_SMALL = 0.1
# Smaller differences from the end of an interval come from the order of sums.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class UnseenLine:
    """Hold one measure of the test rows, of each split of the cross-validation, and of the base rate."""

    measure: Measure
    unseen: Interval
    cross_validated: Sequence[float]
    test_share: float
    """Share of the rows of a split that test."""
    baseline: float
    """The measure on the test rows if each is predicted as the training rows' shares of the classes."""

    @property
    def cross_interval(self) -> tuple[float, float]:
        """Return the interval of the cross-validated mean, NaN where a split has no value."""
        values = self.cross_validated
        is_finite = len(values) > 1 and all(map(math.isfinite, values))
        return interval_of(values, self.test_share, self.measure) if is_finite else NO_INTERVAL

    @property
    def overlaps(self) -> bool:
        """Return whether the interval of the test rows and that of the cross-validation overlap."""
        low, high = self.cross_interval
        return self.unseen.low <= high and self.unseen.high >= low

    def cells(self) -> list[str]:
        """Return the cells after the name of the measure."""
        cross_mean = float(np.mean(self.cross_validated)) if self.cross_validated else math.nan
        unseen = self.unseen
        return [
            _number(unseen.value), _range(unseen.low, unseen.high), _number(cross_mean), _range(*self.cross_interval),
            _number(self.baseline),
        ]  # fmt: skip


def _number(value: float) -> str:
    return f"{value:.4f}" if math.isfinite(value) else ""


def _range(low: float, high: float) -> str:
    digits = 3 if high >= _SMALL else 4
    return f"{low:.{digits}f} to {high:.{digits}f}" if math.isfinite(low) and math.isfinite(high) else ""


@dataclass(frozen=True)
class UnseenResult:
    """Hold what the winner reached on the rows of the file of ``--test``."""

    rows: UnseenRows
    winner: str
    """The winner, such as ``sigmoid on forest``."""
    n_training: int
    """Number of rows on which it was fitted."""
    shares: str
    """How many rows each class has, in words."""
    lines: Sequence[UnseenLine]
    new_base_rate: float | None = None
    """Share of the positive class of two among the test rows, if it differs from that of the training rows."""

    @property
    def sentence(self) -> str:
        """Return what was tested on what."""
        return (
            f"{self.rows.table.origin_name}: {counted(len(self.rows.y))} with a label, predicted once by "
            f"{self.winner}, which was fitted on all {self.n_training:,} labelled rows. {self.shares}{self._on_groups}"
        )

    @property
    def _on_groups(self) -> str:
        if self.rows.groups is None:
            return ""
        name, groups = self.rows.groups
        return (
            f' Rows of one "{name}" belong together, so the intervals count its '
            f"{counted(len(np.unique(groups)), 'group')}, and not the rows."
        )

    @property
    def difference(self) -> str:
        """Return a sentence if the log loss is outside the interval of the cross-validated one, or an empty text."""
        [line] = [line for line in self.lines if line.measure == LOSS]
        value, (low, high) = line.unseen, line.cross_interval
        is_above = value.value > high + _ROUNDING
        if not is_above and not value.value < low - _ROUNDING:
            return ""
        text = (
            f"The log loss of the test rows, {value.value:.4f}, lies {'above' if is_above else 'below'} the interval "
            f"of the cross-validated one, {_range(low, high)}"
        )
        if math.isnan(value.low):
            return f"{text}; so few rows may differ by chance."
        if line.overlaps:
            return f"{text}; the two intervals overlap, so this may be chance."
        text += ": the test rows are not like the training rows."
        # rows that are as easy to separate have another log loss, too, if the shares of the classes have moved
        if self.new_base_rate is None or not any(line.measure.name == "auc" and line.overlaps for line in self.lines):
            return f"{text} Compare the shares of the classes, and the AUC."
        return (
            f"{text} The share of the positive class has moved, and the AUC has not. probcal measure --calibrate prior "
            f"--base-rate {self.new_base_rate:.3g}, for predictions.csv of --export, makes a map for the new share."
        )

    @property
    def notes(self) -> list[str]:
        """Return the sentences below the table."""
        warnings = [f"warning: {printable(warning)}." for warning in self.rows.warnings]
        return [self.difference, *warnings] if self.difference else warnings

    def table(self) -> list[list[str]]:
        """Return the rows of the table below ``HEADER``, each measure in words."""
        return [[line.measure.about, *line.cells()] for line in self.lines]

    def terminal_lines(self) -> Iterator[str]:
        """Yield the result for a terminal."""
        yield from wrap_line(printable(f"test: {self.sentence}"))
        yield ""
        rows = [[shortened(line.measure.header, _LONGEST_MEASURE), *line.cells()] for line in self.lines]
        yield from aligned_lines([["", *HEADER[1:]], *rows])
        yield ""
        yield "base rate: every test row gets the class shares of the training rows."
        if self.difference:
            yield from wrap_line(self.difference, hang=0)
        yield from self.rows.warning_lines


def measure_unseen(
    rows: UnseenRows, p: Floats, prepared: PreparedTable, winner: str,
    cross_validated: Mapping[Measure, Sequence[float]],
) -> UnseenResult:  # fmt: skip
    """Return the measures of the predictions ``p``, (n_labelled, n_classes), of the test rows.

    ``cross_validated`` has the values of each measure on each split.
    Raises ProbcalError if the metric of a plugin raises anything.
    """
    scale, measures, y = MeasureScale(prepared.bound), list(cross_validated), rows.y
    constant = np.tile(prepared.class_shares, (len(y), 1))
    baseline = measure_predictions(y, constant, scale, measures, rows.weight).values
    intervals = _intervals(rows, p, scale, measures, tuple(prepared.class_names))
    lines = [
        UnseenLine(
            measure, intervals[measure], cross_validated[measure], prepared.split.test_share, baseline[measure.name]
        )
        for measure in measures
    ]
    shares, new_base_rate = _shares(rows, prepared), _new_base_rate(rows, prepared)
    return UnseenResult(rows, winner, prepared.n_labelled, shares, lines, new_base_rate)


def _intervals(
    rows: UnseenRows, p: Floats, scale: MeasureScale, measures: Sequence[Measure], classes: tuple[str, ...]
) -> dict[Measure, Interval]:
    """Return measure -> its value and interval. As in the ranking, only the log loss has bounded predictions."""
    y = rows.y
    draws = max(FEWEST_DRAWS, min(MOST_DRAWS, _MOST_DRAWN_ROWS // len(y)))
    result = {}
    for bounded in (True, False):
        chosen = [measure for measure in measures if (measure == LOSS) == bounded]
        columns = scale.clip(p) if bounded else p
        quantities = [_quantity(measure, len(classes) == 2) for measure in chosen]
        p_columns = columns[:, 1] if len(classes) == 2 else columns
        intervals = measure_quantities(y, p_columns, classes, quantities, draws, rows.weight, rows.cluster)
        for measure, one in zip(chosen, intervals, strict=True):
            result[measure] = Interval(*(measure.factor * number for number in (one.value, one.low, one.high)))
    return result


def _quantity(measure: Measure, two_classes: bool) -> Quantity:
    metric = measure.metric
    assert metric.value is not None
    forms = {
        "cxe": lambda data: log_loss_interval(data.rows, LEVEL),
        "brier": lambda data: brier_interval(data.rows, LEVEL),
        "rms": _rms_interval,
    }
    if two_classes:
        forms["auc"] = lambda data: auc_interval_of(data, LEVEL)
    return Quantity(
        measure.name, measure.header, metric.value, metric, metric.drawn, closed_form=forms.get(metric.name)
    )


def _rms_interval(data: Prediction) -> tuple[float, float]:
    low, high = brier_interval(data.rows, LEVEL)
    return math.sqrt(max(0.0, low)), math.sqrt(high)


def _shares(unseen: UnseenRows, prepared: PreparedTable) -> str:
    """Return the share of each class, of two the positive one, among the test rows and among the training rows."""
    counts = np.bincount(unseen.y, minlength=len(prepared.class_names))
    weighted = "" if unseen.weight is None else "weighted, "
    parts = []
    for number, name in enumerate(prepared.class_names):
        rows, training = int(counts[number]), percent(float(prepared.class_shares[number]))
        share, low, high = _share(unseen, number)
        interval = f", 95 % interval {100 * low:.3g} to {100 * high:.3g} %" if len(counts) == 2 else ""
        verb = "is" if rows == 1 else "are"
        parts.append(
            f'{rows:,} {verb} "{name}" ({weighted}{percent(share)}{interval}; {training} of the training rows)'
        )
    return f"{join_first(parts[1:] if len(counts) == 2 else parts, _MOST_NAMES)}."


def _share(unseen: UnseenRows, number: int) -> tuple[float, float, float]:
    """Return the share of a class among the test rows, and its interval."""
    is_class = (unseen.y == number).astype(int)
    rows = Prediction(is_class, np.full(len(is_class), 0.5), unseen.weight, cluster=unseen.cluster).rows
    return rows.mean(rows.y), *share_interval(rows, LEVEL)


def _new_base_rate(unseen: UnseenRows, prepared: PreparedTable) -> float | None:
    """Return the share of the positive class among the test rows if its interval excludes that of the training rows."""
    if len(prepared.class_names) != 2:
        return None
    share, low, high = _share(unseen, 1)
    return None if low <= prepared.class_shares[1] <= high or not 0 < share < 1 else share
