"""Tables of one metric and of the best methods: our means, their sd, the published numbers, and their agreement."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import Literal, NamedTuple

from probcal.metrics.metric import DECIMALS, INFINITY, format_number
from probcal.papers.bands import SIGMAS, Verdict, difference_in_units
from probcal.papers.check.comparison import (
    PublishedKey,
    draw_distribution,
    has_paper_rows,
    judge_number,
    published_key,
    published_number,
)
from probcal.papers.check.findings import CheckedResults
from probcal.papers.deviations import misprints
from probcal.papers.published import PublishedPaper, PublishedTable
from probcal.reporting.grid import (
    INCOMPLETE,
    NOT_RUN,
    UNDEFINED,
    Grid,
    Text,
    cell_notes,
    footnotes,
    group_by,
    order_metrics,
    override_notes,
    span_text,
)
from probcal.store.cell_result import resolve_metric
from probcal.store.stored_experiment import ResultColumn, Row, StoredExperiment
from probcal.store.summary import Summary, best_names, summarise


def has_best_methods(stored: StoredExperiment) -> bool:
    """Return whether there are at least two columns and a metric with a better end."""
    return len(stored.columns) > 1 and bool(rankable_metrics(stored.metrics))


def best_method_table(experiment: CheckedResults) -> Grid:
    """Return a table with one row per data set and one column per metric. Ties are joined with ``/``."""
    stored, published = experiment.stored, experiment.published
    metrics = rankable_metrics(stored.metrics)
    rows = []
    for row in stored.datasets:
        winners = [winner(experiment, row, metric) for metric in metrics]
        published_winners = [published_winner(published, row.paper_dataset, metric) for metric in metrics]
        entries = [
            Text(text.main, text.rest + (bracket and f" {bracket}"))
            for text, bracket in zip(winners, published_winners, strict=True)
        ]
        rows.append([Text(row.title), *entries])
    entries = [entry for line in rows for entry in line[1:]]
    return best_grid(metrics, rows, best_notes(experiment, entries), published)


def best_grid(metrics: list[str], rows: list[list[Text]], notes: list[str], published: PublishedPaper | None) -> Grid:
    """Return the table of best methods with these ``rows``."""
    explanation = "by the means in the other tables, ties of three decimals joined with /"
    if published is not None and published.winners:
        explanation += f"; in brackets Table 4 of {published.short}"
    header = ["", *(resolve_metric(metric).short for metric in metrics)]
    return Grid("Best method", explanation + ".", header, rows, notes)


def best_notes(experiment: CheckedResults, entries: Iterable[Text]) -> list[str]:
    """Return the notes of a table with these ``entries``: the mark for unfinished means, missing cells, overrides."""
    notes = [*cell_notes(experiment.cell_counts), *override_notes(experiment.stored)]
    if any(INCOMPLETE in entry.rest for entry in entries):
        notes.insert(0, f"{INCOMPLETE} some methods lack results, which are not run yet or failed.")
    return notes


def rankable_metrics(metrics: Iterable[str]) -> list[str]:
    """Return the metrics that have a better end, each once."""
    return [metric for metric in order_metrics(metrics, ("rms", "cxe", "auc")) if not resolve_metric(metric).no_end]


def winner(experiment: CheckedResults, row: Row, metric: str) -> Text:
    """Return the labels of the best columns, with the mark of unfinished means after them."""
    stored = experiment.stored
    summaries = [summarise(stored, experiment.results, row, column, metric) for column in stored.columns]
    best = best_names({index: summary.mean for index, summary in enumerate(summaries)}, metric)
    is_partial = best and any(summary.n < summary.planned for summary in summaries)
    default = UNDEFINED if any(summary.undefined for summary in summaries) else NOT_RUN
    labels = "/".join(stored.columns[index].label for index in sorted(best))
    return Text(labels or default, INCOMPLETE if is_partial else "")


def published_winner(published: PublishedPaper | None, dataset: str, metric: str) -> str:
    """Return the published best method in brackets, or an empty text where no paper names one."""
    name = published.best_method(dataset, metric) if published is not None else None
    return f"[{name}]" if name else ""


Lines = list[list[Text]]
SPREAD, PAPER, UNITS = "± sd", "[paper]", "units off"
"""Labels of the lines below the means."""


def mean_texts(
    columns: Sequence[ResultColumn], summaries: Sequence[Summary], metric: str, decimals: int = DECIMALS
) -> list[Text]:
    """Return one text per column. The best of a group is bold if at least two of its columns have a number."""
    bold_indices: set[int] = set()
    for group in group_by(range(len(columns)), lambda index: columns[index].group).values():
        means = {index: summaries[index].mean for index in group}
        # The only number of a group is not the best of anything.
        if sum(mean is not None for mean in means.values()) > 1:
            bold_indices |= best_names(means, metric)
    texts = []
    for index, summary in enumerate(summaries):
        if summary.mean is None:
            main = "failed" if summary.failed else UNDEFINED if summary.undefined else NOT_RUN
        elif 0 < summary.infinite < summary.n:
            main = f"{INFINITY} ({summary.infinite}/{summary.n})"
        else:
            main = format_number(summary.mean, decimals)
        texts.append(Text(main, INCOMPLETE if summary.is_partial else "", index in bold_indices))
    return texts


def spread_texts(summaries: Sequence[Summary], decimals: int) -> list[str]:
    return ["" if summary.sd is None else f"±{format_number(summary.sd, decimals)}" for summary in summaries]


def bracket_numbers(
    numbers: Sequence[float | None], spreads: Sequence[float | None] = (), decimals: int = DECIMALS
) -> list[str]:
    """Return the published numbers in brackets.

    ``spreads`` holds the published sd of each number, None where there is none. It is empty for none at all.
    """
    return [
        "" if number is None else f"[{format_number(number, decimals)}{_spread_suffix(spread, decimals)}]"
        for number, spread in zip_longest(numbers, spreads)
    ]


def minor_lines(label: str, texts: Sequence[str]) -> Lines:
    """Return a line that belongs to the one above, or no line where all its texts are empty."""
    return [[Text(text, minor=True) for text in (label, *texts)]] if any(texts) else []


def _spread_suffix(spread: float | None, decimals: int) -> str:
    return "" if spread is None else f" ± {format_number(spread, decimals)}"


def agreement_text(
    pairs: Iterable[tuple[Summary, float, PublishedKey]], table: PublishedTable, n_misprints: int = 0
) -> str | None:
    """Return the line on the agreement with the paper, judged as ``probcal check`` does. None without a comparison.

    ``pairs`` holds our summary, the published number and its key for each cell that has both. ``n_misprints`` more
    are left out.
    """
    draws: list[bool] = []
    one_split: list[bool] = []
    random_splits: list[bool] = []
    n_not_judged = 0
    tolerance, rounding = f"{table.tolerance:.{table.decimals}f}", f"{table.rounding:.{table.decimals + 1}f}"
    # A tolerance below the printed decimals would be shown as 0.
    if not float(tolerance):
        tolerance = f"{table.tolerance:g}"
    split = "the paper's folds" if table.splits else "one split" if table.seed is None else f"seed {table.seed}"
    band_text = "one more split" if table.runs == 1 else f"the mean of {table.runs} more"
    # Three counts, because each kind of number has its own rule: tolerance, range of our draws, and band.
    for summary, number, key in pairs:
        verdict = judge_number(summary, number, table, key)
        n_not_judged += verdict is None and bool(summary.values)
        if verdict:
            hits = one_split if has_paper_rows(summary, table) else random_splits
            (draws if draw_distribution(summary, table, key) else hits).append(verdict.in_band)
    parts = [
        f"with {split}, {_count_text(one_split)} means are within {tolerance} of the published number"
        if one_split
        else "",
        f"in drawn columns of published splits, {_count_text(draws)} are in the range of our draws" if draws else "",
        f"with random splits, {_count_text(random_splits)} published numbers are within the band of {band_text} "
        f"(t with n - 1 degrees of freedom, {SIGMAS:.0f} sd for many splits"
        f", and {rounding} for their rounding); {INFINITY} agrees where one of our splits gives {INFINITY}, "
        "a finite number is compared with our finite splits"
        if random_splits
        else "",
        f"{n_not_judged} cannot be judged, with too few splits or no spread" if n_not_judged else "",
    ]
    if any(parts) and n_misprints:
        parts.append(f"{n_misprints} misprint{'s' if n_misprints > 1 else ''} left out")
    return f"Agreement: {'; '.join(filter(None, parts))}." if any(parts) else None


def _count_text(hits: list[bool]) -> str:
    return f"{sum(hits)} of {len(hits)}"


# With so many columns "0.326 ± 0.004 [0.331]" fits on one line of 160 characters.
MOST_LINE_COLUMNS = 5


@dataclass(frozen=True)
class MetricResults:
    """Hold one metric of one experiment."""

    experiment: CheckedResults
    metric: str

    @property
    def stored(self) -> StoredExperiment:
        return self.experiment.stored

    @functools.cached_property
    def _row_summaries(self) -> dict[str, list[Summary]]:
        columns, rows = self.stored.columns, self.stored.datasets
        return {
            row.name: [summarise(self.stored, self.experiment.results, row, c, self.metric) for c in columns]
            for row in rows
        }

    def summaries(self, row: Row) -> list[Summary]:
        """Return one summary per column."""
        return self._row_summaries[row.name]

    def published_numbers(self, row: Row) -> list[float | None]:
        """Return one published number per column."""
        return [published_number(self.experiment.published, row, column, self.metric) for column in self.stored.columns]

    def published_lines(self, row: Row) -> list[str]:
        """Return the published numbers of a row in brackets, with their sd where the paper gives it."""
        spreads = self.table.spreads if self.table else {}
        columns = self.stored.columns
        column_spreads = [spreads.get(published_key(row, column)) for column in columns]
        return bracket_numbers(self.published_numbers(row), column_spreads, self.decimals)

    def units_line(self, row: Row) -> list[str]:
        """Return how many units of its last digit our number is above the published one: ``0``, ``+1``, ``-∞``.

        Only a number of the paper's own split has a text.
        """
        decimals = self.table.printed_decimals if self.table else {}
        texts = []
        numbers = self.published_numbers(row)
        for summary, number, column in zip(self.summaries(row), numbers, self.stored.columns, strict=True):
            text = ""
            if number is not None and summary.values and summary.is_published_split:
                units = difference_in_units(summary.values[0], number, decimals[published_key(row, column)])
                text = f"{units:+.0f}".replace("inf", INFINITY) if units else "0"
            texts.append(text)
        return texts

    def line(self, row: Row, decimals: int) -> list[Text]:
        """Return one cell per column with mean, sd and published number: ``4790.4 ± 12.1 [4814]``."""
        means = mean_texts(self.stored.columns, self.summaries(row), self.metric, decimals)
        rests = [mean.rest for mean in means]
        for below in LINES_BELOW:
            if below.behind_mean is not None:
                texts = below.texts(self, row, decimals)
                rests = [rest + (text and below.behind_mean(text)) for rest, text in zip(rests, texts, strict=True)]
        return [mean._replace(rest=rest) for mean, rest in zip(means, rests, strict=True)]

    def stacked_lines(self, row: Row, decimals: int) -> Lines:
        """Return the lines of mean, sd, published number and units between them, without empty ones."""
        summaries = self.summaries(row)
        first = [Text(row.title), *mean_texts(self.stored.columns, summaries, self.metric, decimals)]
        below = [minor_lines(label, texts) for label, texts in self.texts_below(row, decimals)]
        return [first, *chain.from_iterable(below)]

    def texts_below(self, row: Row, decimals: int = DECIMALS) -> list[tuple[str, list[str]]]:
        """Return the lines that stand below the means, each with its label and one text per column."""
        return [(below.label, below.texts(self, row, decimals)) for below in LINES_BELOW]

    def pair(self, row: Row, column: ResultColumn) -> tuple[Summary, float, PublishedKey] | None:
        """Return our summary, the published number and its key, or None where there is none to compare.

        A misprint is not compared. With a seed, the summary has only the repetition of it.
        """
        number = published_number(self.experiment.published, row, column, self.metric)
        if self.table is None or number is None or self.is_misprint(row, column):
            return None
        summary = summarise(self.stored, self.experiment.results, row, column, self.metric, self.table.seed)
        return summary, number, published_key(row, column)

    def verdict(self, row: Row, column: ResultColumn) -> Verdict | None:
        """Return whether the published number agrees with ours. None where they cannot be compared."""
        pair = self.pair(row, column)
        return judge_number(pair[0], pair[1], self.table, pair[2]) if pair and self.table else None

    def is_misprint(self, row: Row, column: ResultColumn) -> bool:
        """Return whether the published number is one that no predictions can have."""
        paper = self.stored.paper
        return paper is not None and (*published_key(row, column), self.metric) in misprints(paper)

    @property
    def table(self) -> PublishedTable | None:
        """Return the paper's table of this metric."""
        published = self.experiment.published
        return published.tables.get(self.metric) if published else None

    @property
    def decimals(self) -> int:
        return self.table.decimals if self.table else resolve_metric(self.metric).decimals

    @property
    def all_summaries(self) -> list[Summary]:
        """Return one summary per row and column."""
        return [summary for row in self.stored.datasets for summary in self.summaries(row)]

    def notes(self, has_units: bool = True) -> list[str]:
        """Return the notes: agreement with the paper, units if the table has them, marks, missing cells, overrides."""
        notes = [*footnotes(self.all_summaries, self.experiment.cell_counts), *override_notes(self.stored)]
        if self.table is None:
            return notes
        rows = self.stored.datasets
        cells = [(row, column) for row in rows for column in self.stored.columns]
        if has_units and any(any(self.units_line(row)) for row in rows):
            notes.insert(0, f"{UNITS}: ours minus the published number, in units of its last digit.")
        pairs = [pair for cell in cells if (pair := self.pair(*cell))]
        if line := agreement_text(pairs, self.table, sum(self.is_misprint(*cell) for cell in cells)):
            notes.insert(0, line)
        return notes


