"""Ranking of settings by their agreement with a paper, as text or CSV.

Settings are variants of a published column, and readings of a data set.
"""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from probcal._io import Field, csv_text
from probcal.errors import ProbcalError
from probcal.metrics.registry import metric_named
from probcal.papers.bands import SIGMAS, Verdict
from probcal.papers.check.findings import (
    FARTHEST,
    CheckedResults,
    mean_of_finite,
    paper_column,
    sd_of_finite,
    spread_text,
)
from probcal.papers.deviations import misprints
from probcal.papers.published import Published
from probcal.reporting.grid import Grid, Text, exceptions, grouped, markdown, printed
from probcal.reporting.metric_table import published_number, ranking_verdict
from probcal.store.folder import Store
from probcal.store.summary import Summary, census, summarise


class AuditError(ProbcalError):
    """Signal that no published column has two variants and that no data set has two readings."""


@dataclass(frozen=True)
class NumberPair:
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
    numbers: list[NumberPair]
    counted: list[NumberPair]
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
    checked: list[CheckedResults]


def audit(stores: Sequence[Store]) -> Audit:
    """Rank the results of all ``stores`` that are compared with the same published column.

    Raises AuditError, StoreError and UnknownPaper.
    """
    checked = [CheckedResults.of(store) for store in stores]
    found = [one for prefix, each in zip(_prefixes(stores), checked, strict=True) for one in _numbers(each, prefix)]
    groups = grouped(found, lambda one: (one.paper.short, one.column))
    several = {name: group for name, group in groups.items() if len({one.variant for one in group}) > 1}
    columns = [_ranking(column, group) for (_, column), group in several.items()]
    readings = {
        dataset: _reading_rankings(group)
        for (_, dataset), group in grouped(found, lambda one: (one.paper.short, one.dataset)).items()
        if len({one.reading for one in group}) > 1
    }
    if not columns and not readings:
        raise AuditError(
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


def _numbers(checked: CheckedResults, prefix: str) -> Iterator[NumberPair]:
    """Yield every published number that our results can be compared with, in the order of the paper's columns.

    Misprints are left out.
    """
    paper, outline = checked.published, checked.outline
    if paper is None:
        return
    wrong = misprints(outline.paper) if outline.paper else frozenset()
    of_title = [
        (title, names, column) for title, names in paper.columns.items() for column in outline.columns
        if paper_column(column) == names
    ]  # fmt: skip
    for title, names, column in of_title:
        for row, metric in itertools.product(outline.datasets, checked.paper_metrics):
            published, table = published_number(paper, row, column, metric), paper.tables[metric]
            if (row.published, *names, metric) in wrong:
                continue
            ours = summarise(outline, checked.results, row, column, metric, table.seed)
            verdict = None if published is None else ranking_verdict(ours, published, table)
            if published is not None and verdict is not None:
                variant = f"{prefix}{column.learner}/{column.method}"
                excepted = any(one.applies_to(row, column) for one in outline.exceptions)
                yield NumberPair(
                    paper, title, variant, row.published, row.name, metric, published, ours, verdict, excepted
                )


def _ranking(title: str, numbers: list[NumberPair]) -> Ranking:
    """Rank variants over all data sets, each in one reading: the data set's own where every variant has it."""
    of_reading = grouped(numbers, lambda one: (one.dataset, one.reading))
    everyone = {one.variant for one in numbers}
    chosen: dict[str, str] = {}
    for (dataset, reading), group in sorted(of_reading.items(), key=lambda item: item[0][0] != item[0][1]):
        if {one.variant for one in group} == everyone:
            chosen.setdefault(dataset, reading)
    of_one = [one for one in numbers if one.reading == chosen.get(one.dataset, one.dataset)]
    return _ranked_in_common(title, numbers, of_one, lambda one: one.variant)


def _reading_rankings(numbers: list[NumberPair]) -> tuple[list[Ranking], list[RankedSetting]]:
    """Return the readings with their variants, column by column, and the readings with their best variant of each
    column.

    The second list uses only columns that all readings have.
    """
    by_column = grouped(numbers, lambda one: one.column)
    columns = [
        _ranked_in_common(title, group, group, lambda one: f"{one.reading} with {one.variant}")
        for title, group in by_column.items()
    ]
    everyone = {one.reading for one in numbers}
    best: list[NumberPair] = []
    for group in by_column.values():
        if {one.reading for one in group} == everyone:
            best += [one for reading in sorted(everyone) for one in _best_of_reading(group, reading)]
    shared = _shared(best, lambda one: one.reading, lambda one: (one.column, one.metric))
    return columns, ranked(grouped(shared, lambda one: one.reading))


def _best_of_reading(numbers: list[NumberPair], reading: str) -> list[NumberPair]:
    of_variant = grouped([one for one in numbers if one.reading == reading], lambda one: one.variant)
    return of_variant[ranked(of_variant)[0].name]


def _ranked_in_common(
    title: str, numbers: list[NumberPair], candidates: list[NumberPair], rival: Callable[[NumberPair], str]
) -> Ranking:
    counted = _shared(candidates, rival, lambda one: (one.dataset, one.metric))
    return Ranking(title, ranked(grouped(counted, rival)), numbers, counted, _left_out(candidates, counted, rival))


def _left_out(
    candidates: list[NumberPair], counted: list[NumberPair], rival: Callable[[NumberPair], str]
) -> dict[tuple[str, ...], list[str]]:
    rivals = list(dict.fromkeys(map(rival, candidates)))
    some = {one.dataset for one in counted}
    found: dict[tuple[str, ...], list[str]] = {}
    what = grouped(candidates, lambda one: f"{one.dataset} {one.metric}" if one.dataset in some else one.dataset)
    for name, group in what.items():
        lacking = tuple(one for one in rivals if one not in set(map(rival, group)))
        if lacking:
            found.setdefault(lacking, []).append(name)
    return found


def _shared(
    numbers: list[NumberPair], rival: Callable[[NumberPair], str], what: Callable[[NumberPair], tuple[str, str]]
) -> list[NumberPair]:
    """Return the numbers that all rivals have, so that a ranking is fair."""
    rivals = set(map(rival, numbers))
    have = {name: {rival(one) for one in group} for name, group in grouped(numbers, what).items()}
    return [one for one in numbers if have[what(one)] == rivals]


def ranked(rivals: dict[str, list[NumberPair]]) -> list[RankedSetting]:
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


def _by_metric(numbers: list[NumberPair]) -> dict[str, tuple[int, int]]:
    """Return metric -> (in band, compared), in the paper's order, so that all rivals have the same order."""
    of_metric = grouped(numbers, lambda one: one.metric)
    tables = [metric for metric in numbers[0].paper.tables if metric in of_metric]
    return {
        metric: (sum(one.verdict.in_band for one in of_metric[metric]), len(of_metric[metric])) for metric in tables
    }


_RULE = f"""\
Ranked by the published numbers in band, then by the median distance of all (1 = the edge of the band; at most
{FARTHEST:g}, also for ∞). A number of a fixed split is in band within the tolerance of its table. One of random splits
is in band within {SIGMAS:g} sd of one more split. This compares variants and is no verdict on a number. `probcal check`
uses a wider band where splits are few. Only numbers that all variants have are counted. "=" marks a tie.
"""

_EXCEPTED = "*"
_FOOTNOTE = f"{_EXCEPTED} with cells changed by an override, see the notes at the end."

_HEADER = [
    "paper", "column", "variant", "dataset", "reading", "metric",
    "published", "mean", "sd", "n", "infinite", "in_band", "distance", "counted",
]  # fmt: skip


def audit_text(*stores: Store, format: str = "markdown", cells: bool = False) -> str:
    """Return the audit of all ``stores`` together. ``cells`` adds the single numbers. Raises as ``audit`` does."""
    found = audit(stores)
    if format == "csv":
        return _csv(found)
    grids = [_variant_grid(ranking) for ranking in found.columns]
    for dataset, (columns, total) in found.readings.items():
        grids += [_reading_grid(dataset, ranking) for ranking in columns]
        if total:
            grids.append(_total_grid(dataset, columns, total))
    if cells:
        grids += [_single_numbers(ranking) for ranking in _rankings_with_numbers(found)]
    numbered = [replace(grid, number=number) for number, grid in enumerate(grids, 1)]
    title = "Audit of " + ", ".join(str(store.folder) for store in stores)
    notes = "".join(f"- {note}\n" for note in _notes(found))
    return _RULE + "\n" + markdown(title, numbered) + (f"\n{notes}" if notes else "")


def _variant_grid(ranking: Ranking) -> Grid:
    named = [_mark(ranking.counted, dataset) + _reading_note(ranking, dataset) for dataset in ranking.datasets]
    explanation = f"variants ranked on {len(named)} data sets: {', '.join(named) or 'none'}."
    notes = [
        f"left out: {', '.join(what)}; no number of {', '.join(lacking)}" for lacking, what in ranking.left_out.items()
    ]
    return _ranking_grid(ranking.title, explanation, "variant", ranking.ranked, [*notes, *_footnote(ranking.counted)])


def _reading_grid(dataset: str, ranking: Ranking) -> Grid:
    name, notes = _mark(ranking.counted, dataset), _footnote(ranking.counted)
    explanation = "its readings with variants ranked."
    return _ranking_grid(f"{name}, {ranking.title}", explanation, "reading", ranking.ranked, notes)


def _total_grid(dataset: str, columns: list[Ranking], ranked: list[RankedSetting]) -> Grid:
    explanation = "its readings ranked over all columns that all of them have, each with its best variant of a column."
    counted = [one for ranking in columns for one in ranking.counted]
    return _ranking_grid(f"{_mark(counted, dataset)}, in total", explanation, "reading", ranked, _footnote(counted))


def _reading_note(ranking: Ranking, dataset: str) -> str:
    """Return the reading of the data set that is counted, where it has several readings or only another one."""
    readings = {one.reading for one in ranking.numbers if one.dataset == dataset}
    counted = next(one.reading for one in ranking.counted if one.dataset == dataset)
    return "" if readings == {dataset} else f" (read as {counted})"


def _mark(numbers: list[NumberPair], dataset: str) -> str:
    return dataset + (_EXCEPTED if any(one.excepted for one in numbers if one.dataset == dataset) else "")


def _footnote(numbers: list[NumberPair]) -> list[str]:
    return [_FOOTNOTE] if any(one.excepted for one in numbers) else []


def _ranking_grid(name: str, explanation: str, word: str, ranked: list[RankedSetting], notes: list[str]) -> Grid:
    metrics = list(ranked[0].by_metric) if ranked else []
    rows = [
        [
            Text(f"{one.place}{'=' if one.tied else ''}"),
            Text(one.name, bold=one.place == 1),
            Text(f"{one.in_band}/{one.compared}"),
            Text(f"{one.median:.2f}"),
            *(Text(f"{hits}/{of}") for hits, of in one.by_metric.values()),
        ]
        for one in ranked
    ]
    header = ["", word, "in band", "median distance", *(metric_named(metric).short for metric in metrics)]
    return Grid(0, name, explanation, header, rows, notes)


def _rankings_with_numbers(found: Audit) -> list[Ranking]:
    """Return the published columns whose single numbers are shown, each once."""
    of_readings = [ranking for columns, _ in found.readings.values() for ranking in columns]
    titles = {ranking.title for ranking in found.columns}
    return [*found.columns, *(ranking for ranking in of_readings if ranking.title not in titles)]


def _single_numbers(ranking: Ranking) -> Grid:
    variants = list(dict.fromkeys(one.variant for one in ranking.numbers))
    lines: dict[tuple[str, str], dict[str, NumberPair]] = {}
    place = [one.reading for one in ranking.numbers]
    metrics = list(ranking.numbers[0].paper.tables)
    for one in sorted(ranking.numbers, key=lambda one: (place.index(one.reading), metrics.index(one.metric))):
        lines.setdefault((one.reading, one.metric), {})[one.variant] = one
    rows = []
    for (reading, metric), of_variant in lines.items():
        nearest = min(one.verdict.distance for one in of_variant.values())
        best = {name for name, one in of_variant.items() if one.verdict.distance == nearest}
        rows.append(
            [
                Text(reading + (_EXCEPTED if any(one.excepted for one in of_variant.values()) else "")),
                Text(metric_named(metric).short),
                Text(printed(next(iter(of_variant.values())).published)),
                *(
                    _number_text(of_variant[name], name in best) if name in of_variant else Text("")
                    for name in variants
                ),
            ]
        )
    explanation = "mean ± sd; ✓ in band, ✗ out of band; the nearest in bold."
    return Grid(0, ranking.title, explanation, ["", "", "paper", *variants], rows, _footnote(ranking.numbers))


def _number_text(one: NumberPair, nearest: bool) -> Text:
    """Return the mean of the finite splits, which are compared, with their spread and the verdict."""
    mean = mean_of_finite(one.ours.values)
    in_band = "✓" if one.verdict.in_band else "✗"
    return Text("" if mean is None else printed(mean), f"{spread_text(one.ours.values)} {in_band}", bold=nearest)


def _notes(found: Audit) -> list[str]:
    notes = [f"one variant only, not ranked: {', '.join(found.alone)}"] if found.alone else []
    for each in found.checked:
        stale = census(each.outline, each.results).stale.total()
        notes += [f"{each.store.folder}: {stale} cells are stale; probcal run renews them"] if stale else []
        notes += exceptions(each.outline)
    return notes


def _csv(found: Audit) -> str:
    rows: list[list[Field]] = [[*_HEADER]]
    for ranking in _rankings_with_numbers(found):
        counted = {id(one) for one in ranking.counted}
        for one in ranking.numbers:
            mean, sd = mean_of_finite(one.ours.values), sd_of_finite(one.ours.values)
            rows.append(
                [
                    one.paper.short, one.column, one.variant, one.dataset, one.reading, one.metric,
                    f"{one.published:.6g}", f"{mean:.6g}", "" if sd is None else f"{sd:.6g}", one.ours.n,
                    one.ours.infinite, int(one.verdict.in_band), f"{one.verdict.distance:.6g}", int(id(one) in counted),
                ]
            )  # fmt: skip
    return csv_text(rows)
