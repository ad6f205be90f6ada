"""Charts, sortable tables and pictures of the page, as data for its templates."""

from __future__ import annotations

import base64
import io
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from markupsafe import Markup

from probcal.analysis.claim_support import ComparisonError, compare
from probcal.analysis.comparison_tables import grids
from probcal.analysis.ranks import Ranks, ranks
from probcal.errors import StoreError, installation, is_installed
from probcal.metrics.registry import Metric
from probcal.papers.published import Published
from probcal.reporting.grid import INFINITY, NOT_RUN, UNDEFINED, Grid, Text, in_order
from probcal.reporting.metric_table import PAPER, SPREAD, MetricResults, place_of, verdict_of
from probcal.reporting.prediction_summaries import Pictures, PredictionFigure, pictures_of
from probcal.store.cell_result import shown_metric
from probcal.store.folder import Store
from probcal.store.outline import Outline, ResultColumn, Row
from probcal.store.summary import Results, summarise

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST = 20_000
"""Most numbers in one chart. More would be too many to see, and for a browser to draw."""


@dataclass(frozen=True)
class Charts:
    """Hold the data of one experiment's charts."""

    data: dict[str, Any]

    @property
    def compares(self) -> bool:
        """Return whether there is something to compare: two finite means of one metric."""
        counts: dict[int, int] = {}
        for one in self.data["numbers"]:
            counts[one[0]] = counts.get(one[0], 0) + (one[3] is not None)
        return any(count > 1 for count in counts.values())

    @property
    def has_published_numbers(self) -> bool:
        return any(one[3] is not None and isinstance(one[7], float) for one in self.data["numbers"])

    @property
    def agreeing(self) -> list[tuple[str, int, int]]:
        """Return (metric, published numbers in their band, published numbers compared)."""
        found = []
        for place, metric in enumerate(self.data["metrics"]):
            verdicts = [one[8] for one in self.data["numbers"] if one[0] == place and one[8] is not None]
            if verdicts:
                found.append((metric["short"], sum(verdicts), len(verdicts)))
        return found


def charts_of(outline: Outline, results: Results, published: Published | None) -> Charts:
    """Return the chart data. ``outline`` must have the titles that the rows are shown under."""
    metrics = in_order(outline.metrics)
    names = [shown_metric(metric) for metric in metrics]
    numbers = [
        [place, *one]
        for place, metric in enumerate(metrics)
        for one in _of_metric(MetricResults(outline, results, metric, published))
    ]
    return Charts(
        {
            "paper": published.short if published else None,
            "metrics": [
                {"name": one.long, "short": one.short, "end": one.good_end, "larger": one.larger_is_better}
                for one in names
            ],
            "datasets": [row.title for row in outline.datasets],
            "columns": [{"label": column.label, "group": column.group} for column in outline.columns],
            "numbers": numbers[:_MOST],
        }
    )


def _of_metric(one: MetricResults) -> Iterator[list[Any]]:
    """Yield data set, column, mean, sd, n, number of infinite splits, published number, and whether it agrees.

    The last is None where the number was not compared.
    """
    for d, row in enumerate(one.outline.datasets):
        cells = zip(one.outline.columns, one.ours(row), one.theirs(row), strict=True)
        for c, (column, ours, theirs) in enumerate(cells):
            if ours.n or theirs is not None:
                agrees = _agrees(one, row, column, theirs)
                yield [
                    d,
                    c,
                    _finite_or_none(ours.mean),
                    _finite_or_none(ours.sd),
                    ours.n,
                    ours.infinite,
                    _published(theirs),
                    agrees,
                ]


def _agrees(one: MetricResults, row: Row, column: ResultColumn, theirs: float | None) -> bool | None:
    if theirs is None or one.table is None or one.is_misprint(row, column):
        return None
    ours = summarise(one.outline, one.results, row, column, one.metric, one.table.seed)
    verdict = verdict_of(ours, theirs, one.table, place_of(row, column))
    return None if verdict is None else verdict.in_band


