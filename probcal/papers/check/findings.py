"""Results of an experiment as the checks read them, and the comparison of published numbers with them.

Differences between columns on the same splits vary far less than the columns themselves. Any two published columns of
one learner are compared, the later less the earlier. Ours come from one learner of ours. Where that learner has no such
column, the only other column that stands for the published one is used.
"""

from __future__ import annotations

import functools
import itertools
import math
import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from probcal.analysis.spread import standard_deviation
from probcal.papers.bands import ROUNDING, Band, Verdict
from probcal.papers.check.comparison import (
    LOSS_RATIO,
    PUBLISHED_SPLITS,
    attach_paper,
    cell_number,
    draw_distribution,
    judge_number,
    published_band,
    published_key,
    published_number,
)
from probcal.papers.published import PublishedPaper
from probcal.store.cell_result import CellResult, Results
from probcal.store.folder import Store
from probcal.store.stored_experiment import ResultColumn, Row, StoredExperiment
from probcal.store.summary import CellCounts, cell_counts, done_cells, planned_ids, question_about, summarise

Name = tuple[str, str, str, str]
"""(data set, learner, method, metric), by our names."""
Splits = dict[int, float]
"""Repetition -> number. Infinity is a number, NaN is not."""


@dataclass(frozen=True)
class CheckedResults:
    """Hold an experiment with its results and published numbers.

    ``published`` is None where the experiment follows no paper.
    """

    store: Store
    stored: StoredExperiment
    results: Results
    published: PublishedPaper | None

    @classmethod
    def of(cls, store: Store) -> CheckedResults:
        """Read the experiment of a results folder. Raises StoreError and UnknownPaper as ``probcal table`` does."""
        stored, published = attach_paper(StoredExperiment.of(store))
        return cls(store, stored, store.results(), published)

    def splits(
        self, row: Row, column: ResultColumn, metric: str, stage: int | None = None, seed: int | None = None
    ) -> Splits:
        """Return the numbers of the done planned cells, or those after ``stage`` stages where these are stored.

        With ``seed``, only the repetition with that seed is returned. Do not change what is returned: it is shared.
        """

        def find() -> Splits:
            cells = self.done_cells(row, column, seed)
            numbers = {cell.repetition: cell_number(cell, metric, stage) for cell in cells}
            return {split: number for split, number in numbers.items() if not math.isnan(number)}

        question = question_about("splits", self.stored, row, column, seed, metric, str(stage))
        return self.results.compute_once(question, find)

    def done_cells(self, row: Row, column: ResultColumn, seed: int | None = None) -> list[CellResult]:
        """Return the planned cells that are done, with or without numbers."""
        return done_cells(self.stored, self.results, row, column, seed)

    def all_done_cells(self) -> list[CellResult]:
        rows = self.stored.datasets
        return [cell for row in rows for column in self.stored.columns for cell in self.done_cells(row, column)]

    def planned_columns(self, row: Row) -> list[ResultColumn]:
        """Return the columns that have cells of this data set."""
        return [column for column in self.stored.columns if planned_ids(self.stored, row, column)]

    def row_and_column(self, dataset: str, column: str) -> tuple[Row, ResultColumn] | None:
        """Return our first row and column that stand for the published ones, None without any."""
        for row in [row for row in self.stored.datasets if row.paper_dataset == dataset][:1]:
            for candidate in self.planned_columns(row):
                if self.published and paper_column(candidate) == self.published.columns[column]:
                    return row, candidate
        return None

    def planned_numbers(self) -> Iterator[tuple[Name, Row, ResultColumn]]:
        """Yield the name of each number that the experiment plans, with its row and column."""
        for row in self.stored.datasets:
            for column in self.planned_columns(row):
                for metric in (*self.stored.metrics, *([LOSS_RATIO] if column.before_and_after else [])):
                    yield (row.name, column.learner, column.method, metric), row, column

    def paper_seed(self, metric: str) -> int | None:
        """Return the seed of the paper's run of this metric, None where it cannot be repeated."""
        return self.published.tables[metric].seed if self.published else None

    @functools.cached_property
    def cell_counts(self) -> CellCounts:
        """Return how many planned cells failed, are stale or were not run."""
        return cell_counts(self.stored, self.results)

    @functools.cached_property
    def paper_metrics(self) -> list[str]:
        """Return the metrics of the experiment that the paper has tables of, in the paper's order."""
        tables = self.published.tables if self.published else {}
        return [metric for metric in tables if metric in self.stored.metrics]


