"""Tables of a comparison (claims, mean ranks, pairs, best methods) as Markdown, JSON or CSV with one line per test."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any

from probcal._io import Field, counted, csv_text, join_first
from probcal.analysis.claim_support import ClaimSupport, Comparison, Count, ResampledVerdict
from probcal.analysis.pairs import Pair, PairedTest, p_text
from probcal.analysis.split_results import column_id
from probcal.papers.check.check_text import json_of
from probcal.reporting.grid import INFINITY, NOT_RUN, Grid, Text, markdown, missing_cells
from probcal.store.cell_result import shown_metric
from probcal.store.outline import Row
from probcal.store.summary import census

_MINUS = "\N{MINUS SIGN}"
_MOST_COLUMNS = 5
_FEW = 0.05
"""Methods that are best in a smaller share of the draws are not named."""


def grids(comparison: Comparison) -> list[Grid]:
    """Return the tables that have content, numbered."""
    found = [*_claims(comparison), *_ranks(comparison), *_over_datasets(comparison), *_in_each(comparison)]
    found += _best(comparison)
    checked = comparison.checked
    found[0].notes.extend(missing_cells(census(checked.outline, checked.results)))
    found[0].notes.extend(_missing_notes(comparison))
    return [replace(one, number=number) for number, one in enumerate(found, 1)]


def _claims(comparison: Comparison) -> Iterator[Grid]:
    if not comparison.claims:
        return
    header = ["", "wins", "95 %", "significant", "Wilcoxon p", "by the means", "verdict", "draws"]
    partly = any(one.on_those_run for one in comparison.claims)
    if partly:
        header += ["on those run", "draws of those"]
    rows = [
        [
            Text(one.claim.statement()),
            Text(wins_text(one)),
            Text(", ".join(f"{count.splits[0]} to {count.splits[1]}" for count in one.counts.values())),
            Text(", ".join(f"{count.better}:{count.worse}" for count in _tested(one))),
            Text(", ".join(p_text(count.wilcoxon_holm) for count in _tested(one))),
            Text(one.measured.verdict),
            Text(one.verdict, bold=True),
            Text(draws_text(one.drawn)),
            *([Text(of_those.verdict, bold=True), Text(draws_text(of_those))] if partly else []),
        ]
        for one in comparison.claims
        for of_those in [one.on_those_run or one.drawn]
    ]
    explanation = (
        "wins by our means, one number per metric; their 95 % interval; data sets with a significant difference for "
        "and against; Wilcoxon's test over the data sets. A claim is supported or not supported where 97.5 % of the "
        "draws say so"
        + (", whatever the data sets without results would show" if partly else "")
        + ". Draws: the shares for and against the claim"
        + (". On those run: the same, as if the data sets with results were all of the paper's." if partly else ".")
    )
    yield Grid(0, "What the paper claims", explanation, header, rows, [])


def wins_text(one: ClaimSupport) -> str:
    """Return the wins as ``11, 10, 11 of 11``, or our number where the claim is about a single number."""
    if not one.counts:
        return one.measured.said
    known = {count.known for count in one.counts.values()}
    if len(known) > 1:
        return ", ".join(f"{count.wins} of {count.known}" for count in one.counts.values())
    return f"{', '.join(str(count.wins) for count in one.counts.values())} of {known.pop()}"


def _tested(one: ClaimSupport) -> list[Count]:
    return [count for count in one.counts.values() if count.better is not None]


def draws_text(one: ResampledVerdict) -> str:
    """Return the shares of draws for and against the claim as ``94 : 0 %``. The other draws are undecided."""
    return f"{100 * one.shares['supported']:.0f} : {100 * one.shares['not supported']:.0f} %"


def _missing_notes(comparison: Comparison) -> list[str]:
    notes = []
    for title, columns in comparison.split_data.lacking.items():
        missing = "its columns have other test rows"
        if columns:
            missing = f"the predictions of {join_first(columns, 3)} are not in this folder"
        notes.append(
            f"No test for {title}: it has one split, and {missing}. Run probcal compare on the machine of the run, "
            "which writes a summary of the predictions to compare.json. Or run the experiment into another folder (-o)."
        )
    if gone := comparison.split_data.not_clipped:
        listed = ", ".join(f"{title} ({counted(n, 'cell')})" for title, n in gone.items())
        notes.append(
            f"No clipped cross entropy for data sets whose stored predictions are gone or damaged: {listed}. Fetch "
            "predictions.bin, or run the experiment into another folder (-o)."
        )
    return notes


def _ranks(comparison: Comparison) -> Iterator[Grid]:
    every = comparison.ranks
    if not every:
        return
    labels = list(next(iter(every.values())).labels)
    by_metric = {metric: dict(zip(one.labels, one.mean_ranks, strict=True)) for metric, one in every.items()}
    rows = [
        [Text(label), *(Text(f"{of[label]:.2f}", bold=of[label] == min(of.values())) for of in by_metric.values())]
        for label in labels
    ]
    rows.append([Text("p"), *(Text(p_text(one.p)) for one in every.values())])
    rows.append([Text("critical difference"), *(Text(f"{one.critical_difference:.2f}") for one in every.values())])
    rows.append([Text("data sets"), *(Text(str(one.n_datasets)) for one in every.values())])
    notes = [
        f"{shown_metric(metric).short}, not significantly different: {_groups(one.groups)}."
        for metric, one in every.items()
    ]
    left_out = dict.fromkeys(title for one in every.values() for title in one.left_out)
    if left_out:
        notes.append(f"Left out, since a column has no number: {', '.join(left_out)}.")
    explanation = (
        "rank 1 is the best of a data set, ∞ the last; p of Friedman's test (form of Iman & Davenport; permuted ranks "
        "below ten data sets); Nemenyi's critical difference at 5 %."
    )
    yield Grid(0, "Mean ranks", explanation, ["", *(shown_metric(metric).short for metric in every)], rows, notes)


def _groups(groups: tuple[tuple[str, ...], ...]) -> str:
    return "; ".join(", ".join(group) for group in groups) or "none"


def _over_datasets(comparison: Comparison) -> Iterator[Grid]:
    rows = [
        [
            Text(shown_metric(metric).short if place == 0 else ""),
            Text(_name(pair)),
            Text(f"{pair.ahead} of {len(pair.tested)}"),
            Text(str(pair.count("better"))),
            Text(str(pair.count("worse"))),
            Text(str(pair.count("undecided"))),
            Text(p_text(pair.p)),
            Text(p_text(pair.p_holm), bold=pair.p_holm is not None and pair.p_holm <= _FEW),
        ]
        for metric, found in comparison.pairs.items()
        for place, pair in enumerate(found)
    ]
    header = ["", "", "ahead", "better", "worse", "undecided", "Wilcoxon p", "p (Holm)"]
    explanation = (
        "two methods of a learner: number of data sets in which the first has the better mean, and in which it is "
        "significantly better, worse or neither (see the tables of the metrics); Wilcoxon's signed ranks over the data "
        "sets, with Holm's correction for the pairs of the metric."
    )
    if any(len(pair.tested) > 1 for found in comparison.pairs.values() for pair in found):
        yield Grid(0, "Pairs of methods over the data sets", explanation, header, rows, [])


def _in_each(comparison: Comparison) -> Iterator[Grid]:
    for metric, found in comparison.pairs.items():
        by_row = [{one.row.name: one for one in pair.tested} for pair in found]
        datasets = _in_order(comparison, {one.row.name: one.row for pair in found for one in pair.tested})
        names = [_name(pair) for pair in found]
        entries = [[_entry(of.get(row.name)) for of in by_row] for row in datasets]
        header, titles = names, [row.title for row in datasets]
        if len(names) > max(_MOST_COLUMNS, len(titles)):  # one pair per line
            header, titles, entries = titles, names, [list(column) for column in zip(*entries, strict=True)]
        rows = [[Text(title), *line] for title, line in zip(titles, entries, strict=True)]
        explanation = (
            "differences of the means with Holm's p over the data sets of a pair, bold where it is at most .05: "
            "corrected resampled t-test, or a bootstrap of the test rows where there is one split (r)"
            + ("; (∞) where it decides" if any(one.how == "∞" for pair in found for one in pair.tested) else "")
            + ("; (?) without a test." if any(one.how == "none" for pair in found for one in pair.tested) else ".")
        )
        name = f"{shown_metric(metric).long}, {shown_metric(metric).good_end}"
        yield Grid(0, name, explanation, ["", *header], rows, [])


def _in_order(comparison: Comparison, every: dict[str, Row]) -> list[Row]:
    return [row for row in comparison.checked.outline.datasets if row.name in every]


def _entry(one: PairedTest | None) -> Text:
    if one is None:
        return Text(NOT_RUN)
    sign = _MINUS if one.difference < 0 else "+" if one.difference > 0 else ""
    number = INFINITY if math.isinf(one.difference) else f"{abs(one.difference):.3f}".removeprefix("0")
    sign = "" if number == ".000" else sign
    how = {"splits": p_text(one.p_holm), "rows": f"{p_text(one.p_holm)} r", "∞": "∞", "none": "?"}[one.how]
    return Text(sign + number, f" ({how})", bold=one.verdict != "undecided")


def _name(pair: Pair) -> str:
    return f"{pair.later.label} {_MINUS} {pair.earlier.label}"


def _best(comparison: Comparison) -> Iterator[Grid]:
    metrics = list(dict.fromkeys(one.metric for one in comparison.places))
    if not metrics:
        return
    found = {(one.row.name, one.metric): one for one in comparison.places}
    rows = []
    for row in _in_order(comparison, {one.row.name: one.row for one in comparison.places}):
        texts = [Text(row.title)]
        for metric in metrics:
            place = found.get((row.name, metric))
            if place is None:
                texts.append(Text(NOT_RUN))
                continue
            shares = {label: share for label, share in place.shares.items() if share >= _FEW}
            said = ", ".join(
                f"{label} {share:.2f}".replace(" 0.", " .") if place.drawn else f"{label} (?)"
                for label, share in shares.items()
            )
            texts.append(Text(said, f" [{place.printed}]" if place.printed else ""))
        rows.append(texts)
    explanation = (
        "share of the draws in which a method is the best or shares that place (ties in three decimals), from .05 on"
        + ("; (?) one split, not drawn" if any(not one.drawn for one in comparison.places) else "")
        + ("; in brackets the paper's entry." if any(one.printed for one in comparison.places) else ".")
    )
    yield Grid(0, "Best methods, and how surely", explanation, ["", *(shown_metric(one).short for one in metrics)],
               rows, [])  # fmt: skip


_HEADER = [
    "experiment", "metric", "later", "earlier", "dataset", "splits", "difference", "low", "high", "p", "p_holm", "how",
    "verdict",
]  # fmt: skip


def text(comparisons: Sequence[Comparison], format: str) -> str:
    """Return the comparisons as markdown, json or csv."""
    if format == "json":
        return json_of([_as_json(one) for one in comparisons])
    if format == "csv":
        return _csv(comparisons)
    return "\n".join(markdown(one.checked.outline.title, grids(one)) for one in comparisons)


def _csv(comparisons: Sequence[Comparison]) -> str:
    rows: list[list[Field]] = [[*_HEADER]]
    for comparison in comparisons:
        for metric, found in comparison.pairs.items():
            for pair in found:
                for one in pair.tested:
                    names = [comparison.checked.outline.name, metric, column_id(pair.later), column_id(pair.earlier)]
                    numbers = [_number(number) for number in (one.difference, one.low, one.high, one.p, one.p_holm)]
                    rows.append([*names, one.row.name, one.n_splits, *numbers, one.how, one.verdict])
    return csv_text(rows)


def _number(number: float | None) -> str:
    return "" if number is None else f"{number:.6g}"


def _as_json(comparison: Comparison) -> dict[str, Any]:
    return {
        "experiment": comparison.checked.outline.name,
        "ranks": {metric: asdict(one) for metric, one in comparison.ranks.items()},
        "pairs": {metric: [_pair(one) for one in found] for metric, found in comparison.pairs.items()},
        "best": [
            {"dataset": one.row.name, "metric": one.metric, "winners": one.winners, "printed": one.printed,
             "shares": one.shares, "drawn": one.drawn} for one in comparison.places
        ],
        "claims": [
            {"label": one.claim.label, "statement": one.claim.statement(), "verdict": one.verdict, "shares": one.shares,
             "on_those_run": asdict(one.on_those_run) if one.on_those_run else None,
             "by_the_means": one.measured.verdict, "said": one.measured.said,
             "counts": {metric: asdict(count) for metric, count in one.counts.items()}}
            for one in comparison.claims
        ],
        "without_predictions": list(comparison.split_data.lacking),
        "without_clipped": comparison.split_data.not_clipped,
    }  # fmt: skip


def _pair(pair: Pair) -> dict[str, Any]:
    tested = [
        {**{name: value for name, value in vars(one).items() if name != "row"}, "dataset": one.row.name}
        for one in pair.tested
    ]
    return {
        "later": column_id(pair.later), "earlier": column_id(pair.earlier), "p": pair.p, "p_holm": pair.p_holm,
        "ahead": pair.ahead, "datasets": tested,
    }  # fmt: skip
