"""Base class of the learners that pass everything to the gradient boosting of another library."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin


class GradientBoosting(ClassifierMixin, BaseEstimator, ABC):
    """Pass everything to the classifier of another library. Subclasses define ``_classifier``."""

    classifier_: Any

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the classifier of the library.

        Parameters
        ----------
        X : rows, (n_rows, n_columns) floats.
        y : labels, (n_rows,).
        sample_weight : weights, (n_rows,), or None for 1 each.
        """
        self.classifier_ = self._classifier().fit(np.asarray(X), y, sample_weight=sample_weight)
        self.classes_ = np.asarray(self.classifier_.classes_)
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return (n_rows, n_classes) probabilities in the order of ``classes_``."""
        return np.asarray(self.classifier_.predict_proba(np.asarray(X)), dtype=np.float64)

    def predict(self, X: Any) -> np.ndarray:
        """Return the most probable label of each row, (n_rows,)."""
        labels: np.ndarray = self.classes_[self.predict_proba(X).argmax(axis=1)]
        return labels

    @abstractmethod
    def _classifier(self) -> Any:
        """Return an unfitted classifier of the library."""


def missing(package: str, found: bool) -> str | None:
    """Return how to install ``package`` if it was not ``found``, or None."""
    return None if found else f'the package {package} is not installed; pip install "probcal[boosting]"'
