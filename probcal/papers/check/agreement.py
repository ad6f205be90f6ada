"""Agreement with a paper's numbers in several figures, each beside what chance and a wrong method would have.

A figure without its power says little: bands may be so wide that nearly any number is inside. So every figure is
computed three times: for our columns, for our columns shuffled at random within each data set, and for one plain column
that stands in all of them.

Methods have much the same order on every data set. So shuffled columns are too weak a rival for the order of columns.
Two more figures stand beside it: the order that the columns have on the other data sets, and what one of our own splits
agrees with the others, which no reproduction of one split can exceed by much.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from probcal.papers.bands import difference_in_units
from probcal.papers.check.comparison import (
    draw_distribution,
    has_paper_rows,
    judge_number,
    published_band,
    published_key,
    published_number,
)
from probcal.papers.check.findings import CheckedResults, Finding, State, has_exact_digits, mean_of_finite, paper_column
from probcal.papers.published import PublishedTable
from probcal.store.stored_experiment import ResultColumn, Row
from probcal.store.summary import Summary, summarise

SHUFFLES = 1000
"""Number of random orders of the columns that the shuffled figures are the mean of."""
SEED = 2005
Floats = NDArray[np.float64]
Orders = NDArray[np.intp]
"""For each order, the column of ours that stands in each column. Shape (orders, columns)."""
RowKind = Literal["split", "folds", "random", "random means"]
"""The paper's one split, all its folds, or random splits, for a published number of one run or a mean of several."""
Names = tuple[str, str]
"""(learner, method) of a column of the paper."""
PairCounts = tuple[int, int, int]
"""Numbers of pairs of columns: in the same order, in the opposite order, and all that differ."""
Misprints = frozenset[tuple[str, str, str, str]]


@dataclass(frozen=True)
class Block:
    """Hold one metric of one data set: each published number against each of our columns.

    Both sides have the same columns in the same order, those that have a published column and results. The matrices
    have shape (published columns, our columns). They are NaN where nothing can be compared.
    """

    row: Row
    metric: str
    columns: tuple[ResultColumn, ...]
    published: Floats
    """Published number per column. NaN where there is none, or a misprint."""
    measured: Floats
    """Our number per column: the mean of the finite splits, ∞ where at least half of the splits are ∞."""
    units: Floats
    """Units of the last printed digit between the two, 0 for two ∞."""
    differences: Floats
    """|published - ours|, 0 for two ∞."""
    split_values: Floats
    """Our numbers of each split, shape (our columns, splits). No split where the columns lack some, or with one."""
    in_band: Floats
    """1 where `probcal check` finds the number in band, 0 where it is out of band, NaN where it cannot judge it."""
    row_kind: RowKind
    """Which rows our results are of, those of the paper or others."""
    exact_digits: NDArray[np.bool_]
    """Whether the printed digits of a column must come back."""
    has_draws: NDArray[np.bool_]
    """Whether the distribution over our draws judges a column."""
    misprints: int

    @property
    def size(self) -> int:
        return len(self.columns)


def measured_number(values: Sequence[float]) -> float:
    """Return the mean of the finite splits, or ∞ where at least half of the splits are ∞. NaN without splits."""
    mean = mean_of_finite(values)
    if mean is None:
        return math.nan
    return math.inf if 2 * sum(map(math.isinf, values)) >= len(values) else mean


def build_blocks(experiment: CheckedResults, misprints: Misprints) -> list[Block]:
    """Return one block per data set and metric with results. Columns that lack one of the metrics are left out."""
    all_blocks = []
    for row in experiment.stored.datasets:
        columns = tuple(
            column for column in experiment.planned_columns(row) if _has_all_metrics(experiment, row, column)
        )
        all_blocks += [
            _build_block(experiment, row, columns, metric, misprints) for metric in experiment.paper_metrics if columns
        ]
    return [block for block in all_blocks if not np.isnan(block.published).all() or block.misprints]


def _has_all_metrics(experiment: CheckedResults, row: Row, column: ResultColumn) -> bool:
    return paper_column(column) != ("", "") and all(
        summarise(experiment.stored, experiment.results, row, column, metric, experiment.paper_seed(metric)).values
        for metric in experiment.paper_metrics
    )


