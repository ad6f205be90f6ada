"""How many published numbers of one table came back, in a line."""

from __future__ import annotations

from collections.abc import Iterable

from probcal.paper.bands import SIGMAS, Verdict, compare, enough, why_not_judged
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

    A data set with several planned splits, or with random ones, is held to their spread. None when it cannot be
    judged. ``ours``: as ``held_against`` gives it.
    """
    if why_no_verdict(ours, published, table):
        return None
    return compare(ours.values, published, _held_to(ours, table), table.rounding, table.runs)


def by_the_yardstick(ours: Summary, published: float, table: PublishedTable) -> Verdict | None:
    """How far one published number is from ours in a ranking, with a band of ``SIGMAS`` sd for any number of splits.

    None when there are too few splits for a distance.
    """
    if not enough(ours.values, published, _held_to(ours, table)):
        return None
    return compare(ours.values, published, _held_to(ours, table), table.rounding, table.runs, SIGMAS)


def why_no_verdict(ours: Summary, published: float, table: PublishedTable) -> str | None:
    """Return why ``verdict_of`` gives none, as ``why_not_judged`` says it."""
    return why_not_judged(ours.values, published, _held_to(ours, table))


def _held_to(ours: Summary, table: PublishedTable) -> float | None:
    return table.tolerance if ours.of_the_papers_split else None


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
    not_judged = 0
    tolerance, rounding = f"{table.tolerance:.{table.decimals}f}", f"{table.rounding:.{table.decimals + 1}f}"
    alone = "one split" if table.seed is None else f"seed {table.seed}"
    more = "one more split" if table.runs == 1 else f"the mean of {table.runs} more"
    for ours, published in pairs:
        verdict = verdict_of(ours, published, table)
        not_judged += verdict is None and bool(ours.values)
        if verdict:
            (one_split if ours.of_the_papers_split else random_splits).append(verdict.in_band)
    said = [
        f"with {alone}, {_count(one_split)} means are within {tolerance} of the published number"
        if one_split
        else "",
        f"with random splits, {_count(random_splits)} published numbers are within the band of {more} "
        f"(t with n - 1 degrees of freedom, {SIGMAS:.0f} sd for many splits"
        f", and {rounding} for their rounding); {INFINITY} agrees where a split of ours gives {INFINITY}, "
        "a number is held against the finite splits"
        if random_splits
        else "",
        f"{not_judged} cannot be judged, for want of splits or of a spread" if not_judged else "",
    ]
    return f"Agreement: {'; '.join(filter(None, said))}." if any(said) else None


def _count(hits: list[bool]) -> str:
    return f"{sum(hits)} of {len(hits)}"
