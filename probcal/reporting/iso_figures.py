"""Figures of sweeps over class weights: lines of equal probability, and predictions against raw scores."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from textwrap import fill
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from probcal._io import shipped
from probcal.config.yaml_file import YamlFile
from probcal.errors import FileProblems
from probcal.reporting.curves import Sweep, box_of
from probcal.reporting.drawing import COLOURS, GREY, titled_figure
from probcal.reporting.plane_panels import FEW, draw_levels, draw_rows, label_levels, number_of
from probcal.store.outline import Outline


@dataclass(frozen=True)
class IsoPanel:
    """Describe one sweep in a figure. Empty ``levels`` stand for all levels."""

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

PAPERS: dict[str, dict[str, tuple[str, tuple[IsoPanel, ...]]]] = {
    # Nalbantov & Ivanov (2019), sections 3 and 4
    "isoprobability": {
        "figure-2": (
            f"Figure 2. {_LINES}linear support vector machine, C = 1",
            (
                IsoPanel("gaussians", "svm", title="All rows"),
                IsoPanel("gaussians", "svc", "support_vectors", title="Support vectors only"),
            ),
        ),
        "figure-3": (f"Figure 3. {_LINES}logistic regression", (IsoPanel("gaussians", "logistic", title="All rows"),)),
        "figure-4": (
            f"Figure 4. {_LINES}pruned decision tree",
            tuple(
                IsoPanel("gaussians", "tree", title="Levels " + ", ".join(map(number_of, levels)), levels=levels)
                for levels in ((0.1, 0.7, 0.9), (0.05, 0.55), (0.25, 0.8, 0.95))
            ),
        ),
        "figure-5": (
            "Figure 5. Raw score and estimated probability, by steps of .05",
            (
                IsoPanel("gaussians", "svm", title="Support vector machine", scores=True),
                IsoPanel("gaussians", "logistic", title="Logistic regression", scores=True),
            ),
        ),
        "figure-6": (
            "Figure 6. Two surfaces of one learner that cross",
            (
                IsoPanel(
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
"""Name of a shipped experiment -> file name -> heading and panels. Any other sweep has a figure of its own."""


def shipped_sweeps(outline: Outline) -> Callable[[Sweep], bool]:
    """Return a function that says whether a sweep has the data set and settings of the shipped experiment."""
    name = outline.name.removesuffix("-quick")
    if name not in PAPERS:
        return lambda sweep: False
    theirs = _parsed((shipped("configs") / f"{name}.yaml").read_text(encoding="utf-8"))
    ours = _parsed(outline.config)

    def is_theirs(sweep: Sweep) -> bool:
        row, column = sweep.row, sweep.column
        entries = (("learners", column.learner), ("methods", column.method))
        return (
            all(_entry(ours, *one) == _entry(theirs, *one) for one in entries)
            and all(row.name in config["datasets"] for config in (ours, theirs))
            and not any(one.is_about(row, column) for one in outline.exceptions if not one.skip)
        )

    return is_theirs


def _parsed(text: str) -> dict[str, Any]:
    try:
        config = YamlFile(Path("config"), text).data
    except FileProblems:  # somebody edited the folder's copy
        config = {}
    datasets = config.get("datasets")
    return {**config, "datasets": datasets if isinstance(datasets, list) else []}


def _entry(config: dict[str, Any], section: str, name: str) -> Any:
    """Return the entry ``name`` of a section, None for an empty one, and ``name`` itself without an entry."""
    entries = config.get(section)
    return entries.get(name, name) if isinstance(entries, dict) else name


_SIDES = (5.0, 5.0, 3.8)
"""Inches per panel, for one, two and three panels."""
_LETTERS_AN_INCH = 13
_DARKER = "darker: more levels predict positive"
_HATCHED = "hatched: a higher level predicts positive, a lower one does not"
_SOME = "lines of some levels only"
_NAMED = 4
"""Most levels that are named as having, or not having, a surface."""


def iso_figures(outline: Outline, sweeps: Sequence[Sweep]) -> Iterator[tuple[str, Figure]]:
    """Yield (file name, figure), drawn under the current settings of matplotlib. None where no result has lines."""
    rest, in_paper = list(sweeps), shipped_sweeps(outline)
    for name, (heading, panels) in PAPERS.get(outline.name.removesuffix("-quick"), {}).items():
        found = [(panel, sweep) for panel in panels for sweep in sweeps if panel.shows(sweep) and in_paper(sweep)]
        rest = [one for one in rest if not any(one is sweep for _, sweep in found)]
        if found:
            yield name, _figure(heading, found, sweeps)
    for sweep in rest:
        row, column = sweep.row, sweep.column
        panel = IsoPanel(row.name, column.learner, column.method, title=f"{column.group}, {column.method}")
        planes = [(panel, sweep)] if sweep.borders and (sweep.lines or sweep.classes) else []
        scores = [(replace(panel, scores=True), sweep)] if sweep.scores is not None else []
        alone = sum((one.row, one.column.learner) == (row, column.learner) for one in sweeps) == 1
        name = f"iso-probability-{row.name}-{column.learner}" + ("" if alone else f"-{column.method}")
        if planes or scores:
            yield name, _figure(f"{outline.title}: {row.title}", [*planes, *scores], sweeps)


def _figure(heading: str, panels: Sequence[tuple[IsoPanel, Sweep]], sweeps: Sequence[Sweep]) -> Figure:
    side = _SIDES[min(len(panels), len(_SIDES)) - 1]
    figure = titled_figure(heading, len(panels) * side, side)
    all_axes = figure.subplots(1, len(panels), squeeze=False)[0]
    planes = []
    for axes, (panel, sweep) in zip(all_axes, panels, strict=True):
        title = panel.title
        if panel.scores:
            _draw_scores(axes, sweep)
        else:
            place = sweep.row, sweep.column.encoding
            box = box_of([one for one in sweeps if (one.row, one.column.encoding) == place and one.borders])
            draw_rows(axes, sweep, box)
            levels = panel.levels or tuple(sweep.borders)
            planes.append((axes, sweep, draw_levels(axes, sweep, box, levels, panel.names)))
            title += "" if panel.levels else _levels_text(sweep)
        axes.set_title(fill(title, int(side * _LETTERS_AN_INCH)))
    if planes:
        axes, _, first = planes[0]
        handles, names = axes.get_legend_handles_labels()
        if len(planes) == 1 and first.crowded:
            handles, names = handles + first.handles, names + [f"level {name}" for _, name, _ in first.wanted]
        notes = [_DARKER]
        notes += [_HATCHED] if any(drawn.hatched for *_, drawn in planes) else []
        notes += [_SOME] if any(drawn.some for *_, drawn in planes) else []
        note = fill("; ".join(notes), int(figure.get_figwidth() * _LETTERS_AN_INCH))
        columns = 2 if len(handles) <= 2 else 4
        legend = figure.legend(handles, names, loc="outside lower center", ncols=columns, frameon=False, title=note)
        legend.get_title().set_multialignment("center")
    for axes, sweep, drawn in planes:
        label_levels(axes, sweep, drawn)
    return figure


def _levels_text(sweep: Sweep) -> str:
    """Return how many levels have no surface, and how many of many levels contradict each other."""
    has = [level for level, lines in sweep.borders.items() if lines]
    without = [level for level, lines in sweep.borders.items() if not lines]
    said = ""
    if without:
        few, which = ("not ", without) if len(without) < len(has) else ("", has)
        named = f" ({few}{', '.join(map(number_of, which))})" if 0 < len(which) <= _NAMED else ""
        of = f"{len(has)} of {len(sweep.borders)} levels"
        said += f": {of} {'has' if len(has) == 1 else 'have'} a surface here{named}"
    n = len(sweep.borders)
    if sweep.crossings and n > FEW:
        pairs = f"{sweep.crossings:.0f} of {n * (n - 1) // 2} pairs of levels contradict each other on test rows"
        said += ("; " if said else ": ") + pairs
    return said


def _draw_scores(axes: Axes, sweep: Sweep) -> None:
    axes.plot(*sweep.scores.T, ".", color=COLOURS[0], markersize=3, zorder=3)  # type: ignore[union-attr]  # not None here
    axes.axvline(0, color=GREY, linewidth=0.5, zorder=0)
    axes.set_ylim(0, 1)
    axes.set_yticks([number / 10 for number in range(11)])
    axes.set_yticks([number / 20 for number in range(21)], minor=True)
    axes.grid(True, axis="y", which="both", linewidth=0.3, color="#DDDDDD")
    axes.set_xlabel("raw score (decision function)")
    axes.set_ylabel("predicted probability of the positive class")
