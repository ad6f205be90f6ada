"""Which method did best, and the table that says so."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from typing import TypeVar

from probcal.paper.published import Published
from probcal.show.grid import INCOMPLETE, NOT_RUN, Grid, Text, printed
from probcal.show.metric_names import TABLES_1_TO_3, metric_name
from probcal.show.notes import UNDEFINED, exceptions, troubles
from probcal.show.outline import Outline, Row
from probcal.show.summary import Results, census, summarise

Name = TypeVar("Name", bound=Hashable)


def best_of(means: Mapping[Name, float | None], metric: str) -> set[Name]:
    """All that print the same as the best finite mean; empty where no mean is finite."""
    finite = {name: mean for name, mean in means.items() if mean is not None and math.isfinite(mean)}
    if not finite:
        return set()
    best = printed(metric_name(metric).best(list(finite.values())))
    return {name for name, mean in finite.items() if printed(mean) == best}


def best_methods(number: int, outline: Outline, results: Results, published: Published | None) -> Grid:
    """Table ``number``: a row a data set, a column a metric; ties joined with ``/``."""
    metrics = _in_the_order_of_table_4(outline.metrics)
    rows = [
        [Text(row.title), *(_entry(outline, results, row, metric, published) for metric in metrics)]
        for row in outline.datasets
    ]
    notes = [*troubles(census(outline, results)), *exceptions(outline)]
    if any(INCOMPLETE in cell.rest for row in rows for cell in row):
        notes.insert(0, f"{INCOMPLETE} not every method has all its results yet, or some failed.")
    explanation = "by the means in the other tables, ties of three decimals joined with /"
    if published is not None:
        explanation += f"; in brackets Table 4 of {published.short}"
    header = ["", *(metric_name(metric).short for metric in metrics)]
    return Grid(number, "Best method", explanation + ".", header, rows, notes)


def _in_the_order_of_table_4(metrics: list[str]) -> list[str]:
    first = [metric for metric in ("rms", "cxe", "auc") if metric in metrics]
    return first + [metric for metric in metrics if metric not in TABLES_1_TO_3]


def _entry(outline: Outline, results: Results, row: Row, metric: str, published: Published | None) -> Text:
    summaries = [summarise(outline, results, row, column, metric) for column in outline.columns]
    best = best_of({index: one.mean for index, one in enumerate(summaries)}, metric)
    rest = ""
    if best and any(one.n < one.planned for one in summaries):
        rest = INCOMPLETE
    if published is not None and (theirs := published.best(row.published, metric)):
        rest += f" [{theirs}]"
    nothing = UNDEFINED if any(one.undefined for one in summaries) else NOT_RUN
    return Text("/".join(outline.columns[index].label for index in sorted(best)) or nothing, rest)
