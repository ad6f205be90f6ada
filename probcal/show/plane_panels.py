"""Panels of the plane: rows of both classes, the lines of equal probability, the regions between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import PathPatch

from probcal.show.drawing import COLOURS
from probcal.show.line_labels import label_lines
from probcal.show.regions import region
from probcal.show.sweeps import Sweep

Box = tuple[np.ndarray, np.ndarray]

_CLASSES = (("white", "o"), ("#444444", "^"))
"""Fill and mark of the negative and the positive class; colours are for levels."""
_ROWS_OF_A_CLASS = 250
"""More are drawn as an even choice of so many: a picture of all is no clearer and far larger."""
_FEW_ROWS = 50
_FEW = 3
"""So many levels have dashes of their own, and what they contradict each other in is hatched."""
_DASHES = ("-", "--", "-.")
_CYCLE = (COLOURS[4], COLOURS[1], COLOURS[0], COLOURS[2])
"""One after the other, so that lines side by side differ."""
_CROWD = 2
"""Lines a level; with more, lines are thin and without names: the shade tells."""
_SHADE = "#0072B2"
_DARKEST = 0.5


def draw_rows(axes: Axes, sweep: Sweep, box: Box) -> None:
    """The rows that were swept over within ``box``, named for a legend."""
    few = max(map(len, sweep.classes.values()), default=0) <= _FEW_ROWS
    for (name, points), (fill, mark) in zip(sweep.classes.items(), _CLASSES, strict=False):
        chosen = np.linspace(0, len(points) - 1, min(len(points), _ROWS_OF_A_CLASS)).round().astype(int)
        axes.scatter(
            *points[chosen].T,
            s=28 if few else 7,
            marker=mark,
            color=fill,
            edgecolor="#444444",
            linewidth=0.6 if few else 0.3,
            label=f"class {name}",
            zorder=4 if few else 1,
        )
    axes.set_xlim(box[0][0], box[1][0])
    axes.set_ylim(box[0][1], box[1][1])
    axes.set_xlabel("first column")
    axes.set_ylabel("second column")


def hatched(levels: Sequence[float]) -> bool:
    """Whether ``draw_levels`` marks what these levels contradict each other in."""
    return 1 < len(levels) <= _FEW


def draw_levels(axes: Axes, sweep: Sweep, box: Box, levels: Sequence[float], names: Mapping[float, str]) -> None:
    """The lines of ``levels``, each with its name or number where there is room, and a shade over what it calls
    positive, so that a place is the darker the more levels do.

    Of few levels also, hatched, what a higher level calls positive and a lower one does not. The layout of the figure
    must stand.
    """
    shown = {level: sweep.borders[level] for level in levels if level in sweep.borders}
    few, crowded = len(shown) <= _FEW, sum(map(len, shown.values())) > _CROWD * max(_FEW, len(shown))
    _shade(axes, shown, box)
    if hatched(tuple(shown)):
        _hatch(axes, shown, box)
    wanted = []
    for number, (level, lines) in enumerate(shown.items()):
        colour, dashes = _CYCLE[number % len(_CYCLE)], _DASHES[number] if few else "-"
        for line in lines:
            axes.plot(
                *line.T,
                dashes,
                color="#222222" if crowded else colour,
                linewidth=1.6 if few else 0.3 if crowded else 0.8,
                zorder=3,
            )
        wanted.append((max(lines, key=_length), names.get(level, number_of(level)), colour))
    if not crowded:
        every = np.concatenate([np.empty((0, 2)), *sweep.classes.values()])
        label_lines(axes, wanted, 7.5 if few else 6.5, every[: 0 if len(every) > 2 * _FEW_ROWS else None])


def number_of(level: float) -> str:
    """``.05`` for 0.05, ``.6667`` for 0.6667."""
    two = f"{level:.2f}"
    return (two if float(two) == level else f"{level:.4g}").removeprefix("0")


def _shade(axes: Axes, shown: Mapping[float, list[np.ndarray]], box: Box) -> None:
    each = 1 - (1 - _DARKEST) ** (1 / max(_FEW, len(shown)))  # over each other they make the darkest shade
    for lines in shown.values():
        axes.add_patch(
            PathPatch(region(lines, *box), facecolor=_SHADE, edgecolor="none", linewidth=0, alpha=each, zorder=0.5)
        )


def _hatch(axes: Axes, shown: Mapping[float, list[np.ndarray]], box: Box) -> None:
    for lower, higher in combinations(shown, 2):
        not_lower = region([line[::-1] for line in shown[lower]], *box)
        patch = PathPatch(not_lower, facecolor="#CC79A7", edgecolor="#7A1F56", linewidth=0, hatch="////", zorder=2)
        axes.add_patch(patch)
        patch.set_clip_path(region(shown[higher], *box), axes.transData)


def _length(line: np.ndarray) -> float:
    return float(np.linalg.norm(np.diff(line, axis=0), axis=1).sum())
