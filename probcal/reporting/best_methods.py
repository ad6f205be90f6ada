"""Table of best methods, and the lines of a table for one data set: our means, their sd and the published numbers."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import TypeVar

from probcal.metrics.registry import metric_named
from probcal.papers.published import Published
from probcal.reporting.grid import DECIMALS, INCOMPLETE, INFINITY, NOT_RUN, Grid, Text, printed
from probcal.reporting.labels import UNDEFINED, exceptions, troubles
from probcal.store.outline import Outline, ResultColumn, Row
from probcal.store.summary import Results, Summary, census, summarise

Name = TypeVar("Name", bound=Hashable)


def best_of(means: Mapping[Name, float | None], metric: str) -> set[Name]:
    """Return all names whose printed mean equals the best finite mean.

    The set is empty where no mean is finite or the metric has no better end.
    """
    finite = {name: mean for name, mean in means.items() if mean is not None and math.isfinite(mean)}
    if not finite or metric_named(metric).no_end:
        return set()
    best = printed(metric_named(metric).best(list(finite.values())))
    return {name for name, mean in finite.items() if printed(mean) == best}


def has_a_best(outline: Outline) -> bool:
    """Return whether there are at least two columns and a metric with a better end."""
    return len(outline.columns) > 1 and bool(table_4_order(outline.metrics))


def best_methods(number: int, outline: Outline, results: Results, published: Published | None) -> Grid:
    """Return table ``number`` with one row per data set and one column per metric. Ties are joined with ``/``."""
    metrics = table_4_order(outline.metrics)
    rows = []
    for row in outline.datasets:
        ours = [winner(outline, results, row, metric) for metric in metrics]
        theirs = [published_winner(published, row.published, metric) for metric in metrics]
        entries = [Text(a.main, a.rest + (b and f" {b}")) for a, b in zip(ours, theirs, strict=True)]
        rows.append([Text(row.title), *entries])
    return best_grid(number, metrics, rows, best_notes(outline, results), published)


def best_grid(
    number: int, metrics: list[str], rows: list[list[Text]], notes: list[str], published: Published | None
) -> Grid:
    """Return the table of best methods with these ``rows``."""
    explanation = "by the means in the other tables, ties of three decimals joined with /"
    if published is not None and published.winners:
        explanation += f"; in brackets Table 4 of {published.short}"
    header = ["", *(metric_named(metric).short for metric in metrics)]
    return Grid(number, "Best method", explanation + ".", header, rows, notes)


def best_notes(outline: Outline, results: Results) -> list[str]:
    """Return the notes of the table: the mark for unfinished means, missing cells, overrides."""
    notes = [*troubles(census(outline, results)), *exceptions(outline)]
    entries = [winner(outline, results, row, metric) for row in outline.datasets for metric in outline.metrics]
    if any(INCOMPLETE in entry.rest for entry in entries):
        notes.insert(0, f"{INCOMPLETE} some methods lack results, which are not run yet or failed.")
    return notes


def table_4_order(metrics: Iterable[str]) -> list[str]:
    """Return the metrics that have a better end, each once."""
    every = [metric for metric in dict.fromkeys(metrics) if not metric_named(metric).no_end]
    first = [metric for metric in ("rms", "cxe", "auc") if metric in every]
    return first + [metric for metric in every if metric not in first]


def winner(outline: Outline, results: Results, row: Row, metric: str) -> Text:
    """Return the labels of the best columns, with the mark of unfinished means after them."""
    summaries = [summarise(outline, results, row, column, metric) for column in outline.columns]
    best = best_of({index: one.mean for index, one in enumerate(summaries)}, metric)
    early = best and any(one.n < one.planned for one in summaries)
    nothing = UNDEFINED if any(one.undefined for one in summaries) else NOT_RUN
    labels = "/".join(outline.columns[index].label for index in sorted(best))
    return Text(labels or nothing, INCOMPLETE if early else "")


def published_winner(published: Published | None, dataset: str, metric: str) -> str:
    """Return the published best method in brackets, or an empty text where no paper names one."""
    theirs = published.best(dataset, metric) if published is not None else None
    return f"[{theirs}]" if theirs else ""


Lines = list[list[Text]]
SPREAD, PAPER = "± sd", "[paper]"
"""Labels of the lines below the means."""


def means(
    columns: Sequence[ResultColumn], ours: Sequence[Summary], metric: str, decimals: int = DECIMALS
) -> list[Text]:
    """Return one text per column. The best of a group is bold if at least two of its columns have a number."""
    bold = _in_bold(columns, ours, metric)
    return [Text(_value(a, decimals), INCOMPLETE if a.partial else "", index in bold) for index, a in enumerate(ours)]


def spreads(ours: Sequence[Summary], decimals: int = DECIMALS) -> list[str]:
    return ["" if a.sd is None else f"±{printed(a.sd, decimals)}" for a in ours]


def in_brackets(
    numbers: Sequence[float | None], spreads: Sequence[float | None] = (), decimals: int = DECIMALS
) -> list[str]:
    """Return the published numbers in brackets.

    ``spreads`` holds the published sd of each number, None where there is none. It is empty for none at all.
    """
    return [
        "" if number is None else f"[{printed(number, decimals)}{_plus_minus(spread, decimals)}]"
        for number, spread in zip_longest(numbers, spreads)
    ]


def beneath(label: str, texts: Sequence[str]) -> Lines:
    """Return a line that belongs to the one above, or no line where all its texts are empty."""
    return [[Text(text, minor=True) for text in (label, *texts)]] if any(texts) else []


def _plus_minus(spread: float | None, decimals: int) -> str:
    return "" if spread is None else f" ± {printed(spread, decimals)}"


def _value(ours: Summary, decimals: int) -> str:
    if ours.mean is None:
        return "failed" if ours.failed else UNDEFINED if ours.undefined else NOT_RUN
    some_infinite = 0 < ours.infinite < ours.n
    return f"{INFINITY} ({ours.infinite}/{ours.n})" if some_infinite else printed(ours.mean, decimals)


def _in_bold(columns: Sequence[ResultColumn], ours: Sequence[Summary], metric: str) -> set[int]:
    groups: dict[str, list[int]] = {}
    for index, column in enumerate(columns):
        groups.setdefault(column.group, []).append(index)
    bold = set()
    for group in groups.values():
        numbers = {index: ours[index].mean for index in group}
        if sum(number is not None for number in numbers.values()) > 1:
            bold |= best_of(numbers, metric)
    return bold
