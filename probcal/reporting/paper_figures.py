"""Figures of papers: metrics along the stages, effects of calibration, stored martingales and ROC curves."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from probcal.reporting.calibration_effects import CalibrationEffect, measure_effects
from probcal.reporting.drawing import (
    COLOURS,
    GREY,
    NAME_WIDTH,
    PANEL_SIZE,
    LineStyle,
    name_lines,
    splits_text,
    titled_figure,
)
from probcal.reporting.iso_figures import iso_figures
from probcal.reporting.stored_curves import (
    CurvePanel,
    Panels,
    missing_cells,
    missing_curves,
    shortfalls,
    stage_panels,
    stored_panels,
    stored_sweeps,
    undrawn_columns,
)
from probcal.store.cell_result import Results, resolve_metric
from probcal.store.stored_experiment import StoredExperiment

_DASHES = ("-", "--", ":")
"""Dashes, each used with all colours before the next."""


def stages_figure(title: str, panels: list[list[CurvePanel]]) -> Figure:
    """Draw the metrics by stage under the current settings of matplotlib. ``panels`` has one row per metric."""
    figure = titled_figure(title, len(panels[0]) * (PANEL_SIZE[0] + NAME_WIDTH), len(panels) * PANEL_SIZE[1])
    all_axes = figure.subplots(len(panels), len(panels[0]), squeeze=False)
    for row, line_of_axes in zip(panels, all_axes, strict=True):
        for panel, axes in zip(row, line_of_axes, strict=True):
            _draw_stages(axes, panel)
            if len(row) > 1:
                axes.set_title(panel.column.label)
        for axes in line_of_axes[1:]:
            axes.set_ylabel("")
    counts = [curve.n_splits for row in panels for panel in row for curve in panel.curves]
    figure.supxlabel(splits_text(counts, "band"), fontsize="small", color="#555555")
    return figure


def _draw_stages(axes: Axes, panel: CurvePanel) -> None:
    name = resolve_metric(panel.metric)
    n_stages = max((len(curve.mean) for curve in panel.curves), default=1)
    for index, curve in enumerate(panel.curves):
        colour, dashes = COLOURS[index % len(COLOURS)], _DASHES[index // len(COLOURS) % len(_DASHES)]
        mean = np.where(np.isfinite(curve.mean), curve.mean, np.nan)  # infinite: a gap
        _draw_band(axes, np.arange(1, len(mean) + 1), mean, curve.sd, curve.title, colour, dashes)
    axes.set_xlim(0, n_stages)
    if not name.larger_is_better:
        axes.set_ylim(bottom=0)
    is_probing = "probing" in (panel.column.method.partition(".")[0], panel.column.paper_method)
    axes.set_xlabel("Number of probes" if is_probing else "Number of stages")
    axes.set_ylabel(name.long)
    axes.spines[["top", "right"]].set_visible(False)
    name_lines(axes)


def _draw_band(
    axes: Axes, x: np.ndarray, mean: np.ndarray, sd: np.ndarray | None, name: str, colour: str, dashes: str = "-"
) -> None:
    """Draw a line with a band of one sd on each side. NaN leaves a gap."""
    axes.plot(x, mean, dashes, color=colour, linewidth=1.2, label=name)
    if sd is not None:
        axes.fill_between(x, mean - sd, mean + sd, color=colour, alpha=0.18, linewidth=0)


_BAR_WIDTH = 0.36
"""Width of a bar. The two bars of one column share a width of 1."""


def error_figure(title: str, effects: list[CalibrationEffect]) -> Figure:
    """Draw c_emp of each column before calibration as one bar per data set, with a line for c_emp after calibration."""
    subset = [effect for effect in effects if len(effect.errors)]
    columns = list(dict.fromkeys(effect.name for effect in subset))
    rows = list(dict.fromkeys(effect.row.title for effect in subset))
    figure = titled_figure(title, 1.6 * PANEL_SIZE[0], PANEL_SIZE[1])
    axes = figure.subplots()
    width = 2 * _BAR_WIDTH / max(2, len(rows))
    for effect in subset:
        number = rows.index(effect.row.title)
        x = columns.index(effect.name) + width * (number - (len(rows) - 1) / 2)
        error_before, error_after = effect.errors.mean(axis=0)
        is_first = not any(previous.row == effect.row for previous in subset[: subset.index(effect)])
        axes.bar(
            x,
            error_before,
            0.9 * width,
            color=COLOURS[number % len(COLOURS)],
            label=effect.row.title if is_first else None,
        )
        axes.hlines(error_after, x - width / 2, x + width / 2, color="black", linewidth=1.4)
        if len(effect.errors) > 1:
            axes.errorbar(x, error_before, effect.errors[:, 0].std(ddof=1), color=GREY, linewidth=1, capsize=2)
    # A line without points, only for the legend.
    (after_mark,) = axes.plot([], color="black", linewidth=1.4, label="after calibration")
    axes.set_xticks(range(len(columns)), columns)
    axes.set_ylim(bottom=0)
    axes.set_ylabel(textwrap.fill(f"{resolve_metric('c_emp').long} before calibration", 36))
    axes.spines[["top", "right"]].set_visible(False)
    bars = [container for container in axes.containers if container.get_label() in rows]
    axes.legend(handles=[*bars, after_mark], frameon=False, fontsize="small")
    figure.supxlabel(splits_text([len(effect.errors) for effect in subset], "whisker"), fontsize="small", color=GREY)
    return figure


def ratio_figure(title: str, effects: list[CalibrationEffect]) -> Figure:
    """Draw the loss ratio against the loss parameter, with a panel per data set and a line per column."""
    subset = [effect for effect in effects if effect.ratios.size]
    rows = list(dict.fromkeys(effect.row.title for effect in subset))
    columns = list(dict.fromkeys(effect.name for effect in subset))
    figure = titled_figure(title, len(rows) * (PANEL_SIZE[0] + NAME_WIDTH), 1.2 * PANEL_SIZE[1])
    for row, axes in zip(rows, figure.subplots(1, len(rows), squeeze=False, sharey=True)[0], strict=True):
        for effect in (effect for effect in subset if effect.row.title == row):
            ratios = np.where(np.isfinite(effect.ratios), effect.ratios, np.nan)  # infinite: a gap
            sd = ratios.std(axis=0, ddof=1) if len(ratios) > 1 else None
            colour = COLOURS[columns.index(effect.name) % len(COLOURS)]
            _draw_band(axes, effect.parameters, ratios.mean(axis=0), sd, effect.name, colour)
        axes.axhline(1, color=GREY, linewidth=0.6, zorder=0)
        axes.set_title(row)
        axes.set_xlim(0, max(effect.parameters[-1] for effect in subset))
        axes.set_xlabel("Loss parameter p (false positive p, false negative 1 - p)")
        axes.spines[["top", "right"]].set_visible(False)
    # Names come last, because their places depend on the limits that the panels share.
    for axes in figure.axes:
        name_lines(axes)
    figure.axes[0].set_ylabel("Loss after calibration / loss before")
    figure.supxlabel(splits_text([len(effect.ratios) for effect in subset], "band"), fontsize="small", color=GREY)
    return figure


Styles = Mapping[tuple[str, str], LineStyle]
_PANEL_SIZE = 1.25 * PANEL_SIZE[0], 1.4 * PANEL_SIZE[1]
"""Width and height in inches. The names of lines are inside the panel."""
_MOST_COLUMNS = 3


def stored_curves_figure(title: str, panels: Sequence[Panels]) -> Figure:
    """Draw martingales and ROC curves under the current settings of matplotlib. A kind without curves has no panel.

    Both kinds stand side by side, with one line of panels for each of ``panels``. A single kind fills lines of several
    panels.
    """
    kinds = [_draw_martingales] if any(panel.martingales for panel in panels) else []
    kinds += [_draw_rocs] if any(panel.rocs for panel in panels) else []
    n_columns = len(kinds) if len(kinds) > 1 else min(_MOST_COLUMNS, math.ceil(math.sqrt(len(panels))))
    subplots = [(draw, panel) for panel in panels for draw in kinds]
    n_rows = math.ceil(len(subplots) / n_columns)
    methods = list(dict.fromkeys(curve.method for panel in panels for curve in (*panel.rocs, *panel.martingales)))
    styles = {method: LineStyle(index) for index, method in enumerate(methods)}
    figure = titled_figure(title, n_columns * _PANEL_SIZE[0], n_rows * _PANEL_SIZE[1])
    several_datasets = len({panel.row.name for panel in panels}) > 1
    for number, (draw, panel) in enumerate(subplots, 1):
        axes = figure.add_subplot(n_rows, n_columns, number)
        draw(axes, panel, styles)
        axes.spines[["top", "right"]].set_visible(False)
        if several_datasets:
            axes.set_title(panel.row.title)
    figure.supxlabel("the first repetition alone", fontsize="small", color=GREY)
    return figure


def _draw_martingales(axes: Axes, panels: Panels, styles: Styles) -> None:
    for curve in panels.martingales:
        # Solid, because all martingales of a panel are of one variant.
        options = {**styles[curve.method].curve_options(), "linestyle": "-"}
        axes.plot(curve.x, curve.y, label=curve.column.label, **options)
    axes.axhline(0, color=GREY, linewidth=0.6, zorder=0)
    axes.margins(x=0)
    axes.set(xlabel="Test row", ylabel="log10 of the martingale")
    if panels.martingales:
        axes.legend(loc="upper left", frameon=False, fontsize="small")


def _draw_rocs(axes: Axes, panels: Panels, styles: Styles) -> None:
    """Draw the ROC curves. Dashes distinguish variants, and marks distinguish methods in grey."""
    axes.axline((0, 0), slope=1, color=GREY, linewidth=0.6, zorder=0)
    for curve in panels.rocs:
        dashes = "-" if curve.column.variant in (panels.variant, "") else ":"
        label = curve.column.label + ("" if math.isnan(curve.auc) else f", AUC {curve.auc:.3f}")
        axes.plot(curve.x, curve.y, label=label, **{**styles[curve.method].curve_options(), "linestyle": dashes})
    axes.set(xlim=(0, 1), ylim=(0, 1), aspect="equal", xlabel="False positive rate", ylabel="True positive rate")
    if panels.rocs:
        axes.legend(loc="lower right", frameon=False, fontsize="x-small", borderaxespad=0.2)


PAPER, ROC = "paper", "roc"


def paper_figures(
    stored: StoredExperiment,
    own_experiment: StoredExperiment,
    results: Results,
    kinds: tuple[str, ...],
    warn: Callable[[str], None],
) -> Iterator[tuple[str, Figure]]:
    """Yield (file name, figure), drawn under the current settings of matplotlib.

    ``own_experiment`` is the stored with the titles of the experiment. ``warn`` receives notes on what is missing in a
    figure. ROC curves without a martingale beside them are of the kind ``roc``, all else is ``paper``.
    """
    if PAPER in kinds:
        if effects := measure_effects(stored, results):
            if any(len(effect.errors) for effect in effects):
                yield "calibration-error", error_figure(stored.title, effects)
            if any(effect.ratios.size for effect in effects):
                yield "loss-ratio", ratio_figure(stored.title, effects)
            columns = [column for column in stored.columns if column.before_and_after]
            for note in missing_cells(stored, results, columns, stages=True):
                warn(note)
        sweeps = stored_sweeps(own_experiment, results)
        yield from iso_figures(own_experiment, sweeps)
        for note in undrawn_columns(sweeps):
            warn(note)
        if panels := stage_panels(stored, results):
            yield "stages", stages_figure(stored.title, panels)
            for note in shortfalls(stored, results, panels):
                warn(note)
    curve_panels = stored_panels(stored, results)
    has_martingales = any(panel.martingales for panel in curve_panels)
    if curve_panels and (PAPER if has_martingales else ROC) in kinds:
        yield "protection" if has_martingales else "roc", stored_curves_figure(stored.title, curve_panels)
        for note in missing_curves(stored, results):
            warn(note)
