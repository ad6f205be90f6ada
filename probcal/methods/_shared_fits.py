"""Fits, and their scores, that several methods share in one run: five maps of a forest fit and score it once.

A method cannot notice whether its fit was the first: equal settings and rows give an equal fit, and the warnings of the
first are shown again.
"""

from __future__ import annotations

import pickle
import warnings
import weakref
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from probcal._validation import take_rows, unset_seeds

# How many fits are cached: those of five folds and two on all rows. Cells come learner by learner.
_MAX_FITS = 7
# Tables whose scores an estimator caches: the rows to calibrate on, and the test rows.
_MAX_TABLES = 2
_SCORE_METHODS = ("predict_proba", "decision_function")


class SharedFits:
    """Cache the fits on one set of training rows or parts of it, without weights.

    A fit is known by the class and parameters of the learner and the numbers of the rows. The training rows are
    recognised as the same object.
    """

    def __init__(self) -> None:
        self._cache: dict[tuple[bytes, bytes, bytes], _FitWithWarnings] = {}
        self._X: Any = None
        self._y: np.ndarray | None = None

    @contextmanager
    def of_rows(self, X: Any, y: np.ndarray) -> Iterator[None]:
        """Let ``fit_or_shared`` use these fits inside the block, for fits on all rows of ``X``."""
        self._X, self._y = X, y
        token = _ACTIVE.set(self)
        try:
            yield
        finally:
            _ACTIVE.reset(token)
            self._X = self._y = None

    def fitted(
        self, estimator: BaseEstimator, X: Any, labels: np.ndarray, rows: np.ndarray | None = None
    ) -> BaseEstimator:
        """Return ``estimator`` fitted on the ``rows`` of X and ``labels``, or an equal one that was fitted before."""
        same = X is self._X and self._y is not None and np.array_equal(labels, self._y)
        learner = fit_key(estimator) if same else None
        if learner is None:
            return _fit_rows(estimator, X, labels, rows)
        key = labels.tobytes(), b"" if rows is None else rows.tobytes(), learner
        if key not in self._cache:
            records: list[warnings.WarningMessage] = []
            try:
                with warnings.catch_warnings(record=True) as records:
                    warnings.simplefilter("always")
                    _fit_rows(estimator, X, labels, rows)
            except Exception:
                # a fit that fails is not cached, and its warnings are shown as well
                _warn_again(records)
                raise
            self._cache[key] = _FitWithWarnings(estimator, records)
            for old in list(self._cache)[:-_MAX_FITS]:
                del self._cache[old]
        fit = self._cache[key]
        _warn_again(fit.warned)
        return fit.estimator


class _FitWithWarnings(NamedTuple):
    estimator: BaseEstimator
    warned: list[warnings.WarningMessage]


def _warn_again(records: list[warnings.WarningMessage]) -> None:
    for record in records:
        warnings.warn_explicit(record.message, record.category, record.filename, record.lineno)


_ACTIVE: ContextVar[SharedFits | None] = ContextVar("shared fits", default=None)


def fit_or_shared(
    estimator: BaseEstimator, X: Any, labels: np.ndarray, rows: np.ndarray | None = None
) -> BaseEstimator:
    """Return ``estimator`` fitted on the ``rows`` (None for all), or an equal fit that was made before."""
    shared = _ACTIVE.get()
    fit: Callable[..., BaseEstimator] = _fit_rows if shared is None else shared.fitted
    return fit(estimator, X, labels, rows)


def _fit_rows(estimator: BaseEstimator, X: Any, labels: np.ndarray, rows: np.ndarray | None) -> BaseEstimator:
    return estimator.fit(X, labels) if rows is None else estimator.fit(take_rows(X, rows), labels[rows])


def fit_key(estimator: BaseEstimator) -> bytes | None:
    """Return the class and parameters of ``estimator`` as bytes. None if they do not identify the fit."""
    # without a seed, two fits on equal rows differ
    if unset_seeds(estimator):
        return None
    kind, parameters = type(estimator), sorted(estimator.get_params(deep=True).items(), key=lambda item: item[0])
    try:
        return pickle.dumps((kind.__module__, kind.__qualname__, parameters))
    except (pickle.PicklingError, AttributeError, TypeError):  # such as an anonymous function
        return None


class SharedScores(SharedFits):
    """Share fits, and what they predict for the same values. The warnings of a prediction are shown again."""

    def fitted(
        self, estimator: BaseEstimator, X: Any, labels: np.ndarray, rows: np.ndarray | None = None
    ) -> BaseEstimator:
        """Return what ``SharedFits.fitted`` returns. Its scores are computed once for the same rows."""
        learner = super().fitted(estimator, X, labels, rows)
        if any(fit.estimator is learner for fit in self._cache.values()):
            for name in _SCORE_METHODS:
                if name not in vars(learner) and hasattr(learner, name):
                    setattr(learner, name, _CachedCall(learner, name))
        return learner


class _CachedScores(NamedTuple):
    columns: Any
    values: np.ndarray
    scores: np.ndarray
    warned: list[warnings.WarningMessage]

    def are_of(self, columns: Any, values: np.ndarray) -> bool:
        same_names = self.columns is columns or (self.columns is not None and bool(self.columns.equals(columns)))
        return same_names and np.array_equal(self.values, values)


class _CachedCall:
    """Call a method of an estimator, and return the same result for the same values."""

    def __init__(self, estimator: BaseEstimator, name: str) -> None:
        self._estimator = weakref.ref(estimator)  # which holds this object
        self._name = name
        self._cache: list[_CachedScores] = []

    def __call__(self, X: Any) -> Any:
        columns = getattr(X, "columns", None)
        values = X if columns is None else X.to_numpy()
        if not isinstance(values, np.ndarray) or values.dtype.kind != "f":
            return self._compute(X)
        for cached in self._cache:
            if cached.are_of(columns, values):
                _warn_again(cached.warned)
                # a copy, because the caller may write into its scores
                return cached.scores.copy()
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            scores = self._compute(X)
        _warn_again(warned)
        # a copy, because rows that are changed in place later would still be equal to themselves
        self._cache = [*self._cache, _CachedScores(columns, values.copy(), np.array(scores), warned)][-_MAX_TABLES:]
        return scores

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._estimator(), self._name)  # a copy of the estimator caches for itself

    def _compute(self, X: Any) -> Any:
        estimator = self._estimator()
        return getattr(type(estimator), self._name)(estimator, X)


@dataclass(frozen=True, eq=False)
class Repetition:
    """Hold the rows of a data set in their order, and which of its repetitions this is.

    ``X`` is (n_rows, n_columns), ``y`` and ``labels`` are (n_rows,): two classes, and those that the outer folds
    stratify. Repetitions with the same ``key`` and ``number`` have the same rows.
    """

    key: Hashable
    X: np.ndarray
    y: np.ndarray
    labels: np.ndarray
    folds: int
    number: int
    draw_folds: Callable[[np.ndarray, int, np.random.RandomState], np.ndarray]
    """Function that draws the fold of each row from labels, a number of folds and a stream."""


class RepetitionFits(SharedFits):
    """Share the fits of one fold, and tell the method that is fitted of its ``repetition``.

    A method needs it if the folds of a repetition follow one another in one random stream.
    """

    def __init__(self, repetition: Repetition, fold: int) -> None:
        super().__init__()
        self.repetition = repetition
        self.fold = fold


def present_fold() -> tuple[Repetition, int] | None:
    """Return the repetition and the fold that the runner fits at present, or None where there is none."""
    active = _ACTIVE.get()
    return (active.repetition, active.fold) if isinstance(active, RepetitionFits) else None
