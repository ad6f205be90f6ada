"""Provide base classifiers with known predictions. They use only the first column of X."""

from __future__ import annotations

import math
import zlib

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.tree import DecisionTreeClassifier

# Two computations of the same threshold may differ by rounding. No prediction may depend on that.
KNIFE_EDGE = 1e-9


class Stub(ClassifierMixin, BaseEstimator):
    """Predict two classes, of which the larger label is positive. Subclasses define ``answer(x)`` -> 0 or 1."""

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        self.X_ = X
        self.weights_ = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight)
        self.learn(np.asarray(X)[:, 0], np.asarray(y) == self.classes_[-1], self.weights_)
        return self

    def learn(self, x, positive, weight):
        """Recover the threshold p from the ratio w of a positive row's weight to a negative one's: p = 1/(1 + w)."""
        self.threshold_ = 1 / (1 + weight[positive][0] / weight[~positive][0])

    def predict(self, X):
        return self.classes_[[int(self.answer(float(x))) for x in np.asarray(X)[:, 0]]]


class Constant(Stub):
    """Predict the same class for every row."""

    def __init__(self, constant=1):
        self.constant = constant

    def learn(self, x, positive, weight):
        pass

    def answer(self, x):
        return self.constant


class Perfect(Stub):
    """Predict as Corollary 1 does, where x is D(1|x)."""

    def answer(self, x):
        return x - self.threshold_ > KNIFE_EDGE


class Adversarial(Perfect):
    """Predict the opposite of Perfect."""

    def answer(self, x):
        return not super().answer(x)


class Inconsistent(Stub):
    """Predict by a fixed coin for each (x, threshold). The votes are not monotone in the threshold."""

    def answer(self, x):
        cell = math.floor(self.threshold_ * 1e8 * math.pi + 0.37)
        return zlib.crc32(f"{x.hex()} {cell}".encode()) & 1


class Told(Stub):
    """Return the given prediction of every evenly spread probe for every x: ``answers[i][j]`` for probe i and x = j."""

    def __init__(self, answers):
        self.answers = answers

    def __sklearn_clone__(self):
        return Told(self.answers)  # a thousand copies of a thousand answers take seconds

    def answer(self, x):
        return self.answers[round(self.threshold_ * (len(self.answers) + 1)) - 1][int(x)]


class Memorising(Stub):
    """Predict the weighted majority of the training rows with equal x, and negative for a new x."""

    def learn(self, x, positive, weight):
        self.positive_ = {
            level: weight[(x == level) & positive].sum() > weight[(x == level) & ~positive].sum() * (1 + KNIFE_EDGE)
            for level in np.unique(x)
        }

    def answer(self, x):
        return self.positive_.get(x, False)


class Tree(ClassifierMixin, BaseEstimator):
    """Fit a decision tree of fixed seed on weights of nine digits. Its leaves are often balanced exactly."""

    def fit(self, X, y, sample_weight=None):
        rounded = [float(f"{weight:.9g}") for weight in sample_weight]
        self.tree_ = DecisionTreeClassifier(min_samples_leaf=4, random_state=0).fit(X, y, rounded)
        self.classes_ = self.tree_.classes_
        return self

    def predict(self, X):
        return self.tree_.predict(X)


class Unweighted(Stub):
    """Take no weights and remember the given rows. Always predict positive, and reject rows of one class."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        if len(self.classes_) < 2:
            raise ValueError("this learner needs two classes")
        self.X_, self.y_ = X, y
        return self

    def answer(self, x):
        return 1
