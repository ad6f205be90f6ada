"""Figures of sweeps over class weights: lines of equal probability, and predictions against raw scores."""

from __future__ import annotations

import math
import pathlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from textwrap import fill
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from probcal._io import shipped
from probcal.errors import FileProblems
from probcal.reporting.drawing import COLOURS, GREY, titled_figure
from probcal.reporting.stored_curves import Box, Sweep, bounding_box
from probcal.store.stored_experiment import StoredExperiment
from probcal.yaml_file import YamlFile

_SIDE_TOLERANCE = 1e-6
"""A line that ends this close to a side of the box, as a share of the side, ends on it."""


def region(lines: list[np.ndarray], low: np.ndarray, high: np.ndarray, is_whole: bool = False) -> Path:
    """Return the part of the box from ``low`` to ``high``, (2,) each, that lies to the left of every one of ``lines``.

    ``lines`` are (n, 2) each and do not cross. Each is closed, or runs from one side of the box to another. From the
    end of such a line the region goes on along the box, counterclockwise, to the start of the next. Where all lines
    are closed, the largest has no other around it. If the region lies outside that one, it extends to the box.
    Without lines it is the whole box if ``is_whole`` is set, otherwise it is empty.
    """
    tolerance = _SIDE_TOLERANCE * np.max(high - low)
    loops = [line for line in lines if np.allclose(line[0], line[-1], rtol=0, atol=tolerance)]
    open_lines = [line for line in lines if not any(line is loop for loop in loops)]
    corners = np.array([low, [high[0], low[1]], high, [low[0], high[1]]])
    starts = [_box_place(line[0], low, high) for line in open_lines]
    outlines, line_numbers = list(loops), set(range(len(open_lines)))
    while line_numbers:
        index = min(line_numbers)
        pieces = []
        while index in line_numbers:
            line_numbers.remove(index)
            pieces.append(open_lines[index])
            end = _box_place(open_lines[index][-1], low, high)
            # The box has four sides, so places count modulo 4, and corners up to 7 cover one more turn.
            distances = [(start - end) % 4 for start in starts]
            index = int(np.argmin(distances))
            corner_numbers = [number for number in range(1, 8) if end < number < end + distances[index]]
            pieces.append(corners[[number % 4 for number in corner_numbers]])
        outlines.append(np.concatenate(pieces))
    if not open_lines and (min(map(_signed_area, loops), key=lambda area: -abs(area)) < 0 if loops else is_whole):
        outlines.append(corners)
    paths = [Path(np.vstack([outline, outline[:1]]), closed=True) for outline in outlines]
    return Path.make_compound_path(*paths) if paths else Path(np.empty((0, 2)))


def contains_points(path: Path, points: np.ndarray) -> np.ndarray:
    """Return (n,) bool: which of ``points``, (n, 2), lie in a region."""
    is_inside = np.zeros(len(points), dtype=bool)
    # An outline within another is a hole, and one within a hole is an island.
    for outline in path.to_polygons():
        is_inside ^= Path(outline).contains_points(points)
    return is_inside


def _signed_area(outline: np.ndarray) -> float:
    """Return the signed area, negative where the outline runs clockwise, with its left outside."""
    # Moved to the origin first, because areas far from it are differences of large products.
    x, y = (outline - outline[0]).T
    return float(x @ np.roll(y, -1) - np.roll(x, -1) @ y) / 2


def _box_place(point: np.ndarray, low: np.ndarray, high: np.ndarray) -> float:
    """Return the place of ``point`` round the box: 0 at the lower left corner, 1 lower right, 2 upper right."""
    x, y = (point - low) / (high - low)
    distances = [abs(y), abs(1 - x), abs(1 - y), abs(x)]
    side = int(np.argmin(distances))
    return float((side + [x, y, 1 - x, 1 - y][side]) % 4)


_STEP = 2.0
"""Distance in points of the page between the places that are tried along a line."""
_EDGE_DISTANCE = 5.0
"""Distance in points of the page that a label keeps from the picture's edge."""
_LARGEST_GAP = 30.0
"""Distance in points of the page beyond which moving labels apart gains nothing."""


