"""Text of an audit: rankings, single numbers, and one CSV line per number."""

from __future__ import annotations

from dataclasses import replace

from probcal._io import Field, csv_text
from probcal.metrics.registry import metric_named
from probcal.papers.bands import SIGMAS
from probcal.papers.check.audit import Audit, Number, RankedSetting, Ranking, audit
from probcal.papers.check.findings import FARTHEST, mean_of_finite, sd_of_finite
from probcal.reporting.grid import INFINITY, Grid, Text, markdown, printed
from probcal.reporting.labels import exceptions
from probcal.store.folder import Store
from probcal.store.summary import census

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
    return _ranking(ranking.title, explanation, "variant", ranking.ranked, [*notes, *_footnote(ranking.counted)])


def _reading_grid(dataset: str, ranking: Ranking) -> Grid:
    name, notes = _mark(ranking.counted, dataset), _footnote(ranking.counted)
    return _ranking(f"{name}, {ranking.title}", "its readings with variants ranked.", "reading", ranking.ranked, notes)


def _total_grid(dataset: str, columns: list[Ranking], ranked: list[RankedSetting]) -> Grid:
    explanation = "its readings ranked over all columns that all of them have, each with its best variant of a column."
    counted = [one for ranking in columns for one in ranking.counted]
    return _ranking(f"{_mark(counted, dataset)}, in total", explanation, "reading", ranked, _footnote(counted))


def _reading_note(ranking: Ranking, dataset: str) -> str:
    """Return the reading of the data set that is counted, where it has several readings or only another one."""
    readings = {one.reading for one in ranking.numbers if one.dataset == dataset}
    counted = next(one.reading for one in ranking.counted if one.dataset == dataset)
    return "" if readings == {dataset} else f" (read as {counted})"


def _mark(numbers: list[Number], dataset: str) -> str:
    return dataset + (_EXCEPTED if any(one.excepted for one in numbers if one.dataset == dataset) else "")


def _footnote(numbers: list[Number]) -> list[str]:
    return [_FOOTNOTE] if any(one.excepted for one in numbers) else []


def _ranking(name: str, explanation: str, word: str, ranked: list[RankedSetting], notes: list[str]) -> Grid:
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
    lines: dict[tuple[str, str], dict[str, Number]] = {}
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


def _number_text(one: Number, nearest: bool) -> Text:
    return Text(_mean(one), f"{_spread(one)} {'✓' if one.verdict.in_band else '✗'}", bold=nearest)


def _mean(one: Number) -> str:
    """Return the mean of the finite splits, which are compared."""
    mean = mean_of_finite(one.ours.values)
    return "" if mean is None else printed(mean)


def _spread(one: Number) -> str:
    sd = sd_of_finite(one.ours.values)
    some = f", {INFINITY} {one.ours.infinite}/{one.ours.n}" if 0 < one.ours.infinite < one.ours.n else ""
    return ("" if sd is None else f" ± {printed(sd)}") + some


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