def _finite_or_none(number: float | None) -> float | None:
    return None if number is None or not math.isfinite(number) else float(number)


def _published(number: float | None) -> float | str | None:
    return "∞" if number is not None and math.isinf(number) else _finite_or_none(number)


_DECIMALS = 5


@dataclass(frozen=True)
class ReliabilityChart:
    """Hold reliability diagrams.

    A line holds the places of data set and column, the splits, and (mean, observed, low, high, rows) of each bin.
    """

    lines: list[list[Any]]
    top_label: bool
    """Whether some data sets have more than two classes. Then diagrams are about the likeliest class of each row."""
    notes: list[str]


def reliable(store: Store, outline: Outline, results: Results) -> ReliabilityChart:
    """Return the diagrams from the predictions, or from ``estimates.json``, which is written if possible."""
    found = _pictures(store, outline, results)
    rows = {row.name: place for place, row in enumerate(outline.datasets)}
    columns = {column: place for place, column in enumerate(outline.columns)}
    return ReliabilityChart(
        [[rows[one.row.name], columns[one.column], one.n_splits, _bins(one)] for one in found.every],
        any(one.top_label for one in found.every),
        found.notes(outline) if found.every else [],
    )


def _pictures(store: Store, outline: Outline, results: Results) -> Pictures:
    try:
        return pictures_of(store, outline, results, keep=True)
    except StoreError:
        return pictures_of(store, outline, results)


def _bins(one: PredictionFigure) -> list[list[float]]:
    bins = one.reliability
    shares = zip(bins.mean, bins.observed, bins.low, bins.high, strict=True)
    return [[*(round(float(x), _DECIMALS) for x in four), n] for four, n in zip(shares, bins.counts, strict=True)]


_NUMBER = re.compile(r"-?\d+(\.\d+)?(e[+-]?\d+)?")
_NOTHING = (NOT_RUN, UNDEFINED, "failed", "")
_KINDS = {SPREAD: "spread", PAPER: "paper"}

TableLine = tuple[str, list[Text]]
"""``main``, or for a line below it ``spread``, ``paper``, ``minor`` or ``more`` (without a name), and its cells."""


def line_groups(grid: Grid) -> list[list[TableLine]]:
    """Return the lines of each data set, which stay together."""
    groups: list[list[TableLine]] = []
    for row in grid.rows:
        kind = _KINDS.get(row[0].main, "minor") if row[0].minor else "main" if row[0].main else "more"
        if kind == "main" or not groups:
            groups.append([])
        groups[-1].append((kind, row))
    return groups


def has_lines_beneath(grid: Grid) -> bool:
    """Return whether there are lines with the spread or the published number."""
    return any(kind in _KINDS.values() for group in line_groups(grid) for kind, _ in group)


def sort_value(main: str) -> str:
    """Return the sort value of a cell: a number, ``Infinity``, or the text itself.

    It is empty for what goes last in either order. ``∞ (5/10)`` counts as infinity, as in a mean over splits.
    """
    if main in _NOTHING:
        return ""
    if main.startswith((INFINITY, f"-{INFINITY}")):
        return "-Infinity" if main.startswith("-") else "Infinity"
    found = _NUMBER.match(main)
    return found[0] if found and found.end() == len(main.split()[0]) else main


def statistics(store: Store, first: int) -> tuple[list[Grid], str]:
    """Return the tables of the comparison, numbered from ``first``, and why there are none if something is broken."""
    try:
        found = grids(compare(store))
    except ComparisonError:
        return [], ""
    except StoreError as error:
        return [], str(error)
    return [replace(one, number=number) for number, one in enumerate(found, first)], ""


_LARGEST_SVG = 200_000
"""Number of characters from which a PNG is used, which is then smaller."""
_DPI = 110


NO_PICTURES = f"figures need matplotlib, which is not installed; install it with: {installation('matplotlib')}"


