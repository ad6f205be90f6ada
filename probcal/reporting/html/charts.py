"""Data of the charts, reliability diagrams, sortable tables and comparison tables of the page."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from probcal.analysis.claim_support import NothingToCompare, compare
from probcal.analysis.comparison_tables import grids
from probcal.errors import StoreError
from probcal.metrics.registry import metric_named
from probcal.papers.published import Published
from probcal.reporting.best_methods import PAPER, SPREAD
from probcal.reporting.grid import INFINITY, NOT_RUN, Grid, Text
from probcal.reporting.labels import UNDEFINED, in_order
from probcal.reporting.metric_table import MetricResults, compared_summary, verdict_of
from probcal.reporting.prediction_summaries import Pictures, PredictionFigure, pictures_of
from probcal.store.folder import Store
from probcal.store.outline import Outline, ResultColumn, Row
from probcal.store.summary import Results, Summary

_MOST = 20_000
"""Most numbers in one chart. More would be too many to see, and for a browser to draw."""


@dataclass(frozen=True)
class Charts:
    """Hold the data of one experiment's charts."""

    data: dict[str, Any]

    @property
    def compares(self) -> bool:
        """Return whether there is something to compare: two finite means of one metric."""
        counts: dict[int, int] = {}
        for one in self.data["numbers"]:
            counts[one[0]] = counts.get(one[0], 0) + (one[3] is not None)
        return any(count > 1 for count in counts.values())

    @property
    def beside_a_paper(self) -> bool:
        return any(one[3] is not None and isinstance(one[7], float) for one in self.data["numbers"])

    @property
    def agreeing(self) -> list[tuple[str, int, int]]:
        """Return (metric, published numbers in their band, published numbers compared)."""
        found = []
        for place, metric in enumerate(self.data["metrics"]):
            verdicts = [one[8] for one in self.data["numbers"] if one[0] == place and one[8] is not None]
            if verdicts:
                found.append((metric["short"], sum(verdicts), len(verdicts)))
        return found


def charts_of(outline: Outline, results: Results, published: Published | None) -> Charts:
    """Return the chart data. ``outline`` must have the titles that the rows are shown under."""
    metrics = in_order(outline.metrics)
    names = [metric_named(metric) for metric in metrics]
    numbers = [
        [place, *one]
        for place, metric in enumerate(metrics)
        for one in _of_metric(MetricResults(outline, results, metric, published))
    ]
    return Charts(
        {
            "paper": published.short if published else None,
            "metrics": [
                {"name": one.long, "short": one.short, "end": one.good_end, "larger": one.larger_is_better}
                for one in names
            ],
            "datasets": [row.title for row in outline.datasets],
            "columns": [{"label": column.label, "group": column.group} for column in outline.columns],
            "numbers": numbers[:_MOST],
        }
    )


def _of_metric(one: MetricResults) -> Iterator[list[Any]]:
    """Yield data set, column, mean, sd, n, number of infinite splits, published number, and whether it agrees.

    The last is None where the number was not compared.
    """
    for d, row in enumerate(one.outline.datasets):
        cells = zip(one.outline.columns, one.ours(row), one.theirs(row), strict=True)
        for c, (column, ours, theirs) in enumerate(cells):
            if ours.n or theirs is not None:
                agrees = _agrees(one, row, column, theirs)
                yield [d, c, _plain(ours.mean), _plain(ours.sd), ours.n, ours.infinite, _published(theirs), agrees]


def _agrees(one: MetricResults, row: Row, column: ResultColumn, theirs: float | None) -> bool | None:
    if theirs is None or one.table is None:
        return None
    held: Summary = compared_summary(one.table, one.outline, one.results, row, column, one.metric)
    verdict = verdict_of(held, theirs, one.table)
    return None if verdict is None else verdict.in_band


def _plain(number: float | None) -> float | None:
    return None if number is None or not math.isfinite(number) else float(number)


def _published(number: float | None) -> float | str | None:
    return "∞" if number is not None and math.isinf(number) else _plain(number)


