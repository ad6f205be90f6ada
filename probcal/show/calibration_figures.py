"""The pictures of what calibration changed: the error before it, and the loss after over that before."""

from __future__ import annotations

import textwrap

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from probcal.show.before_after import Effect
from probcal.show.drawing import COLOURS, GREY, NAMES, PANEL, name_lines, splits_said, titled_figure
from probcal.show.metric_names import metric_name

_WIDTH = 0.36
"""Of a bar, where two of one column stand side by side within 1."""


def error_figure(title: str, effects: list[Effect]) -> Figure:
    """c_emp of each column before calibration, a bar a data set; after calibration, a line across it."""
    shown = [one for one in effects if len(one.errors)]
    columns = list(dict.fromkeys(one.name for one in shown))
    rows = list(dict.fromkeys(one.row.title for one in shown))
    figure = titled_figure(title, 1.6 * PANEL[0], PANEL[1])
    axes = figure.subplots()
    width = 2 * _WIDTH / max(2, len(rows))
    for one in shown:
        number = rows.index(one.row.title)
        x = columns.index(one.name) + width * (number - (len(rows) - 1) / 2)
        before, after = one.errors.mean(axis=0)
        first = not any(other.row == one.row for other in shown[: shown.index(one)])
        axes.bar(x, before, 0.9 * width, color=COLOURS[number % len(COLOURS)], label=one.row.title if first else None)
        axes.hlines(after, x - width / 2, x + width / 2, color="black", linewidth=1.4)
        if len(one.errors) > 1:
            axes.errorbar(x, before, one.errors[:, 0].std(ddof=1), color=GREY, linewidth=1, capsize=2)
    (after_mark,) = axes.plot([], color="black", linewidth=1.4, label="after calibration")
    axes.set_xticks(range(len(columns)), columns)
    axes.set_ylim(bottom=0)
    axes.set_ylabel(textwrap.fill(f"{metric_name('c_emp').long} before calibration", 36))
    axes.spines[["top", "right"]].set_visible(False)
    bars = [one for one in axes.containers if one.get_label() in rows]
    axes.legend(handles=[*bars, after_mark], frameon=False, fontsize="small")
    figure.supxlabel(splits_said([len(one.errors) for one in shown], "whisker"), fontsize="small", color=GREY)
    return figure


def ratio_figure(title: str, effects: list[Effect]) -> Figure:
    """The loss ratio against the loss parameter: a panel a data set, a line a column."""
    shown = [one for one in effects if one.ratios.size]
    rows = list(dict.fromkeys(one.row.title for one in shown))
    columns = list(dict.fromkeys(one.name for one in shown))
    figure = titled_figure(title, len(rows) * (PANEL[0] + NAMES), 1.2 * PANEL[1])
    for row, axes in zip(rows, figure.subplots(1, len(rows), squeeze=False, sharey=True)[0], strict=True):
        for one in (one for one in shown if one.row.title == row):
            _line(axes, one, COLOURS[columns.index(one.name) % len(COLOURS)])
        axes.axhline(1, color=GREY, linewidth=0.6, zorder=0)
        axes.set_title(row)
        axes.set_xlim(0, max(one.parameters[-1] for one in shown))
        axes.set_xlabel("Loss parameter p (false positive p, false negative 1 - p)")
        axes.spines[["top", "right"]].set_visible(False)
    for axes in figure.axes:
        name_lines(axes)
    figure.axes[0].set_ylabel("Loss after calibration / loss before")
    figure.supxlabel(splits_said([len(one.ratios) for one in shown], "band"), fontsize="small", color=GREY)
    return figure


def _line(axes: Axes, effect: Effect, colour: str) -> None:
    ratios = np.where(np.isfinite(effect.ratios), effect.ratios, np.nan)  # infinite: a gap
    mean = ratios.mean(axis=0)
    axes.plot(effect.parameters, mean, color=colour, linewidth=1.2, label=effect.name)
    if len(effect.ratios) > 1:
        sd = ratios.std(axis=0, ddof=1)
        axes.fill_between(effect.parameters, mean - sd, mean + sd, color=colour, alpha=0.18, linewidth=0)
