"""Gradient boosting of two other libraries: quiet, in one thread, and without files.

An experiment can name these classes without trusting the libraries, and says so if one is not installed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from importlib.util import find_spec
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin


class _GradientBoosting(ClassifierMixin, BaseEstimator, ABC):
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


class LightGBM(_GradientBoosting):
    """Gradient boosting of LightGBM (Ke et al. 2017), with its defaults.

    Parameters
    ----------
    n_estimators : number of trees, for each class if there are more than two.
    random_state : seed.

    Attributes
    ----------
    classes_ : (n_classes,) labels in sorted order.
    classifier_ : the fitted ``lightgbm.LGBMClassifier``.
    """

    def __init__(self, n_estimators: int = 100, *, random_state: int | None = None) -> None:
        self.n_estimators = n_estimators
        self.random_state = random_state

    @staticmethod
    def unmet_requirement() -> str | None:
        """Return what is missing, or None."""
        return _missing("lightgbm")

    def _classifier(self) -> Any:
        from lightgbm import LGBMClassifier

        return LGBMClassifier(
            n_estimators=self.n_estimators,
            random_state=self.random_state,
            n_jobs=1,
            verbosity=-1,
            deterministic=True,
            force_row_wise=True,
        )


class CatBoost(_GradientBoosting):
    """Gradient boosting of CatBoost (Prokhorenkova et al. 2018), with its defaults but for the number of trees.

    Parameters
    ----------
    iterations : number of trees. CatBoost's own default is 1,000, and it chooses its learning rate for the number.
    random_state : seed.

    Attributes
    ----------
    classes_ : (n_classes,) labels in sorted order.
    classifier_ : the fitted ``catboost.CatBoostClassifier``.
    """

    def __init__(self, iterations: int = 100, *, random_state: int | None = None) -> None:
        self.iterations = iterations
        self.random_state = random_state

    @staticmethod
    def unmet_requirement() -> str | None:
        """Return what is missing, or None."""
        return _missing("catboost")

    def _classifier(self) -> Any:
        from catboost import CatBoostClassifier

        return CatBoostClassifier(
            iterations=self.iterations,
            random_seed=self.random_state,
            thread_count=1,
            verbose=False,
            allow_writing_files=False,
        )


def _missing(package: str) -> str | None:
    return None if find_spec(package) else f'the package {package} is not installed; pip install "probcal[boosting]"'
