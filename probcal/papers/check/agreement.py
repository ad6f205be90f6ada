"""Agreement with a paper's numbers in several figures, each beside what chance and a wrong method would have.

A figure without its power says little: bands may be so wide that nearly any number is inside. So every figure is
computed three times: for our columns, for our columns shuffled at random within each data set, and for one plain column
that stands in all of them.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from probcal.papers.bands import units_off
from probcal.papers.check.findings import CheckedResults, Finding, State, is_sharp, mean_of_finite, paper_column
from probcal.papers.published import PublishedTable
from probcal.reporting.metric_table import drawn_of, has_own_rows, place_of, published_number, verdict_of
from probcal.store.outline import ResultColumn, Row
from probcal.store.summary import Summary, summarise

SHUFFLES = 1000
"""Number of random orders of the columns that the shuffled figures are the mean of."""
SEED = 2005
Floats = NDArray[np.float64]
Orders = NDArray[np.intp]
"""For each order, the column of ours that stands in each column. Shape (orders, columns)."""
Rows = Literal["split", "folds", "random", "random means"]
"""The paper's one split, all its folds, or random splits, for a published number of one run or a mean of several."""
Names = tuple[str, str]
"""(learner, method) of a column of the paper."""
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
    ours: Floats
    """Our number per column: the mean of the finite splits, ∞ where at least half of the splits are ∞."""
    units: Floats
    """Units of the last printed digit between the two, 0 for two ∞."""
    differences: Floats
    """|published - ours|, 0 for two ∞."""
    in_band: Floats
    """1 where `probcal check` finds the number in band, 0 where it is out of band, NaN where it cannot judge it."""
    rows: Rows
    """Which rows our results are of, those of the paper or others."""
    sharp: NDArray[np.bool_]
    """Whether the printed digits of a column must come back."""
    drawn: NDArray[np.bool_]
    """Whether the distribution over our draws judges a column."""
    misprints: int

    @property
    def size(self) -> int:
        return len(self.columns)


def our_number(values: Sequence[float]) -> float:
    """Return the mean of the finite splits, or ∞ where at least half of the splits are ∞. NaN without splits."""
    mean = mean_of_finite(values)
    if mean is None:
        return math.nan
    return math.inf if 2 * sum(map(math.isinf, values)) >= len(values) else mean


def blocks(checked: CheckedResults, misprints: Misprints) -> list[Block]:
    """Return one block per data set and metric with results. Columns that lack one of the metrics are left out."""
    found = []
    for row in checked.outline.datasets:
        columns = tuple(column for column in checked.planned(row) if _has_all(checked, row, column))
        found += [_block(checked, row, columns, metric, misprints) for metric in checked.paper_metrics if columns]
    return [block for block in found if not np.isnan(block.published).all() or block.misprints]


def _has_all(checked: CheckedResults, row: Row, column: ResultColumn) -> bool:
    return paper_column(column) != ("", "") and all(
        summarise(checked.outline, checked.results, row, column, metric, checked.seed_of(metric)).values
        for metric in checked.paper_metrics
    )


def _block(
    checked: CheckedResults, row: Row, columns: tuple[ResultColumn, ...], metric: str, misprints: Misprints
) -> Block:
    assert checked.published is not None  # paper_metrics is empty without one
    table = checked.published.tables[metric]
    places = [place_of(row, column) for column in columns]
    found = [summarise(checked.outline, checked.results, row, one, metric, table.seed) for one in columns]
    printed = [published_number(checked.published, row, column, metric) for column in columns]
    wrong = [
        number is not None and (*place, metric) in misprints for number, place in zip(printed, places, strict=True)
    ]
    published = [math.nan if no or number is None else number for number, no in zip(printed, wrong, strict=True)]
    ours = [our_number(one.values) for one in found]
    size = len(columns)
    units, differences, in_band = (np.full((size, size), math.nan) for _ in range(3))
    for i in (i for i in range(size) if not math.isnan(published[i])):
        for j in range(size):
            units[i, j] = abs(units_off(ours[j], published[i], table.printed_decimals[places[i]]))
            differences[i, j] = 0.0 if ours[j] == published[i] else abs(ours[j] - published[i])
            verdict = verdict_of(found[j], published[i], table, places[i])
            in_band[i, j] = math.nan if verdict is None else verdict.in_band
    return Block(
        row=row,
        metric=metric,
        columns=columns,
        published=np.array(published),
        ours=np.array(ours),
        units=units,
        differences=differences,
        in_band=in_band,
        rows=_rows(found[0], table),
        sharp=np.array([is_sharp(checked.published, row, column, found[0].planned) for column in columns]),
        drawn=np.array([drawn_of(found[0], table, place) is not None for place in places]),
        misprints=sum(wrong),
    )


def _rows(found: Summary, table: PublishedTable) -> Rows:
    if has_own_rows(found, table):
        return "folds" if table.is_of_folds(found.split, found.n) else "split"
    return "random" if table.runs == 1 else "random means"


# Which of our columns stands in which


