"""The picture of curves: a panel for each metric and column, a line for each data set."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from probcal.show.curves import Panel
from probcal.show.drawing import COLOURS, NAMES, PANEL, name_lines, splits_said, titled_figure
from probcal.show.metric_names import metric_name
from probcal.show.outline import Column

_DASHES = ("-", "--", ":")
"""One after the other, each with all colours."""


def stages_figure(title: str, panels: list[list[Panel]]) -> Figure:
    """The figure, drawn under the settings of matplotlib as they are. ``panels``: a row a metric."""
    figure = titled_figure(title, len(panels[0]) * (PANEL[0] + NAMES), len(panels) * PANEL[1])
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


def _x_name(column: Column) -> str:
    probes = "probing" in (column.method.partition(".")[0], column.paper_method)
    return "Number of probes" if probes else "Number of stages"
