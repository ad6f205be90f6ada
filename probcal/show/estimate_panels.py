"""One panel of each figure of estimates, drawn on axes of matplotlib."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter

from probcal.show.drawing import COLOURS, GREY
from probcal.show.estimates.pictures import Picture
from probcal.show.line_styles import LineStyle
from probcal.show.outline import Column
from probcal.visible import visible

Styles = Mapping[Column, LineStyle]
_LEGEND: dict[str, Any] = {"fontsize": "small", "borderaxespad": 0.2, "framealpha": 0.8, "edgecolor": "none"}
LONGEST = 30
"""Letters of a name; longer ones are cut in the middle."""
_LETTERS = 20
"""Over a small panel."""


def short(column: Column) -> str:
    """Its label for a legend, which would leave out one that begins with an underscore."""
    return visible(f" {column.label}" if column.label.startswith("_") else column.label, LONGEST)


def draw_reliability(axes: Axes, pictures: Sequence[Picture], styles: Styles) -> None:
    """The observed share of positive rows against the mean estimate, with its interval as a bar."""
    _diagonal(axes)
    for one in pictures:
        drawn, style = one.reliability, styles[one.column]
        axes.vlines(drawn.mean, drawn.low, drawn.high, color=style.colour, linewidth=0.8, alpha=0.7, clip_on=False)
        axes.plot(drawn.mean, drawn.observed, label=short(one.column), **style.of_points())
    _square(axes)
    top = any(one.top_label for one in pictures)
    axes.set_xlabel("Mean estimate of the likeliest class" if top else "Mean estimate")
    axes.set_ylabel("Share of rows whose class it is" if top else "Share of positive rows")
    axes.legend(loc="best", **_LEGEND)


def draw_scores(axes: Axes, picture: Picture) -> None:
    """The share of the positive rows in each bin upwards, of the negative ones downwards."""
    drawn = picture.scores
    upwards: dict[str, Any] = {"color": COLOURS[0]}
    downwards: dict[str, Any] = {"color": "none", "edgecolor": COLOURS[1], "hatch": "/////"}
    for rows, sign, style in ((drawn.positive, 1, upwards), (drawn.negative, -1, downwards)):
        shares = sign * rows / max(1, rows.sum())
        axes.bar(drawn.edges[:-1], shares, np.diff(drawn.edges), align="edge", linewidth=0.6, **style)
    axes.axhline(0, color=GREY, linewidth=0.6)
    axes.set_xlim(0, 1)
    axes.set_xticks([0, 0.5, 1])
    axes.set_title(fill(short(picture.column), _LETTERS))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{abs(share):g}"))
    axes.spines[["top", "right"]].set_visible(False)


def draw_roc(axes: Axes, pictures: Sequence[Picture], styles: Styles, aucs: Mapping[Column, float | None]) -> None:
    _diagonal(axes)
    for one in pictures:
        if one.roc is None:
            continue
        auc = aucs[one.column]
        name = short(one.column) + ("" if auc is None else f", AUC {auc:.3f}")
        axes.plot(one.roc.x, one.roc.y, label=name, **styles[one.column].of_curve())
    _square(axes)
    axes.set_xlabel("Share of negative rows called positive")
    axes.set_ylabel("Share of positive rows called so")
    axes.legend(loc="lower right", **_LEGEND)


def draw_costs(axes: Axes, pictures: Sequence[Picture], styles: Styles) -> None:
    """The lower envelope over all thresholds, beneath that of saying always the same."""
    axes.fill_between([0, 0.5, 1], [0, 0.5, 0], color="#EEEEEE", linewidth=0, zorder=0)
    axes.plot([0, 0.5, 1], [0, 0.5, 0], color=GREY, linewidth=0.6, zorder=1)
    for one in pictures:
        if one.costs is None:
            continue
        axes.plot(one.costs.x, one.costs.y, label=short(one.column), **styles[one.column].of_curve())
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 0.52)
    axes.set_xlabel("Probability cost PC(+)")
    axes.set_ylabel("Normalised expected cost")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="upper left", **{**_LEGEND, "framealpha": 0})


def _diagonal(axes: Axes) -> None:
    axes.axline((0, 0), slope=1, color=GREY, linewidth=0.6, zorder=0)


def _square(axes: Axes) -> None:
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    axes.set_aspect("equal")
    axes.spines[["top", "right"]].set_visible(False)
