"""The ranking of the columns of a trial by one measure: tests of differences, and the table."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from probcal._io import aligned_lines, join_first, printable, shortened, wrap_line
from probcal.analysis.hypothesis_tests import corrected_interval, corrected_t_test, holm
from probcal.store.cell_result import CellResult
from probcal.store.folder import Store, cell_id
from probcal.store.stored_experiment import ResultColumn, StoredExperiment
from probcal.try_table.measures import LOSS, Measure, MeasureScale, measure_predictions, table_measures

_LEVEL = 0.05
# With fewer splits nothing is tested: two differences may be equal by chance.
_FEWEST_SPLITS = 3
_LONGEST_NAME = 20
# An interval so many times as wide as that of the best says little.
_WIDE_RATIO = 3
_MOST_NAMES = 3


@dataclass(frozen=True)
class RankedMethod:
    """Hold the results of a learner with a method. ``values`` holds the ranking measure of each done split."""

    learner: str
    method: str
    values: tuple[float, ...]
    means: dict[str, float]
    """Measure -> its mean over the splits that have it."""
    n_failed: int
    splits: int
    """Number of planned splits."""
    seconds: float
    """Mean time to fit and predict."""
    error: str = ""
    """The message of the first failed split."""
    infinite: int = 0
    """Number of splits whose log loss is infinite without the bound."""
    measure: Measure = LOSS
    test_share: float = 0.2
    """Share of the rows of a split that test."""

    @property
    def value(self) -> float:
        """Return the mean of the ranking measure, or NaN if a split failed or has no value."""
        is_complete = len(self.values) == self.splits and all(map(math.isfinite, self.values))
        return statistics.fmean(self.values) if is_complete else math.nan

    @property
    def interval(self) -> tuple[float, float] | None:
        """Return the 95 % interval, corrected for splits that share rows, within its bounds. None without a value."""
        return None if math.isnan(self.value) else interval_of(self.values, self.test_share, self.measure)

    @property
    def is_ranked(self) -> bool:
        """Return whether it has a value on every split."""
        return not math.isnan(self.value)


def interval_of(values: Sequence[float], test_share: float, measure: Measure) -> tuple[float, float]:
    """Return the corrected 95 % interval of the mean of ``values``, (n_splits,), cut at the bounds of ``measure``."""
    low, high = corrected_interval(values, test_share)
    metric = measure.metric
    return max(metric.least * measure.factor, low), min(metric.most * measure.factor, high)


def split_values(
    store: Store, results: dict[str, CellResult], ids: Sequence[str], measures: Sequence[Measure], scale: MeasureScale
) -> tuple[dict[str, list[float]], int]:
    """Return the measures of the done splits by name, and on how many of them the log loss is infinite.

    Raises StoreError where the predictions of a done cell are gone.
    """
    splits = [
        measure_predictions(*store.predictions(results[cell]), scale, measures, store.weights(results[cell]))
        for cell in ids
        if cell in results and results[cell].status == "done"
    ]
    values = {measure.name: [split.values[measure.name] for split in splits] for measure in measures}
    return values, sum(split.infinite for split in splits)


def ranking(
    store: Store, stored: StoredExperiment, scale: MeasureScale, measure: Measure = LOSS, test_share: float = 0.2
) -> list[RankedMethod]:
    """Return every column of an experiment on one data set, the best first, and those that failed last.

    Raises StoreError where the predictions of a done cell are gone.
    """
    results = store.results()
    methods = [_ranked_method(store, stored, results, column, scale, measure, test_share) for column in stored.columns]
    sign = -1 if measure.larger_is_better else 1
    return sorted(
        methods, key=lambda method: (not method.is_ranked, sign * method.value if method.is_ranked else method.n_failed)
    )


def rivals_of(best: RankedMethod, methods: Sequence[RankedMethod]) -> list[RankedMethod]:
    """Return those of ``methods`` that are not significantly different from ``best``.

    The differences on the same splits go into the corrected resampled t-test (Nadeau & Bengio, 2003). Holm's correction
    is applied to all p-values, at 5 %. Fewer than three splits, and equal differences, show none.
    """
    candidates = [method for method in methods if method.is_ranked]
    p_values = []
    for method in candidates:
        test = corrected_t_test([a - b for a, b in zip(method.values, best.values, strict=True)], best.test_share)
        # equal differences have no spread to test
        p_values.append(test.p if best.splits >= _FEWEST_SPLITS and test.error else 1.0)
    p = holm(p_values)
    return [method for method, p_value in zip(candidates, p, strict=True) if p_value is None or p_value > _LEVEL]


def cell_ids(stored: StoredExperiment, learner: str, method: str) -> list[str]:
    """Return the cells of a learner with a method, one for each split, on the only data set."""
    [row] = stored.datasets
    return [cell_id(row.name, repetition, learner, method) for repetition in range(stored.repetitions[row.name])]


def _ranked_method(
    store: Store, stored: StoredExperiment, results: dict[str, CellResult], column: ResultColumn, scale: MeasureScale,
    measure: Measure, test_share: float,
) -> RankedMethod:  # fmt: skip
    ids = cell_ids(stored, column.learner, column.method)
    cell_results = [results[cell] for cell in ids if cell in results]
    failed_results = [result for result in cell_results if result.status != "done"]
    values, infinite = split_values(store, results, ids, table_measures(measure), scale)
    return RankedMethod(
        learner=column.learner,
        method=column.method,
        values=tuple(values[measure.name]),
        means={name: _mean(numbers) for name, numbers in values.items()},
        n_failed=len(failed_results),
        splits=len(ids),
        seconds=_mean([result.seconds + result.shared_seconds for result in cell_results if result.status == "done"]),
        error=f"{failed_results[0].error_type}: {failed_results[0].message}" if failed_results else "",
        infinite=infinite,
        measure=measure,
        test_share=test_share,
    )


def _mean(values: Sequence[float]) -> float:
    finite = [value for value in values if not math.isnan(value)]
    return statistics.fmean(finite) if finite else math.nan


def ranking_table(methods: Sequence[RankedMethod]) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of the table, best first. A rank ends in ``*`` if not significantly different from it."""
    measure, rivals = methods[0].measure, _top_rivals(methods)
    measures = table_measures(measure)[1:]
    has_infinite = any(method.infinite for method in methods)
    header = ["", "learner", "method", measure.header, "95 % interval", *(entry.header for entry in measures)]
    header += ["inf"] * has_infinite + ["s"]
    digits = _decimals(method.value for method in methods)
    columns = [(one.name, _decimals(method.means[one.name] for method in methods)) for one in measures]
    rows = [
        [f"{rank}{'*' * (method in rivals)}", *_row(method, digits, columns, has_infinite)]
        for rank, method in enumerate(methods, 1)
    ]
    return header, rows


