"""Provide data and stub learners for the tests of calibrating methods."""

from __future__ import annotations

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin

from probcal import FoldMeanClassifier, PriorCorrectedClassifier
from probcal.components.classes import import_class
from probcal.methods.calibrators._calibrated_classifier import CalibratedMethod
from probcal.methods.registry import METHODS

METHODS_OF_MAPS = [
    one for one in (import_class(method.path) for method in METHODS.values()) if issubclass(one, CalibratedMethod)
]
CALIBRATED = [one for one in METHODS_OF_MAPS if one not in (PriorCorrectedClassifier, FoldMeanClassifier)]
"""Every classifier that fits a map."""


def noisy(n=400, seed=0, steepness=1.5):
    """Return (scores, labels), where P(y = 1 | score) is a sigmoid of the score."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=n)
    return scores, rng.random(n) < expit(steepness * scores - 0.5)


def platt_targets(y):
    y = np.asarray(y, dtype=bool)
    return np.where(y, (y.sum() + 1) / (y.sum() + 2), 1 / ((~y).sum() + 2))


def noisy_rows(n=120, seed=0):
    """Return (X, labels): three normal columns, and labels that depend on the first one."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, (rng.random(n) < expit(2 * X[:, 0])).astype(int)


def blobs(n=300, n_classes=3, seed=0):
    """Return (X, y): overlapping normal clouds around corners of a triangle or square, with labels 0, 1, ..."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n)
    corners = np.array([[0, 0], [1.5, 0], [0, 1.5], [1.5, 1.5]])
    return corners[y] + rng.normal(size=(n, 2)), y


class Given(ClassifierMixin, BaseEstimator):
    """Return the first column of X as scores, and the other columns as probabilities."""

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        return np.asarray(X)[:, 1:]

    def decision_function(self, X):
        return np.asarray(X)[:, 0]


class OnlyProbabilities(Given):
    decision_function = property()
