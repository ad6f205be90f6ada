"""Find lines of equal probability in the plane from predicted labels, and choose the points that figures draw."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from contourpy import contour_generator

from probcal._learner_output import learner_scores
from probcal.methods.plane import as_given, points_of
from probcal.methods.refinement import ThresholdClassifiers

PointPredictor = Callable[[np.ndarray], np.ndarray]
"""From points (n, 2) to (n,) bool, whether the classifier predicts the positive class."""

_CELLS = 128
"""Cells along each side of the box. A region narrower than a cell may be missed."""
_HALVINGS = 18
"""A cell's diagonal halved 18 times is 4e-8 of the box."""
_BEND = 1e-5
"""A line that is straight to this part of the box needs no point between its ends."""
_ROUNDS = 20
"""A right angle inside a cell is located to ``_BEND`` after at most 13 rounds."""
_MOST_POINTS = 200


class Box(NamedTuple):
    """Hold a rectangle: its lower left corner and its sides.

    Parameters
    ----------
    low : ndarray of shape (2,)
        Lower left corner.
    sides : ndarray of shape (2,)
        Lengths of the sides.
    """

    low: np.ndarray
    sides: np.ndarray

    @classmethod
    def around(cls, points: np.ndarray, margin: float = 0.05) -> Box:
        """Return the box of points, with a margin.

        Parameters
        ----------
        points : ndarray of shape (n, 2)
            Points in the plane. They must differ in both columns, because no side may be 0.
        margin : float, default=0.05
            Share of each side that is added at each of its ends.

        Returns
        -------
        Box
            The box with its margin.
        """
        low, sides = points.min(axis=0), np.ptp(points, axis=0)
        return cls(low - margin * sides, (1 + 2 * margin) * sides)


def border(predict: PointPredictor, box: Box) -> list[np.ndarray]:
    """Return the border within a box between positive and negative predictions.

    The labels on a grid of 129 x 129 points give the course of each line (marching squares). Each place where it
    crosses the grid is then bisected to 1e-7 of the box. Further places between two of them are bisected while the
    border departs from the straight line by more than 1e-5 of the box. So curves are followed, and the corners of a
    tree's regions are cut by at most that much.

    Points on a straight run, to 1e-5 again, are left out at the end, so a straight border is its two ends. A line is
    simplified more only if it still has over 200 points.

    Limits: a region narrower than a cell, 1/128 of the box, may be missed, and a line may run past it. The points of a
    line are exact to 1e-5 of the box. Halfway between two of them a curved border may be farther away, by about 1e-4
    (8e-5 for a support vector machine with a Gaussian kernel, 1.1e-4 for naive Bayes).

    Parameters
    ----------
    predict : callable
        Function from points of shape (n, 2) to bool of shape (n,), whether the classifier predicts the positive class.
    box : Box
        The rectangle to search.

    Returns
    -------
    list of ndarray of shape (n, 2)
        Polylines, with n at most 200. A closed line ends where it begins.
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
    places = np.concatenate([np.asarray(line) for line in lines])
    points = _bisect(on_unit_square, np.floor(places) / _CELLS, np.ceil(places) / _CELLS)
    number = np.repeat(np.arange(len(lines)), [len(line) for line in lines])
    points, number = _add_bends(on_unit_square, points, number)
    return [box.low + _simplify(points[number == line]) * box.sides for line in range(len(lines))]


def _bisect(predict: PointPredictor, one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return a place (n, 2) between each of ``one`` and ``other``, whose labels differ, where the label changes."""
    label = predict(one)
    for _ in range(_HALVINGS):
        middle = (one + other) / 2
        like_one = (predict(middle) == label)[:, None]
        one, other = np.where(like_one, middle, one), np.where(like_one, other, middle)
    place: np.ndarray = (one + other) / 2
    return place


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


