"""Ranking of settings by their agreement with a paper: variants of a published column, and readings of a data set."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from probcal.errors import ProbcalError
from probcal.papers.bands import Verdict
from probcal.papers.check.findings import FARTHEST
from probcal.papers.check.measured_results import Checked
from probcal.papers.published import Published
from probcal.reporting.metric_table import compared_summary, published_number, ranking_verdict
from probcal.store.folder import Store
from probcal.store.outline import ResultColumn, Row
from probcal.store.summary import Summary

Key = TypeVar("Key", bound=Hashable)


class NothingToAudit(ProbcalError):
    """Signal that no published column has two variants and that no data set has two readings."""


@dataclass(frozen=True)
class Number:
    """Hold one published number and one of ours.

    ``column`` is the title of the published column.
    """

    paper: Published
    column: str
    variant: str
    dataset: str
    """Name of the data set in the paper. ``reading`` is our data set that is compared with it."""
    reading: str
    metric: str
    published: float
    ours: Summary
    verdict: Verdict
    excepted: bool
    """Whether an override of the experiment applies to its cells."""

    @property
    def distance(self) -> float:
        return min(self.verdict.distance, FARTHEST)


@dataclass(frozen=True)
class RankedSetting:
    """Hold the rank of one variant or reading.

    ``place`` counts from 1. ``tied`` ones share it: they have the same number in band and the same printed median
    distance.
    """

    name: str
    place: int
    tied: bool
    in_band: int
    compared: int
    median: float
    by_metric: dict[str, tuple[int, int]]
    """Metric -> (in band, compared)."""


@dataclass(frozen=True)
class Ranking:
    """Hold the ranking of the variants for one published column, best first.

    ``numbers`` are all that any variant has. The ranking uses ``counted`` of them, those of ``datasets`` that every
    variant has.
    """

    title: str
    ranked: list[RankedSetting]
    numbers: list[Number]
    counted: list[Number]
    left_out: dict[tuple[str, ...], list[str]]
    """Variants -> data sets for which they have no number, with the metric where only that one is missing."""

    @property
    def datasets(self) -> list[str]:
        return list(dict.fromkeys(one.dataset for one in self.counted))


@dataclass(frozen=True)
class Audit:
    """Hold all rankings.

    ``readings`` is data set -> its readings ranked column by column with their variants, and the readings in total.
    """

    columns: list[Ranking]
    readings: dict[str, tuple[list[Ranking], list[RankedSetting]]]
    alone: list[str]
    """Published columns that have only one variant, so that there is nothing to rank."""
    checked: list[Checked]


def audit(stores: Sequence[Store]) -> Audit:
    """Rank the results of all ``stores`` that are compared with the same published column.

    Raises NothingToAudit, StoreError and UnknownPaper.
    """
    checked = [Checked.of(store) for store in stores]
    found = [one for prefix, each in zip(_prefixes(stores), checked, strict=True) for one in _numbers(each, prefix)]
    groups = _grouped(found, lambda one: (one.paper.short, one.column))
    several = {name: group for name, group in groups.items() if len({one.variant for one in group}) > 1}
    columns = [_ranking(column, group) for (_, column), group in several.items()]
    readings = {
        dataset: _reading_rankings(group)
        for (_, dataset), group in _grouped(found, lambda one: (one.paper.short, one.dataset)).items()
        if len({one.reading for one in group}) > 1
    }
    if not columns and not readings:
        raise NothingToAudit(
            f"{', '.join(str(store.folder) for store in stores)}: nothing to compare: no published column has two "
            "variants with results, and no data set has two readings; list variants under a learner or a method, "
            "as in j48: {type: j48, paper: J48, variants: {pruned: {}, unpruned: {options: -U}}}, run that, "
            "or name several folders"
        )
    alone = [column for paper, column in groups if (paper, column) not in several]
    return Audit(columns, readings, alone, checked)


def _prefixes(stores: Sequence[Store]) -> list[str]:
    """Return a prefix for the variants of each folder, empty where there is only one folder."""
    names = [store.folder.name for store in stores]
    if len(stores) == 1:
        return [""]
    whole = len(set(names)) < len(names)
    return [f"{store.folder if whole else store.folder.name}: " for store in stores]


def _numbers(checked: Checked, prefix: str) -> Iterator[Number]:
    """Yield every published number that our results can be compared with, in the order of the paper's columns."""
    paper = checked.published
    for title, names in paper.columns.items() if paper else ():
        for column in checked.outline.columns:
            if paper is None or (column.paper_learner, column.paper_method) != names:
                continue
            for row in checked.outline.datasets:
                for metric in checked.paper_metrics:
                    yield from _number(checked, paper, title, prefix, row, column, metric)