class LineBelow(NamedTuple):
    """Describe a line below the means of a data set. Tables with few columns have its texts behind the means."""

    label: str
    kind: Literal["spread", "paper", "minor"]
    """Class of the line on the page, where readers can hide the first two."""
    texts: Callable[[MetricResults, Row, int], list[str]]
    """Return one text per column. The number is that of the decimals of the means."""
    behind_mean: Callable[[str], str] | None = None
    """Return the text as it stands behind a mean. None where it stands only below."""


LINES_BELOW = (
    LineBelow(
        SPREAD,
        "spread",
        lambda results, row, decimals: spread_texts(results.summaries(row), decimals),
        lambda text: text.replace("±", " ± "),
    ),
    LineBelow(PAPER, "paper", lambda results, row, _: results.published_lines(row), lambda text: f" {text}"),
    LineBelow(UNITS, "minor", lambda results, row, _: results.units_line(row)),
)
"""All lines, in their order. Tables of one experiment, tables side by side and the page show them alike."""


def metric_table(experiment: CheckedResults, metric: str) -> Grid:
    """Return the table of one metric."""
    stored, metric_results = experiment.stored, MetricResults(experiment, metric)
    columns = stored.columns
    single_line = len(columns) <= MOST_LINE_COLUMNS
    rows: Lines = []
    for row in stored.datasets:
        if single_line:
            rows.append([Text(row.title), *metric_results.line(row, metric_results.decimals)])
        else:
            rows += metric_results.stacked_lines(row, metric_results.decimals)
    return Grid(
        name=resolve_metric(metric).long,
        explanation=table_explanation([stored], metric, experiment.published),
        header=["", *(column.label for column in columns)],
        rows=rows,
        notes=metric_results.notes(has_units=not single_line),
    )


