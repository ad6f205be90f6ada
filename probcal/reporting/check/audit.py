"""Ranking of settings by their agreement with a paper, as text or CSV.

Settings are variants of a published column, and readings of a data set.
"""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from probcal._io import csv_number
from probcal.errors import ProbcalError
from probcal.metrics.metric import format_number
from probcal.metrics.registry import metric_named
from probcal.papers.bands import SIGMAS, Verdict
from probcal.papers.check.comparison import published_number, ranking_verdict
from probcal.papers.check.findings import LARGEST_DISTANCE, CheckedResults, mean_of_finite, paper_column, sd_of_finite
from probcal.papers.deviations import misprints
from probcal.papers.published import PublishedPaper
from probcal.reporting.check.check_text import spread_text
from probcal.reporting.grid import (
    Columns,
    CsvColumns,
    Grid,
    Text,
    csv_lines,
    group_by,
    markdown,
    number_tables,
    override_notes,
    table_of,
)
from probcal.store.folder import Store
from probcal.store.summary import Summary, summarise


class AuditError(ProbcalError):
    """Signal that no published column has two variants and that no data set has two readings."""


@dataclass(frozen=True)
class NumberPair:
    """Hold one published number and one of ours.

    ``column`` is the title of the published column.
    """

    paper: PublishedPaper
    column: str
    variant: str
    dataset: str
    """Name of the data set in the paper. ``reading`` is our data set that is compared with it."""
    reading: str
    metric: str
    published: float
    summary: Summary
    verdict: Verdict
    has_override: bool
    """Whether an override of the experiment applies to its cells."""

    @property
    def distance(self) -> float:
        return min(self.verdict.distance, LARGEST_DISTANCE)


@dataclass(frozen=True)
class RankedSetting:
    """Hold the rank of one variant or reading.

    ``rank`` counts from 1. Tied ones share it: they have the same number in band and the same printed median
    distance.
    """

    name: str
    rank: int
    is_tied: bool
    in_band: int
    compared: int
    median: float
    metric_counts: dict[str, tuple[int, int]]
    """Metric -> (in band, compared)."""


@dataclass(frozen=True)
class Ranking:
    """Hold the ranking of the variants for one published column, best first.

    ``numbers`` are all that any variant has. The ranking uses the ``common_numbers`` of them, those of ``datasets``
    that every variant has.
    """

    title: str
    settings: list[RankedSetting]
    numbers: list[NumberPair]
    common_numbers: list[NumberPair]
    missing_datasets: dict[tuple[str, ...], list[str]]
    """Variants -> data sets for which they have no number, with the metric where only that one is missing."""

    @property
    def datasets(self) -> list[str]:
        return list(dict.fromkeys(pair.dataset for pair in self.common_numbers))


@dataclass(frozen=True)
class Audit:
    """Hold all rankings.

    ``readings`` is data set -> its readings ranked column by column with their variants, and the readings in total.
    """

    columns: list[Ranking]
    readings: dict[str, tuple[list[Ranking], list[RankedSetting]]]
    single_columns: list[str]
    """Published columns that have only one variant, so that there is nothing to rank."""
    experiments: list[CheckedResults]


def audit(stores: Sequence[Store]) -> Audit:
    """Rank the results of all ``stores`` that are compared with the same published column.

    Raises AuditError, StoreError and UnknownPaper.
    """
    experiments = [CheckedResults.of(store) for store in stores]
    pairs = [
        pair
        for prefix, experiment in zip(_prefixes(stores), experiments, strict=True)
        for pair in _number_pairs(experiment, prefix)
    ]
    groups = group_by(pairs, lambda pair: (pair.paper.short, pair.column))
    rankable_groups = {name: group for name, group in groups.items() if len({pair.variant for pair in group}) > 1}
    columns = [_rank_variants(column, group) for (_, column), group in rankable_groups.items()]
    readings = {
        dataset: _rank_readings(group)
        for (_, dataset), group in group_by(pairs, lambda pair: (pair.paper.short, pair.dataset)).items()
        if len({pair.reading for pair in group}) > 1
    }
    if not columns and not readings:
        raise AuditError(
            f"{', '.join(str(store.folder) for store in stores)}: nothing to compare: no published column has two "
            "variants with results, and no data set has two readings; list variants under a learner or a method, "
            "as in j48: {type: j48, paper: J48, variants: {pruned: {}, unpruned: {options: -U}}}, run that, "
            "or name several folders"
        )
    single_columns = [column for paper, column in groups if (paper, column) not in rankable_groups]
    return Audit(columns, readings, single_columns, experiments)


