"""The fast path for learners whose class densities do not depend on the class weights, such as GaussianNB.

By Bayes' rule the log-odds of a row are log f(x|1) - log f(x|0) + log P(1) - log P(0). If class weights change only the
last two terms, one fit gives the classifiers of all weights by a shift of its log-odds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.naive_bayes import GaussianNB

LogOdds = Callable[..., tuple[np.ndarray, np.ndarray | float]]
"""From a fitted learner and X to ((n_rows,) log-odds of the second class in nats, their possible rounding errors)."""


class ShiftedClassifier(ClassifierMixin, BaseEstimator):
    """Shift the log-odds of a fitted classifier, as other weights of its two classes would.

    Parameters
    ----------
    base : classifier
        Fitted classifier.
    log_odds : callable
        Takes ``base`` and ``X``. It returns the log-odds of the second class in nats, of shape (n_rows,), and their
        possible rounding errors.
    shift : float
        Shift of the log-odds, in nats.
    """

    def __init__(self, base: Any, log_odds: LogOdds, shift: float) -> None:
        self.base = base
        self.log_odds = log_odds
        self.shift = shift

    @property
    def classes_(self) -> np.ndarray:
        """Return the labels of ``base``."""
        classes: np.ndarray = self.base.classes_
        return classes

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the log-odds of the second class in nats, (n_rows,)."""
        return self.log_odds(self.base, X)[0] + self.shift

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probabilities of the classes, (n_rows, 2)."""
        log_odds = self.decision_function(X)
        return np.column_stack([expit(-log_odds), expit(log_odds)])

    def predict(self, X: Any) -> np.ndarray:
        """Return the label of each row, (n_rows,). The first class wins a tie."""
        return self.classes_[(self.decision_function(X) > 0).astype(np.intp)]


class PriorShift:
    """Fit once for all class weights.

    Parameters
    ----------
    log_odds : callable
        Takes the learner, fitted on the rows without class weights, and ``X``. It returns the log-odds of the second
        class in nats, of shape (n_rows,), and their possible rounding errors: a float, or of shape (n_rows,).
    log_prior_odds : callable
        Takes the total weights of the first and of the second class. It returns what a fit with them adds to the
        log-odds, in nats.
    holds : callable, optional
        Takes ``X`` and these weights. It returns whether the weights change nothing else. The default returns True.
    """

    def __init__(
        self,
        log_odds: LogOdds,
        log_prior_odds: Callable[[float, float], float],
        holds: Callable[[Any, float, float], bool] = lambda X, first, second: True,
    ) -> None:
        self.log_odds, self._log_prior_odds, self._holds = log_odds, log_prior_odds, holds
        self._base: Any = None
        self._in_order = True
        self._totals: tuple[float, float] | None = None

    def fit(
        self, estimator: Any, X: Any, labels: np.ndarray, class_weights: np.ndarray, row_weights: np.ndarray | None
    ) -> list[ShiftedClassifier | None]:
        """Fit the learner once, and shift it for each row of ``class_weights``, (k, 2).

        None stands for weights for which ``holds`` is False. All are None if a class has total weight 0, or if the
        learner's ``classes_`` are not in sorted order.
        """
        if self._totals is None:
            weights = np.ones(len(labels)) if row_weights is None else row_weights
            second = labels == np.unique(labels)[1]
            self._totals = float(weights[~second].sum()), float(weights[second].sum())
        first, second = self._totals
        if min(first, second) <= 0 or not self._holds(X, first, second):
            return [None] * len(class_weights)
        if self._base is None:
            self._base = clone(estimator).fit(X, labels, sample_weight=row_weights)
            self._in_order = np.array_equal(self._base.classes_, np.unique(labels))
        if not self._in_order:  # its log-odds may be those of the first class
            return [None] * len(class_weights)
        # the base's log-odds contain those of its own weights
        own = self._log_prior_odds(*self._totals)
        return [
            ShiftedClassifier(self._base, self.log_odds, self._log_prior_odds(a * first, b * second) - own)
            if self._holds(X, a * first, b * second)
            else None
            for a, b in class_weights.tolist()
        ]

    def margins(self, classifiers: list[ShiftedClassifier], X: Any) -> tuple[np.ndarray, np.ndarray | float]:
        """Return the (n_rows, k) log-odds of the second class, and their possible rounding errors, (n_rows or 1, 1)."""
        log_odds, error = self.log_odds(classifiers[0].base, X)
        shifts = np.array([one.shift for one in classifiers])
        return log_odds[:, None] + shifts, np.reshape(error, (-1, 1))


# Share of a sum of squares, far above its rounding error.
_ROUNDING = 1e-10
# Share of a mean under other weights, far above its rounding error.
_OF_MEANS = 1e-13
# scikit-learn does not learn from a class whose rows weigh less than 1e-8 together.
_TOO_LIGHT = 1e-6


def make_fast_path(estimator: GaussianNB) -> PriorShift | None:
    """Return the fast path, or None if the user set ``priors``, which class weights do not change.

    The means and variances of a class depend on its own rows only. The value that GaussianNB adds to the variances
    depends on all rows alike.
    """
    return PriorShift(log_odds, _log_prior_odds, _holds) if estimator.priors is None else None


def log_odds(fitted: GaussianNB, X: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return ((n_rows,) log-odds of the second class in nats, (n_rows,) possible rounding errors).

    Suppose a mean is off by e. It moves the log-density of a row z standard deviations away by z e / sd, summed over
    the columns: by at most |z| |e / sd|. |z|^2 / 2 is the distance of the row's log-density from the highest.
    """
    joint = fitted.predict_joint_log_proba(X)
    highest = np.log(fitted.class_prior_) - np.log(2 * np.pi * fitted.var_).sum(axis=1) / 2
    # by rounding, a row at the mean can be above the highest
    z = np.sqrt(2 * np.maximum(highest - joint, 0))
    means = np.linalg.norm(fitted.theta_ / np.sqrt(fitted.var_), axis=1)
    error = _ROUNDING * (1 + np.abs(joint)) + _OF_MEANS * z * means
    return joint[:, 1] - joint[:, 0], error.sum(axis=1)


def _log_prior_odds(first: float, second: float) -> float:
    return math.log(second) - math.log(first)


def _holds(X: Any, first: float, second: float) -> bool:
    # scikit-learn sums float32 in float32, where the rounding of the weights matters
    kinds = X.dtypes.tolist() if hasattr(X, "dtypes") else [getattr(X, "dtype", np.dtype(float))]
    narrow = all(getattr(kind, "kind", "") == "f" and kind.itemsize < 8 for kind in kinds)
    return not narrow and min(first, second) > _TOO_LIGHT