def label_lines(axes: Axes, lines: list[tuple[np.ndarray, str, str]], size: float, rows: np.ndarray) -> list[str]:
    """Write each (line, text, colour) along its (n, 2) line, and return the texts for which there is no room.

    A text is placed where its line is straight, other texts are far, and few other lines and ``rows``, (n, 2), are
    covered. The limits and the layout of the figure must not change afterwards, so call this last.

    ``Axes.clabel`` ignores rows and the edge of the picture, and on straight lines it takes the first place.
    """
    axes.figure.draw_without_rendering()  # type: ignore[union-attr]  # the axes belong to a figure
    scale = 72 / axes.figure.dpi
    window = axes.get_window_extent()
    low, high = np.array(window.min) * scale, np.array(window.max) * scale
    page_lines = [axes.transData.transform(line) * scale for line, _, _ in lines]
    samples = [_points_along(line, np.arange(0, _lengths(line)[-1], 2 * _STEP)) for line in page_lines]
    rows = axes.transData.transform(rows) * scale
    covers: list[np.ndarray] = []
    missing_texts = []
    for number, (_, text, colour) in enumerate(lines):
        half_size = np.array([0.34 * size * len(text) + 1, 0.62 * size])
        # The own line is no obstacle, because its label lies on it.
        obstacles = np.concatenate([rows, *samples[:number], *samples[number + 1 :]])
        best: tuple[np.ndarray, float, np.ndarray] | None = None
        best_score = -math.inf
        for middle, angle, straightness in _label_places(page_lines[number], half_size[0]):
            cover = _label_points(middle, angle, half_size)
            if (cover < low + _EDGE_DISTANCE).any() or (cover > high - _EDGE_DISTANCE).any():
                continue
            label_gaps = [np.linalg.norm(cover[:, None] - label[None], axis=2).min() for label in covers]
            gap = min(label_gaps, default=_LARGEST_GAP)
            if gap < 1.3 * half_size[1]:
                continue
            gaps = np.linalg.norm(obstacles[:, None] - cover[None], axis=2).min(axis=1, initial=np.inf)
            n_hidden = np.count_nonzero(gaps < 1.5 * half_size[1])
            centre_distance = np.linalg.norm(middle - (low + high) / 2)
            score = (
                float(min(gap, _LARGEST_GAP))
                + 40 * min(straightness - 1, 0)
                - 0.02 * float(centre_distance)
                - 2 * n_hidden
            )
            if score > best_score:
                best, best_score = (middle, angle, cover), score
        if best is None:
            missing_texts.append(text)
            continue
        middle, angle, cover = best
        covers.append(cover)
        x, y = axes.transData.inverted().transform(middle / scale)
        label = axes.text(
            x, y, text,
            color=colour, fontsize=size, rotation=np.degrees(angle), rotation_mode="anchor",
            horizontalalignment="center", verticalalignment="center_baseline",
            bbox={"boxstyle": "square,pad=0.08", "facecolor": "white", "edgecolor": "none"}, zorder=5,
        )  # fmt: skip
        # The layout would otherwise move the axes, and the label would leave its line.
        label.set_in_layout(False)
    return missing_texts


def _label_places(line: np.ndarray, half_width: float) -> Iterator[tuple[np.ndarray, float, float]]:
    """Yield the middle of each place on a line, its angle in radians, and how straight the line is there, at most 1."""
    for distance in np.arange(half_width, _lengths(line)[-1] - half_width + 1e-9, _STEP):
        start, middle, end = _points_along(line, distance + np.array([-half_width, 0, half_width]))
        direction = end - start
        angle = np.arctan2(direction[1], direction[0])
        angle = (angle + np.pi / 2) % np.pi - np.pi / 2  # never upside down
        yield middle, float(angle), float(np.linalg.norm(direction) / (2 * half_width))


def _label_points(middle: np.ndarray, angle: float, half_size: np.ndarray) -> np.ndarray:
    """Return (n, 2) places along the middle of a label, about as far apart as it is high."""
    offsets = np.linspace(-half_size[0], half_size[0], max(3, int(np.ceil(2 * half_size[0] / half_size[1]))))
    return np.asarray(middle + np.column_stack([offsets * np.cos(angle), offsets * np.sin(angle)]))