def undefined_counts(experiment: CheckedResults) -> Counter[str]:
    """Return metric -> number of done cells without a number of it."""
    return Counter(
        metric
        for cell in experiment.all_done_cells()
        for metric in experiment.stored.metrics
        if math.isnan(cell.metrics.get(metric, math.nan))
    )


LARGEST_DISTANCE = 10.0
"""Largest distance that is printed. Larger ones, also ∞, are printed as beyond it and count as this in a median."""

State = Literal["in band", "out of band", "not run", "cannot be judged", "no finite difference", "misprint"]


@dataclass(frozen=True)
class Finding:
    """Hold the comparison of one published number with ours.

    ``label`` names our column, or both columns of a difference. ``columns`` are the paper's (learner, method).
    """

    kind: Literal["number", "difference", "digits"]
    dataset: str
    paper_dataset: str
    """Data set of the paper that it is compared with. ``dataset`` may be another reading of it."""
    label: str
    metric: str
    columns: tuple[tuple[str, str], ...]
    published: float
    values: tuple[float, ...]
    """Our numbers, one per split."""
    planned: int
    state: State
    distance: float | None = None
    """|published - mean| over half the width of the band. It is 1 at the edge, and None where nothing was compared."""
    reason: str | None = None
    """Reason why it cannot be judged, such as ``2 splits``."""
    decimals: int = 3
    """Number of decimals of the published number, as printed."""
    exact_digits: bool = False
    """Whether the printed digits must come back: an exact column on the paper's own split."""

    @property
    def mean(self) -> float | None:
        """Return the mean of the finite splits. It is ∞ where none is finite, and None without splits."""
        return mean_of_finite(self.values)

    @property
    def sd(self) -> float | None:
        return sd_of_finite(self.values)

    @property
    def infinite(self) -> int:
        return sum(math.isinf(value) for value in self.values)


def number_state(values: Sequence[float], verdict: Verdict | None) -> State:
    if verdict is not None:
        return "in band" if verdict.in_band else "out of band"
    return "cannot be judged" if values else "not run"


def mean_of_finite(values: Sequence[float]) -> float | None:
    finite = [value for value in values if math.isfinite(value)]
    if not finite:
        return math.inf if values else None
    return statistics.fmean(finite)


def sd_of_finite(values: Sequence[float]) -> float | None:
    """Return the sd with n - 1 in the denominator, or None for fewer than two finite values."""
    finite = [value for value in values if math.isfinite(value)]
    return standard_deviation(finite) if len(finite) > 1 else None


def paper_column(column: ResultColumn) -> tuple[str, str]:
    """Return (learner, method) of the published column that ours is compared with, or two empty texts without one."""
    return column.paper_learner or "", column.paper_method or ""


def compare_numbers(experiment: CheckedResults) -> list[Finding]:
    """Return one finding per data set, column with a published one, and metric. ``probcal table`` judges them alike."""
    return [
        finding
        for metric in experiment.paper_metrics
        for row in experiment.stored.datasets
        for column in experiment.planned_columns(row)
        for finding in _number_finding(experiment, row, column, metric)
    ]


def _number_finding(experiment: CheckedResults, row: Row, column: ResultColumn, metric: str) -> Iterator[Finding]:
    published = published_number(experiment.published, row, column, metric)
    if published is None or experiment.published is None:
        return
    table = experiment.published.tables[metric]
    summary = summarise(experiment.stored, experiment.results, row, column, metric, table.seed)
    key = published_key(row, column)
    band = published_band(summary, table)
    verdict = judge_number(summary, published, table, key, band)
    state = number_state(summary.values, verdict)
    yield Finding(
        kind="number",
        dataset=row.name,
        paper_dataset=row.paper_dataset,
        label=column.label,
        metric=metric,
        columns=(paper_column(column),),
        published=published,
        values=summary.values,
        planned=summary.planned,
        state=state,
        distance=verdict.distance if verdict else None,
        reason=band.no_verdict_reason(published) if state == "cannot be judged" else None,
        decimals=table.printed_decimals[key],
        exact_digits=has_exact_digits(experiment.published, row, column, summary.planned),
    )


