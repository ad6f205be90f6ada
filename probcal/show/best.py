"""Which method did best, and the table that says so."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from typing import TypeVar

from probcal.paper.published import Published
from probcal.show.grid import INCOMPLETE, NOT_RUN, Grid, Text, printed
from probcal.show.metric_names import TABLES_1_TO_3, metric_name
from probcal.show.notes import UNDEFINED, exceptions, troubles
from probcal.show.outline import Outline, Row
from probcal.show.summary import Results, census, summarise

Name = TypeVar("Name", bound=Hashable)


def best_of(means: Mapping[Name, float | None], metric: str) -> set[Name]:
    """All that print the same as the best finite mean; empty where no mean is finite or the metric has no good end."""
    finite = {name: mean for name, mean in means.items() if mean is not None and math.isfinite(mean)}
    if not finite or metric_name(metric).no_end:
        return set()
    best = printed(metric_name(metric).best(list(finite.values())))
    return {name for name, mean in finite.items() if printed(mean) == best}


def has_a_best(outline: Outline) -> bool:
    """Whether there are columns to choose from, and a metric to choose by."""
    return len(outline.columns) > 1 and bool(in_the_order_of_table_4(outline.metrics))


def best_methods(number: int, outline: Outline, results: Results, published: Published | None) -> Grid:
    """Table ``number``: a row a data set, a column a metric; ties joined with ``/``."""
    metrics = in_the_order_of_table_4(outline.metrics)
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
    """The table around its ``rows``."""
    explanation = "by the means in the other tables, ties of three decimals joined with /"
    if published is not None and published.winners:
        explanation += f"; in brackets Table 4 of {published.short}"
    header = ["", *(metric_name(metric).short for metric in metrics)]
    return Grid(number, "Best method", explanation + ".", header, rows, notes)


def best_notes(outline: Outline, results: Results) -> list[str]:
    """What the mark of an early lead means where there is one, what is missing, the exceptions."""
    notes = [*troubles(census(outline, results)), *exceptions(outline)]
    entries = [winner(outline, results, row, metric) for row in outline.datasets for metric in outline.metrics]
    if any(INCOMPLETE in entry.rest for entry in entries):
        notes.insert(0, f"{INCOMPLETE} not every method has all its results yet, or some failed.")
    return notes


def in_the_order_of_table_4(metrics: Iterable[str]) -> list[str]:
    """Those that have a better end; each once."""
    every = [metric for metric in dict.fromkeys(metrics) if not metric_name(metric).no_end]
    first = [metric for metric in ("rms", "cxe", "auc") if metric in every]
    return first + [metric for metric in every if metric not in TABLES_1_TO_3]


def winner(outline: Outline, results: Results, row: Row, metric: str) -> Text:
    """The labels of the best columns; the mark of an early lead behind them."""
    summaries = [summarise(outline, results, row, column, metric) for column in outline.columns]
    best = best_of({index: one.mean for index, one in enumerate(summaries)}, metric)
    early = best and any(one.n < one.planned for one in summaries)
    nothing = UNDEFINED if any(one.undefined for one in summaries) else NOT_RUN
    labels = "/".join(outline.columns[index].label for index in sorted(best))
    return Text(labels or nothing, INCOMPLETE if early else "")


def published_winner(published: Published | None, dataset: str, metric: str) -> str:
    """In brackets; empty where no paper names one."""
    theirs = published.best(dataset, metric) if published is not None else None
    return f"[{theirs}]" if theirs else ""
