"""Leaderboards of methods over tables: mean ranks, wins against the learner alone, win rates and Elo ratings.

A table is a data set. On each table and for each learner, the mean losses over the splits decide who wins. Every table
counts once, whatever the number of its learners. Tables are drawn again with replacement for the intervals.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np
import numpy.typing as npt

from probcal.analysis.rankings import (
    critical_difference,
    elo,
    mean_of_known,
    p_of_friedman,
    pairwise_wins,
    rank_table,
    weighted_mean,
)
from probcal.reporting.comparison.split_results import LEVEL, SplitNumbers, first_reading_rows
from probcal.store.cell_result import CellResult, Results, resolve_metric
from probcal.store.stored_experiment import Row, StoredExperiment
from probcal.store.summary import done_cells

Floats = npt.NDArray[np.float64]

DEFAULT_METRICS = (("cxe", "log_loss"), ("brier", "rms"), ("c_emp",), ("smece",), ("refinement",))
"""Metrics that are shown if none is named. Of each kind, the first that was measured."""
N_DRAWS = 1000
_DIRECT_PATH = "probcal.methods.direct.DirectClassifier"


@dataclass(frozen=True)
class Table:
    """Describe one data set. An unknown number is None."""

    name: str
    title: str
    n_train: float | None
    n_classes: int | None
    balance: float | None
    """Share of the rarest class, divided by the share that it would have if all classes were equal."""


@dataclass(frozen=True)
class Scores:
    """Hold the loss and the seconds of each method, (n_tables, n_learners, n_methods), NaN where there is none.

    Smaller losses are better. ``baseline`` is the index of the learner alone among the methods, if it was run.
    """

    metric: str
    tables: tuple[Table, ...]
    learners: tuple[str, ...]
    methods: tuple[str, ...]
    losses: Floats
    seconds: Floats
    baseline: int | None

    def select(self, tables: Sequence[int], learners: Sequence[int]) -> Scores:
        """Return the part with these indices of tables and learners."""
        part = np.ix_(tables, learners)
        return Scores(
            self.metric,
            tuple(self.tables[index] for index in tables), tuple(self.learners[index] for index in learners),
            self.methods, self.losses[part], self.seconds[part], self.baseline,
        )  # fmt: skip


@dataclass(frozen=True)
class Estimate:
    """Hold a number with the bounds of its interval. All three may be NaN."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class LeaderboardEntry:
    """Hold the numbers of one method."""

    method: str
    elo: Estimate
    rank: Estimate
    better: Estimate
    """Share of the tables on which it is better than the learner alone. NaN for the learner alone."""
    win_rate: Estimate
    seconds: float
    """Geometric mean of the seconds of a cell, with those of the fits that it took over from other cells."""
    efficient: bool
    """Whether no other method is at least as fast and has a higher rating."""
    like_best: bool
    """Whether its mean rank is not significantly different from the best one."""
    n_tables: int


@dataclass(frozen=True)
class Leaderboard:
    """Hold the methods of one metric, the best rating first.

    ``kind`` and ``group`` say which tables and learners count: ``size`` and ``under 500 rows``. Both are empty for all.
    """

    metric: str
    kind: str
    group: str
    standings: tuple[LeaderboardEntry, ...]
    n_tables: int
    n_pairs: int
    """Number of pairs of table and learner."""
    n_complete: int
    """Number of tables with a number of every method. The test of Friedman is about these."""
    p: float
    """p-value of Friedman's test. NaN with fewer than two complete tables."""
    critical_difference: float
    """Nemenyi's critical difference of mean ranks. NaN with fewer than two complete tables."""


def baseline_method(stored: StoredExperiment) -> str | None:
    """Return the method that passes on the learner's own probabilities, or None where there is none."""
    methods = [
        column.method
        for column in stored.columns
        if column.method == "direct" or column.settings.get("type") == _DIRECT_PATH
    ]
    return "direct" if "direct" in methods else methods[0] if methods else None


def default_metrics(stored: StoredExperiment, results: Results) -> list[str]:
    """Return the metrics of ``DEFAULT_METRICS`` that results have."""
    metrics = {name for cell in results.values() for name in cell.metrics}
    return [next(name for name in kind if name in metrics) for kind in DEFAULT_METRICS if metrics & {*kind}]


