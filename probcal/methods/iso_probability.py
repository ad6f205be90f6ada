"""Find lines of equal probability in the plane from predicted labels, and choose the points that figures draw."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from contourpy import contour_generator

from probcal._learner_output import learner_scores
from probcal.methods.refinement import ThresholdClassifiers
from probcal.methods.vote_contradictions import like_rows, plane_points

PointPredictor = Callable[[np.ndarray], np.ndarray]
"""From points (n, 2) to (n,) bool, whether the classifier predicts the positive class."""

# Cells along each side of the box. A region narrower than a cell may be missed.
_CELLS = 128
# A cell's diagonal halved 18 times is 4e-8 of the box.
_HALVINGS = 18
# A line that is straight to this part of the box needs no point between its ends.
_BEND = 1e-5
# A right angle inside a cell is located to _BEND after at most 13 rounds.
_ROUNDS = 20
_MOST_POINTS = 200


class Box(NamedTuple):
    """Hold a rectangle: its lower left corner and the lengths of its sides, (2,) each."""

    low: np.ndarray
    sides: np.ndarray

    @classmethod
    def around(cls, points: np.ndarray, margin: float = 0.05) -> Box:
        """Return the box of ``points``, (n, 2), with a share ``margin`` of each side added at both of its ends.

        The points must differ in both columns, because no side may be 0.
        """
        low, sides = points.min(axis=0), np.ptp(points, axis=0)
        return cls(low - margin * sides, (1 + 2 * margin) * sides)


def border(predict: PointPredictor, box: Box) -> list[np.ndarray]:
    """Return the border within a box between positive and negative predictions, as polylines of at most 200 points.

    The labels on a grid of 129 x 129 points give the course of each line (marching squares). Each place where it
    crosses the grid is then bisected to 1e-7 of the box. Further places between two of them are bisected while the
    border departs from the straight line by more than 1e-5 of the box. So curves are followed, and the corners of a
    tree's regions are cut by at most that much.

    Points on a straight run, to 1e-5 again, are left out at the end, so a straight border is its two ends. A line is
    simplified more only if it still has over 200 points. A closed line ends where it begins.

    Limits: a region narrower than a cell, 1/128 of the box, may be missed, and a line may run past it. The points of a
    line are exact to 1e-5 of the box. Halfway between two of them a curved border may be farther away, by about 1e-4
    (8e-5 for a support vector machine with a Gaussian kernel, 1.1e-4 for naive Bayes).
    """

    def on_unit_square(points: np.ndarray) -> np.ndarray:
        return predict(box.low + points * box.sides) if len(points) else np.zeros(0, dtype=bool)

    axis = np.arange(_CELLS + 1) / _CELLS
    grid = np.stack(np.meshgrid(axis, axis), axis=-1)
    labels = on_unit_square(grid.reshape(-1, 2)).reshape(grid.shape[:2])
    lines = contour_generator(z=labels.astype(np.float64)).lines(0.5)
    if not lines:
        return []
    # halfway between two grid neighbours whose labels differ
    crossings = np.concatenate([np.asarray(line) for line in lines])
    points = _bisect(on_unit_square, np.floor(crossings) / _CELLS, np.ceil(crossings) / _CELLS)
    number = np.repeat(np.arange(len(lines)), [len(line) for line in lines])
    points, number = _add_bends(on_unit_square, points, number)
    return [box.low + _simplify(points[number == line]) * box.sides for line in range(len(lines))]


def _bisect(predict: PointPredictor, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Return a point (n, 2) between each ``start`` and ``end``, whose labels differ, where the label changes."""
    start_label = predict(start)
    for _ in range(_HALVINGS):
        middle = (start + end) / 2
        like_start = (predict(middle) == start_label)[:, None]
        start, end = np.where(like_start, middle, start), np.where(like_start, end, middle)
    return np.asarray((start + end) / 2)


