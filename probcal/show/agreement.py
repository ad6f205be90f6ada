"""How many published numbers of one table came back, in a line."""

from __future__ import annotations

from collections.abc import Iterable

from probcal.paper.bands import ROUNDING, WIDTH, Verdict, compare, enough
from probcal.show.grid import INFINITY
from probcal.show.summary import Summary


def verdict_of(ours: Summary, published: float, tolerance: float) -> Verdict | None:
    """One published number against ours; ``tolerance`` is that of its table, for a single planned split.

    A data set with several planned splits is held to their spread. None when too few of them have a number.
    """
    held_to = tolerance if ours.planned == 1 else None
    return compare(ours.values, published, held_to) if enough(ours.values, published, held_to) else None


def agreement(pairs: Iterable[tuple[Summary, float]], tolerance: float) -> str | None:
    """``pairs``: our summary and the published number of each cell that has both.

    Judges as ``probcal check`` does. None when there is nothing to compare.
    """
    one_split, random_splits = [], []
    for ours, published in pairs:
        if verdict := verdict_of(ours, published, tolerance):
            (one_split if ours.planned == 1 else random_splits).append(verdict.in_band)
    said = [
        f"with one split, {_count(one_split)} means are within {tolerance:.3f} of the published number"
        if one_split
        else "",
        f"with random splits, {_count(random_splits)} published numbers are within {WIDTH:.0f} sd of one more split "
        f"(and {ROUNDING} for their rounding); {INFINITY} agrees where a split of ours gives {INFINITY}, "
        "a number is held against the finite splits"
        if random_splits
        else "",
    ]
    return f"Agreement: {'; '.join(filter(None, said))}." if any(said) else None


def _count(hits: list[bool]) -> str:
    return f"{sum(hits)} of {len(hits)}"