_DECIMALS = 5


@dataclass(frozen=True)
class ReliabilityChart:
    """Hold reliability diagrams.

    A line holds the places of data set and column, the splits, and (mean, observed, low, high, rows) of each bin.
    """

    lines: list[list[Any]]
    top_label: bool
    """Whether some data sets have more than two classes. Then diagrams are about the likeliest class of each row."""
    notes: list[str]


def reliable(store: Store, outline: Outline, results: Results) -> ReliabilityChart:
    """Return the diagrams from the predictions, or from ``estimates.json``, which is written if possible."""
    found = _pictures(store, outline, results)
    rows = {row.name: place for place, row in enumerate(outline.datasets)}
    columns = {column: place for place, column in enumerate(outline.columns)}
    return ReliabilityChart(
        [[rows[one.row.name], columns[one.column], one.n_splits, _bins(one)] for one in found.every],
        any(one.top_label for one in found.every),
        found.notes(outline) if found.every else [],
    )


def _pictures(store: Store, outline: Outline, results: Results) -> Pictures:
    try:
        return pictures_of(store, outline, results, keep=True)
    except StoreError:
        return pictures_of(store, outline, results)


def _bins(one: PredictionFigure) -> list[list[float]]:
    bins = one.reliability
    shares = zip(bins.mean, bins.observed, bins.low, bins.high, strict=True)
    return [[*(round(float(x), _DECIMALS) for x in four), n] for four, n in zip(shares, bins.counts, strict=True)]


_NUMBER = re.compile(r"-?\d+(\.\d+)?(e[+-]?\d+)?")
_NOTHING = (NOT_RUN, UNDEFINED, "failed", "")
_KINDS = {SPREAD: "spread", PAPER: "paper"}


@dataclass(frozen=True)
class TableCell:
    text: Text
    sort: str
    """A number, ``Infinity``, or the text itself. Empty for what goes last in either order."""


@dataclass(frozen=True)
class Line:
    kind: str
    """``main``, or for a line below it ``spread``, ``paper``, ``minor`` or ``more`` (without a name)."""
    cells: list[TableCell]


@dataclass(frozen=True)
class PageTable:
    """Hold one table. ``groups`` are the lines of one data set, which stay together."""

    id: str
    grid: Grid
    groups: list[list[Line]]


def page_tables(grids: list[Grid], of: str) -> list[PageTable]:
    """Return tables for the page. ``of`` is the prefix of their ids."""
    return [PageTable(f"{of}-table{grid.number}", grid, _groups(grid)) for grid in grids]


def _groups(grid: Grid) -> list[list[Line]]:
    groups: list[list[Line]] = []
    for row in grid.rows:
        kind = _KINDS.get(row[0].main, "minor") if row[0].minor else "main" if row[0].main else "more"
        line = Line(kind, [TableCell(text, sort_value(text.main)) for text in row])
        if kind == "main" or not groups:
            groups.append([])
        groups[-1].append(line)
    return groups


def sort_value(main: str) -> str:
    """Return the sort value of a cell. ``∞ (5/10)`` counts as infinity, as in a mean over splits."""
    if main in _NOTHING:
        return ""
    if main.startswith((INFINITY, f"-{INFINITY}")):
        return "-Infinity" if main.startswith("-") else "Infinity"
    found = _NUMBER.match(main)
    return found[0] if found and found.end() == len(main.split()[0]) else main


@dataclass(frozen=True)
class Statistics:
    tables: list[PageTable]
    fault: str = ""
    """Reason why there are no statistics, where something is broken."""


def statistics(store: Store, first: int, of: str) -> Statistics:
    """Return the comparison for the page. ``first`` is the number of the first table, ``of`` the prefix of the ids."""
    try:
        found = grids(compare(store))
    except NothingToCompare:
        return Statistics([])
    except StoreError as error:
        return Statistics([], str(error))
    return Statistics(page_tables([replace(one, number=number) for number, one in enumerate(found, first)], of))
