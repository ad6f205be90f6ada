"""Test how often classifiers of rising thresholds contradict each other: sorted votes, and boundaries that cross."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial import ConvexHull
from sklearn.datasets import load_iris
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from probcal import ProbingClassifier, WeightSweepClassifier
from probcal.data.card import find_card, read_card
from probcal.data.dataset import generated
from probcal.data.splits import stream_seed
from probcal.methods.vote_contradictions import crossing_pairs, crossings, grid_within_hull, monotonicity, plane_points
from tests.stubs import Perfect

LEVELS = np.linspace(0.01, 0.99, 40)[:, None]
Y = np.tile([0, 1], 20)


def test_votes_changed_by_sorting_are_counted():
    # thresholds .2 .5 .8: 1 1 0 is sorted; 0 1 1 becomes 1 1 0, two changes; 0 1 0 becomes 1 0 0, two changes
    answers = np.array([[1, 1, 0], [0, 1, 1], [0, 1, 0], [0, 0, 0]], dtype=bool)
    report = monotonicity(np.array([0.2, 0.5, 0.8]), answers)
    assert report.changed_votes.tolist() == [0, 2, 2, 0]
    assert report.changed_at.tolist() == [2, 1, 1]
    assert report.changed_rows == 0.5
    assert report.changed == pytest.approx(4 / 12)
    assert str(report) == "the sort acted on 50.0% of 4 rows and changed 33.33% of the votes, at most 2 of 3 in a row"


def test_sorting_changes_no_vote_of_a_perfect_learner():
    report = ProbingClassifier(Perfect(), 15, weighting="weight").fit(LEVELS, Y).monotonicity(LEVELS)
    assert report.changed == report.changed_rows == 0


def test_several_classes_have_one_report_each():
    X, y = load_iris(return_X_y=True)
    reports = (
        ProbingClassifier(DecisionTreeClassifier(), 7, multiclass="normalised", weighting="weight")
        .fit(X, y)
        .monotonicity(X)
    )
    assert [len(report.changed_votes) for report in reports] == [150] * 3


SQUARE = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])


@settings(max_examples=60, deadline=None, derandomize=True)
@given(arrays(bool, st.tuples(st.integers(0, 6), st.integers(1, 6))))
def test_pair_crosses_if_only_the_higher_threshold_predicts_positive(answers):
    slow = sum(any(row[b] and not row[a] for row in answers) for a, b in combinations(range(answers.shape[1]), 2))
    assert crossing_pairs(answers) == slow


def test_crossings_of_several_classes_are_added():
    X, y = load_iris(return_X_y=True)
    fitted = WeightSweepClassifier(DecisionTreeClassifier(random_state=0)).fit(X[::2], y[::2])
    assert fitted.measures(X)["crossings"] == sum(
        crossing_pairs(one.predicted_labels(X)) for one in fitted.threshold_models_
    )


def two_lines(rows):
    """Return predictions of two levels: right of a vertical line, and above a line that crosses it at (.5, .2)."""
    x, y = np.asarray(rows).T
    return np.column_stack([x > 0.5, y + x > 0.7])


def test_crossing_between_rows_is_found_within_their_hull():
    rows = np.array([[0.9, 0.9], [0.05, 0.6], [0.9, 0.0], [0.0, 0.0]])
    assert crossing_pairs(two_lines(rows)) == 0
    assert crossings(two_lines, rows) == 1
    assert crossings(lambda X: two_lines(X.to_numpy()), pd.DataFrame(rows, columns=["a", "b"])) == 1


def test_crossing_outside_the_hull_is_not_counted():
    assert crossings(two_lines, np.array([[0.6, 0.0], [0.9, 0.9], [0.9, 0.0]])) == 0


def test_grid_stays_within_the_hull():
    triangle = grid_within_hull(SQUARE[:3], 101)
    assert (triangle.sum(axis=1) <= 1 + 1e-12).all()
    assert len(triangle) == pytest.approx(101 * 102 / 2, rel=0.02)
    assert len(grid_within_hull(SQUARE, 11)) == pytest.approx(121, abs=0)


@pytest.mark.parametrize("points", [SQUARE[:1], SQUARE[[0, 1]], SQUARE[[0, 3, 0, 3]]], ids=["one", "two", "a line"])
def test_points_on_a_line_have_no_hull(points):
    assert len(grid_within_hull(points, 10)) == 0


@pytest.mark.parametrize(
    "rows",
    [
        np.zeros((3, 3)), np.zeros(3), np.zeros((0, 2)), np.array([["a", "b"]]), np.array([[1.0, np.nan]]),
        pd.DataFrame({"a": [1.0], "b": pd.Categorical(["x"])}), pd.DataFrame({"a": [1.0], "b": ["x"]}),
        pd.DataFrame({"a": [1.0], "b": pd.array([None], dtype="Int64")}), [["a", "b"]], [[1, 2], [3]],
        [[1, [2]], [3, 4]], ["ab", "cd"], np.array([[1, None]]), np.array([[1, "a"]], object),
    ],
    ids=["three", "flat", "none", "text", "missing", "categories", "objects", "a missing whole number", "words",
         "ragged", "nested", "texts", "nothing", "a word"],
)  # fmt: skip
def test_rows_without_two_finite_numeric_columns_give_no_points(rows):
    assert plane_points(rows) is None


def test_integer_columns_give_points():
    assert plane_points(pd.DataFrame({"a": [1, 2], "b": [0.5, 1.5]})).tolist() == [[1, 0.5], [2, 1.5]]


CARD = read_card(find_card("gaussians-14"))
DRAWN = generated(CARD, stream_seed(2019, "draw", CARD.name, 0))  # the first repetition of an experiment of seed 2019
ROWS, LABELS = DRAWN.X[:28], DRAWN.y[:28]
TWO_LEVELS = [0.5, 2 / 3]
"""w- / (w+ + w-) of the text's weights: 1.5 of both classes, then 1 of positive and 2 of negative rows."""


def test_two_linear_surfaces_cross_visibly_inside_the_data():
    fitted = WeightSweepClassifier(SVC(kernel="linear", C=1.0), TWO_LEVELS, random_state=0).fit(ROWS, LABELS)
    normals = np.vstack([learner.coef_[0] for learner in fitted.estimators_])
    where = np.linalg.solve(normals, [-learner.intercept_[0] for learner in fitted.estimators_])
    sides = ConvexHull(ROWS).equations
    assert (sides[:, :2] @ where + sides[:, 2] < -0.3).all()
    directions = normals / np.linalg.norm(normals, axis=1, keepdims=True)
    assert np.degrees(np.arccos(directions[0] @ directions[1])) > 20
    assert fitted.measures(ROWS) == {"crossings": 1}
    one, other = fitted.curves(ROWS)["iso_probability"]
    assert (one["level"], other["level"]) == tuple(TWO_LEVELS)