def table_explanation(
    stored_experiments: Sequence[StoredExperiment], metric: str, published: PublishedPaper | None
) -> str:
    """Return how to read the table of ``metric`` that shows these experiments."""
    parts = [resolve_metric(metric).good_end]
    parts.append(splits_text(stored_experiments))
    has_groups = any(
        len({column.group for column in stored.columns}) < len(stored.columns) for stored in stored_experiments
    )
    if has_groups and not resolve_metric(metric).no_end:
        parts.append("best of each group of columns in bold")
    if published is not None and metric in published.tables:
        parts.append(f"in brackets {published.tables[metric].place} of {published.short}")
    return "; ".join(parts) + "."


def splits_text(stored_experiments: Sequence[StoredExperiment]) -> str:
    """Return which splits the means are taken over."""
    counts = {stored.repetitions[row.name] for stored in stored_experiments for row in stored.datasets}
    larger_counts = [n for n in counts if n > 1]
    if not larger_counts:
        return "one split"
    count_text = span_text(larger_counts)
    rows = [row for stored in stored_experiments for row in stored.datasets if stored.repetitions[row.name] > 1]
    if all(row.drawn for row in rows):
        kind = "drawn data sets"
    else:
        folds = [row.folds for row in rows]
        kind = "seeds on one split" if all(row.has_fixed_rows for row in rows) else "random splits"
        if len(set(folds)) == 1 and folds[0] and len(larger_counts) == 1:
            rounds = larger_counts[0] // folds[0]
            return f"mean ± sd over {count_text} splits: {f'{rounds} times ' if rounds > 1 else ''}{folds[0]} folds"
        if None not in folds:
            kind = "folds"
    return f"mean ± sd over {count_text} {kind}" + (" (no sd: one split)" if 1 in counts else "")
