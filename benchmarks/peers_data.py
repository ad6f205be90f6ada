"""The data that peers are compared on, and what a comparison is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import starmap
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from probcal.data.card import find_card, read_card
from probcal.data.encode import NumericEncoder
from probcal.data.load import data_folder, load, obtain
from probcal.data.splits import split_rows

SEED = 2005
MOST_TRAINING_ROWS, MOST_TEST_ROWS = 3000, 1000
"""Enough to tell two methods apart; brute force over adult's 48,842 rows would take a day."""
N_FOLDS = 5
FOLDS = StratifiedKFold(N_FOLDS, shuffle=True, random_state=SEED)


@dataclass(frozen=True)
class Rows:
    """One split of a data set: (n_rows, n_columns) floats and (n_rows,) labels 0 and 1."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray

    @cached_property
    def estimates(self) -> list[np.ndarray]:
        """Estimates of P(y = 1) for the test rows: one with many ties, one with hardly any, both without 0 and 1."""
        learners = [DecisionTreeClassifier(max_leaf_nodes=20, random_state=SEED), logistic()]
        return [
            np.clip(learner.fit(self.X, self.y).predict_proba(self.X_test)[:, 1], 0.001, 0.999) for learner in learners
        ]


@dataclass(frozen=True)
class Peer:
    """``difference`` of ``name`` and ``reference`` on the same rows, and the ``bound`` that it has to keep."""

    name: str
    reference: str
    bound: float
    difference: Callable[[Rows], float]


def read_rows(name: str) -> Rows:
    """The first split of a data set. Raises ProbcalError where it is not at hand."""
    card = read_card(find_card(name))
    obtain(card, data_folder())
    dataset = load(card)
    train, test = split_rows(card, len(dataset.y), 0, SEED)
    train, test = train[:MOST_TRAINING_ROWS], test[:MOST_TEST_ROWS]
    encoder = NumericEncoder().fit(dataset.X.iloc[train])
    X, X_test = (np.asarray(encoder.transform(dataset.X.iloc[part]), dtype=np.float64) for part in (train, test))
    return Rows(X, (dataset.y[train] == 1).astype(int), X_test, (dataset.y[test] == 1).astype(int))


class RowRecorder(ClassifierMixin, BaseEstimator):
    """Learns from all columns but the first, the row's number, and notes which rows it was trained on: ``rows_``."""

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def fit(self, X: np.ndarray, y: np.ndarray) -> RowRecorder:
        self.rows_, self.classes_ = X[:, 0].astype(int), np.unique(y)
        self.estimator_ = clone(self.estimator).fit(X[:, 1:], y)
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.estimator_.predict(X[:, 1:])

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        return self.estimator_.predict_proba(X[:, 1:])


def number_rows(X: np.ndarray) -> np.ndarray:
    """X with the number of the row before its columns."""
    return np.column_stack([np.arange(len(X)), X])


def logistic() -> LogisticRegression:
    return LogisticRegression(max_iter=1000)


def naive_bayes() -> GaussianNB:
    # a pixel that is blank but for one row has next to no variance, and would decide alone
    return GaussianNB(var_smoothing=1e-3)


def tree() -> DecisionTreeClassifier:
    return DecisionTreeClassifier(min_samples_leaf=5, random_state=SEED)


def largest_difference(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.max(np.abs(np.asarray(a) - np.asarray(b))))


def over_estimates(metric: Callable, peer: Callable) -> Callable[[Rows], float]:
    """The larger difference of two metrics, (y, p) -> number or numbers, over both estimates."""

    def difference(rows: Rows) -> float:
        pairs = [(rows.y_test, p) for p in rows.estimates]
        return largest_difference(np.array(list(starmap(metric, pairs))), np.array(list(starmap(peer, pairs))))

    return difference
