"""The probabilities that a learner gives by itself."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin

from probcal.methods.binary import drawn_seed, fresh_copy, two_classes


class DirectClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """The estimator's own ``predict_proba``, behind the same interface as the other methods."""

    needs_one_of = ("predict_proba",)

    def __init__(self, estimator: Any, *, random_state: int | np.random.RandomState | None = None) -> None:
        self.estimator = estimator
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> DirectClassifier:
        """X: (n_rows, n_columns); y: (n_rows,) labels of two kinds. Raises ValueError otherwise."""
        labels, self.classes_ = two_classes(X, y)
        self.estimator_ = fresh_copy(self.estimator, np.random.default_rng(drawn_seed(self.random_state)))
        self.estimator_.fit(X, labels)
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """(n_rows, 2) probabilities of ``classes_``."""
        return self.estimator_.predict_proba(X)

    def predict(self, X: Any) -> np.ndarray:
        """The likelier class of each row: (n_rows,) labels."""
        return self.estimator_.predict(X)
