"""The ranking of the columns of a trial by one measure: tests of differences, and the table."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from probcal._io import join_first, printable, shortened
from probcal.analysis.hypothesis_tests import corrected_interval, corrected_t_test, holm
from probcal.metrics.registry import metric_named
from probcal.store.cell_result import CellResult
from probcal.store.folder import Store, cell_id
from probcal.store.outline import Outline, ResultColumn
from probcal.try_table.description import wrapped
from probcal.try_table.measures import LOSS, Measure, MeasureScale, measure_predictions, shown_measures

_DOUBT = 0.05
_FEWEST_TESTED = 3
"""With fewer splits nothing is tested: two differences may be equal by chance."""


@dataclass(frozen=True)
class RankedMethod:
    """Hold the results of a learner with a method. ``values`` holds the ranking measure of each finished split."""

    learner: str
    method: str
    values: tuple[float, ...]
    means: dict[str, float]
    """Measure -> its mean over the splits that have it."""
    failed: int
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
        whole = len(self.values) == self.splits and all(map(math.isfinite, self.values))
        return statistics.fmean(self.values) if whole else math.nan

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
    bounds = metric_named(measure.metric)
    return max(bounds.least * measure.factor, low), min(bounds.most * measure.factor, high)


def split_values(
    store: Store, results: dict[str, CellResult], ids: Sequence[str], wanted: Sequence[Measure], scale: MeasureScale
) -> tuple[dict[str, list[float]], int]:
    """Return the measures of the finished splits by name, and on how many of them the log loss is infinite.

    Raises StoreError where the predictions of a finished cell are gone.
    """
    found = [
        measure_predictions(*store.predictions(results[one]), scale, wanted)
        for one in ids
        if one in results and results[one].status == "done"
    ]
    values = {one.name: [split.values[one.name] for split in found] for one in wanted}
    return values, sum(split.infinite for split in found)


def ranking(
    store: Store, outline: Outline, scale: MeasureScale, measure: Measure = LOSS, test_share: float = 0.2
) -> list[RankedMethod]:
    """Return every column of an experiment on one data set, the best first, and those that failed last.

    Raises StoreError where the predictions of a finished cell are gone.
    """
    results = store.results()
    found = [_ranked(store, outline, results, column, scale, measure, test_share) for column in outline.columns]
    sign = -1 if measure.larger_is_better else 1
    return sorted(found, key=lambda one: (not one.is_ranked, sign * one.value if one.is_ranked else one.failed))


def not_significantly_different(best: RankedMethod, others: Sequence[RankedMethod]) -> list[RankedMethod]:
    """Return those of ``others`` that are not significantly different from ``best``.

    The differences on the same splits go into the corrected resampled t-test (Nadeau & Bengio, 2003). Holm's correction
    is applied to all p-values, at 5 %. Fewer than three splits, and equal differences, show none.
    """
    known = [one for one in others if one.is_ranked]
    p = holm([_p_value(best, one) for one in known])
    return [one for one, corrected in zip(known, p, strict=True) if corrected is None or corrected > _DOUBT]


def _p_value(best: RankedMethod, one: RankedMethod) -> float:
    found = corrected_t_test([a - b for a, b in zip(one.values, best.values, strict=True)], best.test_share)
    return found.p if best.splits >= _FEWEST_TESTED and found.error else 1.0  # equal differences have no spread to test


def cell_ids(outline: Outline, learner: str, method: str) -> list[str]:
    """Return the cells of a learner with a method, one for each split, on the only data set."""
    [row] = outline.datasets
    return [cell_id(row.name, one, learner, method) for one in range(outline.repetitions[row.name])]


def _ranked(
    store: Store,
    outline: Outline,
    results: dict[str, CellResult],
    column: ResultColumn,
    scale: MeasureScale,
    measure: Measure,
    test_share: float,
) -> RankedMethod:
    ids = cell_ids(outline, column.learner, column.method)
    found = [results[one] for one in ids if one in results]
    failed = [one for one in found if one.status != "done"]
    values, infinite = split_values(store, results, ids, shown_measures(measure), scale)
    return RankedMethod(
        learner=column.learner,
        method=column.method,
        values=tuple(values[measure.name]),
        means={name: _mean(numbers) for name, numbers in values.items()},
        failed=len(failed),
        splits=len(ids),
        seconds=_mean([one.seconds + one.shared_seconds for one in found if one.status == "done"]),
        error=f"{failed[0].error_type}: {failed[0].message}" if failed else "",
        infinite=infinite,
        measure=measure,
        test_share=test_share,
    )


def _mean(values: Sequence[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return statistics.fmean(known) if known else math.nan


_LONGEST_NAME = 12
_WIDE = 3
"""An interval so many times as wide as that of the best says little."""
_NAMED = 3


def ranking_table(ranked: Sequence[RankedMethod]) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of the table, best first. A place ends in ``*`` if not significantly different from it."""
    measure, rivals = ranked[0].measure, _rivals(ranked)
    beside = shown_measures(measure)[1:]
    some_infinite = any(one.infinite for one in ranked)
    header = ["", "learner", "method", measure.header, "95 % interval", *(one.header for one in beside)]
    header += ["inf"] * some_infinite + ["s"]
    rows = [
        [f"{place}{'*' * (one in rivals)}", *_row(one, beside, some_infinite)] for place, one in enumerate(ranked, 1)
    ]
    return header, rows