def _prefixes(stores: Sequence[Store]) -> list[str]:
    """Return a prefix for the variants of each folder, empty where there is only one folder."""
    names = [store.folder.name for store in stores]
    if len(stores) == 1:
        return [""]
    has_duplicates = len(set(names)) < len(names)
    return [f"{store.folder if has_duplicates else store.folder.name}: " for store in stores]


def _number_pairs(experiment: CheckedResults, prefix: str) -> Iterator[NumberPair]:
    """Yield every published number that our results can be compared with, in the order of the paper's columns.

    Misprints are left out.
    """
    paper, stored = experiment.published, experiment.stored
    if paper is None:
        return
    misprint_keys = misprints(stored.paper) if stored.paper else frozenset()
    matches = [
        (title, names, column) for title, names in paper.columns.items() for column in stored.columns
        if paper_column(column) == names
    ]  # fmt: skip
    for title, names, column in matches:
        for row, metric in itertools.product(stored.datasets, experiment.paper_metrics):
            published, table = published_number(paper, row, column, metric), paper.tables[metric]
            # No variant can have a misprint, so its distance would only hide the differences between variants.
            if (row.paper_dataset, *names, metric) in misprint_keys:
                continue
            summary = summarise(stored, experiment.results, row, column, metric, table.seed)
            verdict = None if published is None else ranking_verdict(summary, published, table)
            if published is not None and verdict is not None:
                variant = f"{prefix}{column.learner}/{column.method}"
                is_excepted = any(exception.applies_to(row, column) for exception in stored.exceptions)
                yield NumberPair(
                    paper, title, variant, row.paper_dataset, row.name, metric, published, summary, verdict, is_excepted
                )


def _rank_variants(title: str, numbers: list[NumberPair]) -> Ranking:
    """Rank variants over all data sets, each in one reading: the data set's own where every variant has it."""
    reading_groups = group_by(numbers, lambda pair: (pair.dataset, pair.reading))
    variants = {pair.variant for pair in numbers}
    readings: dict[str, str] = {}
    # The data set's own reading first.
    for (dataset, reading), group in sorted(reading_groups.items(), key=lambda item: item[0][0] != item[0][1]):
        if {pair.variant for pair in group} == variants:
            readings.setdefault(dataset, reading)
    candidates = [pair for pair in numbers if pair.reading == readings.get(pair.dataset, pair.dataset)]
    return _rank_common_numbers(title, numbers, candidates, lambda pair: pair.variant)


def _rank_readings(numbers: list[NumberPair]) -> tuple[list[Ranking], list[RankedSetting]]:
    """Return the readings with their variants, column by column, and the readings with their best variants.

    A column has its own best variant. The second list uses only columns that all readings have.
    """
    column_groups = group_by(numbers, lambda pair: pair.column)
    columns = [
        _rank_common_numbers(title, group, group, lambda pair: f"{pair.reading} with {pair.variant}")
        for title, group in column_groups.items()
    ]
    readings = {pair.reading for pair in numbers}
    best: list[NumberPair] = []
    for group in column_groups.values():
        if {pair.reading for pair in group} == readings:
            best += [pair for reading in sorted(readings) for pair in _best_numbers(group, reading)]
    shared_pairs = _common_numbers(best, lambda pair: pair.reading, lambda pair: (pair.column, pair.metric))
    return columns, rank_settings(group_by(shared_pairs, lambda pair: pair.reading))


