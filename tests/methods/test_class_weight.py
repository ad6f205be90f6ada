"""Test the warning about ``class_weight`` of a learner, which appears only if probabilities become wrong."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.ensemble import BaggingClassifier
from sklearn.feature_selection import SelectFromModel
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from probcal import ProbingClassifier, RelabelingClassifier, SigmoidClassifier, WeightSweepClassifier

METHODS = {
    "probing": lambda learner: ProbingClassifier(learner, 3),
    "relabeling": lambda learner: RelabelingClassifier(learner, 3),
    "sweep": lambda learner: WeightSweepClassifier(learner, [0.3, 0.6]),
}
BALANCED = LogisticRegression(class_weight="balanced")
Y = np.tile([0, 0, 0, 1], 30)
X = np.random.default_rng(0).normal(size=(120, 2)) + Y[:, None]


def told(method):
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        method.fit(X, Y)
    return [one for one in given if issubclass(one.category, UserWarning) and "class_weight" in str(one.message)]


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
@pytest.mark.parametrize(
    ("learner", "name"),
    [
        (BALANCED, "class_weight='balanced'"),
        (DecisionTreeClassifier(class_weight={0: 1, 1: 5}), "class_weight={0: 1, 1: 5}"),
        (make_pipeline(StandardScaler(), LinearSVC(class_weight="balanced")), "class_weight='balanced'"),
        (BaggingClassifier(BALANCED, 2), "estimator__class_weight='balanced'"),
    ],
    ids=["learner", "weights by hand", "last step", "nested"],
)
def test_class_weight_of_the_learner_gives_one_warning_with_advice(method, learner, name):
    [warning] = told(method(learner))
    assert f"has {name}: " in str(warning.message)
    assert str(warning.message).endswith(f"probabilities are wrong; set {name.partition('=')[0]}=None")
    assert warning.filename == __file__


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
@pytest.mark.parametrize(
    "learner",
    [LogisticRegression(), DecisionTreeClassifier(), make_pipeline(SelectFromModel(BALANCED), LogisticRegression())],
    ids=["none", "tree", "another step's"],
)
def test_learner_without_class_weight_gives_no_warning(method, learner):
    assert told(method(learner)) == []


def test_method_without_class_weights_gives_no_warning():
    assert told(SigmoidClassifier(BALANCED)) == []
