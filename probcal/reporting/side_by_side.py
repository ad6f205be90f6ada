"""Experiments of one paper side by side, under the paper's columns and data sets."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from probcal.errors import ProbcalError
from probcal.papers.check.findings import CheckedResults
from probcal.papers.published import PublishedPaper
from probcal.reporting.grid import Grid, Text, group_by, number_tables, order_tables
from probcal.reporting.metric_table import (
    PAPER,
    Lines,
    MetricResults,
    best_grid,
    best_notes,
    bracket_numbers,
    has_best_methods,
    mean_texts,
    minor_lines,
    published_winner,
    rankable_metrics,
    table_explanation,
    winner,
)
from probcal.store.cell_result import resolve_metric
from probcal.store.folder import Store
from probcal.store.stored_experiment import ResultColumn, Row, StoredExperiment


class SideBySideError(ProbcalError):
    """Signal that these experiments cannot be shown side by side."""


@dataclass(frozen=True)
class PaperExperiment(CheckedResults):
    """Hold one experiment. ``stored`` has only columns that the paper has, in its order and with its titles."""

    name: str
    notes: list[str]
    """Notes on columns and data sets that differ from the paper's titles, and on those left out."""

    def rows(self, dataset: str) -> dict[str, Row]:
        """Return the rows that stand for this data set of the paper, each under the label of its line."""
        rows = [row for row in self.stored.datasets if row.paper_dataset == dataset]
        return {f"{self.name}: {row.name}" if len(rows) > 1 else self.name: row for row in rows}


def experiments_of_paper(stores: Sequence[Store]) -> tuple[PublishedPaper, list[PaperExperiment]]:
    """Return the paper that all experiments follow, and each experiment under the paper's titles.

    Raises SideBySideError when they follow no paper or several, when two of them have the same names, or when none of
    the columns stands for a published one. Raises it too when several columns of one experiment stand for the same
    published column. Raises StoreError and UnknownPaper.
    """
    stored_experiments = [StoredExperiment.of(store) for store in stores]
    names = _experiment_names(stores, stored_experiments)
    for store, stored in zip(stores, stored_experiments, strict=True):
        if stored.paper is None:
            raise SideBySideError(
                f"{store.folder} follows no paper, so it cannot stand beside others; leave it or --together out, "
                f"or name the paper in its experiment file and run that again. {_instead(stores)}"
            )
    papers = dict.fromkeys(stored.paper for stored in stored_experiments if stored.paper)
    if len(papers) > 1:
        texts = [f"{name} follows {stored.paper}" for name, stored in zip(names, stored_experiments, strict=True)]
        raise SideBySideError(
            f"only experiments of the same paper can stand side by side: {', '.join(texts)}. {_instead(stores)}"
        )
    published = PublishedPaper.read(next(iter(papers)))
    return published, [
        _paper_experiment(name, store, stored, published)
        for name, store, stored in zip(names, stores, stored_experiments, strict=True)
    ]


def _instead(stores: Sequence[Store]) -> str:
    """Return the command that needs no paper."""
    folders = shlex.join(str(store.folder) for store in stores)
    return f"Without a paper, this command ranks and tests the methods of each folder: probcal compare {folders}"


def _experiment_names(stores: Sequence[Store], stored_experiments: Sequence[StoredExperiment]) -> list[str]:
    """Return the names of the experiments, or of the folders where two experiments have one name."""
    # A line of a table is found by this name, so that two equal ones could not be told apart.
    for names in ([stored.name for stored in stored_experiments], [store.folder.resolve().name for store in stores]):
        if len(set(names)) == len(names):
            return names
    folders = ", ".join(str(store.folder) for store in stores)
    raise SideBySideError(
        f"neither the experiments nor the folders have distinct names: {folders}; give each once, or rename a folder"
    )


def _paper_experiment(name: str, store: Store, stored: StoredExperiment, published: PublishedPaper) -> PaperExperiment:
    titles = {column: title for title, column in published.columns.items()}

    def published_title(column: ResultColumn) -> str | None:
        return titles.get((column.paper_learner or "", column.paper_method or ""))

    paper_columns = [
        column for title in published.columns for column in stored.columns if published_title(column) == title
    ]
    if not paper_columns:
        raise SideBySideError(f"{store.folder}: none of its columns has a counterpart in {published.short}")
    rivals = [
        f"{', '.join(column.label for column in group)} ({title})"
        for title, group in group_by(paper_columns, published_title).items()
        if len(group) > 1
    ]
    if rivals:
        raise SideBySideError(
            f"{store.folder} has more than one column for the same one of the paper: {'; '.join(rivals)}; "
            "tables side by side have room for one; probcal audit compares variants"
        )
    columns = [
        column.model_copy(update={"label": published_title(column), "group": column.paper_learner})
        for column in paper_columns
    ]
    rows = [
        row.model_copy(update={"title": published.titles.get(row.paper_dataset, row.title)}) for row in stored.datasets
    ]
    pairs = {(column.learner, column.method) for column in paper_columns}
    exceptions = [override for override in stored.exceptions if not pairs.isdisjoint(override.columns)]
    paper_experiment = stored.model_copy(update={"columns": columns, "datasets": rows, "exceptions": exceptions})
    differences = [
        f"{column.label} is {own.label}"
        for own, column in zip(paper_columns, columns, strict=True)
        if own.label != column.label
    ]
    counts = Counter(row.paper_dataset for row in rows)
    differences += [f"{row.title} is {row.name}" for row in rows if row.reading_of and counts[row.paper_dataset] == 1]
    omissions = [column.label for column in stored.columns if (column.learner, column.method) not in pairs]
    notes = [f"here {', '.join(differences)}."] if differences else []
    notes += [f"not shown, since the paper has no such column: {', '.join(omissions)}."] if omissions else []
    return PaperExperiment(store, paper_experiment, store.results(), published, name, notes)