def _lengths(line: np.ndarray) -> np.ndarray:
    """Return (n,) how far along the line each of its points lies."""
    return np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(line, axis=0), axis=1))])


def _points_along(line: np.ndarray, distances: np.ndarray) -> np.ndarray:
    """Return (m, 2) points at these distances along the line."""
    lengths = _lengths(line)
    return np.column_stack([np.interp(distances, lengths, line[:, k]) for k in (0, 1)])


_CLASSES = (("white", "o"), ("#444444", "^"))
"""Fill and mark of the negative and the positive class. Colours are used for levels."""
_POSITIVE = "1"
"""Name in stored rows of the class that a card calls positive."""
_ROWS_OF_A_CLASS = 250
"""Most rows drawn per class, chosen evenly. A picture of all rows is no clearer and far larger."""
_FEW_ROWS = 50
FEW_LEVELS = 3
"""Most levels that have dashes of their own. Only with so few levels, contradictions are hatched."""
_DASHES = ("-", "--", "-.", ":", (0, (6, 1, 1, 1, 1, 1)))
_COLOUR_CYCLE = (COLOURS[4], COLOURS[1], COLOURS[0], COLOURS[2])
"""Colours, one after the other, so that neighbouring lines differ."""
_CROWDED_LINES = 2
"""Lines per level. With more, only some levels have lines, and a legend."""
_LANDMARKS = (0.1, 0.3, 0.5, 0.7, 0.9)
"""In a crowd only the levels nearest to these have lines. All levels are shaded."""
_SHADE_COLOUR = "#0072B2"
_DARKEST_ALPHA = 0.5
_GRID_SIZE = 256
"""Places along each side of the box at which contradictions are looked for. Narrower ones could not be seen."""
_SCALE_NOTES = {"numeric": " (scaled to 0 to 1)", "ordinal": " (standardised)"}


@dataclass(frozen=True)
class LevelDrawing:
    """Describe what ``draw_levels`` drew."""

    labels: list[tuple[np.ndarray, str, str]]
    """Longest line, name and colour of each level that has lines."""
    handles: list[Line2D]
    is_crowded: bool
    """Whether names beside lines are not enough to identify the level of a line."""
    is_partial: bool
    """Whether some shaded levels have no line."""
    has_hatching: bool


def draw_rows(axes: Axes, sweep: Sweep, box: Box) -> None:
    """Draw the rows of the sweep within ``box``, named for a legend."""
    few_rows = max(map(len, sweep.classes.values()), default=0) <= _FEW_ROWS
    label = sweep.row.positive
    meanings = {_POSITIVE: f" ({label})"} if label not in (None, _POSITIVE) else {}
    for (name, points), (colour, mark) in zip(sweep.classes.items(), _CLASSES, strict=False):
        indices = np.linspace(0, len(points) - 1, min(len(points), _ROWS_OF_A_CLASS)).round().astype(int)
        axes.scatter(
            points[indices, 0],
            points[indices, 1],
            s=28 if few_rows else 7,
            marker=mark,
            color=colour,
            edgecolor="#444444",
            linewidth=0.6 if few_rows else 0.3,
            label=f"class {name}{meanings.get(name, '')}",
            zorder=4 if few_rows else 1,
        )
    names = sweep.row.inputs if len(sweep.row.inputs) == 2 else ("first column", "second column")
    x_label, y_label = (name + _SCALE_NOTES.get(sweep.column.encoding or "", "") for name in names)
    axes.set(xlim=(box[0][0], box[1][0]), ylim=(box[0][1], box[1][1]), xlabel=x_label, ylabel=y_label)


