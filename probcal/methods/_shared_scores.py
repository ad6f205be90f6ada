"""Fits that are shared between methods, with their scores: a forest scores the same rows once for all its maps."""

from __future__ import annotations

import warnings
import weakref
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from probcal.methods._fitting import SharedFits, warn_again

_MOST = 2
"""Tables that an estimator remembers: the rows to calibrate on, and the test rows."""
_SCORES = ("predict_proba", "decision_function")


class SharedScores(SharedFits):
    """Share fits, and what they predict for the same values. The warnings of a prediction are shown again."""

    def fitted(
        self, estimator: BaseEstimator, X: Any, labels: np.ndarray, rows: np.ndarray | None = None
    ) -> BaseEstimator:
        """Return what ``SharedFits.fitted`` returns. Its scores are computed once for the same rows."""
        found = super().fitted(estimator, X, labels, rows)
        if any(one.estimator is found for one in self._kept.values()):
            for name in _SCORES:
                if name not in vars(found) and hasattr(found, name):
                    setattr(found, name, _CachedCall(found, name))
        return found


class _Scored(NamedTuple):
    columns: Any
    values: np.ndarray
    scores: np.ndarray
    warned: list[warnings.WarningMessage]


class _CachedCall:
    """Call a method of an estimator, and return the same result for the same values."""

    def __init__(self, estimator: BaseEstimator, name: str) -> None:
        self._estimator = weakref.ref(estimator)  # which holds this object
        self._name = name
        self._kept: list[_Scored] = []

    def __call__(self, X: Any) -> Any:
        columns = getattr(X, "columns", None)
        values = X if columns is None else X.to_numpy()
        if not isinstance(values, np.ndarray) or values.dtype.kind != "f":
            return self._compute(X)
        for one in self._kept:
            if _equal_names(one.columns, columns) and np.array_equal(one.values, values):
                warn_again(one.warned)
                return one.scores.copy()
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            scores = self._compute(X)
        warn_again(warned)
        self._kept = [*self._kept, _Scored(columns, values.copy(), np.array(scores), warned)][-_MOST:]
        return scores

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._estimator(), self._name)  # a copy of the estimator remembers for itself

    def _compute(self, X: Any) -> Any:
        estimator = self._estimator()
        return getattr(type(estimator), self._name)(estimator, X)


def _equal_names(one: Any, other: Any) -> bool:
    """Return whether the columns of two frames have the same names, or neither is of a frame."""
    return one is other or (one is not None and bool(one.equals(other)))