def _number(
    checked: Checked, paper: Published, title: str, prefix: str, row: Row, column: ResultColumn, metric: str
) -> Iterator[Number]:
    published = published_number(paper, row, column, metric)
    table = paper.tables[metric]
    ours = compared_summary(table, checked.outline, checked.results, row, column, metric)
    verdict = None if published is None else ranking_verdict(ours, published, table)
    if published is not None and verdict is not None:
        variant = f"{prefix}{column.learner}/{column.method}"
        excepted = any(one.is_about(row, column) for one in checked.outline.exceptions)
        yield Number(paper, title, variant, row.published, row.name, metric, published, ours, verdict, excepted)


def _ranking(title: str, numbers: list[Number]) -> Ranking:
    """Rank variants over all data sets, each in one reading: the data set's own where every variant has it."""
    of_reading = _grouped(numbers, lambda one: (one.dataset, one.reading))
    everyone = {one.variant for one in numbers}
    chosen: dict[str, str] = {}
    for (dataset, reading), group in sorted(of_reading.items(), key=lambda item: item[0][0] != item[0][1]):
        if {one.variant for one in group} == everyone:
            chosen.setdefault(dataset, reading)
    of_one = [one for one in numbers if one.reading == chosen.get(one.dataset, one.dataset)]
    return _ranked_in_common(title, numbers, of_one, lambda one: one.variant)


def _reading_rankings(numbers: list[Number]) -> tuple[list[Ranking], list[RankedSetting]]:
    """Return the readings with their variants, column by column, and the readings with their best variant of each
    column.

    The second list uses only columns that all readings have.
    """
    by_column = _grouped(numbers, lambda one: one.column)
    columns = [
        _ranked_in_common(title, group, group, lambda one: f"{one.reading} with {one.variant}")
        for title, group in by_column.items()
    ]
    everyone = {one.reading for one in numbers}
    best: list[Number] = []
    for group in by_column.values():
        if {one.reading for one in group} == everyone:
            best += [one for reading in sorted(everyone) for one in _best_of_reading(group, reading)]
    shared = _shared(best, lambda one: one.reading, lambda one: (one.column, one.metric))
    return columns, ranked(_grouped(shared, lambda one: one.reading))


def _best_of_reading(numbers: list[Number], reading: str) -> list[Number]:
    of_variant = _grouped([one for one in numbers if one.reading == reading], lambda one: one.variant)
    return of_variant[ranked(of_variant)[0].name]


def _ranked_in_common(
    title: str, numbers: list[Number], candidates: list[Number], rival: Callable[[Number], str]
) -> Ranking:
    counted = _shared(candidates, rival, lambda one: (one.dataset, one.metric))
    return Ranking(title, ranked(_grouped(counted, rival)), numbers, counted, _left_out(candidates, counted, rival))


def _left_out(
    candidates: list[Number], counted: list[Number], rival: Callable[[Number], str]
) -> dict[tuple[str, ...], list[str]]:
    rivals = list(dict.fromkeys(map(rival, candidates)))
    some = {one.dataset for one in counted}
    found: dict[tuple[str, ...], list[str]] = {}
    what = _grouped(candidates, lambda one: f"{one.dataset} {one.metric}" if one.dataset in some else one.dataset)
    for name, group in what.items():
        lacking = tuple(one for one in rivals if one not in set(map(rival, group)))
        if lacking:
            found.setdefault(lacking, []).append(name)
    return found


def _shared(
    numbers: list[Number], rival: Callable[[Number], str], what: Callable[[Number], tuple[str, str]]
) -> list[Number]:
    """Return the numbers that all rivals have, so that a ranking is fair."""
    rivals = set(map(rival, numbers))
    have = {name: {rival(one) for one in group} for name, group in _grouped(numbers, what).items()}
    return [one for one in numbers if have[what(one)] == rivals]


def ranked(rivals: dict[str, list[Number]]) -> list[RankedSetting]:
    """Rank by most numbers in band, then by the smallest median distance, then by the given order."""
    counts = {
        name: (sum(one.verdict.in_band for one in group), f"{statistics.median(one.distance for one in group):.2f}")
        for name, group in rivals.items()
    }
    keys = {name: (-in_band, float(median)) for name, (in_band, median) in counts.items()}
    return [
        RankedSetting(
            name,
            place=1 + sum(other < keys[name] for other in keys.values()),
            tied=list(keys.values()).count(keys[name]) > 1,
            in_band=counts[name][0],
            compared=len(rivals[name]),
            median=keys[name][1],
            by_metric=_by_metric(rivals[name]),
        )
        for name in sorted(rivals, key=lambda name: keys[name])
    ]


def _by_metric(numbers: list[Number]) -> dict[str, tuple[int, int]]:
    """Return metric -> (in band, compared), in the paper's order, so that all rivals have the same order."""
    of_metric = _grouped(numbers, lambda one: one.metric)
    tables = [metric for metric in numbers[0].paper.tables if metric in of_metric]
    return {
        metric: (sum(one.verdict.in_band for one in of_metric[metric]), len(of_metric[metric])) for metric in tables
    }


def _grouped(numbers: Iterable[Number], by: Callable[[Number], Key]) -> dict[Key, list[Number]]:
    found: dict[Key, list[Number]] = {}
    for one in numbers:
        found.setdefault(by(one), []).append(one)
    return found
