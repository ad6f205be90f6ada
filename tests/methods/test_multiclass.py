"""Test methods on several classes: one class against the rest, and the combination of predictions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.datasets import load_iris, load_wine
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

from probcal import BaggedVoteClassifier, ProbingClassifier, RelabelingClassifier, WeightSweepClassifier
from probcal.methods._multiclass import combine_problems

quick = settings(max_examples=100, deadline=None, derandomize=True)
TREE = DecisionTreeClassifier(min_samples_leaf=5)
METHODS = [
    ProbingClassifier(TREE, 15, random_state=0, weighting="weight"),
    ProbingClassifier(TREE, 15, multiclass="difference", random_state=0, weighting="weight"),
    ProbingClassifier(TREE, 15, weighting="rejection", discretisation="uniform", random_state=0),
    RelabelingClassifier(TREE, 15, random_state=0),
    WeightSweepClassifier(TREE, random_state=0),
    WeightSweepClassifier(TREE, multiclass="pairs", random_state=0),
    BaggedVoteClassifier(TREE, 15, random_state=0),
    BaggedVoteClassifier(TREE, 15, voting="means", clip=(0.01, 0.99), random_state=0),
]


def wine():
    X, y = load_wine(return_X_y=True)
    return train_test_split(X, np.array(["red", "white", "rose"])[y], random_state=0)


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_predictions_sum_to_1_in_the_order_of_classes(method):
    X_train, X_test, y_train, y_test = wine()
    fitted = method.fit(X_train, y_train)
    p = fitted.predict_proba(X_test)
    assert fitted.classes_.tolist() == ["red", "rose", "white"]
    assert p.shape == (len(X_test), 3)
    assert np.allclose(p.sum(axis=1), 1, atol=1e-12)
    assert (p >= 0).all()
    assert np.mean(fitted.predict(X_test) == y_test) > 0.75
    assert np.array_equal(fitted.predict(X_test), fitted.classes_[p.argmax(axis=1)])


@pytest.mark.parametrize(
    ("estimates", "multiclass", "clip", "expected"),
    [
        ([0.2, 0.5], "difference", (0.001, 0.999), [0.2, 0.5, 0.3]),
        # the remainder 1 - .8 - .7 is -.5, so the last class gets .001; the sum is 1.501
        ([0.8, 0.7], "difference", (0.001, 0.999), [0.8 / 1.501, 0.7 / 1.501, 0.001 / 1.501]),
        ([1.0, 1.0], "difference", (0.0, 1.0), [0.5, 0.5, 0]),
        ([0.6, 0.4, 0.2], "normalised", (0.0, 1.0), [0.5, 1 / 3, 1 / 6]),
        ([0.0] * 4, "normalised", (0.0, 1.0), [0.25] * 4),
    ],
)
def test_combined_predictions_agree_with_hand_calculation(estimates, multiclass, clip, expected):
    p = combine_problems([np.array([one]) for one in estimates], multiclass, clip)
    assert p[0] == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("multiclass", ["difference", "normalised"])
@quick
@given(arrays(float, st.tuples(st.integers(1, 5), st.integers(2, 6)), elements=st.floats(0, 1)))
def test_combined_predictions_form_a_distribution(multiclass, estimates):
    p = combine_problems(list(estimates.T), multiclass, (0.001, 0.999))
    assert np.allclose(p.sum(axis=1), 1, atol=1e-12)
    assert (p > 0).all()


def test_default_probes_k_classes_and_difference_k_minus_1():
    X, y = load_iris(return_X_y=True)
    difference = ProbingClassifier(TREE, 5, multiclass="difference", weighting="weight").fit(X, y)
    normalised = ProbingClassifier(TREE, 5, weighting="weight").fit(X, y)
    assert len(difference.threshold_models_) == 2
    assert len(normalised.threshold_models_) == 3
    assert difference.votes(X).shape == (150, 2)
    assert not hasattr(difference, "thresholds_")


def test_one_versus_rest_agrees_with_two_class_probing():
    X, y = load_iris(return_X_y=True)
    several = ProbingClassifier(TREE, 15, random_state=0, multiclass="normalised", weighting="weight").fit(X, y)
    alone = ProbingClassifier(DecisionTreeClassifier(min_samples_leaf=5, random_state=0), 15, weighting="weight").fit(
        X, y == 1
    )
    assert np.array_equal(several.threshold_models_[1].thresholds, alone.thresholds_)
    assert np.abs(several.votes(X)[:, 1] - alone.votes(X)).mean() < 1


def test_last_stage_of_several_classes_is_the_prediction():
    X, y = load_iris(return_X_y=True)
    fitted = ProbingClassifier(TREE, 12, random_state=0, weighting="weight").fit(X, y)
    stages = list(fitted.staged_predict_proba(X))
    assert len(stages) == 12
    assert np.array_equal(stages[-1], fitted.predict_proba(X))
    assert np.array_equal(
        stages[4], ProbingClassifier(TREE, 5, random_state=0, weighting="weight").fit(X, y).predict_proba(X)
    )


def test_class_missing_from_bags_leaves_valid_distributions():
    X, y = np.arange(30.0)[:, None], np.array(["a"] * 15 + ["b"] * 14 + ["c"])
    for voting in ("votes", "means"):
        p = BaggedVoteClassifier(TREE, 8, voting=voting, random_state=0).fit(X, y).predict_proba(X)
        assert p.shape == (30, 3)
        assert np.allclose(p.sum(axis=1), 1)