def _best_numbers(numbers: list[NumberPair], reading: str) -> list[NumberPair]:
    variant_groups = group_by([pair for pair in numbers if pair.reading == reading], lambda pair: pair.variant)
    return variant_groups[rank_settings(variant_groups)[0].name]


def _rank_common_numbers(
    title: str, numbers: list[NumberPair], candidates: list[NumberPair], rival: Callable[[NumberPair], str]
) -> Ranking:
    common = _common_numbers(candidates, rival, lambda pair: (pair.dataset, pair.metric))
    settings = rank_settings(group_by(common, rival))
    return Ranking(title, settings, numbers, common, _missing_datasets(candidates, common, rival))


def _missing_datasets(
    candidates: list[NumberPair], common: list[NumberPair], rival: Callable[[NumberPair], str]
) -> dict[tuple[str, ...], list[str]]:
    rivals = list(dict.fromkeys(map(rival, candidates)))
    datasets = {pair.dataset for pair in common}
    gaps: dict[tuple[str, ...], list[str]] = {}
    groups = group_by(
        candidates, lambda pair: f"{pair.dataset} {pair.metric}" if pair.dataset in datasets else pair.dataset
    )
    for name, group in groups.items():
        absent_rivals = tuple(label for label in rivals if label not in set(map(rival, group)))
        if absent_rivals:
            gaps.setdefault(absent_rivals, []).append(name)
    return gaps


def _common_numbers(
    numbers: list[NumberPair], rival: Callable[[NumberPair], str], key: Callable[[NumberPair], tuple[str, str]]
) -> list[NumberPair]:
    rivals = set(map(rival, numbers))
    rival_sets = {name: {rival(pair) for pair in group} for name, group in group_by(numbers, key).items()}
    # A ranking is fair only by numbers that all rivals have.
    return [pair for pair in numbers if rival_sets[key(pair)] == rivals]


def rank_settings(rivals: dict[str, list[NumberPair]]) -> list[RankedSetting]:
    """Rank by most numbers in band, then by the smallest median distance, then by the given order."""
    counts = {
        # Rounded as it is printed, so that a tie on the page is a tie in the ranking.
        name: (sum(pair.verdict.in_band for pair in group), f"{statistics.median(pair.distance for pair in group):.2f}")
        for name, group in rivals.items()
    }
    keys = {name: (-in_band, float(median)) for name, (in_band, median) in counts.items()}
    return [
        RankedSetting(
            name,
            rank=1 + sum(key < keys[name] for key in keys.values()),
            is_tied=list(keys.values()).count(keys[name]) > 1,
            in_band=counts[name][0],
            compared=len(rivals[name]),
            median=keys[name][1],
            metric_counts=_metric_counts(rivals[name]),
        )
        for name in sorted(rivals, key=lambda name: keys[name])
    ]


def _metric_counts(numbers: list[NumberPair]) -> dict[str, tuple[int, int]]:
    groups = group_by(numbers, lambda pair: pair.metric)
    # In the paper's order, so that all rivals have the same.
    tables = [metric for metric in numbers[0].paper.tables if metric in groups]
    return {metric: (sum(pair.verdict.in_band for pair in groups[metric]), len(groups[metric])) for metric in tables}


_RULE = f"""\
Ranked by the published numbers in band, then by the median distance of all (1 = the edge of the band; at most
{LARGEST_DISTANCE:g}, also for ∞). \
A number of a fixed split is in band within the tolerance of its table. One of random splits
is in band within {SIGMAS:g} sd of one more split. This compares variants and is no verdict on a number. `probcal check`
uses a wider band where splits are few. Only numbers that all variants have are counted. "=" marks a tie.
"""