def _add_bends(predict: PointPredictor, points: np.ndarray, number: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Add points where a line is not straight. ``number`` is the line of each point."""
    unsure = number[:-1] == number[1:]  # the segment from each point to the next
    for _ in range(_ROUNDS):
        start = np.flatnonzero(unsure)
        if not len(start):
            break
        along = points[start + 1] - points[start]
        middle = points[start] + along / 2
        # a right angle over the segment lies on the circle around its middle, half a segment away
        across = 0.6 * np.column_stack([-along[:, 1], along[:, 0]])
        between = predict(middle - across) != predict(middle + across)
        found = _bisect(predict, (middle - across)[between], (middle + across)[between])
        bent = np.linalg.norm(found - middle[between], axis=1) > _BEND
        after = start[between][bent] + 1
        points, number = np.insert(points, after, found[bent], axis=0), np.insert(number, after, number[after - 1])
        unsure = np.zeros(len(points) - 1, dtype=bool)
        new = after + np.arange(len(after))
        unsure[new - 1] = unsure[new] = True
    return points, number


def _simplify(points: np.ndarray) -> np.ndarray:
    """Return ``points`` without those that the others imply (Douglas & Peucker 1973)."""
    tolerance = _BEND
    while len(kept := points[_corners(points, tolerance)]) > _MOST_POINTS:
        tolerance *= 1.5
    return kept


def _corners(points: np.ndarray, tolerance: float) -> list[int]:
    """Return which points to keep so that each other point lies within ``tolerance`` of the line through them."""
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


def _distances(points: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Return the distances (n,) of ``points`` from the segment from ``start`` to ``end``."""
    along = end - start
    square = along @ along
    share = np.clip((points - start) @ along / square, 0, 1) if square > 0 else np.zeros(len(points))
    distances: np.ndarray = np.linalg.norm(points - (start + share[:, None] * along), axis=1)
    return distances


Lines = list[dict[str, Any]]

_ROWS_OF_A_CLASS = 500
_SCORED_ROWS = 400
# The level at which both classes weigh 1.
_UNCHANGED = 0.5


def rows_by_class(X: Any, labels: np.ndarray, classes: np.ndarray) -> Lines | None:
    """Return ``{"x", "y", "label"}`` for each of ``classes``: at most 500 of its rows, evenly spaced in their order.

    The result is None if X does not have two numeric columns.
    """
    points = plane_points(X)
    if points is None:
        return None
    lines = []
    for label in classes:
        chosen = _evenly_spaced(points[labels == label], _ROWS_OF_A_CLASS)
        lines.append({"x": chosen[:, 0].tolist(), "y": chosen[:, 1].tolist(), "label": str(label)})
    return lines


def iso_probability(classifiers: ThresholdClassifiers, X: Any) -> Lines | None:
    """Return the lines of equal probability: ``{"level", "x", "y"}`` for each line of each level's border.

    They lie within the box of X and a margin of 5 %. For the accuracy see ``border``. A level without a border there
    has one point, the lower left corner of the box. Its ``"positive"`` tells whether it predicts the positive class
    everywhere. The result is None if X does not have two numeric columns, or if one of them has a single value.
    """
    points = plane_points(X)
    if points is None or not np.ptp(points, axis=0).all():
        return None
    box, lines = Box.around(points), []
    for index, level in enumerate(classifiers.thresholds.tolist()):

        def predict(grid_points: np.ndarray, index: int = index) -> np.ndarray:
            return classifiers.predicts_positive(index, like_rows(grid_points, X))

        level_lines = [
            {"level": level, "x": line[:, 0].tolist(), "y": line[:, 1].tolist()} for line in border(predict, box)
        ]
        if not level_lines:
            x, y = box.low.tolist()
            level_lines = [{"level": level, "x": [x], "y": [y], "positive": bool(predict(box.low[None])[0])}]
        lines += level_lines
    return lines


def score_against_probability(classifiers: ThresholdClassifiers, X: Any, probabilities: np.ndarray) -> Lines | None:
    """Return one line ``{"x", "y"}`` of at most 400 rows: their decision functions, rising, and ``probabilities``.

    The classifier of level .5, where both classes weigh 1, gives the decision function. The result is None without this
    level, and for a learner without ``decision_function``, such as a tree.
    """
    (unchanged,) = np.nonzero(np.isclose(classifiers.thresholds, _UNCHANGED, rtol=0, atol=1e-12))
    if not len(unchanged) or not hasattr(classifiers.classifiers[unchanged[0]], "decision_function"):
        return None
    scores = learner_scores(classifiers.classifiers[unchanged[0]], X, classifiers.classes)[:, 0]
    chosen = _evenly_spaced(np.argsort(scores, kind="stable"), _SCORED_ROWS)
    return [{"x": scores[chosen].tolist(), "y": probabilities[chosen].tolist()}]


def _evenly_spaced(rows: np.ndarray, most: int) -> np.ndarray:
    """Return ``rows``, or ``most`` of them, evenly spaced and with the first and the last."""
    return rows if len(rows) <= most else rows[np.linspace(0, len(rows) - 1, most).round().astype(np.intp)]
