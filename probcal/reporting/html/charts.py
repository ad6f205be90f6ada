"""Charts, sortable tables and pictures of the page, as data for its templates."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from probcal.errors import StoreError, is_installed
from probcal.metrics.metric import INFINITY, Metric
from probcal.papers.check.findings import CheckedResults
from probcal.reporting.comparison.ranks import Ranks, rank_methods
from probcal.reporting.grid import NOT_RUN, UNDEFINED, Grid, Text, order_metrics
from probcal.reporting.html.page import Picture, draw_picture, missing_pictures_note, styled_picture
from probcal.reporting.metric_table import LINES_BELOW, MetricResults
from probcal.reporting.prediction_summaries import pictures_of
from probcal.store.cell_result import Results, resolve_metric
from probcal.store.folder import Store
from probcal.store.stored_experiment import StoredExperiment

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST_NUMBERS = 20_000
"""Most numbers in one chart. More would be too many to see, and for a browser to draw."""


# matplotlib's SVG does not replace them: it has no numbers at a point (by pointer, touch and keys), no choice of
# metric, data set and column, and not the colours of the page.
@dataclass(frozen=True)
class Charts:
    """Hold the data of one experiment's charts."""

    data: dict[str, Any]

    @property
    def compares(self) -> bool:
        """Return whether there is something to compare: two finite means of one metric."""
        counts = Counter(entry[0] for entry in self.data["numbers"] if entry[3] is not None)
        return any(count > 1 for count in counts.values())

    @property
    def has_published_numbers(self) -> bool:
        return any(entry[3] is not None and isinstance(entry[7], float) for entry in self.data["numbers"])

    @property
    def agreements(self) -> list[tuple[str, int, int]]:
        """Return (metric, published numbers in their band, published numbers compared)."""
        agreements = []
        for index, metric in enumerate(self.data["metrics"]):
            verdicts = [entry[8] for entry in self.data["numbers"] if entry[0] == index and entry[8] is not None]
            if verdicts:
                agreements.append((metric["short"], sum(verdicts), len(verdicts)))
        return agreements


def build_charts(experiment: CheckedResults) -> Charts:
    """Return the chart data.

    An entry of ``numbers`` holds the indices of metric, data set and column, then mean, sd, n, number of infinite
    splits, published number, and whether it agrees. The last is None where the number was not compared.
    """
    stored, published = experiment.stored, experiment.published
    metrics = order_metrics(stored.metrics)
    names = [resolve_metric(metric) for metric in metrics]
    numbers: list[list[Any]] = []
    for m, metric in enumerate(metrics):
        if len(numbers) >= _MOST_NUMBERS:
            break
        metric_results = MetricResults(experiment, metric)
        for d, row in enumerate(stored.datasets):
            cells = zip(
                stored.columns, metric_results.summaries(row), metric_results.published_numbers(row), strict=True
            )
            for c, (column, summary, number) in enumerate(cells):
                if summary.n or number is not None:
                    verdict = metric_results.verdict(row, column)
                    is_infinite = number is not None and math.isinf(number)
                    numbers.append(
                        [
                            m, d, c, _finite_or_none(summary.mean), _finite_or_none(summary.sd), summary.n,
                            summary.infinite, INFINITY if is_infinite else _finite_or_none(number),
                            verdict.in_band if verdict else None,
                        ]
                    )  # fmt: skip
    return Charts(
        {
            "paper": published.short if published else None,
            "metrics": [
                {"name": name.long, "short": name.short, "end": name.good_end, "larger": name.larger_is_better}
                for name in names
            ],
            "datasets": [row.title for row in stored.datasets],
            "columns": [{"label": column.label, "group": column.group} for column in stored.columns],
            "numbers": numbers[:_MOST_NUMBERS],
        }
    )


def _finite_or_none(number: float | None) -> float | None:
    return None if number is None or not math.isfinite(number) else float(number)


_DECIMALS = 5


@dataclass(frozen=True)
class ReliabilityChart:
    """Hold reliability diagrams.

    A line holds the indices of data set and column, the splits, and (mean, observed, low, high, rows) of each bin.
    """

    lines: list[list[Any]]
    top_label: bool
    """Whether some data sets have more than two classes. Then diagrams are about the likeliest class of each row."""
    notes: list[str]


