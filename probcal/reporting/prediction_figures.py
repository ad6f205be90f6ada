"""Figures of stored predictions: one of each kind per data set, with a panel per group of columns."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from textwrap import fill
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from probcal._io import printable
from probcal.plots.decision import DecisionCurveDisplay
from probcal.plots.reliability import ReliabilityDisplay
from probcal.plots.scores import ScoreHistogramDisplay
from probcal.reporting.drawing import GREY, LineStyle, line_styles, panel_groups, titled_figure
from probcal.reporting.grid import group_by, span_text
from probcal.reporting.prediction_summaries import PredictionFigure
from probcal.store.cell_result import Results
from probcal.store.stored_experiment import ResultColumn, Row, StoredExperiment
from probcal.store.summary import summarise

_LEGEND: dict[str, Any] = {
    "loc": "best",
    "fontsize": "small",
    "borderaxespad": 0.2,
    "framealpha": 0.8,
    "edgecolor": "none",
}
LONGEST_NAME = 30
"""Most characters of a name. Longer names are cut in the middle."""
_MOST_LETTERS = 20
"""Most characters above a small panel."""


def short_label(column: ResultColumn) -> str:
    """Return the label for a legend, which would leave out one that begins with an underscore."""
    return printable(f" {column.label}" if column.label.startswith("_") else column.label, LONGEST_NAME)


RELIABILITY, SCORES, ROC, COSTS, DECISIONS = "reliability", "scores", "roc", "cost-curves", "decision-curves"
ESTIMATE_KINDS = (RELIABILITY, SCORES, ROC, COSTS, DECISIONS)

_MOST_LINES = 7
"""Most lines in a panel. A larger group has several panels."""
_SQUARE_SIZE, _COST_SIZE, _SCORE_SIZE = (3.2, 3.2), (3.4, 2.7), (2.1, 1.7)
"""Inches of a panel."""
_LETTERS_AN_INCH = 18
_LEGENDS: dict[str, dict[str, Any]] = {ROC: {"loc": "lower right"}, COSTS: {"loc": "upper left", "framealpha": 0}}
"""Settings of legends that differ from ``_LEGEND``."""
_HEADINGS = {
    RELIABILITY: "reliability",
    SCORES: "histogram of predictions",
    ROC: "ROC curves",
    COSTS: "cost curves",
    DECISIONS: "decision curves",
}


def estimate_figures(
    stored: StoredExperiment, results: Results, pictures: Sequence[PredictionFigure], kinds: Sequence[str]
) -> Iterator[tuple[str, Figure]]:
    """Yield (file name, figure), drawn under the current settings of matplotlib. Kinds without a line are left out."""
    groups = panel_groups(stored.columns)
    for row in stored.datasets:
        for kind in ESTIMATE_KINDS:
            members = [
                picture
                for picture in pictures
                if picture.row.name == row.name
                and picture.column in stored.columns
                and (kind in (RELIABILITY, SCORES) or picture.roc is not None)
            ]
            if not members or kind not in kinds:
                continue
            heading = f"{row.title}: {_HEADINGS[kind]}"
            if kind == SCORES:
                figure = _score_figure(heading, members)
            else:
                aucs = {one.column: summarise(stored, results, row, one.column, "auc").mean for one in members}
                figure = _curves_figure(kind, heading, groups, members, aucs)
            note = fill(_note(kind, row, members), int(figure.get_figwidth() * _LETTERS_AN_INCH))
            figure.supxlabel(note, fontsize="small", color=GREY)
            yield f"{kind}-{row.name}", figure


def _curves_figure(
    kind: str,
    heading: str,
    groups: Mapping[ResultColumn, str],
    pictures: Sequence[PredictionFigure],
    aucs: Mapping[ResultColumn, float | None],
) -> Figure:
    """Draw one line for each column, in a panel for each group. Large groups are cut into parts of nearly one size."""
    panels = []
    for group, members in group_by(pictures, lambda picture: groups[picture.column]).items():
        # Parts of nearly one size: eight lines become four and four, not seven and one.
        part = math.ceil(len(members) / math.ceil(len(members) / _MOST_LINES))
        panels += [(group, members[first : first + part]) for first in range(0, len(members), part)]
    width, height = _SQUARE_SIZE if kind in (RELIABILITY, ROC) else _COST_SIZE
    n_columns = min(4, math.ceil(math.sqrt(len(panels))))
    n_rows = math.ceil(len(panels) / n_columns)
    figure, styles = titled_figure(heading, n_columns * width, n_rows * height), line_styles(groups)
    for number, (group, members) in enumerate(panels, 1):
        axes = figure.add_subplot(n_rows, n_columns, number)
        _draw_curves(kind, axes, members, styles, aucs)
        if len(panels) > 1:
            axes.set_title(printable(group, LONGEST_NAME))
        if (number - 1) % n_columns:
            axes.set_ylabel("")
            axes.tick_params(labelleft=False)
        if number + n_columns <= len(panels):
            axes.set_xlabel("")
            axes.tick_params(labelbottom=False)
    return figure


def _draw_curves(
    kind: str,
    axes: Axes,
    pictures: Sequence[PredictionFigure],
    styles: Mapping[ResultColumn, LineStyle],
    aucs: Mapping[ResultColumn, float | None],
) -> None:
    if kind in (RELIABILITY, ROC):
        axes.axline((0, 0), slope=1, color=GREY, linewidth=0.6, zorder=0)
    elif kind == COSTS:  # the costs of always predicting the same class
        axes.fill_between([0, 0.5, 1], [0, 0.5, 0], color="#EEEEEE", linewidth=0, zorder=0)
        axes.plot([0, 0.5, 1], [0, 0.5, 0], color=GREY, linewidth=0.6, zorder=1)
    for picture in pictures:
        name, style, auc = short_label(picture.column), styles[picture.column], aucs[picture.column]
        if kind == RELIABILITY:
            reliability = ReliabilityDisplay(picture.reliability_curve, estimator_name=name)
            reliability.plot(ax=axes, ref_line=False, histogram=False, **style.point_options())
        elif kind == DECISIONS and picture.decisions:
            DecisionCurveDisplay(picture.decisions, estimator_name=name).plot(ax=axes, **style.curve_options())
        elif curve := picture.roc if kind == ROC else picture.costs:
            label = name if kind == COSTS or auc is None else f"{name}, AUC {auc:.3f}"
            axes.plot(curve.x, curve.y, label=label, **style.curve_options())
    axes.spines[["top", "right"]].set_visible(False)
    if kind in (RELIABILITY, ROC):
        axes.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
    if kind == RELIABILITY:
        of_class = " of the likeliest class" if any(picture.entry.top_label for picture in pictures) else ""
        axes.set(xlabel=f"Mean predicted probability{of_class}", ylabel="Observed frequency")
    elif kind == ROC:
        axes.set(xlabel="False positive rate", ylabel="True positive rate")
    elif kind == COSTS:
        axes.set(xlim=(0, 1), ylim=(0, 0.52), xlabel="Probability cost PC(+)", ylabel="Normalised expected cost")
    axes.legend(**{**_LEGEND, **_LEGENDS.get(kind, {})})


def _score_figure(heading: str, pictures: Sequence[PredictionFigure]) -> Figure:
    n_columns = min(5, len(pictures))
    n_rows = math.ceil(len(pictures) / n_columns)
    figure = titled_figure(heading, max(2, n_columns) * _SCORE_SIZE[0], n_rows * _SCORE_SIZE[1])
    all_axes = figure.subplots(n_rows, n_columns, squeeze=False, sharex=True, sharey=True).ravel()
    for axes, picture in zip(all_axes, pictures, strict=False):
        # the share of the positive rows in each bin upwards, and of the negative rows downwards
        name = fill(short_label(picture.column), _MOST_LETTERS)
        ScoreHistogramDisplay(picture.score_histogram, estimator_name=name).plot(ax=axes)
        if legend := axes.get_legend():
            legend.remove()  # the note says which side is which
        axes.set(xlabel="", ylabel="", xticks=[0, 0.5, 1])
        axes.spines[["top", "right"]].set_visible(False)
    for axes in all_axes[len(pictures) :]:
        axes.set_visible(False)
    for axes in all_axes[len(pictures) - n_columns : len(pictures)]:
        # Shared axes have numbers in the last row only, which may not be full. So the lowest panels get them.
        axes.tick_params(labelbottom=True)
    top = any(picture.entry.top_label for picture in pictures)
    figure.supylabel("Share of right, of wrong" if top else "Share of each class", fontsize="medium")
    return figure


def _note(kind: str, row: Row, pictures: Sequence[PredictionFigure]) -> str:
    counts = [picture.entry.splits for picture in pictures]
    rows_text = f"test rows of {span_text(counts)} {row.split_noun} together"
    top = any(picture.entry.top_label for picture in pictures)
    sides = ("right ones", "wrong ones") if top else ("positive rows", "negative rows")
    explanation = {
        RELIABILITY: "bins of equal mass; bar: 95 % interval" + (" for distinct rows" if max(counts) > 1 else ""),
        SCORES: f"up: {sides[0]}, down: {sides[1]}; predictions in bins of .05",
        ROC: "AUC: mean over the splits" if max(counts) > 1 else "",
        COSTS: "the best threshold at each ratio of costs; grey: always predicting one class",
        DECISIONS: "net benefit of acting where the prediction reaches the threshold, in steps of .05",
    }[kind]
    return "; ".join(filter(None, [rows_text if max(counts) > 1 else "test rows of one split", explanation]))
