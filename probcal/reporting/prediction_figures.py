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
from probcal.store.cell_result import Results
from probcal.store.outline import Outline, ResultColumn, Row
from probcal.store.summary import summarise

Styles = Mapping[ResultColumn, LineStyle]
_LEGEND: dict[str, Any] = {"fontsize": "small", "borderaxespad": 0.2, "framealpha": 0.8, "edgecolor": "none"}
LONGEST_NAME = 30
"""Most characters of a name. Longer names are cut in the middle."""
_MOST_LETTERS = 20
"""Most characters above a small panel."""


def short_label(column: ResultColumn) -> str:
    """Return the label for a legend, which would leave out one that begins with an underscore."""
    return printable(f" {column.label}" if column.label.startswith("_") else column.label, LONGEST_NAME)


def draw_reliability(axes: Axes, pictures: Sequence[PredictionFigure], styles: Styles) -> None:
    """Draw the observed frequency against the mean prediction, with its interval as a bar."""
    _draw_diagonal(axes)
    for picture in pictures:
        display = ReliabilityDisplay(picture.reliability_curve, estimator_name=short_label(picture.column))
        display.plot(ax=axes, ref_line=False, histogram=False, **styles[picture.column].point_options())
    _set_unit_square(axes)
    top = any(picture.top_label for picture in pictures)
    axes.set_xlabel("Mean predicted probability of the likeliest class" if top else "Mean predicted probability")
    axes.set_ylabel("Observed frequency")
    axes.legend(loc="best", **_LEGEND)


def draw_scores(axes: Axes, picture: PredictionFigure) -> None:
    """Draw the share of the positive rows in each bin upwards, and of the negative rows downwards."""
    name = fill(short_label(picture.column), _MOST_LETTERS)
    ScoreHistogramDisplay(picture.score_histogram, estimator_name=name).plot(ax=axes)
    if legend := axes.get_legend():
        legend.remove()  # the note says which side is which
    axes.set(xlabel="", ylabel="", xticks=[0, 0.5, 1])
    axes.spines[["top", "right"]].set_visible(False)


def draw_roc(
    axes: Axes, pictures: Sequence[PredictionFigure], styles: Styles, aucs: Mapping[ResultColumn, float | None]
) -> None:
    _draw_diagonal(axes)
    for picture in pictures:
        if picture.roc is None:
            continue
        auc = aucs[picture.column]
        name = short_label(picture.column) + ("" if auc is None else f", AUC {auc:.3f}")
        axes.plot(picture.roc.x, picture.roc.y, label=name, **styles[picture.column].curve_options())
    _set_unit_square(axes)
    axes.set_xlabel("False positive rate")
    axes.set_ylabel("True positive rate")
    axes.legend(loc="lower right", **_LEGEND)


def draw_costs(axes: Axes, pictures: Sequence[PredictionFigure], styles: Styles) -> None:
    """Draw the lower envelope over all thresholds, below the line of always predicting the same class."""
    axes.fill_between([0, 0.5, 1], [0, 0.5, 0], color="#EEEEEE", linewidth=0, zorder=0)
    axes.plot([0, 0.5, 1], [0, 0.5, 0], color=GREY, linewidth=0.6, zorder=1)
    for picture in pictures:
        if picture.costs is None:
            continue
        options = styles[picture.column].curve_options()
        axes.plot(picture.costs.x, picture.costs.y, label=short_label(picture.column), **options)
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 0.52)
    axes.set_xlabel("Probability cost PC(+)")
    axes.set_ylabel("Normalised expected cost")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="upper left", **{**_LEGEND, "framealpha": 0})


def draw_decisions(axes: Axes, pictures: Sequence[PredictionFigure], styles: Styles) -> None:
    """Draw the net benefit of acting on the predictions, for each threshold."""
    for picture in pictures:
        if picture.decisions is not None:
            display = DecisionCurveDisplay(picture.decisions, estimator_name=short_label(picture.column))
            display.plot(ax=axes, **styles[picture.column].curve_options())
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="best", **_LEGEND)


def _draw_diagonal(axes: Axes) -> None:
    axes.axline((0, 0), slope=1, color=GREY, linewidth=0.6, zorder=0)


def _set_unit_square(axes: Axes) -> None:
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
_SQUARE_SIZE, _COST_SIZE, _SCORE_SIZE = (3.2, 3.2), (3.4, 2.7), (2.1, 1.7)
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
        row_pictures = [
            picture for picture in pictures if picture.row.name == row.name and picture.column in outline.columns
        ]
        for kind in ESTIMATE_KINDS:
            kind_pictures = (
                row_pictures
                if kind in (RELIABILITY, SCORES)
                else [picture for picture in row_pictures if picture.roc is not None]
            )
            if kind_pictures and kind in kinds:
                yield f"{kind}-{row.name}", _figure(kind, outline, results, row, kind_pictures)


