"""Base classifiers whose every answer is known beforehand. The first column of X is all they look at."""

from __future__ import annotations

import math
import zlib

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.tree import DecisionTreeClassifier

# Two computations of the same threshold may differ by rounding; no answer may hang on that.
KNIFE_EDGE = 1e-9


class Stub(ClassifierMixin, BaseEstimator):
    """Binary; the larger label is the positive one. Children say ``answer(x)`` -> 0 or 1."""

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        self.X_ = X
        self.weights_ = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight)
        self.learn(np.asarray(X)[:, 0], np.asarray(y) == self.classes_[-1], self.weights_)
        return self

    def learn(self, x, positive, weight):
        """p, recovered from the ratio w of a positive row's weight to a negative one's: p = 1/(1 + w)."""
        self.threshold_ = 1 / (1 + weight[positive][0] / weight[~positive][0])

    def predict(self, X):
        return self.classes_[[int(self.answer(float(x))) for x in np.asarray(X)[:, 0]]]


class Constant(Stub):
    def __init__(self, constant=1):
        self.constant = constant

    def learn(self, x, positive, weight):
        pass

    def answer(self, x):
        return self.constant


class Perfect(Stub):
    """x is D(1|x), and the answer is that of Corollary 1."""

    def answer(self, x):
        return x - self.threshold_ > KNIFE_EDGE


class Adversarial(Perfect):
    def answer(self, x):
        return not super().answer(x)


class Inconsistent(Stub):
    """A coin per (x, threshold): votes are not monotone in the threshold, yet always the same."""

    def answer(self, x):
        cell = math.floor(self.threshold_ * 1e8 * math.pi + 0.37)
        return zlib.crc32(f"{x.hex()} {cell}".encode()) & 1


class Memorising(Stub):
    """The weighted majority among the training rows of equal x; negative for a new x."""

    def learn(self, x, positive, weight):
        self.positive_ = {
            level: weight[(x == level) & positive].sum() > weight[(x == level) & ~positive].sum() * (1 + KNIFE_EDGE)
            for level in np.unique(x)
        }

    def answer(self, x):
        return self.positive_.get(x, False)


class Tree(ClassifierMixin, BaseEstimator):
    """A decision tree of fixed seed that sees weights of nine digits: leaves are often balanced exactly."""

    def fit(self, X, y, sample_weight=None):
        rounded = [float(f"{weight:.9g}") for weight in sample_weight]
        self.tree_ = DecisionTreeClassifier(min_samples_leaf=4, random_state=0).fit(X, y, rounded)
        self.classes_ = self.tree_.classes_
        return self

    def predict(self, X):
        return self.tree_.predict(X)


class Unweighted(Stub):
    """Takes no weights; remembers the rows it was given; always positive, and refuses rows of one class."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        if len(self.classes_) < 2:
            raise ValueError("this learner needs two classes")
        self.X_, self.y_ = X, y
        return self

    def answer(self, x):
        return 1
