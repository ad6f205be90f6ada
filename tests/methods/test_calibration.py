"""Test what calibrating methods share: learners, rows, labels and weights of every kind, and scores."""

from functools import partial

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import Perceptron
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from probcal import BaggedVoteClassifier, MapOfMeanClassifier, MeanMapClassifier, SigmoidClassifier, VennAbersClassifier
from tests.methods.calibrating import CALIBRATED, blobs, noisy

pytestmark = pytest.mark.filterwarnings("error")
MAPPED = [one for one in CALIBRATED if one not in (MeanMapClassifier, MapOfMeanClassifier)]
"""Classifiers that take a fitted learner, too."""
SEEDED = [
    *(pytest.param(partial(one, random_state=0), id=one.__name__) for one in CALIBRATED),
    pytest.param(partial(SigmoidClassifier, calibration="train", random_state=0), id="train"),
    pytest.param(partial(VennAbersClassifier, calibration="holdout", random_state=0), id="holdout"),
]


@pytest.mark.parametrize("method", MAPPED)
def test_frozen_learner_is_calibrated_on_the_given_rows(method):
    X, y = blobs(300, 2)
    learner = GaussianNB().fit(X[:200], y[:200])
    fitted = method(FrozenEstimator(learner)).fit(X[200:], y[200:])
    for other in (method(learner, calibration="prefit"), method(FrozenEstimator(learner), calibration="holdout")):
        assert fitted.predict_proba(X).tolist() == other.fit(X[200:], y[200:]).predict_proba(X).tolist()
    np.testing.assert_array_equal(fitted.estimator_.predict_proba(X), learner.predict_proba(X))


BAGGING = [
    pytest.param(partial(BaggedVoteClassifier, n_estimators=15, voting=one), id=one) for one in ("votes", "means")
]


@pytest.mark.parametrize("method", [*SEEDED, *BAGGING])
def test_global_random_state_is_neither_read_nor_changed(method):
    X, y = blobs(100, 2)
    np.random.seed(0)
    seeded = partial(method, DecisionTreeClassifier(max_features=1), random_state=0)
    before = seeded().fit(X, y).predict_proba(X).tolist()
    drawn = np.random.random()
    np.random.seed(0)
    assert drawn == np.random.random()
    np.random.seed(1)
    assert seeded().fit(X, y).predict_proba(X).tolist() == before


@pytest.mark.parametrize("method", SEEDED)
def test_weights_for_an_unweighted_learner_are_rejected(method):
    X, y = blobs(60, 2)
    with pytest.raises(ValueError, match="KNeighborsClassifier cannot be fitted with weights"):
        method(KNeighborsClassifier()).fit(X, y, np.ones(60))


@pytest.mark.parametrize("method", MAPPED)
def test_class_without_weight_is_rejected_for_frozen_learners(method):
    X, y = blobs(60, 2)
    with pytest.raises(ValueError, match="class 1 has no row of positive weight"):
        method(FrozenEstimator(GaussianNB().fit(X, y))).fit(X, y, 1 - y)


@pytest.mark.parametrize(
    ("learner", "scores", "message"),
    [
        (Perceptron(), "log_odds", "Perceptron has no predict_proba to read the log odds from"),
        (GaussianNB(), "decision_function", "GaussianNB has no decision_function"),
    ],
)
def test_scores_that_the_learner_lacks_are_rejected(learner, scores, message):
    with pytest.raises(ValueError, match=message):
        SigmoidClassifier(learner, scores=scores, calibration="train").fit(*blobs(300, 4))


def test_learner_without_scores_is_rejected():
    class Labels(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            return self

        def predict(self, X):
            return X

    with pytest.raises(ValueError, match="Labels has no decision_function and no predict_proba"):
        SigmoidClassifier(Labels()).fit(*blobs(30, 2))


def test_row_order_does_not_change_maps_of_training_scores():
    scores, y = noisy()
    order = np.random.default_rng(1).permutation(len(y))
    for method in MAPPED:
        one, other = (
            method(GaussianNB(), calibration="train").fit(scores[rows, None], y[rows]).predict_proba(scores[:, None])
            for rows in (np.arange(len(y)), order)
        )
        np.testing.assert_allclose(one, other, atol=1e-6)
