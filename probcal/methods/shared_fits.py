"""One fit of a learner for all methods that would fit it alike on the same rows."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from probcal.seeds import open_seeds

_MOST = 2
"""Fits that are kept: cells come learner by learner, and a forest is large."""


class SharedFits:
    """The fits on one set of training rows, without weights, each by the class and the parameters of its learner.

    Rows are known by being the same object, so that a sample of them is never taken for all. What the fit warned of is
    warned of anew each time it is used: no method can tell whether it was the first.
    """

    def __init__(self) -> None:
        self._kept: dict[tuple[bytes, bytes], _Fit] = {}
        self._X: Any = None
        self._y: np.ndarray | None = None

    @contextmanager
    def of_rows(self, X: Any, y: np.ndarray) -> Iterator[None]:
        """Within it, ``fit_or_shared`` uses these fits, for the learner's fit on all rows of ``X``."""
        self._X, self._y = X, y
        token = _ACTIVE.set(self)
        try:
            yield
        finally:
            _ACTIVE.reset(token)
            self._X = self._y = None

    def fitted(self, estimator: BaseEstimator, X: Any, labels: np.ndarray) -> BaseEstimator:
        """``estimator`` fitted on X and ``labels``, or another one that was fitted alike."""
        learner = _known_by(estimator) if X is self._X and np.array_equal(labels, self._y) else None  # type: ignore[arg-type]  # None is equal to no array
        if learner is None:
            return estimator.fit(X, labels)
        key = labels.tobytes(), learner
        if key not in self._kept:
            given: list[warnings.WarningMessage] = []
            try:
                with warnings.catch_warnings(record=True) as given:
                    warnings.simplefilter("always")
                    estimator.fit(X, labels)
            except Exception:
                _warn(given)
                raise
            self._kept[key] = _Fit(estimator, given)
            for old in list(self._kept)[:-_MOST]:
                del self._kept[old]
        found = self._kept[key]
        _warn(found.warned)
        return found.estimator


class _Fit(NamedTuple):
    estimator: BaseEstimator
    warned: list[warnings.WarningMessage]


def _warn(of: list[warnings.WarningMessage]) -> None:
    for one in of:
        warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)


_ACTIVE: ContextVar[SharedFits | None] = ContextVar("shared fits", default=None)


def fit_or_shared(estimator: BaseEstimator, X: Any, labels: np.ndarray) -> BaseEstimator:
    """``estimator.fit(X, labels)``, or a fit that nothing would tell from it, where one is at hand."""
    shared = _ACTIVE.get()
    return estimator.fit(X, labels) if shared is None else shared.fitted(estimator, X, labels)


def _known_by(estimator: BaseEstimator) -> bytes | None:
    """The class and the parameters as they would be stored; None where these cannot tell one fit from another."""
    if open_seeds(estimator):
        return None
    kind, parameters = type(estimator), sorted(estimator.get_params(deep=True).items(), key=lambda one: one[0])
    try:
        return pickle.dumps((kind.__module__, kind.__qualname__, parameters))
    except (pickle.PicklingError, AttributeError, TypeError):  # such as a function without a name
        return None