def legend(ranked: Sequence[RankedMethod], bound: float) -> Iterator[str]:
    """Yield how to read the table. ``bound`` is that of the log loss."""
    measure, splits = ranked[0].measure, ranked[0].splits
    shown = shown_measures(measure)
    smaller = ", ".join(one.about for one in shown if not one.larger_is_better)
    larger = ", ".join(one.about for one in shown if one.larger_is_better)
    yield (
        f"smaller is better: {smaller}; larger is better: {larger}. Means over {splits} splits; s: seconds of one cell."
    )
    yield f"For the log loss, the probabilities of every method are kept within {bound:.2g} and {1 - bound:.6g}."
    if any(one.infinite for one in ranked):
        yield (
            f"inf: number of the {splits} splits in which the log loss is infinite without these limits, because an "
            "observed label had predicted probability 0."
        )
    if splits < _FEWEST_TESTED and len(ranked) > 1:
        yield f"* {splits} splits are too few to test the difference from the best; --splits 10 tests it."
    elif rivals := _rivals(ranked):
        yield "* not significantly different from the best (corrected t-test, Holm, 5 %)."
        wide = [name_of(one) for one in rivals if _half_width(one) > _WIDE * _half_width(ranked[0])]
        if wide:
            names = join_first(wide, _NAMED)
            yield f"The interval of {names} is wide, so it may be much worse than the best all the same."


def _half_width(one: RankedMethod) -> float:
    low, high = one.interval or (0.0, 0.0)
    return (high - low) / 2


def failures(ranked: Sequence[RankedMethod]) -> Iterator[str]:
    """Yield a sentence for each method that failed on some split."""
    for one in ranked:
        if one.failed:
            where = f"{name_of(one)} failed on {one.failed} of {one.splits} splits"
            yield printable(f"{where}: {shortened(one.error.strip().partition(chr(10))[0], 150)}")


def ranked_lines(ranked: Sequence[RankedMethod], bound: float) -> Iterator[str]:
    """Yield the table for a terminal, how to read it, and what failed. ``bound`` is that of the log loss."""
    header, rows = ranking_table(ranked)
    yield from _aligned([header, *map(_for_terminal, rows)])
    yield ""
    for line in legend(ranked, bound):
        yield from wrapped(line, hang=0)
    for line in failures(ranked):
        yield from wrapped(line)


def _for_terminal(row: list[str]) -> list[str]:
    place, learner, method, *numbers = row
    names = [shortened(learner, _LONGEST_NAME), shortened(method, _LONGEST_NAME)]
    return [place if place.endswith("*") else f"{place} ", *names, *numbers]


def _rivals(ranked: Sequence[RankedMethod]) -> list[RankedMethod]:
    return not_significantly_different(ranked[0], ranked[1:]) if ranked[0].is_ranked else []


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        places = enumerate(zip(row, widths, strict=True))
        cells = (text.ljust(width) if place in (1, 2) else text.rjust(width) for place, (text, width) in places)
        yield "  ".join(cells).rstrip()


def _row(one: RankedMethod, beside: Sequence[Measure], some_infinite: bool) -> list[str]:
    interval = one.interval
    between = f"{interval[0]:.3f} to {interval[1]:.3f}" if interval else ""
    value = f"{one.value:.4f}" if one.is_ranked else "failed" if one.failed else "none"
    means = ["" if math.isnan(one.means[other.name]) else f"{one.means[other.name]:.3f}" for other in beside]
    infinite = [str(one.infinite) if one.infinite else ""] * some_infinite
    return [one.learner, one.method, value, between, *means, *infinite, _seconds(one.seconds)]


def _seconds(value: float) -> str:
    if math.isnan(value):
        return ""
    if value < 0.01:
        return "<.01"
    return f"{value:.2f}" if value < 1 else f"{value:.1f}" if value < 10 else f"{value:.0f}"


_DIRECT = "direct"


def name_of(one: RankedMethod) -> str:
    """Return ``isotonic on forest``, or ``forest alone``."""
    return f"{one.learner} alone" if one.method == _DIRECT else f"{one.method} on {one.learner}"
