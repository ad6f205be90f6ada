"""How many published numbers of one table came back, in a line."""

from __future__ import annotations

from collections.abc import Iterable

from probcal.paper.bands import WIDTH, Verdict, compare, enough
from probcal.paper.published import PublishedTable
from probcal.show.grid import INFINITY
from probcal.show.outline import Column, Outline, Row
from probcal.show.summary import Results, Summary, summarise


def held_against(
    table: PublishedTable, outline: Outline, results: Results, row: Row, column: Column, metric: str
) -> Summary:
    """What is compared with a number of ``table``: all our repetitions, or the one of its seed alone."""
    return summarise(outline, results, row, column, metric, table.seed)


def verdict_of(ours: Summary, published: float, table: PublishedTable) -> Verdict | None:
    """One published number against ours; the tolerance of its ``table`` is for a single planned split.

    A data set with several planned splits is held to their spread. None when too few of them have a number.
    ``ours``: as ``held_against`` gives it.
    """
    held_to = table.tolerance if ours.planned == 1 else None
    if not enough(ours.values, published, held_to):
        return None
    return compare(ours.values, published, held_to, table.rounding, table.runs)


def verdicts(pairs: Iterable[tuple[Summary, float]], table: PublishedTable) -> list[Verdict]:
    """Of those of ``pairs`` that can be compared."""
    judged = [verdict_of(ours, published, table) for ours, published in pairs]
    return [verdict for verdict in judged if verdict is not None]


def agreement(pairs: Iterable[tuple[Summary, float]], table: PublishedTable) -> str | None:
    """``pairs``: our summary and the published number of each cell that has both.

    Judges as ``probcal check`` does. None when there is nothing to compare.
    """
    one_split: list[bool] = []
    random_splits: list[bool] = []
    tolerance, rounding = f"{table.tolerance:.{table.decimals}f}", f"{table.rounding:.{table.decimals + 1}f}"
    alone = "one split" if table.seed is None else f"seed {table.seed}"
    more = "one more split" if table.runs == 1 else f"the mean of {table.runs} more"
    for ours, published in pairs:
        if verdict := verdict_of(ours, published, table):
            (one_split if ours.planned == 1 else random_splits).append(verdict.in_band)
    said = [
        f"with {alone}, {_count(one_split)} means are within {tolerance} of the published number"
        if one_split
        else "",
        f"with random splits, {_count(random_splits)} published numbers are within {WIDTH:.0f} sd of {more} "
        f"(and {rounding} for their rounding); {INFINITY} agrees where a split of ours gives {INFINITY}, "
        "a number is held against the finite splits"
        if random_splits
        else "",
    ]
    return f"Agreement: {'; '.join(filter(None, said))}." if any(said) else None


def _count(hits: list[bool]) -> str:
    return f"{sum(hits)} of {len(hits)}"
