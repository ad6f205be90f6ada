"""Base class of the learners that pass everything to the gradient boosting of another library."""

from __future__ import annotations

from abc import ABC, abstractmethod
from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from probcal._validation import label_array
from probcal.distribution import install_line


class GradientBoosting(ClassifierMixin, BaseEstimator, ABC):
    """Pass everything to the classifier of another library. Subclasses define ``_classifier``."""

    classifier_: Any

    def check_parameters(self) -> None:
        """Check that each parameter is a number, a generator or None.

        Raises
        ------
        ValueError
            If one is not.
        """
        # LightGBM gets its parameters in one line of text, so "0.1 forcedsplits_filename=FILE" would read a file
        for name, value in self.get_params(deep=False).items():
            if not isinstance(value, Real | np.random.RandomState | None):
                raise ValueError(f"{name} must be a number, not {value!r}")

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the classifier of the library to rows of numbers, (n_rows, n_columns), and labels, (n_rows,)."""
        self.check_parameters()
        # numbers of classes: CatBoost reads labels as floats, which merges large ones, and puts "10" after "9"
        self.classes_, codes = np.unique(label_array(y), return_inverse=True)
        self.classifier_ = self._classifier().fit(np.asarray(X), codes, sample_weight=sample_weight)
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probabilities of the classes, (n_rows, n_classes), in the order of ``classes_``."""
        check_is_fitted(self)
        return np.asarray(self.classifier_.predict_proba(np.asarray(X)), dtype=np.float64)

    def predict_proba_after(self, X: Any, n_trees: int) -> np.ndarray:
        """Return the probabilities of the first ``n_trees`` trees, (n_rows, n_classes), as if no more were fitted."""
        check_is_fitted(self)
        p = self.classifier_.predict_proba(np.asarray(X), **self._first_trees(n_trees))
        return np.asarray(p, dtype=np.float64)

    def predict(self, X: Any) -> np.ndarray:
        """Return the most probable label of each row, (n_rows,). The first class wins a tie."""
        p = self.predict_proba(X)
        labels: np.ndarray = self.classes_[p.argmax(axis=1)]
        return labels

    @abstractmethod
    def _classifier(self) -> Any:
        """Return an unfitted classifier of the library."""

    @staticmethod
    @abstractmethod
    def _first_trees(n_trees: int) -> dict[str, Any]:
        """Return the parameters of ``predict_proba`` of the library that use the first trees only."""


def missing(package: str, found: bool) -> str | None:
    """Return how to install ``package`` if it was not ``found``, or None."""
    return None if found else f"the package {package} is not installed; {install_line('boosting')}"
