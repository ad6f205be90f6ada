"""Experiments of one paper side by side: its columns, and a block of lines a data set."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from probcal.paper.published import Published
from probcal.show.beside import Beside, beside_one_paper
from probcal.show.best import best_grid, best_notes, has_a_best, in_the_order_of_table_4, published_winner, winner
from probcal.show.grid import Grid, Text
from probcal.show.lines import PAPER, SPREAD, Lines, beneath, in_brackets, means, spreads
from probcal.show.measured import Measured, explanation
from probcal.show.metric_names import metric_name
from probcal.show.order import numbered
from probcal.show.outline import Row
from probcal.store import Store

Entry = TypeVar("Entry", Text, str)


def together(*stores: Store) -> tuple[str, list[Grid]]:
    """The heading and the tables; raises as ``beside_one_paper`` does."""
    published, experiments = beside_one_paper(stores)
    several = [one for one in experiments if has_a_best(one.outline)]
    grids = numbered(
        [metric for one in experiments for metric in one.outline.metrics],
        lambda number, metric: _measured(number, experiments, metric, published),
        (lambda number: _best_methods(number, several, published)) if several else None,
    )
    return f"{published.short}: {', '.join(one.name for one in experiments)}", grids


def _measured(number: int, every: list[Beside], metric: str, published: Published) -> Grid:
    experiments = [one for one in every if metric in one.outline.metrics]
    shown = {column.label for one in every for column in one.outline.columns}
    titles = [title for title in published.columns if title in shown]
    measured = {one.name: Measured(one.outline, one.results, metric, published) for one in experiments}

    def ours(one: Beside, row: Row) -> Lines:
        columns, summaries = one.outline.columns, measured[one.name].ours(row)
        own = [column.label for column in columns]
        return [
            [Text(one.name, minor=True), *_across(titles, own, means(columns, summaries, metric), Text())],
            *beneath(SPREAD, _across(titles, own, spreads(summaries), "")),
        ]

    def theirs(dataset: str) -> Lines:
        numbers = [published.number(dataset, *published.columns[title], metric) for title in titles]
        return beneath(PAPER, in_brackets(numbers))

    return Grid(
        number=number,
        name=metric_name(metric).long,
        explanation=explanation([one.outline for one in experiments], metric, published),
        header=["", *titles],
        rows=_blocks(experiments, published, len(titles), ours, theirs),
        notes=_joined({one.name: [*measured[one.name].notes(), *one.notes] for one in experiments}),
    )


def _best_methods(number: int, experiments: list[Beside], published: Published) -> Grid:
    metrics = in_the_order_of_table_4(metric for one in experiments for metric in one.outline.metrics)

    def ours(one: Beside, row: Row) -> Lines:
        own = in_the_order_of_table_4(one.outline.metrics)
        entries = [winner(one.outline, one.results, row, metric) for metric in own]
        return [[Text(one.name, minor=True), *_across(metrics, own, entries, Text())]]

    def theirs(dataset: str) -> Lines:
        return beneath(PAPER, [published_winner(published, dataset, metric) for metric in metrics])

    rows = _blocks(experiments, published, len(metrics), ours, theirs)
    notes = _joined({one.name: [*best_notes(one.outline, one.results), *one.notes] for one in experiments})
    return best_grid(number, metrics, rows, notes, published)


def _blocks(
    experiments: Sequence[Beside],
    published: Published,
    width: int,
    ours: Callable[[Beside, Row], Lines],
    theirs: Callable[[str], Lines],
) -> Lines:
    """Per data set: its title on a line of its own, ``ours`` of each experiment that has it, ``theirs`` once.

    The paper's data sets in its order, then others as they come.
    """
    titles: dict[str, str] = {}
    for one in experiments:
        for row in one.outline.datasets:
            titles.setdefault(row.published, row.title)
    lines = []
    for dataset in sorted(titles, key=[*published.titles, *titles].index):
        lines.append([Text(titles[dataset]), *[Text()] * width])
        for one in experiments:
            if found := one.row(dataset):
                lines += ours(one, found)
        lines += theirs(dataset)
    return lines


def _across(titles: Sequence[str], own: Sequence[str], entries: Sequence[Entry], nothing: Entry) -> list[Entry]:
    """``entries``, which stand under ``own`` titles, under all ``titles``."""
    under = dict(zip(own, entries, strict=True))
    return [under.get(title, nothing) for title in titles]


def _joined(notes: Mapping[str, Sequence[str]]) -> list[str]:
    """Each note once, headed by the names of those that have it unless all have."""
    whose: dict[str, list[str]] = {}
    for name, of_one in notes.items():
        for note in of_one:
            whose.setdefault(note, []).append(name)
    return [note if len(names) == len(notes) else f"{', '.join(names)}: {note}" for note, names in whose.items()]
