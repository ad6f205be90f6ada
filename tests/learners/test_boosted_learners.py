"""Test LightGBM, XGBoost and CatBoost as learners of an experiment."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from probcal import IsotonicClassifier, ProbingClassifier
from probcal.components.classes import unmet_requirement
from probcal.distribution import install_line
from probcal.learners import cat_boost, light_gbm, xg_boost
from probcal.learners.cat_boost import CatBoost
from probcal.learners.light_gbm import LightGBM
from probcal.learners.xg_boost import XGBoost

LEARNERS = [
    LightGBM(n_estimators=5, random_state=1), XGBoost(n_estimators=5, random_state=1),
    CatBoost(iterations=5, random_state=1),
]  # fmt: skip


def table(n_classes):
    random = np.random.default_rng(3)
    y = random.integers(n_classes, size=120)
    return random.normal(size=(120, 3)) + y[:, None], np.array(["a", "b", "c"])[y]


@pytest.fixture(autouse=True)
def libraries():
    pytest.importorskip("lightgbm")
    pytest.importorskip("xgboost")
    pytest.importorskip("catboost")


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
@pytest.mark.parametrize("classes", [[2**53, 2**53 + 1, 2**53 + 2], ["10", "9", "c"], [9, 10, 11]], ids=str)
def test_labels_of_every_kind_give_the_same_probabilities(learner, classes):
    X, y = table(3)
    codes = np.searchsorted(["a", "b", "c"], y)
    given = pd.Series(np.array(classes)[codes]).convert_dtypes()
    fitted = clone(learner).fit(X, given)
    assert fitted.classes_.tolist() == classes and set(fitted.predict(X).tolist()) == set(classes)
    np.testing.assert_array_equal(fitted.predict_proba(X), clone(learner).fit(X, y).predict_proba(X))


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_isotonic_and_probing_accept_the_learner(learner, capfd):
    X, y = table(2)
    for method in (IsotonicClassifier(learner, random_state=1), ProbingClassifier(learner, 5, random_state=1)):
        assert method.fit(X, y).predict_proba(X).shape == (120, 2)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_text_in_place_of_a_number_names_no_file(learner):
    X, y = table(2)
    text = "0.1 forcedsplits_filename=own.json"  # LightGBM reads the file of such a learning rate
    with pytest.raises(ValueError, match=f"learning_rate must be a number, not '{text}'"):
        clone(learner).set_params(learning_rate=text).fit(X, y)


def test_message_for_a_missing_library_names_the_install_command(monkeypatch):
    for module in (light_gbm, xg_boost, cat_boost):
        monkeypatch.setattr(module, "_FOUND", False)
    for learner, package in zip(LEARNERS, ("lightgbm", "xgboost", "catboost"), strict=True):
        needed = f"the package {package} is not installed; {install_line('boosting')}"
        assert unmet_requirement(type(learner)) == needed


@pytest.mark.parametrize(
    ("many", "few"),
    [
        (LightGBM(30, learning_rate=0.2, colsample_bytree=0.5, random_state=1), {"n_estimators": 7}),
        (XGBoost(30, learning_rate=0.2, colsample_bytree=0.5, random_state=1), {"n_estimators": 7}),
        (CatBoost(30, learning_rate=0.2, rsm=0.5, random_state=1), {"iterations": 7}),
    ],
    ids=str,
)
def test_first_trees_of_many_are_the_trees_of_a_shorter_fit(many, few):
    X, y = table(3)
    p = clone(many).fit(X, y).predict_proba_after(X, 7)
    np.testing.assert_array_equal(p, clone(many).set_params(**few).fit(X, y).predict_proba(X))