def _build_block(
    experiment: CheckedResults, row: Row, columns: tuple[ResultColumn, ...], metric: str, misprints: Misprints
) -> Block:
    assert experiment.published is not None  # paper_metrics is empty without one
    table = experiment.published.tables[metric]
    keys = [published_key(row, column) for column in columns]
    summaries = [
        summarise(experiment.stored, experiment.results, row, column, metric, table.seed) for column in columns
    ]
    numbers = [published_number(experiment.published, row, column, metric) for column in columns]
    flags = [number is not None and (*key, metric) in misprints for number, key in zip(numbers, keys, strict=True)]
    published = [math.nan if flag or number is None else number for number, flag in zip(numbers, flags, strict=True)]
    values = [measured_number(summary.values) for summary in summaries]
    size, bands = len(columns), [published_band(summary, table) for summary in summaries]
    units, differences, in_band = (np.full((size, size), math.nan) for _ in range(3))
    for i in (i for i in range(size) if not math.isnan(published[i])):
        for j in range(size):
            units[i, j] = abs(difference_in_units(values[j], published[i], table.printed_decimals[keys[i]]))
            # The difference of two infinite numbers would be NaN.
            differences[i, j] = 0.0 if values[j] == published[i] else abs(values[j] - published[i])
            verdict = judge_number(summaries[j], published[i], table, keys[i], bands[j])
            in_band[i, j] = math.nan if verdict is None else verdict.in_band
    return Block(
        row=row,
        metric=metric,
        columns=columns,
        published=np.array(published),
        measured=np.array(values),
        units=units,
        differences=differences,
        split_values=_values_by_split(summaries),
        in_band=in_band,
        row_kind=_kind_of_rows(summaries[0], table),
        exact_digits=np.array(
            [has_exact_digits(experiment.published, row, column, summaries[0].planned) for column in columns]
        ),
        has_draws=np.array([draw_distribution(summaries[0], table, key) is not None for key in keys]),
        misprints=sum(flags),
    )


def _values_by_split(summaries: Sequence[Summary]) -> Floats:
    n_splits = {summary.n for summary in summaries}
    if len(n_splits) > 1 or max(n_splits) < 2 or any(summary.n < summary.planned for summary in summaries):
        return np.empty((len(summaries), 0))
    return np.array([summary.values for summary in summaries])


def _kind_of_rows(summary: Summary, table: PublishedTable) -> RowKind:
    if has_paper_rows(summary, table):
        return "folds" if table.matches_folds(summary.split, summary.n) else "split"
    return "random" if table.runs == 1 else "random means"


# Which of our columns stands in which


def identity_order(block: Block) -> Orders:
    return np.arange(block.size)[None]


def shuffled_orders(block: Block) -> Orders:
    """Return ``SHUFFLES`` random orders. All metrics of a data set share them, and no other data set changes them."""
    # The name of the data set is a part of the seed, so that one data set more changes no other order.
    random = np.random.default_rng([SEED, *block.row.name.encode()])
    return random.permuted(np.tile(np.arange(block.size), (SHUFFLES, 1)), axis=1)


def constant_column_order(plain: Names | None, block: Block) -> Orders:
    """Return the order with our column for the paper's ``plain`` one in all columns, or no order without it."""
    found = [index for index, column in enumerate(block.columns) if paper_column(column) == plain][:1]
    return np.full((len(found), block.size), found[0] if found else 0)


def permuted_entries(matrix: NDArray[Any], orders: Orders) -> NDArray[Any]:
    """Return for each of the ``orders`` and each published column the entry of the column of ours that stands there."""
    return matrix[np.arange(matrix.shape[0]), orders]


# Figures