_OVERRIDE_MARK = "*"
_OVERRIDE_NOTE = f"{_OVERRIDE_MARK} with cells changed by an override, see the notes at the end."


def audit_text(*stores: Store, format: str = "markdown", cells: bool = False) -> str:
    """Return the audit of all ``stores`` together. ``cells`` adds the single numbers. Raises as ``audit`` does."""
    result = audit(stores)
    if format == "csv":
        return _audit_csv(result)
    grids = [_variant_grid(ranking) for ranking in result.columns]
    for dataset, (columns, total) in result.readings.items():
        grids += [_reading_grid(dataset, ranking) for ranking in columns]
        if total:
            grids.append(_total_grid(dataset, columns, total))
    if cells:
        grids += [_number_grid(ranking) for ranking in _distinct_rankings(result)]
    title = "Audit of " + ", ".join(str(store.folder) for store in stores)
    notes = "".join(f"- {note}\n" for note in _notes(result))
    return _RULE + "\n" + markdown(title, number_tables(grids)) + (f"\n{notes}" if notes else "")


def _variant_grid(ranking: Ranking) -> Grid:
    numbers = ranking.common_numbers
    names = [_marked_name(numbers, dataset) + _reading_note(ranking, dataset) for dataset in ranking.datasets]
    explanation = f"variants ranked on {len(names)} data sets: {', '.join(names) or 'none'}."
    notes = [
        f"left out: {', '.join(datasets)}; no number of {', '.join(rivals)}"
        for rivals, datasets in ranking.missing_datasets.items()
    ]
    return _ranking_grid(ranking.title, explanation, "variant", ranking.settings, [*notes, *_override_notes(numbers)])


def _reading_grid(dataset: str, ranking: Ranking) -> Grid:
    name, notes = _marked_name(ranking.common_numbers, dataset), _override_notes(ranking.common_numbers)
    explanation = "its readings with variants ranked."
    return _ranking_grid(f"{name}, {ranking.title}", explanation, "reading", ranking.settings, notes)


def _total_grid(dataset: str, columns: list[Ranking], settings: list[RankedSetting]) -> Grid:
    explanation = "its readings ranked over all columns that all of them have, each with its best variant of a column."
    pairs = [pair for ranking in columns for pair in ranking.common_numbers]
    name = f"{_marked_name(pairs, dataset)}, in total"
    return _ranking_grid(name, explanation, "reading", settings, _override_notes(pairs))


def _reading_note(ranking: Ranking, dataset: str) -> str:
    """Return the reading of the data set that is counted, where it has several readings or only another one."""
    readings = {pair.reading for pair in ranking.numbers if pair.dataset == dataset}
    reading = next(pair.reading for pair in ranking.common_numbers if pair.dataset == dataset)
    return "" if readings == {dataset} else f" (read as {reading})"


def _marked_name(numbers: list[NumberPair], dataset: str) -> str:
    return dataset + (_OVERRIDE_MARK if any(pair.has_override for pair in numbers if pair.dataset == dataset) else "")


def _override_notes(numbers: list[NumberPair]) -> list[str]:
    return [_OVERRIDE_NOTE] if any(pair.has_override for pair in numbers) else []


def _ranking_grid(name: str, explanation: str, word: str, settings: list[RankedSetting], notes: list[str]) -> Grid:
    metrics = list(settings[0].metric_counts) if settings else []
    columns: Columns[RankedSetting] = [
        ("", lambda setting: f"{setting.rank}{'=' if setting.is_tied else ''}"),
        (word, lambda setting: Text(setting.name, bold=setting.rank == 1)),
        ("in band", lambda setting: f"{setting.in_band}/{setting.compared}"),
        ("median distance", lambda setting: f"{setting.median:.2f}"),
        *((metric_named(one).short, partial(_metric_count_text, one)) for one in metrics),
    ]
    return table_of(name, explanation, columns, settings, notes)