def reliability_chart(store: Store, stored: StoredExperiment, results: Results) -> ReliabilityChart:
    """Return the diagrams from the predictions, or from ``estimates.json``, which is written if possible."""
    try:
        pictures = pictures_of(store, stored, results, keep=True)
    except StoreError:
        # A file that cannot be written is no reason to draw nothing.
        pictures = pictures_of(store, stored, results)
    rows = {row.name: index for index, row in enumerate(stored.datasets)}
    columns = {column: index for index, column in enumerate(stored.columns)}
    lines: list[list[Any]] = []
    for figure in pictures.figures:
        bins = figure.reliability
        shares = zip(bins.mean, bins.observed, bins.low, bins.high, strict=True)
        numbers = [
            [*(round(float(x), _DECIMALS) for x in values), n] for values, n in zip(shares, bins.counts, strict=True)
        ]
        lines.append([rows[figure.row.name], columns[figure.column], figure.entry.splits, numbers])
    top_label = any(figure.entry.top_label for figure in pictures.figures)
    return ReliabilityChart(lines, top_label, pictures.notes(stored) if lines else [])


_NUMBER_PATTERN = re.compile(r"-?\d+(\.\d+)?(e[+-]?\d+)?")
_MISSING_TEXTS = (NOT_RUN, UNDEFINED, "failed", "")
_LINE_KINDS = {below.label: below.kind for below in LINES_BELOW}
_HIDEABLE_KINDS = ("spread", "paper")

TableLine = tuple[str, list[Text]]
"""``main``, or for a line below it ``spread``, ``paper``, ``minor`` or ``more`` (without a name), and its cells."""


def line_groups(grid: Grid) -> list[list[TableLine]]:
    """Return the lines of each data set, which stay together."""
    groups: list[list[TableLine]] = []
    for row in grid.rows:
        kind = _LINE_KINDS.get(row[0].main, "minor") if row[0].minor else "main" if row[0].main else "more"
        if kind == "main" or not groups:
            groups.append([])
        groups[-1].append((kind, row))
    return groups


def has_minor_lines(grid: Grid) -> bool:
    """Return whether there are lines with the spread or the published number."""
    return any(kind in _HIDEABLE_KINDS for group in line_groups(grid) for kind, _ in group)


def sort_value(main: str) -> str:
    """Return the sort value of a cell: a number, ``Infinity``, or the text itself.

    It is empty for what goes last in either order. ``∞ (5/10)`` counts as infinity, as in a mean over splits.
    """
    if main in _MISSING_TEXTS:
        return ""
    if main.startswith((INFINITY, f"-{INFINITY}")):
        return "-Infinity" if main.startswith("-") else "Infinity"
    match = _NUMBER_PATTERN.match(main)
    return match[0] if match and match.end() == len(main.split(maxsplit=1)[0]) else main


@dataclass(frozen=True)
class RankedPicture:
    metric: Metric
    ranks: Ranks
    picture: Picture | None
    """None where matplotlib is not installed."""

    @property
    def lines(self) -> list[list[str]]:
        """Return label and mean rank, best first."""
        pairs = zip(self.ranks.labels, self.ranks.mean_ranks, strict=True)
        return [[label, f"{rank:.2f}"] for label, rank in pairs]

    @property
    def best_text(self) -> str:
        """Return the best, or those that share the first place, and whether there is no significant difference."""
        best = self.lines[0][1]
        names = " and ".join(label for label, rank in self.lines if rank == best)
        return f"{names} ({best}{', no significant difference' if not self.ranks.has_difference else ''})"

    @property
    def verdict(self) -> str:
        test = "permuted ranks" if self.ranks.permuted else "Friedman's test"
        return f"{test}, p = {self.ranks.p:.3g}; critical difference {self.ranks.critical_difference:.2f}"


def paper_pictures(stored: StoredExperiment, results: Results) -> tuple[list[Picture], list[str]]:
    """Return the pictures, and notes on what is missing in them. ``stored`` has the titles of the experiment.

    Without matplotlib there are no pictures, and the note says how to install it.
    """
    if not is_installed("matplotlib"):
        return [], [missing_pictures_note()]
    from probcal.reporting.drawing import draw_styled
    from probcal.reporting.figures import shorten_titles
    from probcal.reporting.paper_figures import PAPER, ROC, paper_figures

    notes: list[str] = []
    figures = paper_figures(shorten_titles(stored), stored, results, (PAPER, ROC), notes.append)
    return list(draw_styled(figures, draw_picture)), list(dict.fromkeys(notes))


def rank_pictures(stored: StoredExperiment, results: Results) -> list[RankedPicture]:
    """Return one diagram for each metric with ranks."""

    def figure(metric_ranks: Ranks) -> Figure:
        from probcal.reporting.comparison.ranks_figure import ranks_figure

        return ranks_figure(metric_ranks)

    pictures = []
    for metric in order_metrics(stored.metrics):
        if metric_ranks := rank_methods(stored, results, metric):
            name = resolve_metric(metric)
            diagram = styled_picture(f"Mean ranks by {name.short}", partial(figure, metric_ranks))
            pictures.append(RankedPicture(name, metric_ranks, diagram))
    return pictures
