"""Critical-difference diagram: mean ranks on a line, with bars over methods that are not significantly different."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from pathlib import Path

from matplotlib.figure import Figure

from probcal._io import printable
from probcal.papers.check.comparison import attach_paper
from probcal.reporting.comparison.ranks import Ranks, rank_methods
from probcal.reporting.drawing import COLOURS, GREY, drawing_style, figures_folder, save_figure, titled_figure
from probcal.reporting.grid import order_metrics
from probcal.store.cell_result import resolve_metric
from probcal.store.folder import Store
from probcal.store.stored_experiment import Selection, StoredExperiment

_FULL_SELECTION = Selection()
_WIDTH = 7.0
_LINE_HEIGHT = 0.19
"""Distance in inches from one label or bar to the next."""
_SIDE_SHARE = 0.28
"""Share of the axis left free on each side for the names."""
_LONGEST_NAME = 28


def draw_ranks(
    stores: Iterable[Store], selection: Selection = _FULL_SELECTION, folder_of: Callable[[Store], Path] = figures_folder
) -> list[Path]:
    """Draw ``ranks-METRIC`` as PNG and SVG in ``folder_of`` each store, for each metric with ranks. Return the paths.

    ``selection`` limits the results. Raises StoreError where a folder cannot be read or written, and UnknownPaper for
    an unknown paper.
    """
    paths = []
    for store in stores:
        stored, _ = attach_paper(selection.select(StoredExperiment.of(store)))
        results = store.results()
        for metric in order_metrics(stored.metrics):
            if ranking := rank_methods(stored, results, metric):
                with drawing_style():
                    stem = folder_of(store) / f"ranks-{metric.replace('/', '-')}"
                    paths += save_figure(ranks_figure(ranking, stored.title), stem)
    return paths


def ranks_figure(ranking: Ranks, title: str = "") -> Figure:
    """Draw mean ranks with the best on the left. A bar joins labels that are not significantly different.

    Call it within ``drawing_style``.
    """
    k = len(ranking.labels)
    mean_ranks = dict(zip(ranking.labels, ranking.mean_ranks, strict=True))
    bars = [(mean_ranks[group[0]], mean_ranks[group[-1]]) for group in ranking.groups if ranking.has_difference]
    lines = 1 + len(bars) + math.ceil(k / 2)
    name = resolve_metric(ranking.metric).long
    name = name if name[:2].isupper() else name[:1].lower() + name[1:]  # an abbreviation keeps its capitals
    p = "p < .001" if ranking.p < 0.001 else f"p = {ranking.p:.3f}".replace("0.", ".", 1)
    test = "permuted ranks" if ranking.permuted else "Friedman's test"
    joined, none = "a bar joins methods that are not significantly different", "no significant difference"
    meaning = joined if ranking.has_difference else none
    caption = f"mean ranks over {ranking.n_datasets} data sets by {name} ({test}: {p}); {meaning}"
    heading = f"{printable(title, 120)}: {caption}" if title else caption[0].upper() + caption[1:]
    figure = titled_figure(heading, _WIDTH, _LINE_HEIGHT * (lines + 3.5))
    axes = figure.add_subplot()
    axes.set_axis_off()
    span = max(k - 1, 1)
    axes.set_xlim(1 - _SIDE_SHARE * span, k + _SIDE_SHARE * span)
    axes.set_ylim(lines + 0.5, -2.5)
    axes.plot([1, k], [0, 0], color="black", linewidth=1)
    for tick in range(1, k + 1):
        axes.plot([tick, tick], [0, -0.25], color="black", linewidth=1)
        if k <= 12 or tick % 5 == 0 or tick == 1:
            axes.text(tick, -0.4, str(tick), ha="center", va="bottom")
    width = ranking.critical_difference
    has_scale = width <= k - 1
    if has_scale:
        axes.plot([1, 1 + width], [-1.7, -1.7], color=GREY, linewidth=1.5)
        for end in (1, 1 + width):
            axes.plot([end, end], [-1.9, -1.5], color=GREY, linewidth=1.5)
    axes.text(1 + width / 2 if has_scale else 1, -1.85, f"critical difference {width:.2f}", color=GREY,
              ha="center" if has_scale else "left", va="bottom")  # fmt: skip
    for index, (low, high) in enumerate(bars, 1):
        axes.plot([low - 0.008 * span, high + 0.008 * span], [index * 0.9] * 2, color=COLOURS[0], linewidth=3,
                  solid_capstyle="butt")  # fmt: skip
    # the better half on the left, from the best downwards, and the others on the right, from the worst
    for index, (label, rank) in enumerate(zip(ranking.labels, ranking.mean_ranks, strict=True)):
        is_left, name = index < math.ceil(k / 2), printable(label, _LONGEST_NAME)
        line = len(bars) + 1.3 + (index if is_left else k - 1 - index)
        end, sign = (1 - 0.03 * span, -1) if is_left else (k + 0.03 * span, 1)
        axes.plot([rank, rank, end], [0, line, line], color=GREY, linewidth=0.7)
        axes.text(end + sign * 0.01 * span, line, f"{name}  {rank:.2f}" if is_left else f"{rank:.2f}  {name}",
                  ha="right" if is_left else "left", va="center")  # fmt: skip
    return figure
