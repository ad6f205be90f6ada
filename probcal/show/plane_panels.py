"""Panels of the plane: rows of both classes, the lines of equal probability, the regions between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import PathPatch

from probcal.show.drawing import COLOURS
from probcal.show.line_labels import label_lines
from probcal.show.regions import holds, region
from probcal.show.sweeps import Box, Sweep

_CLASSES = (("white", "o"), ("#444444", "^"))
"""Fill and mark of the negative and the positive class; colours are for levels."""
_POSITIVE = "1"
"""What training rows call the class that a data card calls positive."""
_ROWS_OF_A_CLASS = 250
"""More are drawn as an even choice of so many: a picture of all is no clearer and far larger."""
_FEW_ROWS = 50
FEW = 3
"""So many levels have dashes of their own, and what they contradict each other in is hatched."""
_DASHES = ("-", "--", "-.", ":", (0, (6, 1, 1, 1, 1, 1)))
_CYCLE = (COLOURS[4], COLOURS[1], COLOURS[0], COLOURS[2])
"""One after the other, so that lines side by side differ."""
_CROWD = 2
"""Lines a level; with more there are lines of some levels only, and a legend of them."""
_LANDMARKS = (0.1, 0.3, 0.5, 0.7, 0.9)
"""Of a crowd the levels nearest to these have lines; all are shaded."""
_SHADE = "#0072B2"
_DARKEST = 0.5
_GRID = 256
"""Places along each side of the box at which a contradiction is looked for: a narrower one could not be seen."""
_SCALED = {"numeric": " (scaled to 0 to 1)", "ordinal": " (standardised)"}


@dataclass(frozen=True)
class Drawn:
    """What ``draw_levels`` drew."""

    wanted: list[tuple[np.ndarray, str, str]]
    """The longest line of each level that has lines, the level's name, and its colour."""
    handles: list[Line2D]
    crowded: bool
    """Whether names beside lines are not enough to tell which level a line is of."""
    some: bool
    """Whether levels are shaded that have no line."""
    hatched: bool


def draw_rows(axes: Axes, sweep: Sweep, box: Box) -> None:
    """The rows that were swept over within ``box``, named for a legend."""
    few = max(map(len, sweep.classes.values()), default=0) <= _FEW_ROWS
    label = sweep.row.positive
    known = {_POSITIVE: f" ({label})"} if label not in (None, _POSITIVE) else {}
    for (name, points), (fill, mark) in zip(sweep.classes.items(), _CLASSES, strict=False):
        chosen = np.linspace(0, len(points) - 1, min(len(points), _ROWS_OF_A_CLASS)).round().astype(int)
        axes.scatter(  # type: ignore[misc]  # two coordinates
            *points[chosen].T,
            s=28 if few else 7,
            marker=mark,
            color=fill,
            edgecolor="#444444",
            linewidth=0.6 if few else 0.3,
            label=f"class {name}{known.get(name, '')}",
            zorder=4 if few else 1,
        )
    axes.set_xlim(box[0][0], box[1][0])
    axes.set_ylim(box[0][1], box[1][1])
    names = sweep.row.inputs if len(sweep.row.inputs) == 2 else ("first column", "second column")
    across, up = (name + _SCALED.get(sweep.column.encoding or "", "") for name in names)
    axes.set_xlabel(across)
    axes.set_ylabel(up)


def draw_levels(axes: Axes, sweep: Sweep, box: Box, levels: Sequence[float], names: Mapping[float, str]) -> Drawn:
    """The lines of ``levels``, and a shade over what each calls positive: a place is the darker the more levels do.

    Where lines crowd there are those of some levels only. Of few levels also, hatched, what a higher level calls
    positive and a lower one does not.
    """
    shown = [level for level in levels if level in sweep.borders]
    with_lines = [level for level in shown if sweep.borders[level]]
    few, n_lines = len(shown) <= FEW, sum(len(sweep.borders[level]) for level in shown)
    crowded = n_lines > _CROWD * max(FEW, len(with_lines))
    _shade(axes, sweep, shown, box)
    hatched = few and _hatch(axes, sweep, shown, box)
    lined = with_lines
    if crowded and len(with_lines) > len(_LANDMARKS):
        lined = sorted({min(with_lines, key=lambda level: abs(level - mark)) for mark in _LANDMARKS})
    wanted, handles = [], []
    for number, level in enumerate(lined):
        colour, dashes = _CYCLE[number % len(_CYCLE)], _DASHES[number] if few or crowded else "-"
        width = 1.6 if few else 1.1 if crowded else 0.8
        for line in sweep.borders[level]:
            drawn = axes.plot(*line.T, linestyle=dashes, color=colour, linewidth=width, zorder=3)
        handles += drawn
        wanted.append((max(sweep.borders[level], key=_length), names.get(level, number_of(level)), colour))
    return Drawn(wanted, handles, crowded, len(lined) < len(with_lines), hatched)


def label_levels(axes: Axes, sweep: Sweep, drawn: Drawn) -> None:
    """Each level's name on its longest line, and in a corner those for which there is no room.

    The layout of the figure must stand.
    """
    few = len(drawn.wanted) <= FEW
    every = np.concatenate([np.empty((0, 2)), *sweep.classes.values()])
    rows = every[: 0 if len(every) > 2 * _FEW_ROWS else None]
    unwritten = label_lines(axes, drawn.wanted, 7.5 if few else 6.5, rows)
    if unwritten and not drawn.crowded:
        note = axes.annotate(
            "no room for " + ", ".join(unwritten),
            (0.01, 0.01),
            xycoords="axes fraction",
            fontsize=6.5,
            bbox={"boxstyle": "square,pad=0.15", "facecolor": "white", "edgecolor": "none"},
            zorder=6,
        )
        note.set_in_layout(False)


def number_of(level: float) -> str:
    """``.05`` for 0.05, ``.6667`` for 0.6667."""
    two = f"{level:.2f}"
    return (two if float(two) == level else f"{level:.4g}").removeprefix("0")


def _shade(axes: Axes, sweep: Sweep, shown: Sequence[float], box: Box) -> None:
    each = 1 - (1 - _DARKEST) ** (1 / max(FEW, len(shown)))  # over each other they make the darkest shade
    for level in shown:
        path = region(sweep.borders[level], *box, level in sweep.everywhere)
        axes.add_patch(PathPatch(path, facecolor=_SHADE, edgecolor="none", linewidth=0, alpha=each, zorder=0.5))


def _hatch(axes: Axes, sweep: Sweep, shown: Sequence[float], box: Box) -> bool:
    """Whether there was anything to hatch."""
    across, up = np.meshgrid(*np.linspace(*box, 2 * _GRID + 1)[1::2].T)
    places = np.column_stack([across.ravel(), up.ravel()])
    hatched = False
    for lower, higher in combinations(shown, 2):
        reversed_lines = [line[::-1] for line in sweep.borders[lower]]
        not_lower = region(reversed_lines, *box, lower not in sweep.everywhere)
        is_higher = region(sweep.borders[higher], *box, higher in sweep.everywhere)
        if not (holds(not_lower, places) & holds(is_higher, places)).any():
            continue
        patch = PathPatch(not_lower, facecolor="#CC79A7", edgecolor="#7A1F56", linewidth=0, hatch="////", zorder=2)
        axes.add_patch(patch)
        patch.set_clip_path(is_higher, axes.transData)
        hatched = True
    return hatched


def _length(line: np.ndarray) -> float:
    return float(np.linalg.norm(np.diff(line, axis=0), axis=1).sum())
