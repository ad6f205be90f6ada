"""The pictures of a sweep over class weights: lines of equal probability, and estimates against raw scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from textwrap import fill

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from probcal.show.drawing import COLOURS, titled_figure
from probcal.show.outline import Outline
from probcal.show.plane_panels import draw_levels, draw_rows, hatched, number_of
from probcal.show.summary import Results
from probcal.show.sweeps import Sweep, box_of, sweeps_of


@dataclass(frozen=True)
class Panel:
    """One sweep in a figure; no ``levels`` are all of them."""

    dataset: str
    learner: str
    method: str = "weight_sweep"
    title: str = ""
    levels: tuple[float, ...] = ()
    names: dict[float, str] = field(default_factory=dict)
    scores: bool = False

    def shows(self, sweep: Sweep) -> bool:
        return (sweep.row.name, sweep.column.learner, sweep.column.method) == (self.dataset, self.learner, self.method)


_LINES = "Surfaces of equal probability, "

PAPERS: dict[str, dict[str, tuple[str, tuple[Panel, ...]]]] = {
    # Nalbantov & Ivanov (2019), sections 3 and 4
    "isoprobability": {
        "figure-2": (
            f"Figure 2. {_LINES}linear support vector machine, C = 1",
            (
                Panel("gaussians", "svm", title="All rows"),
                Panel("gaussians", "svc", "support_vectors", title="Support vectors only"),
            ),
        ),
        "figure-3": (f"Figure 3. {_LINES}logistic regression", (Panel("gaussians", "logistic", title="All rows"),)),
        "figure-4": (
            f"Figure 4. {_LINES}pruned decision tree",
            tuple(
                Panel("gaussians", "tree", title="Levels " + ", ".join(map(number_of, levels)), levels=levels)
                for levels in ((0.1, 0.7, 0.9), (0.05, 0.55), (0.25, 0.8, 0.95))
            ),
        ),
        "figure-5": (
            "Figure 5. Raw score and estimated probability, by steps of .05",
            (
                Panel("gaussians", "svm", title="Support vector machine", scores=True),
                Panel("gaussians", "logistic", title="Logistic regression", scores=True),
            ),
        ),
        "figure-6": (
            "Figure 6. Two surfaces of one learner that cross",
            (
                Panel(
                    "gaussians-14",
                    "svc",
                    "two_weights",
                    title="Linear support vector machine, 14 rows of each class",
                    names={0.5: "w₊ = 1.5, w₋ = 1.5 (p = 1/2)", 0.6667: "w₊ = 1, w₋ = 2 (p = 2/3)"},
                ),
            ),
        ),
    }
}
"""Name of an experiment -> name of a file -> heading and panels. Sweeps in none of them have a figure each."""

_SIDES = (5.0, 5.0, 3.8)
"""Inches, of one panel, two panels, three."""
_LETTERS_AN_INCH = 13
_DARKER = "the darker, the more levels say positive"
_HATCHED = "hatched: a higher level says positive, a lower one does not"
_GREY = "#555555"
_NAMED = 4
"""So many levels that have a surface, or that have none, are named."""


def iso_figures(outline: Outline, results: Results) -> Iterator[tuple[str, Figure]]:
    """(name of a file, figure), drawn under the settings of matplotlib as they are; none where no result has lines."""
    sweeps = sweeps_of(outline, results)
    rest = list(sweeps)
    for name, (heading, panels) in PAPERS.get(outline.name.removesuffix("-quick"), {}).items():
        found = [(panel, sweep) for panel in panels for sweep in sweeps if panel.shows(sweep)]
        rest = [one for one in rest if not any(one is sweep for _, sweep in found)]
        if found:
            yield name, _figure(heading, found, sweeps)
    for sweep in rest:
        row, column = sweep.row, sweep.column
        panel = Panel(row.name, column.learner, column.method, title=column.group)
        scores = [(replace(panel, scores=True), sweep)] if sweep.scores is not None else []
        alone = sum((one.row, one.column.learner) == (row, column.learner) for one in sweeps) == 1
        name = f"iso-probability-{row.name}-{column.learner}" + ("" if alone else f"-{column.method}")
        yield name, _figure(f"{outline.title}: {row.title}", [(panel, sweep), *scores], sweeps)


def _figure(heading: str, panels: Sequence[tuple[Panel, Sweep]], sweeps: Sequence[Sweep]) -> Figure:
    side = _SIDES[min(len(panels), len(_SIDES)) - 1]
    figure = titled_figure(heading, len(panels) * side, side)
    all_axes = figure.subplots(1, len(panels), squeeze=False)[0]
    planes = []
    for axes, (panel, sweep) in zip(all_axes, panels, strict=True):
        axes.set_title(panel.title)
        if panel.scores:
            _draw_scores(axes, sweep)
            continue
        beside = [one for one in sweeps if one.row == sweep.row]
        planes.append((axes, panel, sweep, box_of(beside)))
        draw_rows(axes, sweep, planes[-1][-1])
        if not panel.levels:
            axes.set_title(_with_levels(panel.title, sweep, beside))
    if planes:
        handles, names = planes[0][0].get_legend_handles_labels()
        also = any(hatched(_levels(panel, sweep)) for _, panel, sweep, _ in planes)
        note = fill(_DARKER + (f"; {_HATCHED}" if also else ""), int(figure.get_figwidth() * _LETTERS_AN_INCH))
        legend = figure.legend(handles, names, loc="outside lower center", ncols=2, frameon=False, title=note)
        legend.get_title().set_multialignment("center")
    for axes, panel, sweep, box in planes:
        draw_levels(axes, sweep, box, _levels(panel, sweep), panel.names)
    return figure


def _levels(panel: Panel, sweep: Sweep) -> tuple[float, ...]:
    return panel.levels or tuple(sweep.borders)


def _with_levels(title: str, sweep: Sweep, beside: Sequence[Sweep]) -> str:
    """``title``, and how many of the levels that a sweep ``beside`` has are without a surface in this one."""
    every = sorted({level for one in beside for level in one.borders})
    has = [level for level in every if level in sweep.borders]
    without = [level for level in every if level not in sweep.borders]
    if not without:
        return title
    few, which = ("not ", without) if len(without) < len(has) else ("", has)
    named = f" ({few}{', '.join(map(number_of, which))})" if len(which) <= _NAMED else ""
    return f"{title}: {len(has)} of {len(every)} levels {'have' if len(has) > 1 else 'has'} a surface here{named}"


def _draw_scores(axes: Axes, sweep: Sweep) -> None:
    axes.plot(*sweep.scores.T, ".", color=COLOURS[0], markersize=3, zorder=3)
    axes.axvline(0, color=_GREY, linewidth=0.5, zorder=0)
    axes.set_ylim(0, 1)
    axes.set_yticks([number / 10 for number in range(11)])
    axes.set_yticks([number / 20 for number in range(21)], minor=True)
    axes.grid(True, axis="y", which="both", linewidth=0.3, color="#DDDDDD")
    axes.set_xlabel("raw score (decision function)")
    axes.set_ylabel("estimated probability of the positive class")
