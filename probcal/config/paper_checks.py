"""Faults of the published numbers and deviations that an experiment names, which ``probcal check`` would find later.

Also tolerances of the paper that would decide nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from probcal.config.experiment import Experiment
from probcal.data.card import Card
from probcal.errors import FileProblems, Problem, did_you_mean
from probcal.metrics import NAMED
from probcal.metrics.plugins import find_metric
from probcal.papers.deviations import known_deviations
from probcal.papers.published import PublishedPaper, PublishedTable, folder_of
from probcal.yaml_file import KeyPath, YamlFile

_MOST_NAMES = 5


def refuse_paper_faults(experiment: Experiment) -> None:
    """Raise FileProblems if the files of the experiment's paper have a fault, or nothing could be compared with it.

    Nothing happens without a paper.
    """
    if experiment.paper is None:
        return
    path = folder_of(experiment.paper) / f"{experiment.paper}.yaml"
    paper, file = PublishedPaper.read(experiment.paper), YamlFile.read(path)
    unknown = [name for name in paper.tables if find_metric(name) is None]
    if unknown:
        problems = [
            Problem(file.line(("tables", name)), f'there is no metric "{name}"{did_you_mean(name, NAMED)}')
            for name in unknown
        ]
        raise FileProblems(path, problems)
    known_deviations(experiment.paper)
    config = YamlFile(experiment.path, experiment.text)
    if problems := [Problem(config.line(place), text) for place, text in _useless_parts(experiment, paper)]:
        raise FileProblems(experiment.path, problems)


def unused_tolerances(experiment: Experiment) -> Iterator[str]:
    """Yield a note if the tolerances of the paper decide nothing on some data sets, because their splits are drawn."""
    if experiment.paper is None:
        return
    paper = PublishedPaper.read(experiment.paper)
    tables = [table for metric, table in paper.tables.items() if metric in experiment.metrics]
    names = [
        card.name
        for card in experiment.cards
        if (card.reading_of or card.name) in paper.titles
        and not any(_has_tolerance(table, experiment, card) for table in tables)
    ]
    if tables and names:
        n_more = len(names) - _MOST_NAMES
        listing = ", ".join(names[:_MOST_NAMES]) + (f" and {n_more} more" if n_more > 0 else "")
        yield (
            f"the tolerance of {experiment.paper} has no effect on {listing}: it is for the paper's own split. With"
            " random or repeated splits, the spread of your splits decides whether a published number agrees"
        )


def _has_tolerance(table: PublishedTable, experiment: Experiment, card: Card) -> bool:
    """Return whether ``probcal check`` compares the numbers of these splits within the tolerance of the ``table``."""
    split, n_splits = experiment.split or card.split, experiment.repetitions_of(card)
    is_one_split = n_splits == 1 and not (split.is_random or split.folds or card.generator)
    return is_one_split or table.seed is not None or table.matches_folds(split.kind, n_splits)


def _useless_parts(experiment: Experiment, paper: PublishedPaper) -> Iterator[tuple[KeyPath, str]]:
    """Yield the places of the experiment with nothing that the paper has numbers or claims of, and what it has."""
    metrics = dict.fromkeys([*paper.tables, *(name for claim in paper.claims for name in claim.metrics)])
    if paper.tables and not metrics.keys() & {*experiment.metrics}:
        yield ("metrics",), f"{experiment.paper} has no table of {', '.join(experiment.metrics)}{_it_has(metrics)}"
    if not {card.reading_of or card.name for card in experiment.cards} & paper.titles.keys():
        yield ("datasets",), f"{experiment.paper} has none of these data sets{_it_has(paper.titles)}"
    if not any(column.learner.paper for column in experiment.columns):
        learners = dict.fromkeys(learner for learner, _ in paper.columns.values())
        yield ("learners",), f"no learner has the key paper, its name in {experiment.paper}{_it_has(learners)}"


def _it_has(names: Iterable[str]) -> str:
    return f" (it has: {', '.join(names)}), so probcal check would compare nothing"