def _distances(points: np.ndarray, one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return the distances (n,) of ``points`` from the segment between ``one`` and ``other``."""
    along = other - one
    square = along @ along
    share = np.clip((points - one) @ along / square, 0, 1) if square > 0 else np.zeros(len(points))
    distances: np.ndarray = np.linalg.norm(points - (one + share[:, None] * along), axis=1)
    return distances


Lines = list[dict[str, Any]]

_ROWS_OF_A_CLASS = 500
_SCORED_ROWS = 400
_UNCHANGED = 0.5
"""The level at which both classes weigh 1."""


def rows_by_class(X: Any, labels: np.ndarray, classes: np.ndarray) -> Lines | None:
    """Choose rows of each class to draw.

    Parameters
    ----------
    X : array-like or DataFrame of shape (n_rows, n_columns)
        Rows.
    labels : ndarray of shape (n_rows,)
        Labels of the rows.
    classes : ndarray of shape (n_classes,)
        The labels to draw, in this order.

    Returns
    -------
    list of dict or None
        ``{"x", "y", "label"}`` for each class: at most 500 of its rows, evenly spaced in their order. None if X does
        not have two numeric columns.
    """
    points = points_of(X)
    if points is None:
        return None
    lines = []
    for label in classes:
        chosen = _evenly_spaced(points[labels == label], _ROWS_OF_A_CLASS)
        lines.append({"x": chosen[:, 0].tolist(), "y": chosen[:, 1].tolist(), "label": str(label)})
    return lines


def iso_probability(classifiers: ThresholdClassifiers, X: Any) -> Lines | None:
    """Return the lines of equal probability: the border of each level.

    For the accuracy see ``border``.

    Parameters
    ----------
    classifiers : ThresholdClassifiers
        Their thresholds are the levels.
    X : array-like or DataFrame of shape (n_rows, n_columns)
        Rows that set the box of the lines.

    Returns
    -------
    list of dict or None
        ``{"level", "x", "y"}`` for each line of each level's border, within the box of X and a margin of 5 %. A level
        without a border there has one point, the lower left corner of the box. Its ``"positive"`` tells whether it
        predicts the positive class everywhere. None if X does not have two numeric columns, or if one of them has a
        single value.
    """
    points = points_of(X)
    if points is None or not np.ptp(points, axis=0).all():
        return None
    box, lines = Box.around(points), []
    for place, level in enumerate(classifiers.thresholds.tolist()):

        def predict(grid_points: np.ndarray, place: int = place) -> np.ndarray:
            return classifiers.predicts_positive(place, as_given(grid_points, X))

        found = [{"level": level, "x": one[:, 0].tolist(), "y": one[:, 1].tolist()} for one in border(predict, box)]
        lines += found or [_corner_point(level, predict(box.low[None])[0], box)]
    return lines


def _corner_point(level: float, positive: bool, box: Box) -> dict[str, Any]:
    return {"level": level, "x": [float(box.low[0])], "y": [float(box.low[1])], "positive": bool(positive)}


def score_against_probability(classifiers: ThresholdClassifiers, X: Any, probabilities: np.ndarray) -> Lines | None:
    """Return the line of decision functions and predicted probabilities.

    Parameters
    ----------
    classifiers : ThresholdClassifiers
        The classifier of level .5, where both classes weigh 1, gives the decision function.
    X : array-like or DataFrame of shape (n_rows, n_columns)
        Rows to score.
    probabilities : ndarray of shape (n_rows,)
        Predicted probabilities of these rows.

    Returns
    -------
    list of dict or None
        One line ``{"x", "y"}`` of at most 400 rows, sorted by the decision function x. y is the predicted probability.
        None without the level .5, and for a learner without ``decision_function``, such as a tree.
    """
    (place,) = np.nonzero(np.isclose(classifiers.thresholds, _UNCHANGED, rtol=0, atol=1e-12))
    if not len(place) or not hasattr(classifiers.classifiers[place[0]], "decision_function"):
        return None
    scores = learner_scores(classifiers.classifiers[place[0]], X, classifiers.classes)[:, 0]
    chosen = _evenly_spaced(np.argsort(scores, kind="stable"), _SCORED_ROWS)
    return [{"x": scores[chosen].tolist(), "y": probabilities[chosen].tolist()}]


def _evenly_spaced(rows: np.ndarray, most: int) -> np.ndarray:
    """Return ``rows``, or ``most`` of them, evenly spaced and with the first and the last."""
    return rows if len(rows) <= most else rows[np.linspace(0, len(rows) - 1, most).round().astype(np.intp)]
