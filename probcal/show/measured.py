"""The table of one metric: a row a data set, a column a learner with a method."""

from __future__ import annotations

from probcal.paper.published import Published
from probcal.show.agreement import agreement
from probcal.show.best import best_of
from probcal.show.grid import INCOMPLETE, INFINITY, NOT_RUN, Grid, Text, printed
from probcal.show.metric_names import metric_name
from probcal.show.notes import UNDEFINED, exceptions, footnotes
from probcal.show.outline import Column, Outline, Row
from probcal.show.summary import Results, Summary, census, summarise

# Up to so many columns "0.326 ± 0.004 [0.331]" fits on one line of 160 characters.
_MOST_ON_ONE_LINE = 5

Lines = list[list[Text]]


def published_number(published: Published | None, row: Row, column: Column, metric: str) -> float | None:
    if published is None or column.paper_learner is None or column.paper_method is None:
        return None
    return published.number(row.published, column.paper_learner, column.paper_method, metric)


def measured(
    number: int, outline: Outline, results: Results, metric: str, published: Published | None
) -> Grid:
    """Table ``number``. ``published`` is None where the experiment follows no paper."""
    columns = outline.columns
    ours = [[summarise(outline, results, row, c, metric) for c in columns] for row in outline.datasets]
    theirs = [[published_number(published, row, c, metric) for c in columns] for row in outline.datasets]
    lay_out = _one_line if len(columns) <= _MOST_ON_ONE_LINE else _stacked
    rows = [
        line
        for row, a, b in zip(outline.datasets, ours, theirs, strict=True)
        for line in lay_out(row.title, a, b, _in_bold(columns, a, metric))
    ]
    summaries = [one for line in ours for one in line]
    notes = [*footnotes(summaries, census(outline, results)), *exceptions(outline)]
    if published is not None and metric in published.tables:
        numbers = [one for line in theirs for one in line]
        pairs = [(a, b) for a, b in zip(summaries, numbers, strict=True) if b is not None]
        if line := agreement(pairs, published.tables[metric].tolerance):
            notes.insert(0, line)
    return Grid(
        number=number,
        name=metric_name(metric).long,
        explanation=_explanation(outline, metric, published),
        header=["", *(column.label for column in columns)],
        rows=rows,
        notes=notes,
    )


def _one_line(title: str, ours: list[Summary], theirs: list[float | None], bold: set[int]) -> Lines:
    line = [Text(title)]
    for index, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        spread = "" if a.sd is None else f" ± {printed(a.sd)}"
        number = "" if b is None else f" [{printed(b)}]"
        line.append(Text(_value(a), _mark(a) + spread + number, index in bold))
    return [line]


def _stacked(title: str, ours: list[Summary], theirs: list[float | None], bold: set[int]) -> Lines:
    """The mean, the sd beneath it, the published number beneath that; lines that say nothing left out."""
    lines = [[Text(title), *(Text(_value(a), _mark(a), index in bold) for index, a in enumerate(ours))]]
    spreads = ["" if a.sd is None else f"±{printed(a.sd)}" for a in ours]
    numbers = ["" if b is None else f"[{printed(b)}]" for b in theirs]
    for label, line in (("± sd", spreads), ("[paper]", numbers)):
        if any(line):
            lines.append([Text(text, minor=True) for text in (label, *line)])
    return lines


def _value(ours: Summary) -> str:
    if ours.mean is None:
        return "failed" if ours.failed else UNDEFINED if ours.undefined else NOT_RUN
    some_infinite = 0 < ours.infinite < ours.n
    return f"{INFINITY} ({ours.infinite}/{ours.n})" if some_infinite else printed(ours.mean)


def _mark(ours: Summary) -> str:
    return INCOMPLETE if ours.partial else ""


def _in_bold(columns: list[Column], ours: list[Summary], metric: str) -> set[int]:
    """The best of each group of columns, where at least two of them have a number to compare."""
    groups: dict[str, list[int]] = {}
    for index, column in enumerate(columns):
        groups.setdefault(column.group, []).append(index)
    bold = set()
    for group in groups.values():
        means = {index: ours[index].mean for index in group}
        if sum(mean is not None for mean in means.values()) > 1:
            bold |= best_of(means, metric)
    return bold


def _explanation(outline: Outline, metric: str, published: Published | None) -> str:
    parts = ["larger is better" if metric_name(metric).larger_is_better else "smaller is better"]
    parts.append(_splits(outline))
    if len({column.group for column in outline.columns}) < len(outline.columns):
        parts.append("best of each group of columns in bold")
    if published is not None and metric in published.tables:
        parts.append(f"in brackets Table {published.tables[metric].number} of {published.short}")
    return "; ".join(parts) + "."


def _splits(outline: Outline) -> str:
    several = sorted({n for row in outline.datasets if (n := outline.repetitions[row.name]) > 1})
    if not several:
        return "one split"
    how_many = str(several[0]) if len(several) == 1 else f"{several[0]} to {several[-1]}"
    some_have_one = any(outline.repetitions[row.name] == 1 for row in outline.datasets)
    return f"mean ± sd over {how_many} random splits" + (" (no sd: one split)" if some_have_one else "")