def draw_levels(
    axes: Axes, sweep: Sweep, box: Box, levels: Sequence[float], names: Mapping[float, str]
) -> LevelDrawing:
    """Draw the lines of ``levels``, and shade what each calls positive. More levels make a place darker.

    Where lines are crowded, only some levels have lines. With few levels, places that a higher level calls positive and
    a lower one does not are hatched.
    """
    sweep_levels = [level for level in levels if level in sweep.borders]
    line_levels = [level for level in sweep_levels if sweep.borders[level]]
    few_levels, n_lines = len(sweep_levels) <= FEW_LEVELS, sum(len(sweep.borders[level]) for level in sweep_levels)
    is_crowded = n_lines > _CROWDED_LINES * max(FEW_LEVELS, len(line_levels))
    # all shades together make the darkest one
    alpha = 1 - (1 - _DARKEST_ALPHA) ** (1 / max(FEW_LEVELS, len(sweep_levels)))
    for level in sweep_levels:
        path = region(sweep.borders[level], *box, level in sweep.positive_levels)
        axes.add_patch(PathPatch(path, facecolor=_SHADE_COLOUR, edgecolor="none", linewidth=0, alpha=alpha, zorder=0.5))
    has_hatching = few_levels and _hatch(axes, sweep, sweep_levels, box)
    drawn_levels = line_levels
    if is_crowded and len(line_levels) > len(_LANDMARKS):
        drawn_levels = sorted({min(line_levels, key=lambda level: abs(level - mark)) for mark in _LANDMARKS})
    labels, handles = [], []
    for number, level in enumerate(drawn_levels):
        colour = _COLOUR_CYCLE[number % len(_COLOUR_CYCLE)]
        dashes = _DASHES[number] if few_levels or is_crowded else "-"
        width = 1.6 if few_levels else 1.1 if is_crowded else 0.8
        for line in sweep.borders[level]:
            curves = axes.plot(*line.T, linestyle=dashes, color=colour, linewidth=width, zorder=3)
        handles += curves
        labels.append(
            (
                max(sweep.borders[level], key=lambda line: _lengths(line)[-1]),
                names.get(level, level_text(level)),
                colour,
            )
        )
    return LevelDrawing(labels, handles, is_crowded, len(drawn_levels) < len(line_levels), has_hatching)


def label_levels(axes: Axes, sweep: Sweep, drawing: LevelDrawing) -> None:
    """Write each level's name on its longest line, and those without room in a corner.

    The layout of the figure must not change afterwards.
    """
    few_levels = len(drawing.labels) <= FEW_LEVELS
    all_rows = np.concatenate([np.empty((0, 2)), *sweep.classes.values()])
    # A label cannot keep clear of many rows.
    rows = all_rows[: 0 if len(all_rows) > 2 * _FEW_ROWS else None]
    missing_texts = label_lines(axes, drawing.labels, 7.5 if few_levels else 6.5, rows)
    if missing_texts and not drawing.is_crowded:
        note = axes.annotate(
            "no room for " + ", ".join(missing_texts),
            (0.01, 0.01),
            xycoords="axes fraction",
            fontsize=6.5,
            bbox={"boxstyle": "square,pad=0.15", "facecolor": "white", "edgecolor": "none"},
            zorder=6,
        )
        note.set_in_layout(False)


def level_text(level: float) -> str:
    """Return ``.05`` for 0.05 and ``.6667`` for 0.6667."""
    text = f"{level:.2f}"
    return (text if float(text) == level else f"{level:.4g}").removeprefix("0")


def _hatch(axes: Axes, sweep: Sweep, levels: Sequence[float], box: Box) -> bool:
    """Hatch the contradictions, and return whether there are any."""
    # The middles of the cells of a grid, so that no place lies on a side of the box.
    x, y = np.meshgrid(*np.linspace(*box, 2 * _GRID_SIZE + 1)[1::2].T)
    places = np.column_stack([x.ravel(), y.ravel()])
    has_hatching = False
    for lower, higher in combinations(levels, 2):
        reversed_lines = [line[::-1] for line in sweep.borders[lower]]
        lower_negative = region(reversed_lines, *box, lower not in sweep.positive_levels)
        higher_positive = region(sweep.borders[higher], *box, higher in sweep.positive_levels)
        if not (contains_points(lower_negative, places) & contains_points(higher_positive, places)).any():
            continue
        patch = PathPatch(lower_negative, facecolor="#CC79A7", edgecolor="#7A1F56", linewidth=0, hatch="////", zorder=2)
        axes.add_patch(patch)
        # matplotlib cuts the two regions, so no outline of their common part is needed.
        patch.set_clip_path(higher_positive, axes.transData)
        has_hatching = True
    return has_hatching


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