def identity_order(block: Block) -> Orders:
    return np.arange(block.size)[None]


def shuffled(block: Block) -> Orders:
    """Return ``SHUFFLES`` random orders. All metrics of a data set share them, and no other data set changes them."""
    random = np.random.default_rng([SEED, *block.row.name.encode()])
    return random.permuted(np.tile(np.arange(block.size), (SHUFFLES, 1)), axis=1)


def constant_column_order(plain: Names | None, block: Block) -> Orders:
    """Return the order with our column for the paper's ``plain`` one in all columns, or no order without it."""
    places = [index for index, column in enumerate(block.columns) if paper_column(column) == plain][:1]
    return np.full((len(places), block.size), places[0] if places else 0)


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


def agreement(found: Sequence[Block], plain: Names | None) -> Agreement | None:
    """Return the agreement of all blocks, None without a number to compare.

    A data set without the paper's ``plain`` column counts for nothing in the figures of the wrong method.
    """
    numbers = sum(int((~np.isnan(block.published)).sum()) for block in found)
    if not numbers:
        return None
    in_all = functools.partial(constant_column_order, plain)
    with_plain = [block for block in found if len(in_all(block))]
    label = next((block.columns[int(in_all(block)[0, 0])].label for block in with_plain), None)
    return Agreement(
        numbers=numbers,
        misprints=sum(block.misprints for block in found),
        ours=figures(found, identity_order),
        shuffled=figures(found, shuffled),
        wrong=figures(with_plain, in_all) if with_plain else None,
        plain=label,
    )


def figures(found: Sequence[Block], orders_of: Callable[[Block], Orders]) -> AgreementFigures:
    """Return the figures for the columns in the orders of ``orders_of``, as the mean over several orders."""
    orders = [orders_of(block) for block in found]
    metrics = dict.fromkeys(block.metric for block in found)
    every = list(zip(found, orders, strict=True))
    units = np.concatenate([permuted_entries(block.units, order) for block, order in every], axis=1)
    in_band = np.concatenate([permuted_entries(block.in_band, order) for block, order in every], axis=1)
    medians = {
        metric: np.concatenate(
            [permuted_entries(block.differences, order) for block, order in every if block.metric == metric], axis=1
        )
        for metric in metrics
    }
    kept, reversed_, pairs = (np.array(one) for one in zip(*(_pairs(*one) for one in every), strict=True))
    ordered = pairs > 0
    tau = ((kept - reversed_)[ordered] / pairs[ordered][:, None]).mean(axis=0) if ordered.any() else None
    return AgreementFigures(
        identical=_mean(share(units == 0, units)),
        within_one_unit=_mean(share(units <= 1, units)),
        median_difference={
            metric: float(np.nanmedian(one, axis=1).mean())
            for metric, one in medians.items()
            if not np.isnan(one).all()
        },
        tau=_mean(tau),
        pairs_kept=_mean(kept.sum(axis=0) / pairs.sum() if ordered.any() else None),
        in_band=_mean(share(in_band == 1, in_band)),
    )


def share(hits: NDArray[np.bool_], of: Floats) -> Floats | None:
    """Return the share of ``hits`` per order among the entries ``of`` that are not NaN, None where all are NaN."""
    counted = (~np.isnan(of)).sum(axis=1)
    known = counted > 0
    return hits.sum(axis=1)[known] / counted[known] if known.any() else None


def _pairs(block: Block, orders: Orders) -> tuple[NDArray[np.int_], NDArray[np.int_], int]:
    """Return, per order, how many pairs that the paper tells apart ours keeps and reverses, and how many there are."""
    first, second = np.triu_indices(block.size, k=1)
    paper = _sign(block.published[first], block.published[second])
    ours = _sign(block.ours[orders[:, first]], block.ours[orders[:, second]])
    told_apart = paper != 0
    same = (ours == paper)[:, told_apart].sum(axis=1)
    reverse = (ours == -paper)[:, told_apart].sum(axis=1)
    return same, reverse, int(told_apart.sum())


def _sign(a: Floats, b: Floats) -> NDArray[np.int_]:
    """Return 1 where a is larger, -1 where b is, 0 where they are equal (also two ∞) or one is NaN."""
    return np.asarray(np.subtract(a > b, a < b, dtype=np.int_))


def _mean(values: Floats | None) -> float | None:
    return None if values is None else float(np.mean(values))


FARTHEST_UNITS = 1.0
"""Largest number of units that the sharp comparison allows: a digit may be rounded the other way."""


def digits(numbers: Iterable[Finding]) -> list[Finding]:
    """Return one finding per number that is ``sharp`` and has a result. Its distance is in units of the last digit."""
    return [_by_digits(one) for one in numbers if one.sharp and one.values]


def _by_digits(number: Finding) -> Finding:
    units = abs(units_off(number.values[0], number.published, number.decimals))
    state: State = "in band" if units <= FARTHEST_UNITS else "out of band"
    return replace(number, kind="digits", state=state, distance=units, why=None)