def measure_scores(stored: StoredExperiment, results: Results, metric: str) -> Scores:
    """Return the mean losses over the splits that all methods of a learner have on a table.

    Of several readings of a data set the first counts. Tables and learners with fewer than two methods are left out.
    """
    rows = first_reading_rows(stored)
    methods = tuple(dict.fromkeys(column.method for column in stored.columns))
    learners = tuple(dict.fromkeys(column.learner for column in stored.columns))
    shape = (len(rows), len(learners), len(methods))
    losses, seconds = np.full(shape, np.nan), np.full(shape, np.nan)
    sign = -1.0 if resolve_metric(metric).larger_is_better else 1.0
    tables = []
    for r, row in enumerate(rows):
        cells = {column: done_cells(stored, results, row, column) for column in stored.columns}
        tables.append(_describe_table(row, [cell for column_cells in cells.values() for cell in column_cells]))
        for m, learner in enumerate(learners):
            columns = [
                column
                for column, column_cells in cells.items()
                if column.learner == learner
                and any(not math.isnan(cell.metrics.get(metric, math.nan)) for cell in column_cells)
            ]
            # On common splits only, because a method that failed on hard splits would look better.
            means = SplitNumbers.of(stored, results, row, columns, metric).common_means if len(columns) > 1 else None
            for column, mean in zip(columns, () if means is None else means, strict=means is not None):
                index = methods.index(column.method)
                losses[r, m, index] = sign * mean
                seconds[r, m, index] = float(np.mean([cell.seconds + cell.shared_seconds for cell in cells[column]]))
    baseline = baseline_method(stored)
    all_scores = Scores(
        metric, tuple(tables), learners, methods, losses, seconds,
        methods.index(baseline) if baseline else None,
    )  # fmt: skip
    mask = ~np.isnan(losses).all(axis=2)
    return all_scores.select(np.flatnonzero(mask.any(axis=1)).tolist(), np.flatnonzero(mask.any(axis=0)).tolist())


def _describe_table(row: Row, cells: Sequence[CellResult]) -> Table:
    sizes = [cell.n_train for cell in cells if cell.n_train]
    counts = row.class_counts
    classes = [cell.predictions.get("columns", 2) for cell in cells if cell.predictions]
    return Table(
        row.name,
        row.title,
        median(sizes) if sizes else None,
        len(counts) if counts else classes[0] if classes else None,
        min(counts) / sum(counts) * len(counts) if counts else None,
    )


_GROUPS: dict[str, tuple[str, Sequence[tuple[float, str]]]] = {
    "size": (
        "n_train",
        (
            (500, "under 500 rows"),
            (2_000, "500 to 2,000 rows"),
            (10_000, "2,000 to 10,000 rows"),
            (math.inf, "10,000 rows or more"),
        ),
    ),
    "balance": (
        "balance",
        (
            (0.2, "rarest class under 1/5 of its equal share"),
            (0.6, "1/5 to 3/5 of its equal share"),
            (math.inf, "3/5 of its equal share or more"),
        ),
    ),
    "classes": ("n_classes", ((3, "2 classes"), (6, "3 to 5 classes"), (math.inf, "6 classes or more"))),
}
"""Kind -> attribute of a table, and the groups of tables with their upper bounds."""
_UNKNOWN = "unknown"
KINDS = ("learner", *_GROUPS)
"""What leaderboards can be split by."""


def leaderboards(scores: Scores, kind: str = "") -> list[Leaderboard]:
    """Return the leaderboard over all tables and learners, or one for each group of ``kind``, one of ``KINDS``.

    Groups without a table are left out.
    """
    tables, learners = list(range(len(scores.tables))), list(range(len(scores.learners)))
    if not kind:
        return [leaderboard(scores)] if tables else []
    if kind == "learner":
        parts = [(scores.select(tables, [index]), name) for index, name in enumerate(scores.learners)]
    else:
        attribute, bounds = _GROUPS[kind]
        numbers = [getattr(table, attribute) for table in scores.tables]
        names = [_UNKNOWN if n is None else next(name for bound, name in bounds if n < bound) for n in numbers]
        parts = [
            (scores.select([index for index in tables if names[index] == name], learners), name)
            for name in (*(name for _, name in bounds), _UNKNOWN)
        ]
    return [leaderboard(part, kind, name) for part, name in parts if not np.isnan(part.losses).all()]


