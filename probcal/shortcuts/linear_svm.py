"""The shortcut of scikit-learn's LinearSVC with the squared hinge: exact minima instead of rounds of liblinear.

It stands for a LinearSVC whose own answer is the minimum up to a known error: the primal solver of
liblinear at a tolerance of 1e-8 or less. At the default 1e-4 the labels are not the minimum's.
"""

from __future__ import annotations

from bisect import bisect, insort
from copy import copy
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.svm import LinearSVC
from sklearn.utils.validation import validate_data

from probcal.shortcuts.signed_rows import signed_rows
from probcal.shortcuts.squared_hinge import Minimum, SquaredHinge

_TIGHT = 1e-8
_MIN_ROUNDS = 1000
_NEAR_SEPARABLE = 0.02
"""Where the minimum is below this part of what the intercept alone attains, liblinear may run out of rounds."""
_SAFETY = 2.0
_BLOCK = 4096


def usable(estimator: Any) -> bool:
    """Whether ``LinearSVCShortcut`` says what ``estimator`` would say once fitted."""
    return (
        type(estimator) is LinearSVC
        and estimator.penalty == "l2"
        and estimator.loss == "squared_hinge"
        and (estimator.dual is False or estimator.dual == "auto")
        and estimator.multi_class == "ovr"
        and estimator.class_weight is None
        and estimator.verbose == 0
        and 0 < estimator.tol <= _TIGHT
        and estimator.max_iter >= _MIN_ROUNDS
        and 0 < estimator.C < np.inf
        and (not estimator.fit_intercept or 0 < estimator.intercept_scaling < np.inf)
    )


class LinearSVCShortcut:
    """LinearSVC for many class weights: Newton from the nearest one solved, see ``SquaredHinge``."""

    def __init__(self) -> None:
        self._template: LinearSVC | None = None
        self._solved: list[tuple[float, np.ndarray]] = []

    def fit(
        self, estimator: LinearSVC, X: Any, labels: np.ndarray, class_weights: np.ndarray, row_weights: Any
    ) -> list[LinearSVC | None]:
        """A fitted LinearSVC for each row of ``class_weights``, (k, 2), or None where it cannot be vouched for.

        X: (n_rows, n_columns) frame or array; labels: (n_rows,) of two kinds; row_weights: (n_rows,) or None.
        ``margin_error_`` of each is how far its margin of a training row close to 0 may be from liblinear's.
        Raises ValueError for an X that LinearSVC refuses, with its message.
        """
        if issparse(X):
            return [None] * len(class_weights)
        if self._template is None:
            self._prepare(estimator, X, labels, row_weights)
        found: list[LinearSVC | None] = [None] * len(class_weights)
        if (estimator.dual == "auto" and self._n_rows < self._template.n_features_in_) or self._share == 0:
            return found
        able = np.flatnonzero(np.all((class_weights > 0) & np.isfinite(class_weights), axis=1))
        for place in able[np.argsort(_log_ratio(class_weights[able]), kind="stable")].tolist():
            found[place] = self._classifier(estimator, class_weights[place])
        return found

    def margins(self, classifiers: list[LinearSVC], X: Any) -> tuple[np.ndarray, np.ndarray]:
        """(n_rows, k) margins of the rows of X, (n_rows, n_columns), and (k,) their errors."""
        coefficients = np.concatenate([one.coef_ for one in classifiers])
        intercepts = np.array([np.ravel(one.intercept_)[0] for one in classifiers])
        errors = np.array([one.margin_error_ for one in classifiers])
        return np.asarray(X, dtype=np.float64) @ coefficients.T + intercepts, errors

    def _prepare(self, estimator: LinearSVC, X: Any, labels: np.ndarray, row_weights: Any) -> None:
        template = clone(estimator)
        checked = validate_data(template, X, dtype=np.float64, order="C")
        template.classes_ = np.unique(labels)
        constant = float(estimator.intercept_scaling) if estimator.fit_intercept else None
        data = signed_rows(checked, np.asarray(labels) == template.classes_[1], row_weights, constant)
        self._n_rows, self._share = len(checked), data.smallest_share()
        self._problem = SquaredHinge(data)
        self._template = template

    def _classifier(self, estimator: LinearSVC, class_weights: np.ndarray) -> LinearSVC | None:
        costs = estimator.C * class_weights
        ratio = float(_log_ratio(class_weights))
        minimum = self._problem.minimise(costs, self._start(ratio))
        if minimum is None:
            return None
        insort(self._solved, (ratio, minimum.w), key=lambda pair: pair[0])
        error = self._margin_error(estimator, costs, minimum)
        if error is None:
            return None
        classifier = copy(self._template)
        n_columns = classifier.n_features_in_
        classifier.coef_ = minimum.w[None, :n_columns].copy()
        classifier.intercept_ = estimator.intercept_scaling * minimum.w[n_columns:] if estimator.fit_intercept else 0.0
        classifier.n_iter_ = minimum.n_steps
        classifier.margin_error_ = error
        return classifier

    def _start(self, ratio: float) -> np.ndarray:
        """On the line between the solutions of the nearest lower and higher ratio of the weights."""
        if not self._solved:
            return np.zeros(self._problem.n_columns)
        place = bisect(self._solved, ratio, key=lambda pair: pair[0])
        (low, below), (high, above) = self._solved[max(place - 1, 0)], self._solved[min(place, len(self._solved) - 1)]
        part = (ratio - low) / (high - low) if low < ratio < high else float(ratio >= high)
        return below + part * (above - below)

    def _margin_error(self, estimator: LinearSVC, costs: np.ndarray, minimum: Minimum) -> float | None:
        """How far the margins of the training rows that liblinear might put on the other side can differ.

        liblinear ends at a gradient g with |g| at most tol times the share of the rarer class times the gradient
        at 0, or at a step that gains less than 1e-12 of the value, where |g| before it can have been
        sqrt(2e-12 * value * curvature) and is a tenth of it after (tron.cpp); the mean curvature is taken for that
        along g. To first order a margin then is x' H^-1 g off, so at most |H^-1 x| |g|.
        None where liblinear is likely to run out of rounds.
        """
        problem = self._problem
        if minimum.value < _NEAR_SEPARABLE * problem.value_of_intercept(costs):
            return None
        at_zero = float(np.linalg.norm(problem.gradient_at_zero(costs)))
        curvature = np.trace(minimum.hessian) / problem.n_columns
        liblinear = max(estimator.tol * self._share * at_zero, 0.1 * np.sqrt(2e-12 * minimum.value * curvature))
        gradient = _SAFETY * liblinear + minimum.residual
        inverse = cho_solve(cho_factor(minimum.hessian), np.eye(problem.n_columns))
        distances = np.abs(minimum.margins)
        near = np.flatnonzero(distances <= gradient * np.linalg.norm(inverse) * problem.largest_norm)
        largest = 0.0
        for at in range(0, len(near), _BLOCK):
            block = near[at : at + _BLOCK]
            errors = gradient * np.linalg.norm(problem.rows[block] @ inverse, axis=1)
            largest = max(largest, errors[distances[block] <= errors].max(initial=0.0))
        rounding = 4 * np.finfo(float).eps * problem.n_columns * problem.largest_norm * np.linalg.norm(minimum.w)
        return float(largest + rounding)


def _log_ratio(class_weights: np.ndarray) -> np.ndarray:
    return np.log(class_weights[..., 1]) - np.log(class_weights[..., 0])
