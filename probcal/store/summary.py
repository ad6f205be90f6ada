"""Summaries of results: one metric over the repetitions of a table cell, and the counts of all planned cells."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TypeVar

from probcal.analysis.spread import standard_deviation
from probcal.metrics.metric import format_number
from probcal.store.cell_result import CellResult, Results, cell_id, resolve_metric
from probcal.store.stored_experiment import ResultColumn, Row, StoredExperiment

Name = TypeVar("Name", bound=Hashable)


@dataclass(frozen=True)
class Summary:
    """Summarise one metric over the repetitions of one data set and one column."""

    values: tuple[float, ...]
    """One number for every done repetition that has one. ``inf`` counts as a number, NaN does not."""
    planned: int
    failed: int
    undefined: int
    """Done repetitions without a number: it is NaN, or the metric was not measured."""
    random_splits: bool = False
    """Whether every repetition is random, even where only one is planned."""
    split: str | None = None
    """The kind of split, such as ``holdout``. None in folders of earlier versions."""

    @property
    def is_published_split(self) -> bool:
        """Return whether a published number is about the same rows: one repetition, with a split that is not random."""
        return self.planned == 1 and not self.random_splits

    @property
    def n(self) -> int:
        return len(self.values)

    @cached_property
    def infinite(self) -> int:
        return sum(map(math.isinf, self.values))

    @cached_property
    def mean(self) -> float | None:
        """Return the mean: None without any number, infinite as soon as one repetition is infinite."""
        if not self.values:
            return None
        return math.inf if self.infinite else statistics.fmean(self.values)

    @cached_property
    def sd(self) -> float | None:
        """Return the standard deviation with n - 1 in the denominator.

        It is None for fewer than two numbers or an infinite mean.
        """
        return None if self.n < 2 or self.infinite else standard_deviation(self.values)

    @property
    def is_partial(self) -> bool:
        return 0 < self.n < self.planned


@dataclass(frozen=True)
class CellCounts:
    """Count the planned cells by their state."""

    planned: int
    failed: list[CellResult]
    not_run: int
    empty: list[str]
    """Titles of the data sets of which no cell was ever run."""
    incomplete: dict[str, list[str]]
    """Title of each data set with a column of which only some repetitions were ever run -> the others."""
    warned: dict[str, Counter[str]]
    """Kind of warning -> column -> how many of its cells gave it."""
    stale: Counter[str]
    """Column -> how many of its results the last run found stale."""
    later_failure: list[CellResult]
    """The failed attempts to rerun done results. These results are kept and shown."""


def planned_ids(stored: StoredExperiment, row: Row, column: ResultColumn, seed: int | None = None) -> Sequence[str]:
    """Return the ids of the planned cells. With ``seed``, return only the repetition that has this seed."""
    if stored.skips(row, column):
        return ()
    ids = _ids(row.name, stored.repetitions[row.name], column.learner, column.method)
    if seed is None:
        return ids
    return [name for number, name in enumerate(ids) if stored.seed is not None and stored.seed + number == seed]


@lru_cache(maxsize=1 << 14)
def _ids(dataset: str, n_repetitions: int, learner: str, method: str) -> tuple[str, ...]:
    return tuple(cell_id(dataset, repetition, learner, method) for repetition in range(n_repetitions))


def done_cells(
    stored: StoredExperiment, results: Results, row: Row, column: ResultColumn, seed: int | None = None
) -> list[CellResult]:
    """Return the planned cells that are done, in the order of their repetitions. ``seed`` is as in ``planned_ids``."""

    def find() -> list[CellResult]:
        candidates = (results.get(name) for name in planned_ids(stored, row, column, seed))
        return [result for result in candidates if result and result.status == "done"]

    return results.compute_once(question_about("done", stored, row, column, seed), find)


def question_about(
    kind: str, stored: StoredExperiment, row: Row, column: ResultColumn, seed: int | None, *more: str
) -> tuple[str | int | None, ...]:
    """Return the name of something computed from one column: all that its value depends on, beside the results."""
    n_planned = 0 if stored.skips(row, column) else stored.repetitions[row.name]
    return kind, row.name, column.learner, column.method, n_planned, stored.seed, seed, *more


def done_stages(
    stored: StoredExperiment, results: Results, row: Row, column: ResultColumn
) -> list[Mapping[str, list[float]]]:
    """Return the stages of the planned cells that are done and have any, in the order of their repetitions."""
    return [cell.stages for cell in done_cells(stored, results, row, column) if cell.stages]


def first_cell(stored: StoredExperiment, results: Results, row: Row, column: ResultColumn) -> CellResult | None:
    """Return the first repetition, from which figures take their curves. None where it is not done."""
    cells = done_cells(stored, results, row, column)
    return cells[0] if cells and cells[0].repetition == 0 else None


def summarise(
    stored: StoredExperiment, results: Results, row: Row, column: ResultColumn, metric: str, seed: int | None = None
) -> Summary:
    """Summarise ``metric`` over the planned repetitions, or over the one with ``seed``.

    Results of repetitions that the experiment no longer plans are left out.
    """

    def compute() -> Summary:
        ids = planned_ids(stored, row, column, seed)
        n_run = sum(map(results.__contains__, ids))
        numbers = [cell.metrics.get(metric, math.nan) for cell in done_cells(stored, results, row, column, seed)]
        values = tuple(value for value in numbers if not math.isnan(value))
        random_splits = seed is None and row.has_random_rows
        return Summary(values, len(ids), n_run - len(numbers), len(numbers) - len(values), random_splits, row.split)

    return results.compute_once(question_about("summary", stored, row, column, seed, metric), compute)


def cell_counts(stored: StoredExperiment, results: Results) -> CellCounts:
    ids_by_row = [
        [name for column in stored.columns for name in planned_ids(stored, row, column)] for row in stored.datasets
    ]
    ids = [name for row_ids in ids_by_row for name in row_ids]
    found = [results[name] for name in ids if name in results]
    return CellCounts(
        planned=len(ids),
        failed=[result for result in found if result.status != "done"],
        not_run=len(ids) - len(found),
        later_failure=[retry for result in found if (retry := result.later_failure) is not None],
        empty=[
            row.title
            for row, row_ids in zip(stored.datasets, ids_by_row, strict=True)
            if row_ids and not any(map(results.__contains__, row_ids))
        ],
        incomplete={
            row.title: missing for row in stored.datasets if (missing := _missing_repetitions(stored, results, row))
        },
        warned=_count_warnings(stored, results),
        stale=Counter(
            column.label
            for row in stored.datasets
            for column in stored.columns
            for _ in stale_ids(stored, results, row, column)
        ),
    )


def _missing_repetitions(stored: StoredExperiment, results: Results, row: Row) -> list[str]:
    """Return the cells without a result, of the columns that have a result of another repetition."""
    ids_by_column = (planned_ids(stored, row, column) for column in stored.columns)
    # Columns without any result may be left out on purpose: ``probcal run -l`` and ``-m`` select columns.
    begun = (ids for ids in ids_by_column if any(name in results for name in ids))
    return [name for ids in begun for name in ids if name not in results]


def stale_ids(stored: StoredExperiment, results: Results, row: Row, column: ResultColumn) -> list[str]:
    """Return the cells whose result was made with other settings, data or numerics versions than the last run has."""
    if not stored.stale:
        return []
    return [name for name in planned_ids(stored, row, column) if name in results and stored.is_stale(results[name])]


def _count_warnings(stored: StoredExperiment, results: Results) -> dict[str, Counter[str]]:
    warnings: dict[str, Counter[str]] = {}
    for row in stored.datasets:
        for column in stored.columns:
            for name in planned_ids(stored, row, column):
                for kind in results[name].warnings if name in results else ():
                    warnings.setdefault(kind, Counter())[column.label] += 1
    return warnings


def best_names(means: Mapping[Name, float | None], metric: str) -> set[Name]:
    """Return all names whose printed mean equals the best finite mean.

    The set is empty where no mean is finite or the metric has no better end.
    """
    finite_means = {name: mean for name, mean in means.items() if mean is not None and math.isfinite(mean)}
    if not finite_means or resolve_metric(metric).no_end:
        return set()
    # Compared as printed, since a reader sees equal numbers and would ask why only one is marked.
    best = format_number(resolve_metric(metric).best(list(finite_means.values())))
    return {name for name, mean in finite_means.items() if format_number(mean) == best}
