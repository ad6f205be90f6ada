"""The lines of a sweep that figures are drawn of: equal probabilities, the rows behind them, scores and estimates.

The curve on which a classifier of points in the plane changes its label, found from its labels alone.

Two numeric columns as points in the plane, and points laid over it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from contourpy import contour_generator
from scipy.spatial import ConvexHull, QhullError

from probcal.methods.refinement import ThresholdClassifiers

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


def points_of(X: Any) -> np.ndarray | None:
    """(n_rows, 2) float64 where ``X`` is two columns of finite numbers; None elsewhere.

    An array, be it of objects that are numbers, a frame of two numeric columns, or a list of pairs.
    """
    if isinstance(X, list | tuple) or (isinstance(X, np.ndarray) and X.dtype == object):
        X = _numbers_of(X)
    if getattr(X, "ndim", None) != 2 or X.shape[1] != 2 or not X.shape[0]:
        return None
    if not isinstance(X, pd.DataFrame | np.ndarray):
        return None
    if not all(kind.kind in "iuf" for kind in (X.dtypes if isinstance(X, pd.DataFrame) else [X.dtype])):
        return None
    points = X.to_numpy(np.float64, na_value=np.nan) if isinstance(X, pd.DataFrame) else X.astype(np.float64)
    return points if np.isfinite(points).all() else None


def _numbers_of(rows: Any) -> np.ndarray | None:
    """The array that ``rows``, a list or an array of objects, make; None where they are no pairs."""
    # of long texts an array would be far larger than they are
    if not all(isinstance(row, list | tuple | np.ndarray) and len(row) == 2 for row in rows):
        return None
    try:
        return np.array([list(row) for row in rows])
    except ValueError:  # of lists that differ in length, further in
        return None


def as_given(points: np.ndarray, X: Any) -> Any:
    """``points``, (n, 2), as rows of the kind that ``X`` has: a frame with its columns, else an array."""
    return pd.DataFrame(points, columns=X.columns) if isinstance(X, pd.DataFrame) else points


def grid_within_hull(points: np.ndarray, size: int) -> np.ndarray:
    """(n, 2) those of ``size`` x ``size`` points, laid evenly over the box of ``points``, within their convex hull.

    An empty array where the points lie on a line.
    """
    low, high = points.min(axis=0), points.max(axis=0)
    across, up = np.meshgrid(*(np.linspace(low[k], high[k], size) for k in (0, 1)))
    grid = np.column_stack([across.ravel(), up.ravel()])
    try:
        sides = ConvexHull(points).equations
    except (QhullError, ValueError):
        return np.empty((0, 2))
    return grid[(grid @ sides[:, :2].T + sides[:, 2] <= 0).all(axis=1)]


Lines = list[dict[str, Any]]

_ROWS_OF_A_CLASS = 500
_SCORED_ROWS = 400
_UNCHANGED = 0.5
"""The level at which both classes weigh 1."""


def rows_by_class(X: Any, labels: np.ndarray, classes: np.ndarray) -> Lines | None:
    """``{"x", "y", "label"}`` for each class: its rows as points, at most 500 of them, evenly spaced in their order.

    None where X is not two numeric columns.
    """
    points = points_of(X)
    if points is None:
        return None
    lines = []
    for label in classes:
        chosen = _at_most(points[labels == label], _ROWS_OF_A_CLASS)
        lines.append({"x": chosen[:, 0].tolist(), "y": chosen[:, 1].tolist(), "label": str(label)})
    return lines


def iso_probability(classifiers: ThresholdClassifiers, X: Any) -> Lines | None:
    """``{"level", "x", "y"}`` for each line of each level's border within the box of X and a margin of 5 %.

    A level without a border there has one point, the lower left corner of the box, and under ``positive`` whether it
    says the positive class, there as everywhere: no line could tell. None where X is not two numeric columns, or has
    one value only in either: its box has no width. How exact the lines are: ``probcal.methods.iso_probability.border``.
    """
    points = points_of(X)
    if points is None or not np.ptp(points, axis=0).all():
        return None
    box, lines = Box.around(points), []
    for place, level in enumerate(classifiers.thresholds.tolist()):

        def says(asked: np.ndarray, place: int = place) -> np.ndarray:
            return classifiers.says_one(place, as_given(asked, X))

        found = [{"level": level, "x": one[:, 0].tolist(), "y": one[:, 1].tolist()} for one in border(says, box)]
        lines += found or [_without_border(level, says(box.low[None])[0], box)]
    return lines


def _without_border(level: float, positive: bool, box: Box) -> dict[str, Any]:
    return {"level": level, "x": [float(box.low[0])], "y": [float(box.low[1])], "positive": bool(positive)}


def score_against_estimate(classifiers: ThresholdClassifiers, X: Any, estimates: np.ndarray) -> Lines | None:
    """One line ``{"x", "y"}``: decision functions and ``estimates`` of at most 400 rows, in the order of the former.

    The score is that of the classifier of level .5, where weights are as they are. None where that is no level, or the
    learner has no ``decision_function``, such as a tree.
    """
    (place,) = np.nonzero(np.isclose(classifiers.thresholds, _UNCHANGED, rtol=0, atol=1e-12))
    if not len(place) or not hasattr(classifiers.classifiers[place[0]], "decision_function"):
        return None
    scores = np.asarray(classifiers.classifiers[place[0]].decision_function(X), dtype=np.float64).ravel()
    chosen = _at_most(np.argsort(scores, kind="stable"), _SCORED_ROWS)
    return [{"x": scores[chosen].tolist(), "y": estimates[chosen].tolist()}]


def _at_most(rows: np.ndarray, most: int) -> np.ndarray:
    """``rows``, or ``most`` of them, evenly spaced and the first and last among them."""
    return rows if len(rows) <= most else rows[np.linspace(0, len(rows) - 1, most).round().astype(np.intp)]