@dataclass(frozen=True)
class Picture:
    name: str
    address: Markup
    """A ``data:`` address, so that the picture is part of the page."""
    said: str
    """Description of the picture for readers who cannot see it."""
    width: int
    """Width in CSS pixels. ``height`` has the same unit."""
    height: int


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
    def first(self) -> str:
        """Return the best, or those that share the first place, and whether there is no significant difference."""
        best = self.lines[0][1]
        names = " and ".join(label for label, rank in self.lines if rank == best)
        return f"{names} ({best}{', no significant difference' if self.ranks.p > 1 - self.ranks.level else ''})"

    @property
    def verdict(self) -> str:
        test = "permuted ranks" if self.ranks.permuted else "Friedman's test"
        return f"{test}, p = {self.ranks.p:.3g}; critical difference {self.ranks.critical_difference:.2f}"


def paper_pictures(outline: Outline, results: Results) -> tuple[list[Picture], list[str]]:
    """Return the pictures, and notes on what is missing in them. ``outline`` has the titles of the experiment.

    Without matplotlib there are no pictures, and the note says how to install it.
    """
    if not is_installed("matplotlib"):
        return [], [NO_PICTURES]
    from probcal.reporting.drawing import draw_styled
    from probcal.reporting.figures import short_titles
    from probcal.reporting.paper_figures import PAPER, ROC, paper_figures

    notes: list[str] = []
    figures = paper_figures(short_titles(outline), outline, results, (PAPER, ROC), notes.append)
    return list(draw_styled(figures, picture)), list(dict.fromkeys(notes))


def ranked(outline: Outline, results: Results) -> list[RankedPicture]:
    """Return one diagram for each metric with ranks."""
    found = []
    for metric in in_order(outline.metrics):
        if one := ranks(outline, results, metric):
            name = shown_metric(metric)
            drawn = picture_in_look(f"Mean ranks by {name.short}", partial(_ranks_figure, one))
            found.append(RankedPicture(name, one, drawn))
    return found


def picture_in_look(name: str, figure: Callable[[], Figure]) -> Picture | None:
    """Return the picture of the figure that ``figure`` draws in our look, or None where matplotlib is missing."""
    if not is_installed("matplotlib"):
        return None
    from probcal.reporting.drawing import look

    with look():
        return picture(name, figure())


def _ranks_figure(one: Ranks) -> Figure:
    from probcal.analysis.ranks_figure import ranks_figure

    return ranks_figure(one)


def picture(name: str, figure: Figure) -> Picture:
    """Return a figure as a part of a page, as SVG, or as PNG where that is much smaller."""
    text, points = io.StringIO(), io.BytesIO()
    figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    width, height = (round(96 * inches) for inches in figure.get_size_inches())
    svg = text.getvalue()
    if len(svg) <= _LARGEST_SVG:
        return Picture(name, svg_address(svg), _description(figure), width, height)
    figure.savefig(points, format="png", dpi=_DPI, metadata={"Software": None})
    return Picture(name, png_address(points.getvalue()), _description(figure), width, height)


def _description(figure: Figure) -> str:
    """Return the heading, the axes of each kind of panel, and the names of the lines."""
    parts = [figure.get_suptitle()]
    axes = [f"{one.get_ylabel()} against {one.get_xlabel()}" for one in figure.axes if one.get_xlabel()]
    titles = [one.get_title() for one in figure.axes if one.get_title()]
    parts += [f"Panels: {', '.join(titles)}"] if titles else []
    parts += [f"Axes: {', '.join(dict.fromkeys(axes))}"] if axes else []
    named = [line.get_label() for one in figure.axes for line in one.get_lines()]
    lines = dict.fromkeys(str(label) for label in named if not str(label).startswith("_"))
    parts += [f"Lines: {', '.join(lines)}"] if lines else []
    return ". ".join(" ".join(part.split()) for part in parts if part) + "."


def svg_address(svg: str) -> Markup:
    """Return a picture as the address of an image, in which no script runs."""
    return Markup("data:image/svg+xml," + quote(svg, safe=" /:=;,()!*?@$[]{}|^`'~+\n"))


def png_address(points: bytes) -> Markup:
    return Markup("data:image/png;base64," + base64.b64encode(points).decode())