def _figure(kind: str, outline: Outline, results: Results, row: Row, pictures: Sequence[PredictionFigure]) -> Figure:
    heading = f"{row.title}: {_HEADINGS[kind]}"
    groups = groups_of(outline.columns)
    styles, panels = styles_of(groups), _split_panels(groups, pictures)
    if kind == SCORES:
        figure = _score_figure(heading, pictures)
    elif kind == RELIABILITY:
        figure = _group_figure(
            heading, panels, _SQUARE_SIZE, lambda axes, members: draw_reliability(axes, members, styles)
        )
    elif kind == ROC:
        aucs = {picture.column: summarise(outline, results, row, picture.column, "auc").mean for picture in pictures}
        figure = _group_figure(
            heading, panels, _SQUARE_SIZE, lambda axes, members: draw_roc(axes, members, styles, aucs)
        )
    else:
        draw = draw_costs if kind == COSTS else draw_decisions
        figure = _group_figure(heading, panels, _COST_SIZE, lambda axes, members: draw(axes, members, styles))
    note = fill(_note(kind, row, pictures), int(figure.get_figwidth() * _LETTERS_AN_INCH))
    figure.supxlabel(note, fontsize="small", color=GREY)
    return figure


def _split_panels(groups: Mapping[ResultColumn, str], pictures: Sequence[PredictionFigure]) -> Panels:
    """Return the panels, with large groups cut into parts of nearly the same size."""
    panels = []
    for group in dict.fromkeys(groups[picture.column] for picture in pictures):
        members = [picture for picture in pictures if groups[picture.column] == group]
        size = math.ceil(len(members) / math.ceil(len(members) / _MOST_LINES))
        panels += [(group, members[first : first + size]) for first in range(0, len(members), size)]
    return panels


def _group_figure(
    heading: str, panels: Panels, size: tuple[float, float], draw: Callable[[Axes, Sequence[PredictionFigure]], None]
) -> Figure:
    n_columns = min(4, math.ceil(math.sqrt(len(panels))))
    n_rows = math.ceil(len(panels) / n_columns)
    figure = titled_figure(heading, n_columns * size[0], n_rows * size[1])
    for place, (group, members) in enumerate(panels, 1):
        axes = figure.add_subplot(n_rows, n_columns, place)
        draw(axes, members)
        if len(panels) > 1:
            axes.set_title(printable(group, LONGEST_NAME))
        if (place - 1) % n_columns:
            axes.set_ylabel("")
            axes.tick_params(labelleft=False)
        if place + n_columns <= len(panels):
            axes.set_xlabel("")
            axes.tick_params(labelbottom=False)
    return figure


def _score_figure(heading: str, pictures: Sequence[PredictionFigure]) -> Figure:
    n_columns = min(5, len(pictures))
    n_rows = math.ceil(len(pictures) / n_columns)
    figure = titled_figure(heading, max(2, n_columns) * _SCORE_SIZE[0], n_rows * _SCORE_SIZE[1])
    all_axes = figure.subplots(n_rows, n_columns, squeeze=False, sharex=True, sharey=True).ravel()
    for axes, picture in zip(all_axes, pictures, strict=False):
        draw_scores(axes, picture)
    for axes in all_axes[len(pictures) :]:
        axes.set_visible(False)
    for axes in all_axes[len(pictures) - n_columns : len(pictures)]:
        axes.tick_params(labelbottom=True)
    top = any(picture.top_label for picture in pictures)
    figure.supylabel("Share of right, of wrong" if top else "Share of each class", fontsize="medium")
    return figure


def _note(kind: str, row: Row, pictures: Sequence[PredictionFigure]) -> str:
    counts = sorted({picture.n_splits for picture in pictures})
    splits = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    rows_text = f"test rows of {splits} {row.split_noun} together"
    top = any(picture.top_label for picture in pictures)
    sides = ("right ones", "wrong ones") if top else ("positive rows", "negative rows")
    explanation = {
        RELIABILITY: "bins of equal mass; bar: 95 % interval" + (" for distinct rows" if counts[-1] > 1 else ""),
        SCORES: f"up: {sides[0]}, down: {sides[1]}; predictions in bins of .05",
        ROC: "AUC: mean over the splits" if counts[-1] > 1 else "",
        COSTS: "the best threshold at each ratio of costs; grey: always predicting one class",
        DECISIONS: "net benefit of acting where the prediction reaches the threshold, in steps of .05",
    }[kind]
    return "; ".join(filter(None, [rows_text if counts[-1] > 1 else "test rows of one split", explanation]))
