"""The picture of kept curves: log10 S along the test rows on the left, ROC curves on the right."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from probcal.show.drawing import GREY, PANEL, titled_figure
from probcal.show.kept_curves import KeptCurve, Panels
from probcal.show.line_styles import LineStyle

Styles = Mapping[tuple[str, str], LineStyle]
_SIZE = 1.25 * PANEL[0], 1.4 * PANEL[1]
"""Inches: names of lines stand within a panel."""
_MOST_ACROSS = 3


def kept_figure(title: str, panels: Sequence[Panels]) -> Figure:
    """The figure, drawn under the settings of matplotlib as they are; a kind of curve that is nowhere has no panel.

    Both kinds stand side by side, a line for each of ``panels``; one kind alone fills lines of several panels.
    """
    kinds = [_martingales] if any(one.martingales for one in panels) else []
    kinds += [_rocs] if any(one.rocs for one in panels) else []
    across = len(kinds) if len(kinds) > 1 else min(_MOST_ACROSS, math.ceil(math.sqrt(len(panels))))
    drawn = [(draw, one) for one in panels for draw in kinds]
    down = math.ceil(len(drawn) / across)
    methods = list(dict.fromkeys(curve.method for one in panels for curve in (*one.rocs, *one.martingales)))
    styles = {method: LineStyle(index) for index, method in enumerate(methods)}
    figure = titled_figure(title, across * _SIZE[0], down * _SIZE[1])
    several = len({one.row.name for one in panels}) > 1
    for place, (draw, one) in enumerate(drawn, 1):
        axes = figure.add_subplot(down, across, place)
        draw(axes, one, styles)
        axes.spines[["top", "right"]].set_visible(False)
        if several:
            axes.set_title(one.row.title)
    figure.supxlabel("the first repetition alone", fontsize="small", color=GREY)
    return figure


def _martingales(axes: Axes, panels: Panels, styles: Styles) -> None:
    for curve in panels.martingales:
        axes.plot(curve.x, curve.y, label=curve.column.label, **_solid(styles[curve.method]))
    axes.axhline(0, color=GREY, linewidth=0.6, zorder=0)
    axes.margins(x=0)
    axes.set_xlabel("Test row")
    axes.set_ylabel("log10 of the martingale")
    if panels.martingales:
        axes.legend(loc="upper left", frameon=False, fontsize="small")


def _rocs(axes: Axes, panels: Panels, styles: Styles) -> None:
    axes.axline((0, 0), slope=1, color=GREY, linewidth=0.6, zorder=0)
    for curve in panels.rocs:
        own = curve.column.variant in (panels.variant, "")
        axes.plot(curve.x, curve.y, label=_with_auc(curve), **_solid(styles[curve.method], "-" if own else ":"))
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    axes.set_aspect("equal")
    axes.set_xlabel("Share of negative rows called positive")
    axes.set_ylabel("Share of positive rows called so")
    if panels.rocs:
        axes.legend(loc="lower right", frameon=False, fontsize="x-small", borderaxespad=0.2)


def _solid(style: LineStyle, dashes: str = "-") -> dict[str, Any]:
    """Without dashes of its own, for here these tell variants apart; marks tell methods apart in grey."""
    return {**style.of_curve(), "linestyle": dashes}


def _with_auc(curve: KeptCurve) -> str:
    return curve.column.label + ("" if math.isnan(curve.auc) else f", AUC {curve.auc:.3f}")