def _metric_count_text(metric: str, setting: RankedSetting) -> str:
    hits, total = setting.metric_counts[metric]
    return f"{hits}/{total}"


def _distinct_rankings(audit: Audit) -> list[Ranking]:
    """Return the published columns whose single numbers are shown, each once."""
    reading_rankings = [ranking for columns, _ in audit.readings.values() for ranking in columns]
    titles = {ranking.title for ranking in audit.columns}
    return [*audit.columns, *(ranking for ranking in reading_rankings if ranking.title not in titles)]


def _number_grid(ranking: Ranking) -> Grid:
    variants = list(dict.fromkeys(pair.variant for pair in ranking.numbers))
    lines: dict[tuple[str, str], dict[str, NumberPair]] = {}
    readings = [pair.reading for pair in ranking.numbers]
    metrics = list(ranking.numbers[0].paper.tables)
    for pair in sorted(ranking.numbers, key=lambda pair: (readings.index(pair.reading), metrics.index(pair.metric))):
        lines.setdefault((pair.reading, pair.metric), {})[pair.variant] = pair
    rows = []
    for (reading, metric), pairs in lines.items():
        nearest = min(pair.verdict.distance for pair in pairs.values())
        best = {name for name, pair in pairs.items() if pair.verdict.distance == nearest}
        rows.append(
            [
                Text(reading + (_OVERRIDE_MARK if any(pair.has_override for pair in pairs.values()) else "")),
                Text(metric_named(metric).short),
                Text(format_number(next(iter(pairs.values())).published)),
                *(_number_text(pairs[name], name in best) if name in pairs else Text("") for name in variants),
            ]
        )
    explanation = "mean ± sd; ✓ in band, ✗ out of band; the nearest in bold."
    return Grid(ranking.title, explanation, ["", "", "paper", *variants], rows, _override_notes(ranking.numbers))


def _number_text(pair: NumberPair, is_nearest: bool) -> Text:
    """Return the mean of the finite splits, which are compared, with their spread and the verdict."""
    mean = mean_of_finite(pair.summary.values)
    in_band = "✓" if pair.verdict.in_band else "✗"
    text = "" if mean is None else format_number(mean)
    return Text(text, f"{spread_text(pair.summary.values)} {in_band}", bold=is_nearest)


def _notes(audit: Audit) -> list[str]:
    notes = [f"one variant only, not ranked: {', '.join(audit.single_columns)}"] if audit.single_columns else []
    for experiment in audit.experiments:
        n_stale = experiment.cell_counts.stale.total()
        notes += [f"{experiment.store.folder}: {n_stale} cells are stale; probcal run renews them"] if n_stale else []
        notes += override_notes(experiment.stored)
    return notes


def _audit_csv(audit: Audit) -> str:
    rankings = _distinct_rankings(audit)
    counted = {id(pair) for ranking in rankings for pair in ranking.common_numbers}
    columns: CsvColumns[NumberPair] = [
        ("paper", lambda pair: pair.paper.short),
        ("column", lambda pair: pair.column),
        ("variant", lambda pair: pair.variant),
        ("dataset", lambda pair: pair.dataset),
        ("reading", lambda pair: pair.reading),
        ("metric", lambda pair: pair.metric),
        ("published", lambda pair: csv_number(pair.published)),
        ("mean", lambda pair: csv_number(mean_of_finite(pair.summary.values))),
        ("sd", lambda pair: csv_number(sd_of_finite(pair.summary.values))),
        ("n", lambda pair: pair.summary.n),
        ("infinite", lambda pair: pair.summary.infinite),
        ("in_band", lambda pair: int(pair.verdict.in_band)),
        ("distance", lambda pair: csv_number(pair.verdict.distance)),
        ("counted", lambda pair: int(id(pair) in counted)),
    ]
    return csv_lines(columns, [pair for ranking in rankings for pair in ranking.numbers])
