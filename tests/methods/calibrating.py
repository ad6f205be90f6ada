"""What the tests of the calibrating methods share."""

from __future__ import annotations

import warnings

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import check_estimator


def noisy(n=400, seed=0, steepness=1.5):
    """(scores, labels): P(y = 1 | score) is a sigmoid of the score."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=n)
    return scores, rng.random(n) < expit(steepness * scores - 0.5)


def blobs(n=300, n_classes=3, seed=0):
    """(X, y): overlapping normal clouds around corners of a triangle or square, labels 0, 1, ..."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n)
    corners = np.array([[0, 0], [1.5, 0], [0, 1.5], [1.5, 1.5]])
    return corners[y] + rng.normal(size=(n, 2)), y


class Given(ClassifierMixin, BaseEstimator):
    """The scores of a classifier are the first column of X; the other columns are its probabilities."""

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        return np.asarray(X)[:, 1:]

    def decision_function(self, X):
        return np.asarray(X)[:, 0]


class OnlyProbabilities(Given):
    decision_function = property()


SPLITS_ROWS = "a repeated row may fall on both sides of the split, which a weighted one cannot"
EQUIVALENCE = "check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"


def failed_checks(method, expected=None):
    """The checks of scikit-learn that the method over a logistic regression does not pass, but for ``expected``."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn's own, of infinite labels
        results = check_estimator(method(LogisticRegression()), expected_failed_checks=expected, on_fail=None)
    return [(one["check_name"], repr(one["exception"])) for one in results if one["status"] == "failed"]
