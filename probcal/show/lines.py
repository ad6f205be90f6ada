"""What the lines of a table say of one data set: our means with their marks, the spreads, the published numbers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from probcal.show.best import best_of
from probcal.show.grid import DECIMALS, INCOMPLETE, INFINITY, NOT_RUN, Text, printed
from probcal.show.notes import UNDEFINED
from probcal.show.outline import Column
from probcal.show.summary import Summary

Lines = list[list[Text]]
SPREAD, PAPER = "± sd", "[paper]"
"""What the lines beneath the means are called."""


def means(columns: Sequence[Column], ours: Sequence[Summary], metric: str, decimals: int = DECIMALS) -> list[Text]:
    """One per column, the best of each group in bold where at least two of it have a number to compare."""
    bold = _in_bold(columns, ours, metric)
    return [Text(_value(a, decimals), INCOMPLETE if a.partial else "", index in bold) for index, a in enumerate(ours)]


def spreads(ours: Sequence[Summary], decimals: int = DECIMALS) -> list[str]:
    return ["" if a.sd is None else f"±{printed(a.sd, decimals)}" for a in ours]


def in_brackets(
    numbers: Sequence[float | None], spreads: Sequence[float | None] = (), decimals: int = DECIMALS
) -> list[str]:
    """``spreads``: the published sd of each number, None where there is none; empty for none at all."""
    return [
        "" if number is None else f"[{printed(number, decimals)}{_plus_minus(spread, decimals)}]"
        for number, spread in zip_longest(numbers, spreads)
    ]


def beneath(label: str, texts: Sequence[str]) -> Lines:
    """A line that belongs to the one above it; none where it would say nothing."""
    return [[Text(text, minor=True) for text in (label, *texts)]] if any(texts) else []


def _plus_minus(spread: float | None, decimals: int) -> str:
    return "" if spread is None else f" ± {printed(spread, decimals)}"


def _value(ours: Summary, decimals: int) -> str:
    if ours.mean is None:
        return "failed" if ours.failed else UNDEFINED if ours.undefined else NOT_RUN
    some_infinite = 0 < ours.infinite < ours.n
    return f"{INFINITY} ({ours.infinite}/{ours.n})" if some_infinite else printed(ours.mean, decimals)


def _in_bold(columns: Sequence[Column], ours: Sequence[Summary], metric: str) -> set[int]:
    groups: dict[str, list[int]] = {}
    for index, column in enumerate(columns):
        groups.setdefault(column.group, []).append(index)
    bold = set()
    for group in groups.values():
        numbers = {index: ours[index].mean for index in group}
        if sum(number is not None for number in numbers.values()) > 1:
            bold |= best_of(numbers, metric)
    return bold
