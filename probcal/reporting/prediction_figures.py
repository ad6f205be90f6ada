"""Figures of stored predictions: one of each kind per data set, with a panel per group of columns."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from textwrap import fill
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from probcal._io import printable
from probcal.plots.decision import DecisionCurveDisplay
from probcal.plots.reliability import ReliabilityDisplay
from probcal.plots.scores import ScoreHistogramDisplay
from probcal.reporting.drawing import GREY, LineStyle, groups_of, styles_of, titled_figure
from probcal.reporting.prediction_summaries import PredictionFigure
from probcal.store.outline import Outline, ResultColumn, Row
from probcal.store.summary import Results, summarise

Styles = Mapping[ResultColumn, LineStyle]
_LEGEND: dict[str, Any] = {"fontsize": "small", "borderaxespad": 0.2, "framealpha": 0.8, "edgecolor": "none"}
LONGEST = 30
"""Most characters of a name. Longer names are cut in the middle."""
_LETTERS = 20
"""Most characters above a small panel."""


def short(column: ResultColumn) -> str:
    """Return the label for a legend, which would leave out one that begins with an underscore."""
    return printable(f" {column.label}" if column.label.startswith("_") else column.label, LONGEST)


def draw_reliability(axes: Axes, pictures: Sequence[PredictionFigure], styles: Styles) -> None:
    """Draw the observed frequency against the mean prediction, with its interval as a bar."""
    _diagonal(axes)
    for one in pictures:
        display = ReliabilityDisplay(one.reliability_curve, estimator_name=short(one.column))
        display.plot(ax=axes, ref_line=False, histogram=False, **styles[one.column].of_points())
    _square(axes)
    top = any(one.top_label for one in pictures)
    axes.set_xlabel("Mean predicted probability of the likeliest class" if top else "Mean predicted probability")
    axes.set_ylabel("Observed frequency")
    axes.legend(loc="best", **_LEGEND)


def draw_scores(axes: Axes, picture: PredictionFigure) -> None:
    """Draw the share of the positive rows in each bin upwards, and of the negative rows downwards."""
    ScoreHistogramDisplay(picture.score_histogram, estimator_name=fill(short(picture.column), _LETTERS)).plot(ax=axes)
    if legend := axes.get_legend():
        legend.remove()  # the note says which side is which
    axes.set(xlabel="", ylabel="", xticks=[0, 0.5, 1])
    axes.spines[["top", "right"]].set_visible(False)


def draw_roc(
    axes: Axes, pictures: Sequence[PredictionFigure], styles: Styles, aucs: Mapping[ResultColumn, float | None]
) -> None:
    _diagonal(axes)
    for one in pictures:
        if one.roc is None:
            continue
        auc = aucs[one.column]
        name = short(one.column) + ("" if auc is None else f", AUC {auc:.3f}")
        axes.plot(one.roc.x, one.roc.y, label=name, **styles[one.column].of_curve())
    _square(axes)
    axes.set_xlabel("False positive rate")
    axes.set_ylabel("True positive rate")
    axes.legend(loc="lower right", **_LEGEND)


def draw_costs(axes: Axes, pictures: Sequence[PredictionFigure], styles: Styles) -> None:
    """Draw the lower envelope over all thresholds, below the line of always predicting the same class."""
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


def draw_decisions(axes: Axes, pictures: Sequence[PredictionFigure], styles: Styles) -> None:
    """Draw the net benefit of acting on the predictions, for each threshold."""
    for one in pictures:
        if one.decisions is not None:
            display = DecisionCurveDisplay(one.decisions, estimator_name=short(one.column))
            display.plot(ax=axes, **styles[one.column].of_curve())
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="best", **_LEGEND)


def _diagonal(axes: Axes) -> None:
    axes.axline((0, 0), slope=1, color=GREY, linewidth=0.6, zorder=0)


def _square(axes: Axes) -> None:
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    axes.set_aspect("equal")
    axes.spines[["top", "right"]].set_visible(False)


RELIABILITY, SCORES, ROC, COSTS, DECISIONS = "reliability", "scores", "roc", "cost-curves", "decision-curves"
ESTIMATE_KINDS = (RELIABILITY, SCORES, ROC, COSTS, DECISIONS)

Panels = list[tuple[str, list[PredictionFigure]]]
"""Group and its members, or some of them."""
_MOST_LINES = 7
"""Most lines in a panel. A larger group has several panels."""
_SIDE, _COSTS, _SCORES = (3.2, 3.2), (3.4, 2.7), (2.1, 1.7)
"""Inches of a panel."""
_LETTERS_AN_INCH = 18
_HEADINGS = {
    RELIABILITY: "reliability",
    SCORES: "histogram of predictions",
    ROC: "ROC curves",
    COSTS: "cost curves",
    DECISIONS: "decision curves",
}


def estimate_figures(
    outline: Outline, results: Results, pictures: Sequence[PredictionFigure], kinds: Sequence[str]
) -> Iterator[tuple[str, Figure]]:
    """Yield (file name, figure), drawn under the current settings of matplotlib. Kinds without a line are left out."""
    for row in outline.datasets:
        ours = [one for one in pictures if one.row.name == row.name and one.column in outline.columns]
        for kind in ESTIMATE_KINDS:
            shown = ours if kind in (RELIABILITY, SCORES) else [one for one in ours if one.roc is not None]
            if shown and kind in kinds:
                yield f"{kind}-{row.name}", _figure(kind, outline, results, row, shown)


def _figure(kind: str, outline: Outline, results: Results, row: Row, pictures: Sequence[PredictionFigure]) -> Figure:
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
        draw = draw_costs if kind == COSTS else draw_decisions
        figure = _by_group(heading, panels, _COSTS, lambda axes, some: draw(axes, some, styles))
    note = fill(_note(kind, row, pictures), int(figure.get_figwidth() * _LETTERS_AN_INCH))
    figure.supxlabel(note, fontsize="small", color=GREY)
    return figure


def _panels(groups: Mapping[ResultColumn, str], pictures: Sequence[PredictionFigure]) -> Panels:
    """Return the panels, with large groups cut into parts of nearly the same size."""
    found = []
    for group in dict.fromkeys(groups[one.column] for one in pictures):
        members = [one for one in pictures if groups[one.column] == group]
        each = math.ceil(len(members) / math.ceil(len(members) / _MOST_LINES))
        found += [(group, members[first : first + each]) for first in range(0, len(members), each)]
    return found


def _by_group(
    heading: str, panels: Panels, size: tuple[float, float], draw: Callable[[Axes, Sequence[PredictionFigure]], None]
) -> Figure:
    across = min(4, math.ceil(math.sqrt(len(panels))))
    down = math.ceil(len(panels) / across)
    figure = titled_figure(heading, across * size[0], down * size[1])
    for place, (group, members) in enumerate(panels, 1):
        axes = figure.add_subplot(down, across, place)
        draw(axes, members)
        if len(panels) > 1:
            axes.set_title(printable(group, LONGEST))
        if (place - 1) % across:
            axes.set_ylabel("")
            axes.tick_params(labelleft=False)
        if place + across <= len(panels):
            axes.set_xlabel("")
            axes.tick_params(labelbottom=False)
    return figure


def _scores(heading: str, pictures: Sequence[PredictionFigure]) -> Figure:
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


def _note(kind: str, row: Row, pictures: Sequence[PredictionFigure]) -> str:
    counts = sorted({one.n_splits for one in pictures})
    splits = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    several = f"test rows of {splits} {row.kind_of_splits} together"
    top = any(one.top_label for one in pictures)
    sides = ("right ones", "wrong ones") if top else ("positive rows", "negative rows")
    explanation = {
        RELIABILITY: "bins of equal mass; bar: 95 % interval" + (" for distinct rows" if counts[-1] > 1 else ""),
        SCORES: f"up: {sides[0]}, down: {sides[1]}; predictions in bins of .05",
        ROC: "AUC: mean over the splits" if counts[-1] > 1 else "",
        COSTS: "the best threshold at each ratio of costs; grey: always predicting one class",
        DECISIONS: "net benefit of acting where the prediction reaches the threshold, in steps of .05",
    }[kind]
    return "; ".join(filter(None, [several if counts[-1] > 1 else "test rows of one split", explanation]))
