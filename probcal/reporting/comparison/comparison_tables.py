"""Tables of a comparison (claims, mean ranks, pairs, best methods) as Markdown, JSON or CSV with one line per test."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from itertools import chain
from typing import Any

from probcal._io import counted, csv_number, join_first
from probcal.metrics.metric import INFINITY
from probcal.reporting.check.check_text import json_of
from probcal.reporting.comparison.claim_support import ClaimSupport, Comparison, ResampledVerdict
from probcal.reporting.comparison.pairs import Pair, PairedTest, p_text
from probcal.reporting.comparison.split_results import column_id
from probcal.reporting.grid import (
    NOT_RUN,
    Columns,
    CsvColumns,
    Grid,
    Text,
    csv_lines,
    markdown,
    missing_cells,
    number_tables,
    table_of,
)
from probcal.store.cell_result import resolve_metric

_MINUS = "\N{MINUS SIGN}"
_MOST_COLUMNS = 5
_MOST_PAIRS = 10_000
"""Largest number of pairs of one metric in a table. Hundreds of columns have a hundred thousand pairs."""
_PAIRS_OF_A_PART = 1024
_SMALL_SHARE = 0.05
"""Methods that are best in a smaller share of the draws are not named."""
_SIGNIFICANCE_LEVEL = 0.05


def comparison_grids(comparison: Comparison) -> list[Grid]:
    """Return the tables that have content, numbered."""
    tables = [*_claim_grids(comparison), *_rank_grids(comparison), *_pair_grids(comparison), *_metric_grids(comparison)]
    tables += _best_grids(comparison)
    # Below the first table only, because they hold for all of them.
    tables[0].notes.extend(missing_cells(comparison.experiment.cell_counts))
    tables[0].notes.extend(_missing_notes(comparison))
    return number_tables(tables)


def _claim_grids(comparison: Comparison) -> Iterator[Grid]:
    if not comparison.claims:
        return
    is_partial = any(support.partial_verdict for support in comparison.claims)
    columns: list[tuple[str, Callable[[ClaimSupport], Text | str]]] = [
        ("", lambda support: support.claim.statement()),
        ("wins", wins_text),
        ("95 %", lambda one: ", ".join(f"{count.splits[0]} to {count.splits[1]}" for count in one.counts.values())),
        ("significant", lambda one: ", ".join(f"{count.better}:{count.worse}" for count in one.tested_counts)),
        ("Wilcoxon p", lambda one: ", ".join(p_text(count.wilcoxon_holm) for count in one.tested_counts)),
        ("by the means", lambda support: support.means_verdict.verdict),
        ("verdict", lambda support: Text(support.verdict, bold=True)),
        ("draws", lambda support: draws_text(support.draws_verdict)),
    ]
    if is_partial:
        columns += [
            ("on those run", lambda support: Text(support.verdict_of_known.verdict, bold=True)),
            ("draws of those", lambda support: draws_text(support.verdict_of_known)),
        ]
    explanation = (
        "wins by our means, one number per metric; their 95 % interval; data sets with a significant difference for "
        "and against; Wilcoxon's test over the data sets. A claim is supported or not supported where 97.5 % of the "
        "draws say so"
        + (", whatever the data sets without results would show" if is_partial else "")
        + ". Draws: the shares for and against the claim"
        + (". On those run: the same, as if the data sets with results were all of the paper's." if is_partial else ".")
    )
    yield table_of("What the paper claims", explanation, columns, comparison.claims)


def wins_text(support: ClaimSupport) -> str:
    """Return the wins as ``11, 10, 11 of 11``, or our number where the claim is about a single number."""
    if not support.counts:
        return support.means_verdict.said
    known_counts = {count.known for count in support.counts.values()}
    if len(known_counts) > 1:
        return ", ".join(f"{count.wins} of {count.known}" for count in support.counts.values())
    return f"{', '.join(str(count.wins) for count in support.counts.values())} of {known_counts.pop()}"


def draws_text(verdict: ResampledVerdict) -> str:
    """Return the shares of draws for and against the claim as ``94 : 0 %``. The other draws are undecided."""
    return f"{100 * verdict.shares['supported']:.0f} : {100 * verdict.shares['not supported']:.0f} %"


def _missing_notes(comparison: Comparison) -> list[str]:
    notes = []
    for title, columns in comparison.split_data.missing_columns.items():
        reason = "its columns have other test rows"
        if columns:
            reason = f"the predictions of {join_first(columns, 3)} are not in this folder"
        notes.append(
            f"No test for {title}: it has one split, and {reason}. Run probcal compare on the machine of the run, "
            "which writes a summary of the predictions to compare.json. Or run the experiment into another folder (-o)."
        )
    if comparison.split_data.is_from_file:
        notes.append(
            "Tests of data sets with one split and clipped cross entropy come from the summaries in compare.json, "
            "since predictions.bin is not in this folder. Where it is, probcal verify checks them."
        )
    if lost_cells := comparison.split_data.missing_clipped:
        titles = ", ".join(f"{title} ({counted(n, 'cell')})" for title, n in lost_cells.items())
        notes.append(
            f"No clipped cross entropy for data sets whose stored predictions are gone or damaged: {titles}. Fetch "
            "predictions.bin, or run the experiment into another folder (-o)."
        )
    return notes


def _rank_grids(comparison: Comparison) -> Iterator[Grid]:
    rankings = comparison.ranks
    if not rankings:
        return
    labels = list(next(iter(rankings.values())).labels)
    metric_ranks = {
        metric: dict(zip(ranking.labels, ranking.mean_ranks, strict=True)) for metric, ranking in rankings.items()
    }
    rows = [
        [
            Text(label),
            *(Text(f"{ranks[label]:.2f}", bold=ranks[label] == min(ranks.values())) for ranks in metric_ranks.values()),
        ]
        for label in labels
    ]
    last_lines = {
        "p": [p_text(ranking.p) for ranking in rankings.values()],
        "critical difference": [f"{ranking.critical_difference:.2f}" for ranking in rankings.values()],
        "data sets": [str(ranking.n_datasets) for ranking in rankings.values()],
    }
    rows += [[Text(name), *map(Text, texts)] for name, texts in last_lines.items()]
    notes = []
    for metric, ranking in rankings.items():
        groups = "; ".join(", ".join(group) for group in ranking.groups) or "none"
        notes.append(f"{resolve_metric(metric).short}, not significantly different: {groups}.")
    missing_titles = dict.fromkeys(title for ranking in rankings.values() for title in ranking.left_out)
    if missing_titles:
        notes.append(f"Left out, since a column has no number: {', '.join(missing_titles)}.")
    explanation = (
        "rank 1 is the best of a data set, ∞ the last; p of Friedman's test (form of Iman & Davenport; permuted ranks "
        "below ten data sets); Nemenyi's critical difference at 5 %."
    )
    yield Grid("Mean ranks", explanation, ["", *(resolve_metric(metric).short for metric in rankings)], rows, notes)


def _pair_grids(comparison: Comparison) -> Iterator[Grid]:
    listed = [_listed_pairs(pairs) for pairs in comparison.pairs.values()]
    first_pairs = {id(pairs[0]) for pairs in listed}
    columns: Columns[Pair] = [
        ("", lambda pair: resolve_metric(pair.metric).short if id(pair) in first_pairs else ""),
        ("", _pair_name),
        ("ahead", lambda pair: f"{pair.n_ahead} of {pair.n_tests}"),
        ("better", lambda pair: str(pair.count("better"))),
        ("worse", lambda pair: str(pair.count("worse"))),
        ("undecided", lambda pair: str(pair.count("undecided"))),
        ("Wilcoxon p", lambda pair: p_text(pair.p)),
        ("p (Holm)", _holm_text),
    ]
    explanation = (
        "two methods of a learner: number of data sets in which the first has the better mean, and in which it is "
        "significantly better, worse or neither (see the tables of the metrics); Wilcoxon's signed ranks over the data "
        "sets, with Holm's correction for the pairs of the metric."
    )
    if any(pair.n_tests > 1 for pairs in comparison.pairs.values() for pair in pairs):
        notes = list(dict.fromkeys(note for pairs in comparison.pairs.values() for note in _omission_notes(pairs)))
        yield table_of("Pairs of methods over the data sets", explanation, columns, chain.from_iterable(listed), notes)


def _holm_text(pair: Pair) -> Text:
    return Text(p_text(pair.p_holm), bold=pair.p_holm is not None and pair.p_holm <= _SIGNIFICANCE_LEVEL)


def _listed_pairs(pairs: Sequence[Pair]) -> list[Pair]:
    """Return at most ``_MOST_PAIRS`` pairs in their order: those with the smallest p."""
    p_values = [math.inf if pair.p is None else pair.p for pair in pairs]
    smallest = sorted(range(len(pairs)), key=p_values.__getitem__)
    return [pairs[place] for place in sorted(smallest[:_MOST_PAIRS])]


def _omission_notes(pairs: Sequence[Pair]) -> list[str]:
    if len(pairs) <= _MOST_PAIRS:
        return []
    return [f"{_MOST_PAIRS:,} of {len(pairs):,} pairs are listed, those with the smallest p. The format csv has all."]


def _metric_grids(comparison: Comparison) -> Iterator[Grid]:
    for metric, all_pairs in comparison.pairs.items():
        pairs = _listed_pairs(all_pairs)
        tests_by_row = [{test.row.name: test for test in pair.tests} for pair in pairs]
        tested = {name for tests in tests_by_row for name in tests}
        datasets = [row for row in comparison.experiment.stored.datasets if row.name in tested]
        names = [_pair_name(pair) for pair in pairs]
        entries = [[_test_text(tests.get(row.name)) for tests in tests_by_row] for row in datasets]
        header, titles = names, [row.title for row in datasets]
        if len(names) > max(_MOST_COLUMNS, len(titles)):  # one pair per line
            header, titles, entries = titles, names, [list(column) for column in zip(*entries, strict=True)]
        rows = [[Text(title), *line] for title, line in zip(titles, entries, strict=True)]
        explanation = (
            "differences of the means with Holm's p over the data sets of a pair, bold where it is at most .05: "
            "corrected resampled t-test, or a bootstrap of the test rows where there is one split (r)"
            + ("; (∞) where it decides" if any(test.how == "∞" for pair in pairs for test in pair.tests) else "")
            + ("; (?) without a test." if any(test.how == "none" for pair in pairs for test in pair.tests) else ".")
        )
        name = f"{resolve_metric(metric).long}, {resolve_metric(metric).good_end}"
        yield Grid(name, explanation, ["", *header], rows, _omission_notes(all_pairs))


def _test_text(test: PairedTest | None) -> Text:
    if test is None:
        return Text(NOT_RUN)
    sign = _MINUS if test.difference < 0 else "+" if test.difference > 0 else ""
    number = INFINITY if math.isinf(test.difference) else f"{abs(test.difference):.3f}".removeprefix("0")
    # A rounded 0 has no sign.
    sign = "" if number == ".000" else sign
    label = {"splits": p_text(test.p_holm), "rows": f"{p_text(test.p_holm)} r", "∞": "∞", "none": "?"}[test.how]
    return Text(sign + number, f" ({label})", bold=test.verdict != "undecided")


def _pair_name(pair: Pair) -> str:
    return f"{pair.later.label} {_MINUS} {pair.earlier.label}"


def _best_grids(comparison: Comparison) -> Iterator[Grid]:
    metrics = list(dict.fromkeys(place.metric for place in comparison.places))
    if not metrics:
        return
    places = {(place.row.name, place.metric): place for place in comparison.places}
    rows = []
    for row in comparison.experiment.stored.datasets:
        row_places = [places.get((row.name, metric)) for metric in metrics]
        if not any(row_places):
            continue
        texts = [Text(row.title)]
        for place in row_places:
            if place is None:
                texts.append(Text(NOT_RUN))
                continue
            best_text = ", ".join(
                f"{label} {share:.2f}".replace(" 0.", " .") if place.has_draws else f"{label} (?)"
                for label, share in place.shares.items()
                if share >= _SMALL_SHARE
            )
            texts.append(Text(best_text, f" [{place.published_winner}]" if place.published_winner else ""))
        rows.append(texts)
    explanation = (
        "share of the draws in which a method is the best or shares that place (ties in three decimals), from .05 on"
        + ("; (?) one split, not drawn" if any(not place.has_draws for place in comparison.places) else "")
        + ("; in brackets the paper's entry." if any(place.published_winner for place in comparison.places) else ".")
    )
    header = ["", *(resolve_metric(metric).short for metric in metrics)]
    yield Grid("Best methods, and how surely", explanation, header, rows)


_CSV_COLUMNS: CsvColumns[tuple[str, Pair, PairedTest]] = [
    ("experiment", lambda line: line[0]),
    ("metric", lambda line: line[1].metric),
    ("later", lambda line: column_id(line[1].later)),
    ("earlier", lambda line: column_id(line[1].earlier)),
    ("dataset", lambda line: line[2].row.name),
    ("splits", lambda line: line[2].n_splits),
    ("difference", lambda line: csv_number(line[2].difference)),
    ("low", lambda line: csv_number(line[2].low)),
    ("high", lambda line: csv_number(line[2].high)),
    ("p", lambda line: csv_number(line[2].p)),
    ("p_holm", lambda line: csv_number(line[2].p_holm)),
    ("how", lambda line: line[2].how),
    ("verdict", lambda line: line[2].verdict),
]
"""Column -> its field for one line, (name of the experiment, pair, test)."""


def comparison_parts(comparisons: Sequence[Comparison], format: str) -> Iterator[str]:
    """Yield the comparisons as markdown, json or csv, in parts that you write one after the other.

    The tests of hundreds of methods would take more memory as one text than as numbers.
    """
    if format == "json":
        yield json_of([_json_comparison(comparison) for comparison in comparisons])
    elif format == "csv":
        yield csv_lines(_CSV_COLUMNS, [])
        for comparison in comparisons:
            name = comparison.experiment.stored.name
            for pairs in comparison.pairs.values():
                for start in range(0, len(pairs), _PAIRS_OF_A_PART):
                    part = pairs[start : start + _PAIRS_OF_A_PART]
                    lines = ((name, pair, test) for pair in part for test in pair.tests)
                    yield csv_lines(_CSV_COLUMNS, lines, has_header=False)
    else:
        yield "\n".join(
            markdown(comparison.experiment.stored.title, comparison_grids(comparison)) for comparison in comparisons
        )


def _json_comparison(comparison: Comparison) -> dict[str, Any]:
    return {
        "experiment": comparison.experiment.stored.name,
        "ranks": {metric: asdict(ranking) for metric, ranking in comparison.ranks.items()},
        "pairs": {
            metric: [
                {"later": column_id(pair.later), "earlier": column_id(pair.earlier), "p": pair.p,
                 "p_holm": pair.p_holm, "ahead": pair.n_ahead,
                 "datasets": [
                     {**{name: value for name, value in test._asdict().items() if name != "row"},
                      "dataset": test.row.name}
                     for test in pair.tests
                 ]}
                for pair in _listed_pairs(pairs)
            ]
            for metric, pairs in comparison.pairs.items()
        },
        "pairs_left_out": {metric: max(0, len(pairs) - _MOST_PAIRS) for metric, pairs in comparison.pairs.items()},
        "best": [
            {"dataset": place.row.name, "metric": place.metric, "winners": place.winners,
             "printed": place.published_winner, "shares": place.shares, "drawn": place.has_draws}
            for place in comparison.places
        ],
        "claims": [
            {"label": support.claim.label, "statement": support.claim.statement(),
             "verdict": support.verdict, "shares": support.shares,
             "on_those_run": asdict(support.partial_verdict) if support.partial_verdict else None,
             "by_the_means": support.means_verdict.verdict, "said": support.means_verdict.said,
             "counts": {metric: asdict(count) for metric, count in support.counts.items()}}
            for support in comparison.claims
        ],
        "without_predictions": list(comparison.split_data.missing_columns),
        "without_clipped": comparison.split_data.missing_clipped,
    }  # fmt: skip
