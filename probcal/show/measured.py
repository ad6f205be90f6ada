"""The table of one metric: a row a data set, a column a learner with a method."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

from probcal.paper.published import Published, PublishedTable
from probcal.show.agreement import agreement, held_against
from probcal.show.grid import Grid, Text, printed
from probcal.show.lines import PAPER, SPREAD, Lines, beneath, in_brackets, means, spreads
from probcal.show.metric_names import metric_name
from probcal.show.notes import exceptions, footnotes
from probcal.show.outline import Column, Outline, Row
from probcal.show.summary import Results, Summary, census, summarise

# Up to so many columns "0.326 ± 0.004 [0.331]" fits on one line of 160 characters.
MOST_ON_ONE_LINE = 5


def published_number(published: Published | None, row: Row, column: Column, metric: str) -> float | None:
    if published is None or column.paper_learner is None or column.paper_method is None:
        return None
    return published.number(row.published, column.paper_learner, column.paper_method, metric)


@dataclass(frozen=True)
class Measured:
    """One metric of one experiment. ``published`` is None where the experiment follows no paper."""

    outline: Outline
    results: Results
    metric: str
    published: Published | None

    @functools.cached_property
    def _summaries(self) -> dict[str, list[Summary]]:
        columns, rows = self.outline.columns, self.outline.datasets
        return {row.name: [summarise(self.outline, self.results, row, c, self.metric) for c in columns] for row in rows}

    def ours(self, row: Row) -> list[Summary]:
        """One per column."""
        return self._summaries[row.name]

    def theirs(self, row: Row) -> list[float | None]:
        """One per column."""
        return [published_number(self.published, row, column, self.metric) for column in self.outline.columns]

    def their_lines(self, row: Row) -> list[str]:
        """The published numbers of a row in brackets, with their sd where the paper gives it."""
        spreads = self.table.spreads if self.table else {}
        columns = self.outline.columns
        of_columns = [spreads.get((row.published, c.paper_learner or "", c.paper_method or "")) for c in columns]
        return in_brackets(self.theirs(row), of_columns, self.decimals)

    def pairs(self, table: PublishedTable) -> list[tuple[Summary, float]]:
        """Each published number of the ``table``, and what of ours is held against it."""
        return [
            (held_against(table, self.outline, self.results, row, column, self.metric), number)
            for row in self.outline.datasets
            for column, number in zip(self.outline.columns, self.theirs(row), strict=True)
            if number is not None
        ]

    @property
    def table(self) -> PublishedTable | None:
        """The paper's table of this metric."""
        return self.published.tables.get(self.metric) if self.published else None

    @property
    def decimals(self) -> int:
        return self.table.decimals if self.table else metric_name(self.metric).decimals

    @property
    def every_summary(self) -> list[Summary]:
        """One per row and column."""
        return [one for row in self.outline.datasets for one in self.ours(row)]

    def notes(self) -> list[str]:
        """The agreement with the paper, the marks, what is missing, the exceptions."""
        census_of_all = census(self.outline, self.results)
        notes = [*footnotes(self.every_summary, census_of_all), *exceptions(self.outline)]
        if self.table is not None and (line := agreement(self.pairs(self.table), self.table)):
            notes.insert(0, line)
        return notes


def measured(
    number: int, outline: Outline, results: Results, metric: str, published: Published | None
) -> Grid:
    """Table ``number``. ``published`` is None where the experiment follows no paper."""
    one, columns = Measured(outline, results, metric, published), outline.columns
    lay_out = _one_line if len(columns) <= MOST_ON_ONE_LINE else _stacked
    rows = []
    for row in outline.datasets:
        ours = one.ours(row)
        rows += lay_out(row.title, means(columns, ours, metric, one.decimals), ours, one.their_lines(row), one.decimals)
    return Grid(
        number=number,
        name=metric_name(metric).long,
        explanation=explanation([outline], metric, published),
        header=["", *(column.label for column in columns)],
        rows=rows,
        notes=one.notes(),
    )


def _one_line(title: str, means: list[Text], ours: list[Summary], theirs: list[str], decimals: int) -> Lines:
    line = [Text(title)]
    for mean, a, number in zip(means, ours, theirs, strict=True):
        spread = "" if a.sd is None else f" ± {printed(a.sd, decimals)}"
        line.append(Text(mean.main, mean.rest + spread + (number and f" {number}"), mean.bold))
    return [line]


def _stacked(title: str, means: list[Text], ours: list[Summary], theirs: list[str], decimals: int) -> Lines:
    """The mean, the sd beneath it, the published number beneath that; lines that say nothing left out."""
    return [[Text(title), *means], *beneath(SPREAD, spreads(ours, decimals)), *beneath(PAPER, theirs)]


def explanation(outlines: Sequence[Outline], metric: str, published: Published | None) -> str:
    """How to read the table of ``metric`` that shows these experiments."""
    parts = [metric_name(metric).good_end]
    parts.append(splits(outlines))
    grouped = any(len({column.group for column in one.columns}) < len(one.columns) for one in outlines)
    if grouped and not metric_name(metric).no_end:
        parts.append("best of each group of columns in bold")
    if published is not None and metric in published.tables:
        parts.append(f"in brackets {published.tables[metric].place} of {published.short}")
    return "; ".join(parts) + "."


def splits(outlines: Sequence[Outline]) -> str:
    """Over what the means are taken."""
    counts = {one.repetitions[row.name] for one in outlines for row in one.datasets}
    several = sorted(n for n in counts if n > 1)
    if not several:
        return "one split"
    how_many = str(several[0]) if len(several) == 1 else f"{several[0]} to {several[-1]}"
    rows = [row for one in outlines for row in one.datasets if one.repetitions[row.name] > 1]
    if all(row.drawn for row in rows):
        what = "drawn data sets"
    else:
        what = "seeds on one split" if all(row.fixed for row in rows) else "random splits"
    return f"mean ± sd over {how_many} {what}" + (" (no sd: one split)" if 1 in counts else "")