Entry = TypeVar("Entry", Text, str)


def side_by_side_tables(*stores: Store) -> tuple[str, list[Grid]]:
    """Return the heading and the tables. Raises as ``experiments_of_paper`` does."""
    published, experiments = experiments_of_paper(stores)
    table_4_experiments = [experiment for experiment in experiments if has_best_methods(experiment.stored)]
    metrics = dict.fromkeys(metric for experiment in experiments for metric in experiment.stored.metrics)
    grids = order_tables(
        {metric: _metric_grid(experiments, metric, published) for metric in metrics},
        _best_method_grid(table_4_experiments, published) if table_4_experiments else None,
    )
    return f"{published.short}: {', '.join(experiment.name for experiment in experiments)}", number_tables(grids)


def _metric_grid(all_experiments: list[PaperExperiment], metric: str, published: PublishedPaper) -> Grid:
    experiments = [experiment for experiment in all_experiments if metric in experiment.stored.metrics]
    labels = {column.label for experiment in all_experiments for column in experiment.stored.columns}
    titles = [title for title in published.columns if title in labels]
    metric_results = {experiment.name: MetricResults(experiment, metric) for experiment in experiments}

    def experiment_lines(experiment: PaperExperiment, label: str, row: Row) -> Lines:
        columns, results = experiment.stored.columns, metric_results[experiment.name]
        own_titles, means = [column.label for column in columns], mean_texts(columns, results.summaries(row), metric)
        lines = [[Text(label, minor=True), *_align_entries(titles, own_titles, means, Text())]]
        for name, texts in results.texts_below(row):
            # The published numbers stand once below all experiments.
            if name != PAPER:
                lines += minor_lines(name, _align_entries(titles, own_titles, texts, ""))
        return lines

    def published_lines(dataset: str) -> Lines:
        numbers = [published.number(dataset, *published.columns[title], metric) for title in titles]
        return minor_lines(PAPER, bracket_numbers(numbers))

    return Grid(
        name=resolve_metric(metric).long,
        explanation=table_explanation([experiment.stored for experiment in experiments], metric, published),
        header=["", *titles],
        rows=_dataset_lines(experiments, published, len(titles), experiment_lines, published_lines),
        notes=_merge_notes(
            {
                experiment.name: [*metric_results[experiment.name].notes(), *experiment.notes]
                for experiment in experiments
            }
        ),
    )


def _best_method_grid(experiments: list[PaperExperiment], published: PublishedPaper) -> Grid:
    metrics = rankable_metrics(metric for experiment in experiments for metric in experiment.stored.metrics)

    def entries_of(experiment: PaperExperiment, row: Row) -> list[Text]:
        own_metrics = rankable_metrics(experiment.stored.metrics)
        entries = [winner(experiment, row, metric) for metric in own_metrics]
        return _align_entries(metrics, own_metrics, entries, Text())

    def experiment_lines(experiment: PaperExperiment, label: str, row: Row) -> Lines:
        return [[Text(label, minor=True), *entries_of(experiment, row)]]

    def notes_of(experiment: PaperExperiment) -> list[str]:
        entries = [entry for row in experiment.stored.datasets for entry in entries_of(experiment, row)]
        return [*best_notes(experiment, entries), *experiment.notes]

    def published_lines(dataset: str) -> Lines:
        return minor_lines(PAPER, [published_winner(published, dataset, metric) for metric in metrics])

    rows = _dataset_lines(experiments, published, len(metrics), experiment_lines, published_lines)
    notes = _merge_notes({experiment.name: notes_of(experiment) for experiment in experiments})
    return best_grid(metrics, rows, notes, published)


def _dataset_lines(
    experiments: Sequence[PaperExperiment],
    published: PublishedPaper,
    width: int,
    our_lines: Callable[[PaperExperiment, str, Row], Lines],
    paper_lines: Callable[[str], Lines],
) -> Lines:
    """Return for each data set its title, ``our_lines`` of each reading in each experiment, and ``paper_lines``."""
    titles: dict[str, str] = {}
    for experiment in experiments:
        for row in experiment.stored.datasets:
            titles.setdefault(row.paper_dataset, row.title)
    lines = []
    # The paper's data sets come first, in its order.
    for dataset in sorted(titles, key=[*published.titles, *titles].index):
        lines.append([Text(titles[dataset]), *[Text()] * width])
        for experiment in experiments:
            for label, row in experiment.rows(dataset).items():
                lines += our_lines(experiment, label, row)
        lines += paper_lines(dataset)
    return lines


def _align_entries(
    titles: Sequence[str], own_titles: Sequence[str], entries: Sequence[Entry], default: Entry
) -> list[Entry]:
    """Return ``entries``, which belong to ``own_titles``, spread over all ``titles``."""
    title_entries = dict(zip(own_titles, entries, strict=True))
    return [title_entries.get(title, default) for title in titles]


def _merge_notes(notes: Mapping[str, Sequence[str]]) -> list[str]:
    """Return each note once, with the names of the experiments that have it unless all have it."""
    owners: dict[str, list[str]] = {}
    for name, experiment_notes in notes.items():
        for note in experiment_notes:
            owners.setdefault(note, []).append(name)
    return [note if len(names) == len(notes) else f"{', '.join(names)}: {note}" for note, names in owners.items()]