@dataclass(frozen=True)
class AgreementFigures:
    """Hold the figures of agreement. Shares are from 0 to 1, and None where nothing can be counted."""

    identical: float | None
    """Share of the numbers whose printed digits are the published ones."""
    within_one_unit: float | None
    """Share within one unit of the last printed digit."""
    median_difference: dict[str, float]
    """Metric -> median of |published - ours| over its numbers."""
    tau: float | None
    """Kendall's tau of the columns, over the pairs that the paper tells apart (Somers' d): mean of all blocks."""
    pairs_kept: float | None
    """Share of these pairs, of all blocks together, that are in the same order in ours."""
    in_band: float | None
    """Share of the numbers in band, of those that `probcal check` can judge."""


@dataclass(frozen=True)
class OrderFigures:
    """Hold the two figures about the order of columns. See ``AgreementFigures``."""

    tau: float | None
    pairs_kept: float | None


@dataclass(frozen=True)
class Agreement:
    """Hold the figures of our results, of shuffled columns, and of the plain column in all columns.

    ``plain`` is the label of that column, None where the experiment does not have it.
    """

    numbers: int
    """Published numbers that have results of ours."""
    misprints: int
    """Misprints that have results of ours. No figure counts them."""
    ours: AgreementFigures
    shuffled: AgreementFigures
    wrong: AgreementFigures | None
    plain: str | None
    other_datasets: OrderFigures
    """Figures of the order that our columns have on the other data sets, by their mean ranks."""
    one_split: OrderFigures
    """Agreement of the order on one of our splits with the mean of our other splits, over all of them."""


def measure_agreement(blocks: Sequence[Block], plain: Names | None) -> Agreement | None:
    """Return the agreement of all blocks, None without a number to compare.

    A data set without the paper's ``plain`` column counts for nothing in the figures of the wrong method.
    """
    numbers = sum(int((~np.isnan(block.published)).sum()) for block in blocks)
    if not numbers:
        return None
    constant_order = functools.partial(constant_column_order, plain)
    plain_blocks = [block for block in blocks if len(constant_order(block))]
    label = next((block.columns[int(constant_order(block)[0, 0])].label for block in plain_blocks), None)
    return Agreement(
        numbers=numbers,
        misprints=sum(block.misprints for block in blocks),
        ours=agreement_figures(blocks, identity_order),
        shuffled=agreement_figures(blocks, shuffled_orders),
        wrong=agreement_figures(plain_blocks, constant_order) if plain_blocks else None,
        plain=label,
        other_datasets=_order_figures(_count_other_datasets(block, blocks) for block in blocks),
        one_split=_order_figures(counts for block in blocks for counts in _count_single_splits(block)),
    )


def _order_figures(all_counts: Iterable[PairCounts]) -> OrderFigures:
    counts = np.array([pair_counts for pair_counts in all_counts if pair_counts[2]], dtype=float).reshape(-1, 3)
    if not len(counts):
        return OrderFigures(None, None)
    n_kept, n_reversed, n_pairs = counts.T
    return OrderFigures(float(((n_kept - n_reversed) / n_pairs).mean()), float(n_kept.sum() / n_pairs.sum()))


def _count_other_datasets(block: Block, blocks: Sequence[Block]) -> PairCounts:
    """Count the pairs in the order of the columns' mean ranks on all other data sets, by the same metric."""
    others = [
        other for other in blocks if other.metric == block.metric and other.row.paper_dataset != block.row.paper_dataset
    ]
    ranks: dict[Names, list[float]] = {}
    for other in others:
        # Divided by their number, because data sets may have different numbers of columns.
        for column, rank in zip(other.columns, rankdata(other.measured) / other.size, strict=True):
            ranks.setdefault(paper_column(column), []).append(float(rank))
    mean_ranks = np.array([np.mean(ranks.get(paper_column(column), math.nan)) for column in block.columns])
    return _compare_order(np.where(np.isnan(mean_ranks), math.nan, block.published), mean_ranks)


def _count_single_splits(block: Block) -> Iterable[PairCounts]:
    """Count, for each split, the pairs in the order of the mean of the other splits."""
    values, n_splits = block.split_values, block.split_values.shape[1]
    if np.isfinite(values).all():
        # The mean of the others from the sum of all, which is quicker than leaving out each split.
        rest = (values.sum(axis=1, keepdims=True) - values) / (n_splits - 1)
    else:
        rest = np.array(
            [[measured_number(np.delete(row, split).tolist()) for split in range(n_splits)] for row in values]
        )
    # One split stands for the paper, so it has three decimals as most printed numbers have.
    yield from (_compare_order(values[:, split].round(3), rest[:, split]) for split in range(n_splits))


