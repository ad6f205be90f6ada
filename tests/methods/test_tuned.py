"""Test the search of settings before an ensemble is built."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import BaggingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.tree import DecisionTreeClassifier

from probcal import ProbingClassifier, TunedClassifier

GRID = {"C": [0.001, 0.1, 10.0]}


def rows(n_classes=2):
    return make_classification(300, 8, n_informative=4, n_classes=n_classes, flip_y=0.2, random_state=1)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_it_takes_the_setting_with_the_smallest_held_out_loss(n_classes):
    X, y = rows(n_classes)
    model = TunedClassifier(LogisticRegression(), GRID, random_state=3).fit(X, y)
    # the folds are those that the seed draws first
    seed = int(np.random.default_rng(3).integers(2**31 - 1))
    folds = StratifiedKFold(3, shuffle=True, random_state=seed)
    held_out = [cross_val_predict(LogisticRegression(C=c), X, y, cv=folds, method="predict_proba") for c in GRID["C"]]
    losses = [log_loss(y, p.clip(0.001, 0.999)) for p in held_out]
    # scikit-learn divides each clipped row by its sum, which moves the third digit at most
    assert model.losses_ == pytest.approx(losses, abs=2e-3)
    assert model.best_params_ == {"C": GRID["C"][int(np.argmin(losses))]}


def test_the_best_setting_alone_equals_the_classifier_with_it():
    X, y = rows()
    model = TunedClassifier(LogisticRegression(), GRID, random_state=0).fit(X, y)
    alone = LogisticRegression(**model.best_params_).fit(X, y)
    assert np.array_equal(model.predict_proba(X), alone.predict_proba(X))


@pytest.mark.parametrize("around", [BaggingClassifier(random_state=5), ProbingClassifier(None, 5, random_state=5)])
def test_a_method_is_built_around_the_best_setting(around):
    X, y = rows()
    tree = DecisionTreeClassifier(random_state=0)
    model = TunedClassifier(tree, {"max_depth": [1, 3]}, around=around, random_state=0).fit(X, y)
    assert model.estimator_.get_params()["estimator"].max_depth == model.best_params_["max_depth"]
    expected = around.set_params(estimator=DecisionTreeClassifier(random_state=0, **model.best_params_)).fit(X, y)
    assert np.array_equal(model.predict_proba(X), expected.predict_proba(X))


def test_an_empty_grid_is_refused():
    with pytest.raises(ValueError, match="param_grid must be a grid of parameters"):
        TunedClassifier(LogisticRegression(), {}).fit(*rows())
