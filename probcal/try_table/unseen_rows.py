"""The file of ``probcal try --test``: read as the training file, and predicted once by the winner."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from probcal._io import aligned_lines, counted, join_first, printable, shortened, wrap_line
from probcal.errors import DataError, did_you_mean
from probcal.metrics.bootstrap import (
    FEWEST_DRAWS,
    LEVEL,
    MOST_DRAWS,
    NO_INTERVAL,
    Interval,
    Quantity,
    measure_quantities,
)
from probcal.metrics.closed_forms import auc_interval, brier_interval, log_loss_interval, share_interval
from probcal.metrics.metric import Prediction
from probcal.metrics.row_support import row_support
from probcal.reading.table import STANDARD_INPUT, UserTable, read_table
from probcal.reading.table_plan import inputs_of, needed_columns
from probcal.try_table.measures import LOSS, Measure, MeasureScale, measure_predictions
from probcal.try_table.new_rows import read_labels, read_weights
from probcal.try_table.preparation import PreparedTable
from probcal.try_table.ranked_methods import interval_of
from probcal.try_table.warning_codes import shown_warnings

Floats = npt.NDArray[np.float64]

HEADER = ("measure", "test rows", "95 % interval", "cross-val.", "95 % interval", "base rate")
# Number of rows in all draws of a bootstrap, which takes some seconds.
_MOST_DRAWN_ROWS = 20_000_000
_MOST_NAMES = 5
_LONGEST_MEASURE = 16
# Smaller differences from the end of an interval come from the order of sums.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class UnseenRows:
    """Hold the labelled rows of the file of ``--test``."""

    table: UserTable
    labelled: npt.NDArray[np.bool_]
    """(n_rows,) whether each row of the file has a label."""
    y: npt.NDArray[np.int64]
    """(n_labelled,) class numbers."""
    warnings: Sequence[str]
    """What to know before you trust their results."""
    weight: Floats | None = None
    """(n_labelled,) weights, all above 0. None without ``--weight``."""

    @property
    def plan_lines(self) -> list[str]:
        """Return what will be done with the rows, for a terminal."""
        size = f"{self.table.origin_name}, {counted(len(self.y))} with a label"
        return wrap_line(printable(f"test: {size}; the winner predicts them once, after the ranking"))

    @property
    def warning_lines(self) -> Iterator[str]:
        """Yield the warnings for a terminal."""
        for warning in self.warnings:
            yield from wrap_line(f"warning: {printable(warning)}.")

    def inputs(self, prepared: PreparedTable, is_native: bool) -> pd.DataFrame:
        """Return the input columns of the rows, (n_labelled, n_inputs), as the learner needs them."""
        X = inputs_of(self.table, prepared.plan_of_new_rows(is_native)).X
        return X[self.labelled].reset_index(drop=True)


def read_unseen_rows(source: str, training_source: str, prepared: PreparedTable) -> UnseenRows:
    """Read the file ``source`` as the training file of ``prepared``, which was read from ``training_source``.

    Raises DataError for a file that cannot be read so, the training file itself, unknown labels and no labels.
    """
    if source == training_source == STANDARD_INPUT:
        raise DataError("--test -: standard input holds the training rows; give a file")
    plan = prepared.plan_of_new_rows()
    reading = replace(prepared.table.reading, is_of_another_file=True)
    table = read_table(source, reading, [*needed_columns(plan), plan.target])
    # standard input has the same name each time, and other rows
    is_same = table.digest is not None and table.digest == prepared.table.digest
    if is_same or (table.digest is None and table.origin == prepared.table.origin != "standard input"):
        raise DataError(
            f"--test {source}: has the same content as the training file; give rows that did not choose the winner"
        )
    rows, labels = inputs_of(table, plan), read_labels(table, plan)
    for label, row in labels.unknown.items():
        hint = did_you_mean(label, plan.labels) or f" (they have: {join_first(plan.labels, _MOST_NAMES)})"
        raise DataError(
            f'{table.where(row)}: column "{plan.target}" holds the label "{label}", and no training row does{hint}'
        )
    labelled, warnings = labels.y >= 0, [("test-level", warning) for warning in rows.warnings]
    n_unlabelled = int((~labelled).sum())
    weight = None if plan.weight is None else read_weights(table, plan.weight)
    if weight is not None and (n_weightless := int((labelled & (weight == 0)).sum())):
        labelled &= weight > 0
        verb = "is" if n_weightless == 1 else "are"
        warnings.append(("test-weightless", f"{counted(n_weightless)} of weight 0 {verb} left out"))
    if not labelled.any():
        raise DataError(f'{table.origin_name}: column "{plan.target}" is empty: no row has a label')
    y = labels.y[labelled]
    weight = None if weight is None else weight[labelled]
    if n_unlabelled:
        verbs = ("has", "is") if n_unlabelled == 1 else ("have", "are")
        of_all = f"{n_unlabelled:,} of {counted(table.n_rows)}"
        warnings.append(("test-unlabelled", f"{of_all} {verbs[0]} no {plan.target} and {verbs[1]} left out"))
    warnings += [("test-copies", text) for text in _sentences_on_copies(rows.X[labelled], y, prepared)]
    warnings += [("test-classes", text) for text in _sentences_on_few_rows(y, plan.classes, weight)]
    return UnseenRows(table, labelled, y, [*shown_warnings(warnings, prepared.ignored)], weight)


def _sentences_on_copies(X: pd.DataFrame, y: npt.NDArray[Any], prepared: PreparedTable) -> Iterator[str]:
    train_X, train_y, _ = prepared.training_rows()
    training, unseen = _row_hashes(train_X[list(X.columns)], train_y), _row_hashes(X, y)
    n_copies = int(np.isin(unseen, training).sum())
    if not n_copies:
        return
    verb = "has" if n_copies == 1 else "have"
    sentence = (
        f"{n_copies:,} of {counted(len(y))} ({_percent(n_copies / len(y))}) {verb} the same inputs and label as a "
        "training row. If these are the same cases, the results of the test rows are too good"
    )
    own_share = float(pd.Series(training).duplicated(keep=False).mean())
    if own_share:
        sentence += f" (of the training rows, {_percent(own_share)} are equal to another one)"
    yield sentence


def _row_hashes(X: pd.DataFrame, y: npt.NDArray[Any]) -> npt.NDArray[np.uint64]:
    """Return (n_rows,) a number for each row, equal for rows of equal inputs and labels."""
    columns: dict[int | str, Any] = {"label": y.astype(np.int64)}
    for number, (_, values) in enumerate(X.items()):
        if isinstance(values.dtype, pd.CategoricalDtype):
            # the levels of two files may be stored as different types of text
            columns[number] = values.cat.rename_categories(values.cat.categories.astype(object)).to_numpy()
        else:
            columns[number] = values.to_numpy(np.float64) + 0.0  # so that -0 is 0
    return np.asarray(pd.util.hash_pandas_object(pd.DataFrame(columns), index=False), dtype=np.uint64)


def _sentences_on_few_rows(y: npt.NDArray[np.int64], classes: tuple[str, ...], weight: Floats | None) -> Iterator[str]:
    counts = np.bincount(y, minlength=len(classes))
    absent = [name for name, rows in zip(classes, counts, strict=True) if not rows]
    if absent:
        names = join_first((f'"{name}"' for name in absent), _MOST_NAMES)
        yield f"no test row is {names}, so measures that need every class are left out"
    support = row_support(y, np.full(len(y), 0.5), np.ones(len(y)) if weight is None else weight, classes)
    if support.reason and not absent:
        yield f"{support.reason} are too few for some of the intervals"


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


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
    return f"{low:.3f} to {high:.3f}" if math.isfinite(low) and math.isfinite(high) else ""


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

    @property
    def sentence(self) -> str:
        """Return what was tested on what."""
        return (
            f"{self.rows.table.origin_name}: {counted(len(self.rows.y))} with a label, predicted once by "
            f"{self.winner}, which was fitted on all {self.n_training:,} labelled rows. {self.shares}"
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
        if value.low <= high and value.high >= low:
            return f"{text}; the two intervals overlap, so this may be chance."
        # rows that are as easy to separate have another log loss, too, if the shares of the classes have moved
        return f"{text}: the test rows are not like the training rows. Compare the shares of the classes, and the AUC."

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
    return UnseenResult(rows, winner, prepared.n_labelled, _shares(rows, prepared), lines)


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
        intervals = measure_quantities(y, p_columns, classes, quantities, draws, rows.weight)
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
        forms["auc"] = lambda data: auc_interval(data.ranked[0], LEVEL)
    return Quantity(
        measure.name, measure.header, metric.value, metric, metric.drawn, closed_form=forms.get(metric.name)
    )


def _rms_interval(data: Prediction) -> tuple[float, float]:
    low, high = brier_interval(data.rows, LEVEL)
    return math.sqrt(max(0.0, low)), math.sqrt(high)


def _shares(unseen: UnseenRows, prepared: PreparedTable) -> str:
    """Return the share of each class, of two the positive one, among the test rows and among the training rows."""
    y, names = unseen.y, prepared.class_names
    counts = np.bincount(y, minlength=len(names))
    weight = np.ones(len(y)) if unseen.weight is None else unseen.weight
    weighted = "" if unseen.weight is None else "weighted, "
    parts = []
    for number, name in enumerate(names):
        rows, share = int(counts[number]), float(prepared.class_shares[number])
        own_share = float(weight[y == number].sum() / weight.sum())
        interval = ""
        if len(names) == 2:
            low, high = share_interval(
                Prediction((y == number).astype(int), np.full(len(y), share), weight).rows, LEVEL
            )
            interval = f", 95 % interval {100 * low:.3g} to {100 * high:.3g} %"
        verb = "is" if rows == 1 else "are"
        parts.append(
            f'{rows:,} {verb} "{name}" ({weighted}{_percent(own_share)}{interval}; {_percent(share)} of the training '
            "rows)"
        )
    return f"{join_first(parts[1:] if len(names) == 2 else parts, _MOST_NAMES)}."
