"""The picture of curves: a panel for each metric and column, a line for each data set."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from itertools import pairwise

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from probcal.show.curves import Panel
from probcal.show.metric_names import metric_name
from probcal.show.outline import Column

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9")
"""Okabe & Ito's, which the colour-blind tell apart; yellow left out: it is too pale for a line on white."""
_DASHES = ("-", "--", ":")
"""One after the other, each with all colours."""
PANEL = (3.5, 2.6)
"""Inches; two panels fill the width of a page."""
NAMES = 0.9
"""Inches to the right of a panel for the names of its lines."""
LETTERS_AN_INCH = 15


def stages_figure(title: str, panels: list[list[Panel]]) -> Figure:
    """The figure, drawn under the settings of matplotlib as they are. ``panels``: a row a metric."""
    width = len(panels[0]) * (PANEL[0] + NAMES)
    heading = textwrap.fill(title, int(width * LETTERS_AN_INCH))
    figure = Figure(figsize=(width, len(panels) * PANEL[1] + 0.2 * heading.count("\n") + 0.5), layout="constrained")
    figure.suptitle(heading)
    all_axes = figure.subplots(len(panels), len(panels[0]), squeeze=False)
    for row, line_of_axes in zip(panels, all_axes, strict=True):
        for panel, axes in zip(row, line_of_axes, strict=True):
            _draw(axes, panel)
            if len(row) > 1:
                axes.set_title(panel.column.label)
        for axes in line_of_axes[1:]:
            axes.set_ylabel("")
    counts = [curve.n_splits for row in panels for panel in row for curve in panel.curves]
    figure.supxlabel(splits_said(counts, "band"), fontsize="small", color="#555555")
    return figure


def _draw(axes: Axes, panel: Panel) -> None:
    name = metric_name(panel.metric)
    longest = max((len(curve.mean) for curve in panel.curves), default=1)
    for index, curve in enumerate(panel.curves):
        colour, dashes = COLOURS[index % len(COLOURS)], _DASHES[index // len(COLOURS) % len(_DASHES)]
        stages = np.arange(1, len(curve.mean) + 1)
        # infinite: a gap
        mean = np.where(np.isfinite(curve.mean), curve.mean, np.nan)
        axes.plot(stages, mean, dashes, color=colour, linewidth=1.2, label=curve.title)
        if curve.sd is not None:
            axes.fill_between(stages, mean - curve.sd, mean + curve.sd, color=colour, alpha=0.18, linewidth=0)
    axes.set_xlim(0, longest)
    if not name.larger_is_better:
        axes.set_ylim(bottom=0)
    axes.set_xlabel(_x_name(panel.column))
    axes.set_ylabel(name.long)
    axes.spines[["top", "right"]].set_visible(False)
    name_lines(axes)


def name_lines(axes: Axes) -> None:
    """The name of each line where it ends, moved up or down just so far that names do not cover each other."""
    ends = []
    for line in axes.get_lines():
        if line.get_label().startswith("_"):  # a line without a name of its own
            continue
        there = np.flatnonzero(np.isfinite(line.get_ydata()))
        if len(there):
            ends.append((float(line.get_ydata()[there[-1]]), line))
    ends.sort(key=lambda end: end[0])
    low, high = axes.get_ylim()
    size = 0.055 * (high - low)
    for y, (end, line) in zip(_apart([end for end, _ in ends], size), ends, strict=True):
        axes.annotate(
            line.get_label(),
            xy=(1, end),
            xytext=(1.06, y),
            xycoords=("axes fraction", "data"),
            textcoords=("axes fraction", "data"),
            color=line.get_color(),
            verticalalignment="center",
            fontsize="small",
            arrowprops={"arrowstyle": "-", "color": line.get_color(), "linewidth": 0.5, "shrinkA": 0, "shrinkB": 0},
        )


def _apart(places: list[float], size: float) -> list[float]:
    """Rising ``places`` moved as little as makes neighbours ``size`` apart: touching ones go to their common middle."""
    groups = [[place] for place in places]

    def spread(group: list[float]) -> list[float]:
        middle = sum(group) / len(group)
        return [middle + size * (index - (len(group) - 1) / 2) for index in range(len(group))]

    while touching := [
        i for i, (a, b) in enumerate(pairwise(groups)) if spread(b)[0] - spread(a)[-1] < size * (1 - 1e-9)
    ]:
        first = touching[0]
        groups[first : first + 2] = [groups[first] + groups[first + 1]]
    return [place for group in groups for place in spread(group)]


def _x_name(column: Column) -> str:
    probes = "probing" in (column.method.partition(".")[0], column.paper_method)
    return "Number of probes" if probes else "Number of stages"


def splits_said(n_splits: Iterable[int], mark: str) -> str:
    """Over how many splits the means are, and that ``mark`` shows their spread."""
    counts = sorted(set(n_splits))
    several = [n for n in counts if n > 1]
    if not several:
        return "one split"
    how_many = str(several[0]) if len(several) == 1 else f"{several[0]} to {several[-1]}"
    one = f"; no {mark}: one split" if 1 in counts else ""
    return f"mean over {how_many} random splits, {mark}: ± one sd{one}"
