"""Test curves of a sweep, and borders traced from predicted labels against closed forms."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from probcal import WeightSweepClassifier
from probcal.data.card import find_card, read_card
from probcal.data.dataset import generated
from probcal.methods.iso_probability import Box, border
from probcal.methods.weight_sweep import support_vectors

TOY = generated(read_card(find_card("gaussians")), seed=0)
TRAIN, TEST = slice(0, 2000), slice(2000, None)
LOGISTIC = LogisticRegression(C=1e8, solver="newton-cholesky", tol=1e-8)
FEW = slice(0, 300)


def swept(learner, part=TRAIN, levels=None, **options):
    return WeightSweepClassifier(learner, levels, random_state=0, **options).fit(TOY.X[part], TOY.y[part])


def test_curves_of_a_linear_learner_have_score_zero():
    fitted = swept(LOGISTIC)
    lines = fitted.curves(TOY.X[TEST])["iso_probability"]
    assert [line["level"] for line in lines] == fitted.thresholds_.tolist()
    sides = 1.1 * np.ptp(TOY.X[TEST].to_numpy(), axis=0)
    for line, learner in zip(lines, fitted.estimators_, strict=True):
        ends = np.column_stack([line["x"], line["y"]])
        assert len(ends) == 2
        score = ends @ learner.coef_[0] + learner.intercept_[0]
        assert np.abs(score).max() < 1e-6 * np.abs(learner.coef_[0] * sides).sum()


def test_scores_are_sorted_with_the_predictions_of_their_rows():
    fitted = swept(LOGISTIC)
    [line] = fitted.curves(TOY.X[TEST])["scores"]
    assert len(line["x"]) == len(line["y"]) == 400
    assert (np.diff(line["x"]) >= 0).all()
    half = fitted.estimators_[9].decision_function(TOY.X[TEST])
    assert (line["x"][0], line["x"][-1]) == (half.min(), half.max())
    of_row = dict(zip(half, fitted.predict_proba(TOY.X[TEST])[:, 1], strict=True))
    assert line["y"] == [of_row[score] for score in line["x"]]


@pytest.fixture(scope="module")
def curves_of_a_tree():
    return swept(DecisionTreeClassifier(max_depth=3), FEW).curves(TOY.X[TEST])


@pytest.mark.slow
def test_scores_need_a_decision_function_and_level_one_half(curves_of_a_tree):
    assert "scores" not in curves_of_a_tree
    assert "scores" not in swept(LOGISTIC, FEW, [0.2, 0.8]).curves(TOY.X[TEST])


def test_curves_have_at_most_500_training_rows_per_class():
    of_0, of_1 = swept(LOGISTIC).curves(TOY.X[TEST])["training_rows"]
    assert (of_0["label"], of_1["label"]) == ("0", "1")
    assert len(of_0["x"]) == len(of_1["x"]) == 500
    positive = set(map(tuple, TOY.X[TRAIN][TOY.y[TRAIN] == 1].to_numpy().tolist()))
    assert set(zip(of_1["x"], of_1["y"], strict=True)) <= positive


def test_curves_need_two_columns_and_two_classes():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), np.tile([0, 1], 30)
    assert list(WeightSweepClassifier(LOGISTIC).fit(X, y).curves(X)) == ["scores"]
    assert WeightSweepClassifier(LogisticRegression()).fit(X[:, :2], np.arange(60) % 3).curves(X[:, :2]) == {}


SVM = SVC(kernel="linear", C=1.0)


def test_sweep_over_support_vectors_uses_only_their_rows():
    class Spy(SVC):
        def fit(self, X, y, sample_weight=None):
            self.seen_ = np.asarray(X), np.ones(len(y)) if sample_weight is None else sample_weight
            return super().fit(X, y, sample_weight)

    first = SVM.fit(TOY.X[FEW], TOY.y[FEW])
    fitted = swept(Spy(kernel="linear"), FEW, [0.4, 0.5, 0.6], rows="support_vectors")
    kept = TOY.X[FEW].to_numpy()[np.sort(first.support_)]
    for learner in fitted.estimators_:
        rows, weights = learner.seen_
        assert np.array_equal(rows, kept)
        assert weights.sum() == pytest.approx(len(kept))


def test_rows_of_zero_weight_are_not_support_vectors():
    X, y = TOY.X[FEW].to_numpy(), TOY.y[FEW]
    sweep = WeightSweepClassifier(SVM, [0.4, 0.5, 0.6], rows="support_vectors", random_state=0)
    weighted = sweep.fit(X, y, np.tile([1.0, 0.0], 150)).curves(X)
    assert weighted == sweep.fit(X[::2], y[::2]).curves(X)


@pytest.mark.parametrize("learner", [LOGISTIC, LinearSVC()], ids=["logistic", "liblinear"])
def test_learner_without_support_vectors_is_rejected(learner):
    with pytest.raises(ValueError, match="has no support_"):
        swept(learner, FEW, rows="support_vectors")


def test_support_vectors_of_a_pipeline_come_from_its_last_step():
    machine = make_pipeline(StandardScaler(), SVM)
    alone = SVC(kernel="linear").fit(StandardScaler().fit_transform(TOY.X[FEW]), TOY.y[FEW])
    kept = support_vectors(machine, TOY.X[FEW], TOY.y[FEW], None, (0,))
    assert np.array_equal(kept, np.sort(alone.support_))
    fitted = swept(machine, FEW, [0.4, 0.5, 0.6], rows="support_vectors")
    assert sum(len(line["x"]) for line in fitted.curves(TOY.X[TEST])["training_rows"]) == len(kept)
    with pytest.raises(ValueError, match="LogisticRegression has no support_"):
        swept(make_pipeline(StandardScaler(), LOGISTIC), FEW, rows="support_vectors")


def test_class_of_zero_weight_is_rejected():
    sweep = WeightSweepClassifier(SVM, rows="support_vectors")
    labels = np.where(TOY.y[FEW] == 1, "yes", "no")
    with pytest.raises(ValueError, match="class yes has no row of positive weight"):
        sweep.fit(TOY.X[FEW], labels, (labels == "no").astype(float))


class Names(LogisticRegression):
    """Store the given value as ``support_``."""

    def __init__(self, support=None):
        super().__init__()
        self.support = support

    def fit(self, X, y, sample_weight=None):
        self.support_ = self.support
        return super().fit(X, y, sample_weight)


@pytest.mark.parametrize(
    "support", [None, "all", 3, [], [0.5], [True, False], [[0, 1]], [0, 300], [-1, 2], [1, 1, 2]], ids=str
)
def test_invalid_row_numbers_of_support_vectors_are_rejected(support):
    with pytest.raises(ValueError, match="support_ of Names does not hold row numbers"):
        swept(Names(support), FEW, rows="support_vectors")


@pytest.mark.parametrize("kind", [np.ndarray.tolist, lambda X: X.astype(object)], ids=["list", "objects"])
def test_numeric_lists_and_objects_give_the_curves_of_arrays(kind):
    X, y = TOY.X.to_numpy(), TOY.y
    sweep = WeightSweepClassifier(LOGISTIC, [0.4, 0.6], random_state=0)
    of_array = sweep.fit(X[FEW], y[FEW]).curves(X[TEST])
    assert sweep.fit(kind(X[FEW]), y[FEW]).curves(kind(X[TEST])) == of_array
    assert list(of_array) == ["iso_probability", "training_rows"]


@pytest.mark.parametrize("constant", [[0], [0, 1]], ids=["one column", "both"])
def test_constant_columns_have_no_curves(constant):
    X = np.random.default_rng(0).normal(size=(60, 2))
    X[:, constant] = 1.0
    fitted = WeightSweepClassifier(SVC()).fit(X, np.tile([0, 1], 30))
    assert "iso_probability" not in fitted.curves(X)


def test_new_fit_on_three_columns_removes_the_training_rows():
    fitted = swept(LOGISTIC, FEW)
    three = pd.concat([TOY.X[FEW], TOY.X["x1"][FEW].rename("x3") ** 2], axis=1)
    assert fitted.fit(three, TOY.y[FEW]).training_rows_ is None


UNIT = Box(np.zeros(2), np.ones(2))
quick = settings(max_examples=40, deadline=None, derandomize=True)


def sampled(line, n=2000):
    """Return evenly spaced points along a polyline."""
    steps = np.r_[0, np.cumsum(np.linalg.norm(np.diff(line, axis=0), axis=1))]
    at = np.linspace(0, steps[-1], n)
    return np.column_stack([np.interp(at, steps, line[:, k]) for k in (0, 1)])


@quick
@given(st.floats(0, 2 * np.pi), st.floats(-0.4, 0.4))
def test_straight_border_is_given_by_two_points(angle, offset):
    normal = np.array([np.cos(angle), np.sin(angle)])
    (line,) = border(lambda points: (points - 0.5) @ normal > offset, UNIT)
    assert len(line) == 2
    assert np.abs((line - 0.5) @ normal - offset).max() < 1e-6
    assert np.minimum(line, 1 - line).min(axis=1) == pytest.approx([0, 0], abs=1e-9)  # at the sides of the box


def test_border_of_a_circle_follows_the_circle():
    (line,) = border(lambda points: np.linalg.norm(points - 0.5, axis=1) < 0.3, UNIT)
    assert np.array_equal(line[0], line[-1])
    assert len(line) <= 200
    assert np.abs(np.linalg.norm(line - 0.5, axis=1) - 0.3).max() < 1e-6
    # the chords of 200 even points lie r (1 - cos(pi / 200)) = 3.7e-5 inside the circle; our points are not even
    assert np.abs(np.linalg.norm(sampled(line) - 0.5, axis=1) - 0.3).max() < 3e-4


def test_border_of_a_rectangle_has_its_corners():
    low, high = np.array([0.2037, 0.3141]), np.array([0.6181, 0.7071])
    (line,) = border(lambda points: ((points > low) & (points < high)).all(axis=1), UNIT)
    assert np.array_equal(line[0], line[-1])
    for corner in ([low[0], low[1]], [low[0], high[1]], [high[0], low[1]], [high[0], high[1]]):
        assert np.abs(line - corner).max(axis=1).min() < 2e-5
    on_a_side = np.minimum(np.abs(line - low), np.abs(line - high)).min(axis=1)
    assert on_a_side.max() < 1e-6
    assert len(line) <= 20


def test_border_on_two_sides_has_two_lines():
    lines = border(lambda points: np.abs(points[:, 0] - 0.5) > 0.25, UNIT)
    assert sorted(round(float(line[:, 0].mean()), 6) for line in lines) == [0.25, 0.75]


@pytest.mark.parametrize("answer", [True, False])
def test_one_class_everywhere_has_no_border(answer):
    assert border(lambda points: np.full(len(points), answer), UNIT) == []


def test_ragged_border_has_at_most_200_points():
    lines = border(lambda points: points[:, 1] > 0.5 + 0.1 * np.sin(200 * points[:, 0]), UNIT)
    assert 0 < max(map(len, lines)) <= 200


def test_box_is_slightly_wider_than_its_points():
    box = Box.around(np.array([[0.0, 3.0], [10.0, 4.0]]))
    assert box.low.tolist() == [-0.5, 2.95]
    assert box.sides.tolist() == pytest.approx([11, 1.1])
