"""Figures of ``probcal plot`` for the papers, and diagrams of mean ranks, embedded in the page."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass

from markupsafe import Markup
from matplotlib.figure import Figure

from probcal.analysis.ranks import Ranks, ranks
from probcal.analysis.ranks_figure import ranks_figure
from probcal.metrics.registry import Metric, metric_named
from probcal.reporting.drawing import look
from probcal.reporting.figures import short_titles
from probcal.reporting.html.embed import png_address, svg_address
from probcal.reporting.labels import in_order
from probcal.reporting.paper_figures import PAPER, ROC, paper_figures
from probcal.store.outline import Outline
from probcal.store.summary import Results

_LARGEST_SVG = 200_000
"""Number of characters from which a PNG is used, which is then smaller."""
_DPI = 110


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
    picture: Picture

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
    """Return the pictures, and notes on what is missing in them. ``outline`` has the titles of the experiment."""
    notes: list[str] = []
    figures = paper_figures(short_titles(outline), outline, results, (PAPER, ROC), notes.append)
    return list(_pictures(figures)), list(dict.fromkeys(notes))


def _pictures(figures: Iterator[tuple[str, Figure]]) -> Iterator[Picture]:
    while True:
        with look():
            found = next(figures, None)
            if found is None:
                return
            drawn = picture(*found)
        yield drawn


def ranked(outline: Outline, results: Results) -> list[RankedPicture]:
    """Return one diagram for each metric with ranks."""
    found = []
    for metric in in_order(outline.metrics):
        if one := ranks(outline, results, metric):
            with look():
                name = metric_named(metric)
                found.append(RankedPicture(name, one, picture(f"Mean ranks by {name.short}", ranks_figure(one))))
    return found


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
