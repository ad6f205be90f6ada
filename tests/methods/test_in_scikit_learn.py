"""Test every method in uses of CalibratedClassifierCV: pipelines, searches, frames, sparse input, any labels."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from probcal import BaggedVoteClassifier, ProbingClassifier, RelabelingClassifier, WeightSweepClassifier
from probcal.components.classes import import_class
from probcal.methods.registry import METHODS
from tests.methods.calibrating import noisy_rows

LOGISTIC = LogisticRegression()
SETTINGS = {
    "bagging": {"n_estimators": 5},
    "probing": {"n_probes": 7},
    "relabeling": {"n_probes": 7},
    "prior": {"base_rate": 0.3},
}


def methods(learner=LOGISTIC):
    return [
        *(import_class(one.path)(learner, random_state=0, **SETTINGS.get(key, {})) for key, one in METHODS.items()),
        ProbingClassifier(learner, 7, weighting="rejection", random_state=0),
    ]


def name(method):
    return type(method).__name__


ONE_OF_EACH_FAMILY = ("BaggedVoteClassifier", "ProbingClassifier", "SigmoidClassifier", "PriorCorrectedClassifier")
every_method = pytest.mark.parametrize("method", methods(), ids=name)


@every_method
def test_method_works_in_a_pipeline_and_around_one(method):
    X, y = noisy_rows()
    outside = make_pipeline(StandardScaler(), clone(method)).fit(X, y)
    inside = clone(method).set_params(estimator=make_pipeline(StandardScaler(), LOGISTIC)).fit(X, y)
    for fitted in (outside, inside):
        p = fitted.predict_proba(X)
        assert p.shape == (120, 2)
        assert np.allclose(p.sum(axis=1), 1)


@pytest.mark.parametrize("method", [one for one in methods() if name(one) in ONE_OF_EACH_FAMILY], ids=name)
def test_grid_search_sets_parameters_of_the_learner(method):
    X, y = noisy_rows()
    search = GridSearchCV(method, {"estimator__C": [0.01, 1]}, cv=2, scoring="neg_log_loss").fit(X, y)
    assert search.best_params_["estimator__C"] in (0.01, 1)


@every_method
def test_sparse_matrix_gives_the_predictions_of_the_dense_matrix(method):
    X, y = noisy_rows()
    X[np.abs(X) < 0.7] = 0
    dense = clone(method).fit(X, y).predict_proba(X)
    for kind in (sp.csr_matrix, sp.coo_array):
        sparse = clone(method).fit(kind(X), y).predict_proba(kind(X))
        np.testing.assert_allclose(sparse, dense, rtol=1e-5, atol=1e-6, err_msg=str(kind))


def test_texts_can_be_classified():
    texts = ["good fun", "bad taste", "good food", "bad food", "fun fun", "bad bad"] * 10
    y = ["up", "down"] * 30
    for method in methods(make_pipeline(TfidfVectorizer(), LOGISTIC)):
        p = method.fit(texts, y).predict_proba(["good", "bad"])
        assert p[0, 1] > p[1, 1], name(method)


@every_method
def test_invalid_labels_are_rejected_with_the_reason(method):
    X, _ = noisy_rows()
    for y, message in [
        (["a"] * 120, "one class only"),
        ([0.5, 1.5, 0.25] * 40, "(?i)continuous"),
        ([1, "a"] * 60, "int and str|label"),
        (["a", None] * 60, "60 of 120 labels are missing"),
        ([0, 1], "inconsistent"),
    ]:
        with pytest.raises(ValueError, match=message):
            clone(method).fit(X, np.array(y, dtype=object) if isinstance(y[0], int) and "a" in y else y)


@every_method
def test_other_objects_than_classifiers_are_rejected(method):
    X, y = noisy_rows()
    for other in (LinearRegression(), None, "tree"):
        with pytest.raises(ValueError, match="estimator must be a classifier"):
            clone(method).set_params(estimator=other).fit(X, y)


@pytest.mark.parametrize(
    "method", [ProbingClassifier, RelabelingClassifier, WeightSweepClassifier, BaggedVoteClassifier]
)
def test_frozen_learner_is_rejected_by_refitting_methods(method):
    X, y = noisy_rows()
    with pytest.raises(ValueError, match="FrozenEstimator cannot be fitted"):
        method(FrozenEstimator(clone(LOGISTIC).fit(X, y))).fit(X, y)


@every_method
def test_invalid_random_state_is_rejected(method):
    X, y = noisy_rows()
    with pytest.raises(ValueError, match="random_state must be a whole number"):
        clone(method).set_params(random_state="x").fit(X, y)
