"""Test LightGBM and CatBoost as learners of an experiment."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from probcal import IsotonicClassifier, ProbingClassifier
from probcal.components.classes import unmet_requirement
from probcal.distribution import install_line
from probcal.learners import cat_boost, light_gbm
from probcal.learners.cat_boost import CatBoost
from probcal.learners.light_gbm import LightGBM

LEARNERS = [LightGBM(n_estimators=5, random_state=1), CatBoost(iterations=5, random_state=1)]


def table(n_classes):
    random = np.random.default_rng(3)
    y = random.integers(n_classes, size=120)
    return random.normal(size=(120, 3)) + y[:, None], np.array(["a", "b", "c"])[y]


@pytest.fixture(autouse=True)
def libraries():
    pytest.importorskip("lightgbm")
    pytest.importorskip("catboost")


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_probabilities_are_of_the_sorted_classes(learner, n_classes):
    X, y = table(n_classes)
    fitted = clone(learner).fit(X, y)
    p = fitted.predict_proba(X)
    assert fitted.classes_.tolist() == sorted(set(y)) and p.shape == (120, n_classes)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert (fitted.predict(X) == y).mean() > 0.6


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
def test_unfitted_learner_raises_not_fitted_error(learner):
    for predict in (learner.predict, learner.predict_proba):
        with pytest.raises(NotFittedError):
            predict(np.zeros((2, 3)))


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_the_same_seed_gives_the_same_numbers(learner):
    X, y = table(2)
    one, other = (clone(learner).fit(X, y).predict_proba(X) for _ in range(2))
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_larger_weights_raise_the_probability_of_a_class(learner):
    X, y = table(2)
    heavy = clone(learner).fit(X, y, sample_weight=np.where(y == "a", 20.0, 1.0)).predict_proba(X)
    assert heavy[:, 0].mean() > clone(learner).fit(X, y).predict_proba(X)[:, 0].mean()


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_isotonic_and_probing_accept_the_learner(learner, capfd):
    X, y = table(2)
    for method in (IsotonicClassifier(learner, random_state=1), ProbingClassifier(learner, 5, random_state=1)):
        assert method.fit(X, y).predict_proba(X).shape == (120, 2)
    assert capfd.readouterr() == ("", "")


def test_message_for_a_missing_library_names_the_install_command(monkeypatch):
    for module in (light_gbm, cat_boost):
        monkeypatch.setattr(module, "_FOUND", False)
    for learner, package in zip(LEARNERS, ("lightgbm", "catboost"), strict=True):
        needed = f"the package {package} is not installed; {install_line('boosting')}"
        assert unmet_requirement(type(learner)) == needed
