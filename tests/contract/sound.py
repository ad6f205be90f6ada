"""Provide small components that keep every promise, as base classes of the broken components."""

from __future__ import annotations

import numpy as np
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data


class Centres(ClassifierMixin, BaseEstimator):
    """Predict a class with a near mean and a large share as likely, for any number of classes."""

    def __init__(self, width=1.0):
        self.width = width

    def fit(self, X, y, sample_weight=None):
        X, y = self.checked(X, y)
        weights = self.weights_of(X, sample_weight)
        self.classes_, codes = self.classes_of(y)
        self.learn(X, codes, weights)
        return self

    def checked(self, X, y):
        X, y = validate_data(self, X, y)
        check_classification_targets(y)
        return X, y

    def weights_of(self, X, sample_weight):
        return _check_sample_weight(sample_weight, X, ensure_non_negative=True)

    def classes_of(self, y):
        return np.unique(y, return_inverse=True)

    def learn(self, X, codes, weights):
        mine = (codes[:, None] == np.arange(len(self.classes_))) * weights[:, None]
        self.centres_ = mine.T @ X / mine.sum(axis=0)[:, None]
        self.shares_ = mine.sum(axis=0) / mine.sum()

    def predict_proba(self, X):
        check_is_fitted(self)
        return self.near(validate_data(self, X, reset=False))

    def near(self, X):
        distances = ((X[:, None, :] - self.centres_) ** 2).sum(axis=2)
        return softmax(np.log(self.shares_) - distances / (2 * (self.width or 1.0)), axis=1)

    def predict(self, X):
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]


class Counting(Centres):
    """Average, on a stream, the prediction with the share of each class in the earlier labels."""

    online = True

    def predict_proba_online(self, X, y):
        mine = (np.asarray(y)[:, None] == self.classes_).astype(float)
        return (self.predict_proba(X) + self.shares(mine)) / 2

    def shares(self, mine):
        before = np.cumsum(mine, axis=0) - mine + 1
        return before / before.sum(axis=1, keepdims=True)


class Around(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Return the probabilities of the learner without a change."""

    def __init__(self, estimator):
        self.estimator = estimator

    def fit(self, X, y, sample_weight=None):
        self.estimator_ = clone(self.estimator).fit(X, y, sample_weight=sample_weight)
        self.classes_ = self.estimator_.classes_
        return self

    def predict_proba(self, X):
        check_is_fitted(self)
        return self.estimator_.predict_proba(X)

    def predict(self, X):
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]


class Bootstrap(Around):
    """Average three learners of bootstrap samples. The component is random and keeps every promise."""

    def __init__(self, estimator, random_state=None):
        super().__init__(estimator)
        self.random_state = random_state

    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight)
        random = np.random.default_rng(self.random_state)
        weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
        times = random.multinomial(len(y), np.full(len(y), 1 / len(y)), size=3)
        self.bags_ = [clone(self.estimator).fit(X, y, sample_weight=weights * one) for one in times]
        return self

    def predict_proba(self, X):
        check_is_fitted(self)
        return np.mean([bag.predict_proba(X) for bag in self.bags_], axis=0)
