"""The figures of the kept estimates: one of each kind for each data set, a panel a group of columns."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from textwrap import fill

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from probcal.show.drawing import GREY, titled_figure
from probcal.show.estimate_panels import LONGEST, draw_costs, draw_reliability, draw_roc, draw_scores
from probcal.show.estimates.pictures import Picture
from probcal.show.line_styles import groups_of, styles_of
from probcal.show.outline import Column, Outline, Row
from probcal.show.summary import Results, summarise
from probcal.visible import visible

RELIABILITY, SCORES, ROC, COSTS = "reliability", "scores", "roc", "cost-curves"
ESTIMATE_KINDS = (RELIABILITY, SCORES, ROC, COSTS)

Panels = list[tuple[str, list[Picture]]]
"""Group, and its members or some of them."""
_MOST_LINES = 7
"""In a panel; a larger group has several."""
_SIDE, _COSTS, _SCORES = (3.2, 3.2), (3.4, 2.7), (2.1, 1.7)
"""Inches of a panel."""
_LETTERS_AN_INCH = 18
_HEADINGS = {
    RELIABILITY: "reliability",
    SCORES: "how often each estimate is given",
    ROC: "ROC curves",
    COSTS: "cost curves",
}


def estimate_figures(
    outline: Outline, results: Results, pictures: Sequence[Picture], kinds: Sequence[str]
) -> Iterator[tuple[str, Figure]]:
    """(name of a file, figure), drawn under the settings of matplotlib as they are; without kinds that have no line."""
    for row in outline.datasets:
        ours = [one for one in pictures if one.row.name == row.name and one.column in outline.columns]
        for kind in ESTIMATE_KINDS:
            shown = ours if kind in (RELIABILITY, SCORES) else [one for one in ours if one.roc is not None]
            if shown and kind in kinds:
                yield f"{kind}-{row.name}", _figure(kind, outline, results, row, shown)


def _figure(kind: str, outline: Outline, results: Results, row: Row, pictures: Sequence[Picture]) -> Figure:
    heading = f"{row.title}: {_HEADINGS[kind]}"
    groups = groups_of(outline.columns)
    styles, panels = styles_of(groups), _panels(groups, pictures)
    if kind == SCORES:
        figure = _scores(heading, pictures)
    elif kind == RELIABILITY:
        figure = _by_group(heading, panels, _SIDE, lambda axes, some: draw_reliability(axes, some, styles))
    elif kind == ROC:
        aucs = {one.column: summarise(outline, results, row, one.column, "auc").mean for one in pictures}
        figure = _by_group(heading, panels, _SIDE, lambda axes, some: draw_roc(axes, some, styles, aucs))
    else:
        figure = _by_group(heading, panels, _COSTS, lambda axes, some: draw_costs(axes, some, styles))
    note = fill(_note(kind, row, pictures), int(figure.get_figwidth() * _LETTERS_AN_INCH))
    figure.supxlabel(note, fontsize="small", color=GREY)
    return figure


def _panels(groups: Mapping[Column, str], pictures: Sequence[Picture]) -> Panels:
    """A large group in parts of nearly the same size."""
    found = []
    for group in dict.fromkeys(groups[one.column] for one in pictures):
        members = [one for one in pictures if groups[one.column] == group]
        each = math.ceil(len(members) / math.ceil(len(members) / _MOST_LINES))
        found += [(group, members[first : first + each]) for first in range(0, len(members), each)]
    return found


def _by_group(
    heading: str, panels: Panels, size: tuple[float, float], draw: Callable[[Axes, Sequence[Picture]], None]
) -> Figure:
    across = min(4, math.ceil(math.sqrt(len(panels))))
    down = math.ceil(len(panels) / across)
    figure = titled_figure(heading, across * size[0], down * size[1])
    for place, (group, members) in enumerate(panels, 1):
        axes = figure.add_subplot(down, across, place)
        draw(axes, members)
        if len(panels) > 1:
            axes.set_title(visible(group, LONGEST))
        if (place - 1) % across:
            axes.set_ylabel("")
            axes.tick_params(labelleft=False)
        if place + across <= len(panels):
            axes.set_xlabel("")
            axes.tick_params(labelbottom=False)
    return figure


def _scores(heading: str, pictures: Sequence[Picture]) -> Figure:
    across = min(5, len(pictures))
    down = math.ceil(len(pictures) / across)
    figure = titled_figure(heading, max(2, across) * _SCORES[0], down * _SCORES[1])
    every = figure.subplots(down, across, squeeze=False, sharex=True, sharey=True).ravel()
    for axes, one in zip(every, pictures, strict=False):
        draw_scores(axes, one)
    for axes in every[len(pictures) :]:
        axes.set_visible(False)
    for axes in every[len(pictures) - across : len(pictures)]:
        axes.tick_params(labelbottom=True)
    top = any(one.top_label for one in pictures)
    figure.supylabel("Share of right, of wrong" if top else "Share of each class", fontsize="medium")
    return figure


def _note(kind: str, row: Row, pictures: Sequence[Picture]) -> str:
    counts = sorted({one.n_splits for one in pictures})
    splits = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    several = f"test rows of {splits} {'draws' if row.drawn else 'runs' if row.fixed else 'random splits'} together"
    top = any(one.top_label for one in pictures)
    sides = ("right ones", "wrong ones") if top else ("positive rows", "negative rows")
    said = {
        RELIABILITY: "bins of equal mass; bar: 95 % interval" + (" for distinct rows" if counts[-1] > 1 else ""),
        SCORES: f"up: {sides[0]}, down: {sides[1]}; estimates in bins of .05",
        ROC: "AUC: mean over the splits" if counts[-1] > 1 else "",
        COSTS: "the best threshold at each ratio of costs; grey: always the same class",
    }[kind]
    return "; ".join(filter(None, [several if counts[-1] > 1 else "test rows of one split", said]))
