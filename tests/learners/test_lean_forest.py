"""The lean forest against scikit-learn's: the same trees, attributes and errors."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from probcal.learners import lean_forest
from probcal.learners.lean_forest import LeanForestClassifier

X, Y = load_breast_cancer(return_X_y=True)
KNOWN = {
    f"check_sample_weight_equivalence_on_{kind}_data": "nor is scikit-learn's forest, whose samples are of rows"
    for kind in ("dense", "sparse")
}
TABLES = {
    "two classes": (X, Y),
    "three classes with names": (load_iris().data, load_iris().target_names[load_iris().target]),
    "a frame": (pd.DataFrame(X[:, :5]).add_prefix("x"), Y == 1),
    "columns of ones": (np.c_[np.ones(569), X[:, :2].round()], Y),
}


@parametrize_with_checks([LeanForestClassifier(5)], expected_failed_checks=lambda one: KNOWN)
def test_it_is_an_estimator_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("name", TABLES)
def test_its_trees_are_those_of_scikit_learn(name, monkeypatch):
    rows, labels = TABLES[name]
    theirs = RandomForestClassifier(20, random_state=3).fit(rows, labels)
    monkeypatch.setattr(RandomForestClassifier, "fit", None)  # ours must not call it
    ours = LeanForestClassifier(20, random_state=3).fit(rows, labels)
    for one, other in zip(ours.estimators_, theirs.estimators_, strict=True):
        np.testing.assert_array_equal(one.tree_.threshold, other.tree_.threshold)
        np.testing.assert_array_equal(one.tree_.value, other.tree_.value)
        np.testing.assert_array_equal(one.predict(np.asarray(rows)), other.predict(np.asarray(rows)))
    np.testing.assert_array_equal(ours.predict_proba(rows), theirs.predict_proba(rows))
    np.testing.assert_array_equal(ours.predict(rows), theirs.predict(rows))
    np.testing.assert_array_equal(ours.feature_importances_, theirs.feature_importances_)
    np.testing.assert_array_equal(ours.estimators_samples_, theirs.estimators_samples_)


@pytest.mark.parametrize("params", [{"max_depth": 2}, {"oob_score": True}, {"class_weight": "balanced"}])
def test_other_parameters_are_left_to_scikit_learn(params):
    ours = LeanForestClassifier(20, random_state=3, **params).fit(X, Y)
    theirs = RandomForestClassifier(20, random_state=3, **params).fit(X, Y)
    np.testing.assert_array_equal(ours.predict_proba(X), theirs.predict_proba(X))


def test_missing_values_and_weights_are_left_to_scikit_learn(monkeypatch):
    monkeypatch.setattr(lean_forest, "Tree", None)
    holes = np.where(np.random.default_rng(0).random(X.shape) < 0.05, np.nan, X)
    for arguments in ((holes, Y), (X, Y, np.arange(len(Y)) + 1.0)):
        ours = LeanForestClassifier(5, random_state=3).fit(*arguments)
        theirs = RandomForestClassifier(5, random_state=3).fit(*arguments)
        np.testing.assert_array_equal(ours.predict_proba(X), theirs.predict_proba(X))


def test_a_generator_is_left_where_scikit_learn_leaves_it():
    ours, theirs = np.random.RandomState(0), np.random.RandomState(0)
    LeanForestClassifier(3, random_state=ours).fit(X, Y)
    RandomForestClassifier(3, random_state=theirs).fit(X, Y)
    assert ours.randint(10**9) == theirs.randint(10**9)