def legend(methods: Sequence[RankedMethod], bound: float) -> Iterator[str]:
    """Yield how to read the table. ``bound`` is that of the log loss."""
    measure, splits = methods[0].measure, methods[0].splits
    measures = table_measures(measure)
    losses = ", ".join(entry.about for entry in measures if not entry.larger_is_better)
    scores = ", ".join(entry.about for entry in measures if entry.larger_is_better)
    yield (
        f"smaller is better: {losses}; larger is better: {scores}. Means over {splits} splits; s: seconds of one cell."
    )
    yield f"For the log loss, the probabilities of every method are kept within {bound:.2g} and {1 - bound:.6g}."
    if any(method.infinite for method in methods):
        yield (
            f"inf: number of the {splits} splits in which the log loss is infinite without these limits, because an "
            "observed label had predicted probability 0."
        )
    if splits < _FEWEST_SPLITS and len(methods) > 1:
        yield f"* {splits} splits are too few to test the difference from the best; --splits 10 tests it."
    elif rivals := _top_rivals(methods):
        yield "* not significantly different from the best (corrected t-test, Holm, 5 %)."
        wide = [name_of(method) for method in rivals if _half_width(method) > _WIDE_RATIO * _half_width(methods[0])]
        if wide:
            names = join_first(wide, _MOST_NAMES)
            yield f"The interval of {names} is wide, so it may be much worse than the best all the same."


def _half_width(method: RankedMethod) -> float:
    low, high = method.interval or (0.0, 0.0)
    return (high - low) / 2


def failures(methods: Sequence[RankedMethod]) -> Iterator[str]:
    """Yield a sentence for each method that failed on some split."""
    for method in methods:
        if method.n_failed:
            summary = f"{name_of(method)} failed on {method.n_failed} of {method.splits} splits"
            yield printable(f"{summary}: {shortened(method.error.strip().partition(chr(10))[0], 150)}")


def ranked_lines(methods: Sequence[RankedMethod], bound: float) -> Iterator[str]:
    """Yield the table for a terminal, how to read it, and what failed. ``bound`` is that of the log loss."""
    header, rows = ranking_table(methods)
    short_rows = []
    for rank, learner, method, *numbers in rows:
        # A blank in place of the star keeps the ranks below each other.
        rank = rank if rank.endswith("*") else f"{rank} "
        short_rows.append([rank, shortened(learner, _LONGEST_NAME), shortened(method, _LONGEST_NAME), *numbers])
    yield from aligned_lines([header, *short_rows], left=(1, 2))
    yield ""
    for line in legend(methods, bound):
        yield from wrap_line(line, hang=0)
    for line in failures(methods):
        yield from wrap_line(line)


def _top_rivals(methods: Sequence[RankedMethod]) -> list[RankedMethod]:
    return rivals_of(methods[0], methods[1:]) if methods[0].is_ranked else []


def _row(method: RankedMethod, digits: int, columns: Sequence[tuple[str, int]], has_infinite: bool) -> list[str]:
    """Return the cells of a line. ``columns`` has the name and the decimals of each measure beside the ranking one."""
    interval = method.interval
    interval_text = f"{interval[0]:.{digits}f} to {interval[1]:.{digits}f}" if interval else ""
    value = f"{method.value:.{digits + 1}f}" if method.is_ranked else "failed" if method.n_failed else "none"
    means = ["" if math.isnan(mean := method.means[name]) else f"{mean:.{places}f}" for name, places in columns]
    infinite = [str(method.infinite) if method.infinite else ""] * has_infinite
    return [method.learner, method.method, value, interval_text, *means, *infinite, _seconds(method.seconds)]


def _decimals(values: Iterable[float]) -> int:
    """Return the decimals of a column: 3, and more where its largest number, as of a rare class, is below .01."""
    largest = max((abs(value) for value in values if math.isfinite(value)), default=0.0)
    return min(max(3, 1 - math.floor(math.log10(largest))), 6) if largest > 0 else 3


def _seconds(value: float) -> str:
    if math.isnan(value):
        return ""
    if value < 0.01:
        return "<.01"
    return f"{value:.2f}" if value < 1 else f"{value:.1f}" if value < 10 else f"{value:.0f}"


def name_of(method: RankedMethod) -> str:
    """Return ``isotonic on forest``, or ``forest alone``."""
    return f"{method.learner} alone" if method.method == "direct" else f"{method.method} on {method.learner}"