_HEADING = "Surfaces of equal probability, "

PAPER_PANELS: dict[str, dict[str, tuple[str, tuple[IsoPanel, ...]]]] = {
    # Nalbantov & Ivanov (2019), sections 3 and 4
    "isoprobability": {
        "figure-2": (
            f"Figure 2. {_HEADING}linear support vector machine, C = 1",
            (
                IsoPanel("gaussians", "svm", title="All rows"),
                IsoPanel("gaussians", "svc", "support_vectors", title="Support vectors only"),
            ),
        ),
        "figure-3": (
            f"Figure 3. {_HEADING}logistic regression",
            (IsoPanel("gaussians", "logistic", title="All rows"),),
        ),
        "figure-4": (
            f"Figure 4. {_HEADING}pruned decision tree",
            tuple(
                IsoPanel("gaussians", "tree", title="Levels " + ", ".join(map(level_text, levels)), levels=levels)
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


def shipped_sweep_test(outline: StoredExperiment) -> Callable[[Sweep], bool]:
    """Return a function that says whether a sweep has the data set and settings of the shipped experiment."""
    name = outline.name.removesuffix("-quick")
    if name not in PAPER_PANELS:
        return lambda sweep: False
    shipped_config = _parse_config((shipped("configs") / f"{name}.yaml").read_text(encoding="utf-8"))
    own_config = _parse_config(outline.config)

    def is_published_sweep(sweep: Sweep) -> bool:
        row, column = sweep.row, sweep.column
        entries = (("learners", column.learner), ("methods", column.method))
        return (
            all(_config_entry(own_config, *entry) == _config_entry(shipped_config, *entry) for entry in entries)
            and all(row.name in config["datasets"] for config in (own_config, shipped_config))
            and not any(override.applies_to(row, column) for override in outline.exceptions if not override.skip)
        )

    return is_published_sweep


def _parse_config(text: str) -> dict[str, Any]:
    try:
        config = YamlFile(pathlib.Path("config"), text).data
    except FileProblems:  # somebody edited the folder's copy
        config = {}
    datasets = config.get("datasets")
    return {**config, "datasets": datasets if isinstance(datasets, list) else []}


def _config_entry(config: dict[str, Any], section: str, name: str) -> Any:
    """Return the entry ``name`` of a section, None for an empty one, and ``name`` itself without an entry."""
    entries = config.get(section)
    return entries.get(name, name) if isinstance(entries, dict) else name


_PANEL_SIDES = (5.0, 5.0, 3.8)
"""Inches per panel, for one, two and three panels."""
_LETTERS_AN_INCH = 13
_SHADING_NOTE = "darker: more levels predict positive"
_HATCHING_NOTE = "hatched: a higher level predicts positive, a lower one does not"
_PARTIAL_NOTE = "lines of some levels only"
_MOST_NAMED = 4
"""Most levels that are named as having, or not having, a surface."""


def iso_figures(outline: StoredExperiment, sweeps: Sequence[Sweep]) -> Iterator[tuple[str, Figure]]:
    """Yield (file name, figure), drawn under the current settings of matplotlib. None where no result has lines."""
    rest, is_published = list(sweeps), shipped_sweep_test(outline)
    for name, (heading, panels) in PAPER_PANELS.get(outline.name.removesuffix("-quick"), {}).items():
        pairs = [(panel, sweep) for panel in panels for sweep in sweeps if panel.shows(sweep) and is_published(sweep)]
        rest = [candidate for candidate in rest if not any(candidate is sweep for _, sweep in pairs)]
        if pairs:
            yield name, _figure(heading, pairs, sweeps)
    for sweep in rest:
        row, column = sweep.row, sweep.column
        panel = IsoPanel(row.name, column.learner, column.method, title=f"{column.group}, {column.method}")
        planes = [(panel, sweep)] if sweep.borders and (sweep.lines or sweep.classes) else []
        scores = [(replace(panel, scores=True), sweep)] if sweep.scores is not None else []
        is_single = sum((candidate.row, candidate.column.learner) == (row, column.learner) for candidate in sweeps) == 1
        name = f"iso-probability-{row.name}-{column.learner}" + ("" if is_single else f"-{column.method}")
        if planes or scores:
            yield name, _figure(f"{outline.title}: {row.title}", [*planes, *scores], sweeps)


def _figure(heading: str, panels: Sequence[tuple[IsoPanel, Sweep]], sweeps: Sequence[Sweep]) -> Figure:
    side = _PANEL_SIDES[min(len(panels), len(_PANEL_SIDES)) - 1]
    figure = titled_figure(heading, len(panels) * side, side)
    all_axes = figure.subplots(1, len(panels), squeeze=False)[0]
    planes = []
    for axes, (panel, sweep) in zip(all_axes, panels, strict=True):
        title = panel.title
        if panel.scores:
            axes.plot(*sweep.scores.T, ".", color=COLOURS[0], markersize=3, zorder=3)  # type: ignore[union-attr]
            axes.axvline(0, color=GREY, linewidth=0.5, zorder=0)
            axes.set(ylim=(0, 1), yticks=[number / 10 for number in range(11)])
            axes.set_yticks([number / 20 for number in range(21)], minor=True)
            axes.grid(True, axis="y", which="both", linewidth=0.3, color="#DDDDDD")
            axes.set(xlabel="raw score (decision function)", ylabel="predicted probability of the positive class")
        else:
            place = sweep.row, sweep.column.encoding
            box = bounding_box(
                [
                    candidate
                    for candidate in sweeps
                    if (candidate.row, candidate.column.encoding) == place and candidate.borders
                ]
            )
            draw_rows(axes, sweep, box)
            levels = panel.levels or tuple(sweep.borders)
            planes.append((axes, sweep, draw_levels(axes, sweep, box, levels, panel.names)))
            title += "" if panel.levels else _levels_text(sweep)
        axes.set_title(fill(title, int(side * _LETTERS_AN_INCH)))
    if planes:
        axes, _, first = planes[0]
        handles, names = axes.get_legend_handles_labels()
        if len(planes) == 1 and first.is_crowded:
            handles, names = handles + first.handles, names + [f"level {name}" for _, name, _ in first.labels]
        notes = [_SHADING_NOTE]
        notes += [_HATCHING_NOTE] if any(drawing.has_hatching for *_, drawing in planes) else []
        notes += [_PARTIAL_NOTE] if any(drawing.is_partial for *_, drawing in planes) else []
        note = fill("; ".join(notes), int(figure.get_figwidth() * _LETTERS_AN_INCH))
        columns = 2 if len(handles) <= 2 else 4
        legend = figure.legend(handles, names, loc="outside lower center", ncols=columns, frameon=False, title=note)
        legend.get_title().set_multialignment("center")
    for axes, sweep, drawing in planes:
        label_levels(axes, sweep, drawing)
    return figure


def _levels_text(sweep: Sweep) -> str:
    """Return how many levels have no surface, and how many of many levels contradict each other."""
    present_levels = [level for level, lines in sweep.borders.items() if lines]
    absent_levels = [level for level, lines in sweep.borders.items() if not lines]
    n, texts = len(sweep.borders), []
    if absent_levels:
        is_mostly_present = len(absent_levels) < len(present_levels)
        fewer_levels = absent_levels if is_mostly_present else present_levels
        names = f"{'not ' if is_mostly_present else ''}{', '.join(map(level_text, fewer_levels))}"
        verb = "has" if len(present_levels) == 1 else "have"
        texts.append(f"{len(present_levels)} of {n} levels {verb} a surface here")
        texts[0] += f" ({names})" if 0 < len(fewer_levels) <= _MOST_NAMED else ""
    if sweep.crossings and n > FEW_LEVELS:
        pairs = f"{sweep.crossings:.0f} of {n * (n - 1) // 2} pairs of levels"
        texts.append(f"{pairs} contradict each other on test rows")
    return f": {'; '.join(texts)}" if texts else ""