def agreement_figures(blocks: Sequence[Block], orders_of: Callable[[Block], Orders]) -> AgreementFigures:
    """Return the figures for the columns in the orders of ``orders_of``, as the mean over several orders."""
    orders = [orders_of(block) for block in blocks]
    metrics = dict.fromkeys(block.metric for block in blocks)
    items = list(zip(blocks, orders, strict=True))
    units = np.concatenate([permuted_entries(block.units, order) for block, order in items], axis=1)
    in_band = np.concatenate([permuted_entries(block.in_band, order) for block, order in items], axis=1)
    medians = {
        metric: np.concatenate(
            [permuted_entries(block.differences, order) for block, order in items if block.metric == metric], axis=1
        )
        for metric in metrics
    }
    pair_counts = zip(*(_compare_order(block.published, block.measured[order]) for block, order in items), strict=True)
    n_kept, n_reversed, n_pairs = (np.array(counts) for counts in pair_counts)
    has_pairs = n_pairs > 0
    tau = ((n_kept - n_reversed)[has_pairs] / n_pairs[has_pairs][:, None]).mean(axis=0) if has_pairs.any() else None
    return AgreementFigures(
        identical=_mean_or_none(hit_shares(units == 0, units)),
        within_one_unit=_mean_or_none(hit_shares(units <= 1, units)),
        median_difference={
            metric: float(np.nanmedian(differences, axis=1).mean())
            for metric, differences in medians.items()
            if not np.isnan(differences).all()
        },
        tau=_mean_or_none(tau),
        pairs_kept=_mean_or_none(n_kept.sum(axis=0) / n_pairs.sum() if has_pairs.any() else None),
        in_band=_mean_or_none(hit_shares(in_band == 1, in_band)),
    )


def hit_shares(hits: NDArray[np.bool_], values: Floats) -> Floats | None:
    """Return the share of ``hits`` per order among the ``values`` that are not NaN, None where all are NaN."""
    totals = (~np.isnan(values)).sum(axis=1)
    mask = totals > 0
    return hits.sum(axis=1)[mask] / totals[mask] if mask.any() else None


def _compare_order(published: Floats, ours: Floats) -> tuple[Any, Any, int]:
    """Count the pairs of ``published`` numbers that differ: kept in ``ours`` (..., columns), reversed, and all."""
    first, second = np.triu_indices(len(published), k=1)
    paper_signs = _sign(published[first], published[second])
    signs = _sign(ours[..., first], ours[..., second])
    distinct = paper_signs != 0
    n_kept = (signs == paper_signs)[..., distinct].sum(axis=-1)
    n_reversed = (signs == -paper_signs)[..., distinct].sum(axis=-1)
    return n_kept, n_reversed, int(distinct.sum())


def _sign(a: Floats, b: Floats) -> NDArray[np.int_]:
    """Return 1 where a is larger, -1 where b is, 0 where they are equal (also two ∞) or one is NaN."""
    return np.asarray(np.subtract(a > b, a < b, dtype=np.int_))


def _mean_or_none(values: Floats | None) -> float | None:
    return None if values is None else float(np.mean(values))


UNIT_TOLERANCE = 1.0
"""Largest number of units that the sharp comparison allows: a digit may be rounded the other way."""


def compare_digits(findings: Iterable[Finding]) -> list[Finding]:
    """Return one finding per number with ``exact_digits`` and a result. Its distance is in units of the last digit."""
    compared = []
    for finding in (finding for finding in findings if finding.exact_digits and finding.values):
        units = abs(difference_in_units(finding.values[0], finding.published, finding.decimals))
        state: State = "in band" if units <= UNIT_TOLERANCE else "out of band"
        compared.append(replace(finding, kind="digits", state=state, distance=units, reason=None))
    return compared
