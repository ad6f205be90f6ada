"""Test the sweep over class weights: Bayes' rule, the three rules for intervals, and agreement with Probing."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from probcal import ProbingClassifier, WeightSweepClassifier
from tests.stubs import Perfect, Stub

Y = np.tile([0, 1], 20)
X = np.linspace(0.01, 0.99, 40)[:, None]


class Answers(Stub):
    """Predict the value of the pattern at the level, for every row."""

    def __init__(self, pattern=()):
        self.pattern = pattern

    def answer(self, x):
        return self.pattern[round(self.threshold_ * 10) - 1]


def weighted_sweep(*args, **options):
    """Return the sweep of the paper, where the learner gets the weights."""
    return WeightSweepClassifier(*args, weighting="weight", **options)


def interval(pattern, answer):
    levels = np.arange(1, 10) / 10
    return weighted_sweep(Answers(pattern), levels, answer=answer).fit(X, Y).predict_interval(X[:1])[0].tolist()


def test_row_weights_multiply_level_weights_without_changing_the_sum():
    weight = np.arange(1.0, 41) / 20.5
    fitted = weighted_sweep(Perfect(), [0.2, 0.5]).fit(X, Y, weight)
    low, half = (one.weights_ for one in fitted.estimators_)
    assert half == pytest.approx(weight)
    assert low.sum() == pytest.approx(weight.sum())
    assert low[Y == 1] / weight[Y == 1] == pytest.approx(4 * (low[2] / weight[2]))  # .8 / .2 of a negative row


MONOTONE = (1, 1, 1, 0, 0, 0, 0, 0, 0)
CROSSING = (1, 1, 0, 1, 0, 0, 1, 0, 0)


@pytest.mark.parametrize("answer", ["isotonic", "bounds", "first_crossing"])
def test_monotone_labels_give_the_same_interval_by_all_rules(answer):
    assert interval(MONOTONE, answer) == pytest.approx([0.3, 0.4])


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("isotonic", [0.4, 0.5]),  # four ones of nine
        ("first_crossing", [0.2, 0.3]),  # the first 0 is at .3
        ("bounds", [0.2, 0.8]),  # the last 1 is at .7
    ],
)
def test_crossing_labels_give_the_three_published_intervals(answer, expected):
    assert interval(CROSSING, answer) == pytest.approx(expected)


def test_isotonic_rule_preserves_the_vote_count():
    # sorting changes 0, 0, 1 to 1, 0, 0, which are two changes; 0, 0, 0 would be one change
    fitted = weighted_sweep(Answers((0, 0, 1)), [0.1, 0.2, 0.3]).fit(X, Y)
    assert fitted.predict_interval(X[:1])[0].tolist() == [0.1, 0.2]


@pytest.mark.parametrize("answer", ["isotonic", "bounds", "first_crossing"])
@pytest.mark.parametrize(("pattern", "expected"), [((0,) * 9, [0, 0.1]), ((1,) * 9, [0.9, 1])])
def test_point_beyond_all_levels_gets_the_outermost_interval(answer, pattern, expected):
    assert interval(pattern, answer) == pytest.approx(expected)


def breast():
    X, y = load_breast_cancer(return_X_y=True)
    return (X - X.min(0)) / np.ptp(X, axis=0), y


@pytest.mark.parametrize(
    "data",
    [pytest.param(breast, marks=pytest.mark.slow), lambda: load_iris(return_X_y=True)],
    ids=["two classes", "three classes"],
)
@pytest.mark.parametrize(
    "learner",
    [
        DecisionTreeClassifier(max_depth=4), LinearSVC(max_iter=5000), GaussianNB(), LogisticRegression(max_iter=1000),
        KNeighborsClassifier(3),
    ],
    ids=["tree", "svm", "nb", "logistic", "neighbours, which take no weights"],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_isotonic_rule_equals_uniform_probing(learner, data):
    X, y = data()
    sweep = WeightSweepClassifier(learner, np.arange(1, 20) / 20, random_state=3).fit(X[::2], y[::2])
    probing = ProbingClassifier(
        learner, 19, loss="squared_error", discretisation="uniform", total_weight="n", clip=(0, 1), random_state=3
    ).fit(X[::2], y[::2])
    assert np.array_equal(sweep.votes(X), probing.votes(X))
    assert np.array_equal(sweep.predict_proba(X), probing.predict_proba(X))
    assert sweep.measures(X) == probing.measures(X)


@pytest.mark.parametrize("levels", [[], [0.5, 0.4], [0, 0.5], [0.5, 1], "0.5", [[0.5]], [0.2, 0.2]], ids=str)
def test_invalid_levels_are_rejected(levels):
    with pytest.raises(ValueError, match="levels must be rising numbers within"):
        weighted_sweep(Perfect(), levels).fit(X, Y)


def test_several_classes_have_levels_for_small_probabilities():
    fitted = WeightSweepClassifier(DecisionTreeClassifier()).fit(X, np.arange(40) % 10)
    (levels,) = {tuple(one.thresholds) for one in fitted.threshold_models_}
    assert np.allclose(levels, [0.00625, 0.0125, 0.025, *np.arange(1, 20) / 20])


def test_predict_interval_rejects_several_classes():
    fitted = WeightSweepClassifier(DecisionTreeClassifier()).fit(X, np.arange(40) % 3)
    with pytest.raises(ValueError, match="two classes"):
        fitted.predict_interval(X)


@pytest.mark.parametrize(
    ("learner", "weighting"), [(DecisionTreeClassifier(random_state=0), "rejection"), (LogisticRegression(), "weight")]
)
def test_default_weighting_depends_on_the_learner(learner, weighting):
    X, y = load_breast_cancer(return_X_y=True)
    default, named = (
        WeightSweepClassifier(learner, [0.2, 0.5], random_state=1, **options).fit(X[:200, :4], y[:200])
        for options in ({}, {"weighting": weighting})
    )
    assert np.array_equal(default.votes(X[:, :4]), named.votes(X[:, :4]))