def has_exact_digits(paper: PublishedPaper, row: Row, column: ResultColumn, n_planned: int) -> bool:
    """Return whether the printed digits must come back: an exact column on the paper's own split, planned once."""
    return n_planned == 1 and row.split in PUBLISHED_SPLITS and paper_column(column) in paper.exact_columns


_MINUS = "\N{MINUS SIGN}"


def compare_differences(experiment: CheckedResults) -> list[Finding]:
    """Return one finding per data set, pair of columns and metric. Pairs with a published ∞ have no difference."""
    paper = experiment.published
    if paper is None:
        return []
    return [
        finding
        for metric in experiment.paper_metrics
        for row in experiment.stored.datasets
        for earlier, later in _column_pairs(paper, experiment.planned_columns(row))
        for finding in _difference_findings(experiment, paper, row, earlier, later, metric)
    ]


def _column_pairs(paper: PublishedPaper, columns: list[ResultColumn]) -> Iterator[tuple[ResultColumn, ResultColumn]]:
    for first, second in itertools.combinations(paper.columns.values(), 2):
        if first[0] != second[0]:
            continue
        earlier = [column for column in columns if paper_column(column) == first]
        for later in columns:
            if paper_column(later) == second:
                same_learner = [column for column in earlier if column.learner == later.learner]
                yield from ((column, later) for column in same_learner or (earlier if len(earlier) == 1 else []))


def _difference_findings(
    experiment: CheckedResults, paper: PublishedPaper, row: Row, earlier: ResultColumn, later: ResultColumn, metric: str
) -> Iterator[Finding]:
    base, number = (paper.number(row.paper_dataset, *paper_column(column), metric) for column in (earlier, later))
    if base is None or number is None or math.isinf(base) or math.isinf(number):
        return
    table = paper.tables[metric]
    # Printed numbers have few decimals, and the binary difference of two has many.
    published, seed = round(number - base, 6), table.seed
    base_splits, splits = (experiment.splits(row, column, metric, seed=seed) for column in (earlier, later))
    common = sorted(base_splits.keys() & splits.keys())
    values = tuple(
        splits[split] - base_splits[split]
        for split in common
        if math.isfinite(base_splits[split]) and math.isfinite(splits[split])
    )
    n_planned = len(planned_ids(experiment.stored, row, later, seed))
    # Both published numbers are rounded. On the paper's own split the difference gets the tolerance of one number.
    is_own_split = n_planned == 1 and not (seed is None and row.has_random_rows)
    tolerance = table.tolerance + ROUNDING if is_own_split else None
    # Both numbers have all digits, and each has its tolerance.
    if table.matches_folds(row.split, len(values)):
        tolerance = 2 * table.tolerance
    band = Band(values, tolerance, 2 * ROUNDING, table.runs)
    reason = band.no_verdict_reason(published)
    verdict = None if reason else band.compare(published)
    keys = [published_key(row, column) for column in (earlier, later)]
    summary = summarise(experiment.stored, experiment.results, row, later, metric, seed)
    draws = draw_distribution(summary, table, keys[1])
    # Only the later column draws, so its draws less one number are the draws of the difference.
    if verdict and draws and keys[0] not in table.distributions:
        rounding = sum(0.5 / 10 ** table.printed_decimals[key] for key in keys)
        verdict = draws.minus(base_splits[common[0]]).verdict(values[0], published, rounding)
    state = "no finite difference" if common and not values else number_state(values, verdict)
    yield Finding(
        kind="difference",
        dataset=row.name,
        paper_dataset=row.paper_dataset,
        label=f"{later.label} {_MINUS} {earlier.label}",
        metric=metric,
        columns=(paper_column(earlier), paper_column(later)),
        published=published,
        values=values,
        planned=n_planned,
        state=state,
        distance=verdict.distance if verdict else None,
        reason=reason if state == "cannot be judged" else None,
    )
