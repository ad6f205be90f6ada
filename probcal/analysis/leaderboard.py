"""Leaderboards of methods over tables: mean ranks, wins against the learner alone, win rates and Elo ratings.

A table is a data set. On each table and for each learner, the mean losses over the splits decide who wins. Every table
counts once, whatever the number of its learners. Tables are drawn again with replacement for the intervals.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np
import numpy.typing as npt

from probcal.analysis.paired_wins import elo, mean_of_known, weighted_mean, wins
from probcal.analysis.rank_tests import critical_difference, p_of_friedman, rank_table
from probcal.analysis.split_results import finished, first_reading_rows, split_values
from probcal.store.cell_result import CellResult, shown_metric
from probcal.store.outline import Outline, Row
from probcal.store.summary import Results

Floats = npt.NDArray[np.float64]

SHOWN = (("cxe", "log_loss"), ("brier", "rms"), ("c_emp",), ("smece",), ("refinement",))
"""Metrics that are shown if none is named. Of each kind, the first that was measured."""
DRAWS = 1000
LEVEL = 0.95
_ALONE = "probcal.methods.direct.DirectClassifier"


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

    Smaller losses are better. ``alone`` is the place of the learner alone among the methods, if it was run.
    """

    metric: str
    tables: tuple[Table, ...]
    learners: tuple[str, ...]
    methods: tuple[str, ...]
    losses: Floats
    seconds: Floats
    alone: int | None

    def of(self, tables: Sequence[int], learners: Sequence[int]) -> Scores:
        """Return the part with these places of tables and learners."""
        part = np.ix_(tables, learners)
        return Scores(
            self.metric, tuple(self.tables[one] for one in tables), tuple(self.learners[one] for one in learners),
            self.methods, self.losses[part], self.seconds[part], self.alone,
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


def learner_alone(outline: Outline) -> str | None:
    """Return the method that passes on the learner's own probabilities, or None where there is none."""
    found = [one.method for one in outline.columns if one.method == "direct" or one.settings.get("type") == _ALONE]
    return "direct" if "direct" in found else found[0] if found else None


def shown_metrics(outline: Outline, results: Results) -> list[str]:
    """Return the metrics of ``SHOWN`` that results have."""
    measured = {name for one in results.values() for name in one.metrics}
    return [next(name for name in kind if name in measured) for kind in SHOWN if measured & {*kind}]


def scores(outline: Outline, results: Results, metric: str) -> Scores:
    """Return the mean losses over the splits that all methods of a learner have on a table.

    Of several readings of a data set the first counts. Tables and learners with fewer than two methods are left out.
    """
    rows = first_reading_rows(outline)
    methods = tuple(dict.fromkeys(one.method for one in outline.columns))
    learners = tuple(dict.fromkeys(one.learner for one in outline.columns))
    shape = (len(rows), len(learners), len(methods))
    losses, seconds = np.full(shape, np.nan), np.full(shape, np.nan)
    sign = -1.0 if shown_metric(metric).larger_is_better else 1.0
    tables = []
    for r, row in enumerate(rows):
        done = {column: [*finished(outline, results, row, column).values()] for column in outline.columns}
        tables.append(_table(row, [one for cells in done.values() for one in cells]))
        for m, learner in enumerate(learners):
            columns = [one for one, cells in done.items() if one.learner == learner and _has(cells, metric)]
            found = split_values(outline, results, row, columns, metric) if len(columns) > 1 else None
            if found is None:
                continue
            for column, mean in zip(columns, found.means, strict=True):
                place = methods.index(column.method)
                losses[r, m, place] = sign * mean
                seconds[r, m, place] = float(np.mean([one.seconds + one.shared_seconds for one in done[column]]))
    alone = learner_alone(outline)
    every = Scores(
        metric, tuple(tables), learners, methods, losses, seconds,
        methods.index(alone) if alone else None,
    )  # fmt: skip
    there = ~np.isnan(losses).all(axis=2)
    return every.of(np.flatnonzero(there.any(axis=1)).tolist(), np.flatnonzero(there.any(axis=0)).tolist())


def _has(cells: Sequence[CellResult], metric: str) -> bool:
    return any(not math.isnan(one.metrics.get(metric, math.nan)) for one in cells)


def _table(row: Row, cells: Sequence[CellResult]) -> Table:
    sizes = [one.n_train for one in cells if one.n_train]
    counts = row.class_counts
    classes = [one.predictions.get("columns", 2) for one in cells if one.predictions]
    return Table(
        row.name,
        row.title,
        median(sizes) if sizes else None,
        len(counts) if counts else classes[0] if classes else None,
        min(counts) / sum(counts) * len(counts) if counts else None,
    )


_SIZES = ((500, "under 500 rows"), (2_000, "500 to 2,000 rows"), (10_000, "2,000 to 10,000 rows"))
_BALANCES = ((0.2, "rarest class under 1/5 of its equal share"), (0.6, "1/5 to 3/5 of its equal share"))
_CLASSES = ((3, "2 classes"), (6, "3 to 5 classes"))
_UNKNOWN = "unknown"


def _size(table: Table) -> str:
    return _bin(table.n_train, _SIZES, "10,000 rows or more")


def _balance(table: Table) -> str:
    return _bin(table.balance, _BALANCES, "3/5 of its equal share or more")


def _classes(table: Table) -> str:
    return _bin(table.n_classes, _CLASSES, "6 classes or more")


def _bin(value: float | None, bounds: Sequence[tuple[float, str]], rest: str) -> str:
    if value is None:
        return _UNKNOWN
    return next((name for bound, name in bounds if value < bound), rest)


_GROUPS: dict[str, tuple[Callable[[Table], str], tuple[str, ...]]] = {
    "size": (_size, (*(name for _, name in _SIZES), "10,000 rows or more", _UNKNOWN)),
    "balance": (_balance, (*(name for _, name in _BALANCES), "3/5 of its equal share or more", _UNKNOWN)),
    "classes": (_classes, (*(name for _, name in _CLASSES), "6 classes or more", _UNKNOWN)),
}
KINDS = ("learner", *_GROUPS)
"""What leaderboards can be split by."""


def leaderboards(of: Scores, kind: str = "") -> list[Leaderboard]:
    """Return the leaderboard over all tables and learners, or one for each group of ``kind``, one of ``KINDS``.

    Groups without a table are left out.
    """
    every, learners = list(range(len(of.tables))), list(range(len(of.learners)))
    if not kind:
        return [leaderboard(of)] if every else []
    if kind == "learner":
        found = [(of.of(every, [place]), name) for place, name in enumerate(of.learners)]
    else:
        group_of, names = _GROUPS[kind]
        groups = [group_of(table) for table in of.tables]
        found = [(of.of([one for one in every if groups[one] == name], learners), name) for name in names]
    return [leaderboard(part, kind, name) for part, name in found if not np.isnan(part.losses).all()]


def leaderboard(of: Scores, kind: str = "", group: str = "") -> Leaderboard:
    """Return the leaderboard over all tables and learners of ``of``. The intervals hold 95 % of 1,000 draws."""
    met = wins(of.losses)
    here = np.flatnonzero(~np.isnan(met).all(axis=(1, 2, 3)))
    methods = np.flatnonzero(~np.isnan(met).all(axis=(0, 1, 3)))
    per_table = mean_of_known(met[here][:, :, methods][:, :, :, methods], axis=1)
    alone = int(np.flatnonzero(methods == of.alone)[0]) if of.alone in methods else None
    n, k = len(here), len(methods)
    value = _statistics(per_table, np.ones((1, n)), alone)
    drawn = _statistics(per_table, _weights(n), alone)
    ranks = _ranks(mean_of_known(per_table, axis=2), k)
    complete = ranks[~np.isnan(ranks).any(axis=1)]
    tested = len(complete) > 1 and k > 1
    critical = critical_difference(k, len(complete), LEVEL) if tested else math.nan
    p = p_of_friedman(rank_table(np.round(complete, 9)))[0] if tested else math.nan
    best = np.nanmin(value["rank"])
    with np.errstate(divide="ignore"):
        times = np.exp(mean_of_known(mean_of_known(np.log(of.seconds[here][:, :, methods]), axis=1), axis=0))
    rating = value["elo"][0]
    standings = [
        LeaderboardEntry(
            of.methods[method],
            **{name: _estimate(value[name][0, place], drawn[name][:, place]) for name in value},
            seconds=float(times[place]),
            efficient=not any(times[other] <= times[place] and rating[other] > rating[place] for other in range(k)),
            like_best=bool(value["rank"][0, place] - best <= critical) if p <= 1 - LEVEL else tested,
            n_tables=int((~np.isnan(ranks[:, place])).sum()),
        )
        for place, method in enumerate(methods)
    ]
    standings.sort(key=lambda one: (-one.elo.value, one.rank.value, one.method))
    n_pairs = int((~np.isnan(of.losses)).any(axis=2).sum())
    return Leaderboard(of.metric, kind, group, tuple(standings), n, n_pairs, len(complete), p, critical)


def _statistics(per_table: Floats, weights: Floats, alone: int | None) -> dict[str, Floats]:
    """Return the numbers of each method, (draws, k). ``weights`` is (draws, n_tables): how often a table is drawn."""
    k = per_table.shape[1]
    rates = weighted_mean(weights, mean_of_known(per_table, axis=2))
    known = np.where(np.isnan(per_table), 0.0, per_table)
    nothing = np.full_like(rates, np.nan)
    return {
        "elo": elo(np.tensordot(weights, known, 1), alone),
        "rank": _ranks(rates, k),
        "better": weighted_mean(weights, per_table[:, :, alone]) if alone is not None else nothing,
        "win_rate": rates,
    }


def _ranks(rates: Floats, k: int) -> Floats:
    """Return the ranks among k methods from the shares of rivals beaten. Without gaps they are the usual ranks."""
    return 1 + (k - 1) * (1 - rates)


def _weights(n: int) -> Floats:
    return np.random.default_rng(0).multinomial(n, np.full(n, 1 / n), size=DRAWS).astype(np.float64)


def _estimate(value: float, drawn: Floats) -> Estimate:
    drawn = drawn[~np.isnan(drawn)]
    if math.isnan(value) or not len(drawn):
        return Estimate(float(value), math.nan, math.nan)
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(drawn, [tail, 1 - tail])
    return Estimate(float(value), float(low), float(high))