def leaderboard(scores: Scores, kind: str = "", group: str = "") -> Leaderboard:
    """Return the leaderboard over all tables and learners of ``scores``. The intervals hold 95 % of 1,000 draws."""
    outcomes = pairwise_wins(scores.losses)
    tables = np.flatnonzero(~np.isnan(outcomes).all(axis=(1, 2, 3)))
    methods = np.flatnonzero(~np.isnan(outcomes).all(axis=(0, 1, 3)))
    table_wins = mean_of_known(outcomes[tables][:, :, methods][:, :, :, methods], axis=1)
    baseline = int(np.flatnonzero(methods == scores.baseline)[0]) if scores.baseline in methods else None
    n, k = len(tables), len(methods)
    value = _statistics(table_wins, np.ones((1, n)), baseline)
    # The same draws for all methods and metrics, so that their intervals can be compared.
    weights = np.random.default_rng(0).multinomial(n, np.full(n, 1 / n), size=N_DRAWS).astype(np.float64)
    draws = _statistics(table_wins, weights, baseline)
    ranks = _ranks(mean_of_known(table_wins, axis=2), k)
    complete_ranks = ranks[~np.isnan(ranks).any(axis=1)]
    has_test = len(complete_ranks) > 1 and k > 1
    critical = critical_difference(k, len(complete_ranks), LEVEL) if has_test else math.nan
    # Rounded, because equal shares of rivals may differ in their last digit and must be ties.
    p = p_of_friedman(rank_table(np.round(complete_ranks, 9)))[0] if has_test else math.nan
    best = np.nanmin(value["rank"])
    # A cell may take 0 s, by the digits that are stored.
    with np.errstate(divide="ignore"):
        times = np.exp(mean_of_known(mean_of_known(np.log(scores.seconds[tables][:, :, methods]), axis=1), axis=0))
    rating = value["elo"][0]
    standings = [
        LeaderboardEntry(
            scores.methods[method],
            **{name: _estimate(value[name][0, index], draws[name][:, index]) for name in value},
            seconds=float(times[index]),
            efficient=not any(times[rival] <= times[index] and rating[rival] > rating[index] for rival in range(k)),
            like_best=bool(value["rank"][0, index] - best <= critical) if p <= 1 - LEVEL else has_test,
            n_tables=int((~np.isnan(ranks[:, index])).sum()),
        )
        for index, method in enumerate(methods)
    ]
    standings.sort(key=lambda entry: (-entry.elo.value, entry.rank.value, entry.method))
    n_pairs = int((~np.isnan(scores.losses)).any(axis=2).sum())
    return Leaderboard(scores.metric, kind, group, tuple(standings), n, n_pairs, len(complete_ranks), p, critical)


def _statistics(table_wins: Floats, weights: Floats, baseline: int | None) -> dict[str, Floats]:
    """Return the numbers of each method, (draws, k). ``weights`` is (draws, n_tables): how often a table is drawn."""
    k = table_wins.shape[1]
    rates = weighted_mean(weights, mean_of_known(table_wins, axis=2))
    win_counts = np.where(np.isnan(table_wins), 0.0, table_wins)
    no_values = np.full_like(rates, np.nan)
    return {
        "elo": elo(np.tensordot(weights, win_counts, 1), baseline),
        "rank": _ranks(rates, k),
        "better": weighted_mean(weights, table_wins[:, :, baseline]) if baseline is not None else no_values,
        "win_rate": rates,
    }


def _ranks(rates: Floats, k: int) -> Floats:
    """Return the ranks among k methods from the shares of rivals beaten. Without gaps they are the usual ranks."""
    return 1 + (k - 1) * (1 - rates)


def _estimate(value: float, draws: Floats) -> Estimate:
    draws = draws[~np.isnan(draws)]
    if math.isnan(value) or not len(draws):
        return Estimate(float(value), math.nan, math.nan)
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(draws, [tail, 1 - tail])
    return Estimate(float(value), float(low), float(high))
