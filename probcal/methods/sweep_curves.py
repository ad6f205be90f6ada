"""The lines of a sweep that figures are drawn of: equal probabilities, the rows behind them, scores and estimates."""

from __future__ import annotations

from typing import Any

import numpy as np

from probcal.methods.iso_curves import Box, border
from probcal.methods.plane import as_given, points_of
from probcal.methods.threshold_classifiers import ThresholdClassifiers

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
    one value only in either: its box has no width. How exact the lines are: ``probcal.methods.iso_curves.border``.
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
