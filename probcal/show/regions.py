"""The region on one side of a border, out of the border's lines."""

from __future__ import annotations

import numpy as np
from matplotlib.path import Path

_NEAR = 1e-6
"""Of a side of the box: a line that ends so close to it ends on it."""


def region(lines: list[np.ndarray], low: np.ndarray, high: np.ndarray, everywhere: bool = False) -> Path:
    """The part of the box from ``low`` to ``high``, (2,) each, that lies to the left of every one of ``lines``.

    ``lines``: (n, 2) each, which do not cross. Each is closed, or runs from one side of the box to another; from the
    end of such a line the region goes on along the box, against the clock, to the start of the next. Where all are
    closed, the largest has no other around it: the region goes as far as the box if it lies outside that one. Without
    lines it is the whole box, if it is ``everywhere``, or nothing.
    """
    closed = [line for line in lines if np.allclose(line[0], line[-1], rtol=0, atol=_NEAR * np.max(high - low))]
    open_lines = [line for line in lines if not any(line is one for one in closed)]
    corners = np.array([low, [high[0], low[1]], high, [low[0], high[1]]])
    starts = [_along(line[0], low, high) for line in open_lines]
    outlines, left = list(closed), set(range(len(open_lines)))
    while left:
        here = min(left)
        pieces = []
        while here in left:
            left.remove(here)
            pieces.append(open_lines[here])
            end = _along(open_lines[here][-1], low, high)
            way = [(start - end) % 4 for start in starts]
            here = int(np.argmin(way))
            passed = [number for number in range(1, 8) if end < number < end + way[here]]
            pieces.append(corners[[number % 4 for number in passed]])
        outlines.append(np.concatenate(pieces))
    if not open_lines and (min(map(_area, closed), key=lambda area: -abs(area)) < 0 if closed else everywhere):
        outlines.append(corners)
    return _compound(outlines)


def holds(path: Path, points: np.ndarray) -> np.ndarray:
    """(n,) bool: which of ``points``, (n, 2), lie in a region."""
    inside = np.zeros(len(points), dtype=bool)
    for outline in path.to_polygons():  # one within another is a hole, and one within that an island
        inside ^= Path(outline).contains_points(points)
    return inside


def _area(outline: np.ndarray) -> float:
    """Below 0 where the outline runs with the clock, its left outside it."""
    x, y = (outline - outline[0]).T
    return float(x @ np.roll(y, -1) - np.roll(x, -1) @ y) / 2


def _along(point: np.ndarray, low: np.ndarray, high: np.ndarray) -> float:
    """How far round the box ``point`` lies: 0 at the lower left corner, 1 at the lower right, 2 at the upper right."""
    across, up = (point - low) / (high - low)
    distances = [abs(up), abs(1 - across), abs(1 - up), abs(across)]
    side = int(np.argmin(distances))
    return float((side + [across, up, 1 - across, 1 - up][side]) % 4)


def _compound(outlines: list[np.ndarray]) -> Path:
    vertices, codes = [np.empty((0, 2))], [np.empty(0, dtype=np.uint8)]
    for outline in outlines:
        vertices.append(np.vstack([outline, outline[:1]]))
        codes.append(np.array([Path.MOVETO, *[Path.LINETO] * (len(outline) - 1), Path.CLOSEPOLY], dtype=np.uint8))
    return Path(np.concatenate(vertices), np.concatenate(codes))
