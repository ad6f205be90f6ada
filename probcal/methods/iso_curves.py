"""The curve on which a classifier of points in the plane changes its label, found from its labels alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from contourpy import contour_generator

Says = Callable[[np.ndarray], np.ndarray]
"""(n, 2) points -> (n,) bool, whether the classifier says the positive class."""

_CELLS = 128
"""Along each side of the box. A region narrower than a cell may be missed."""
_HALVINGS = 18
"""A cell's diagonal 18 times halved is 4e-8 of the box."""
_BEND = 1e-5
"""A line that is straight to this part of the box needs no point between its ends."""
_ROUNDS = 20
"""A right angle inside a cell is closed in to ``_BEND`` after 13 rounds at most."""
_MOST_POINTS = 200


class Box(NamedTuple):
    """A rectangle: its lower left corner and its sides, (2,) each."""

    low: np.ndarray
    sides: np.ndarray

    @classmethod
    def around(cls, points: np.ndarray, margin: float = 0.05) -> Box:
        """The box of ``points``, (n, 2), wider by ``margin`` of its sides on each; neither may be 0."""
        low, sides = points.min(axis=0), np.ptp(points, axis=0)
        return cls(low - margin * sides, (1 + 2 * margin) * sides)


def border(says: Says, box: Box) -> list[np.ndarray]:
    """The border within ``box`` between the points that the classifier holds positive and the others.

    Polylines, (n, 2) each, n at most 200; a closed one ends where it begins. The labels on a grid of 129 x 129 points
    give the run of each line (marching squares); every place where it crosses the grid is then bisected on the
    classifier's labels until it is known to 1e-7 of the box. Between two such places further ones are bisected as long
    as the border departs from the straight line by more than 1e-5 of the box, so that curves are followed and the
    corners of a tree's regions are cut by no more than that. Points that the line runs straight through, to 1e-5
    again, are left out at the end: a straight border is its two ends. Only where 200 points are not enough for that
    is the line simplified more.

    What this leaves open: a region narrower than a cell, 1/128 of the box, may be missed, and a line may run past it.
    The points of a line are exact to 1e-5 of the box; halfway between two of them a curved border may be farther from
    the line, by about 1e-4 (8e-5 for a support vector machine with a Gaussian kernel, 1.1e-4 for naive Bayes).
    """

    def on_unit_square(points: np.ndarray) -> np.ndarray:
        return says(box.low + points * box.sides) if len(points) else np.zeros(0, dtype=bool)

    axis = np.arange(_CELLS + 1) / _CELLS
    grid = np.stack(np.meshgrid(axis, axis), axis=-1)
    labels = on_unit_square(grid.reshape(-1, 2)).reshape(grid.shape[:2])
    lines = contour_generator(z=labels.astype(np.float64)).lines(0.5)
    if not lines:
        return []
    places = np.concatenate(lines)  # type: ignore[arg-type]  # each halfway between two neighbours on the grid, whose labels differ
    points = _bisected(on_unit_square, np.floor(places) / _CELLS, np.ceil(places) / _CELLS)
    number = np.repeat(np.arange(len(lines)), [len(line) for line in lines])
    points, number = _bent(on_unit_square, points, number)
    return [box.low + _thinned(points[number == line]) * box.sides for line in range(len(lines))]


def _bisected(says: Says, one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """(n, 2) a place between each of ``one`` and ``other``, whose labels differ, at which the label changes."""
    label = says(one)
    for _ in range(_HALVINGS):
        middle = (one + other) / 2
        like_one = (says(middle) == label)[:, None]
        one, other = np.where(like_one, middle, one), np.where(like_one, other, middle)
    return (one + other) / 2


def _bent(says: Says, points: np.ndarray, number: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """More ``points`` where a line is not straight; ``number`` tells of which line each is."""
    unsure = number[:-1] == number[1:]  # the segment from each point to the next
    for _ in range(_ROUNDS):
        start = np.flatnonzero(unsure)
        if not len(start):
            break
        along = points[start + 1] - points[start]
        middle = points[start] + along / 2
        # a right angle over the segment lies on the circle around its middle, half a segment away
        across = 0.6 * np.column_stack([-along[:, 1], along[:, 0]])
        between = says(middle - across) != says(middle + across)
        found = _bisected(says, (middle - across)[between], (middle + across)[between])
        bent = np.linalg.norm(found - middle[between], axis=1) > _BEND
        after = start[between][bent] + 1
        points, number = np.insert(points, after, found[bent], axis=0), np.insert(number, after, number[after - 1])
        unsure = np.zeros(len(points) - 1, dtype=bool)
        new = after + np.arange(len(after))
        unsure[new - 1] = unsure[new] = True
    return points, number


def _thinned(points: np.ndarray) -> np.ndarray:
    """``points`` without those that the others tell (Douglas & Peucker 1973)."""
    tolerance = _BEND
    while len(kept := points[_corners(points, tolerance)]) > _MOST_POINTS:
        tolerance *= 1.5
    return kept


def _corners(points: np.ndarray, tolerance: float) -> list[int]:
    """Which points to keep so that each of the others lies within ``tolerance`` of the line through these."""
    kept, waiting = {0, len(points) - 1}, [(0, len(points) - 1)]
    while waiting:
        first, last = waiting.pop()
        if last - first < 2:
            continue
        between = _distances(points[first + 1 : last], points[first], points[last])
        farthest = int(np.argmax(between))
        if between[farthest] > tolerance:
            middle = first + 1 + farthest
            kept.add(middle)
            waiting += [(first, middle), (middle, last)]
    return sorted(kept)


def _distances(points: np.ndarray, one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """(n,) the distances of ``points`` from the segment between ``one`` and ``other``."""
    along = other - one
    square = along @ along
    share = np.clip((points - one) @ along / square, 0, 1) if square > 0 else np.zeros(len(points))
    return np.linalg.norm(points - (one + share[:, None] * along), axis=1)
