"""The shortcut of scikit-learn's LinearSVC: exact minima instead of liblinear's iterations.

It replaces a LinearSVC that finds the minimum up to a known error: the primal solver for the squared hinge at a
tolerance of 1e-8 or less. At the default 1e-4 the labels are not those of the minimum. Nor are those of the dual
solver, which the hinge needs, if it runs out of iterations.
"""

from __future__ import annotations

from copy import copy
from numbers import Real
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.svm import LinearSVC
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import validate_data

from probcal.fast_paths.shortcut import signed_rows
from probcal.fast_paths.squared_hinge import SquaredHingePath

_TIGHT = 1e-8
_MIN_ROUNDS = 100_000
_FAR = 100.0
"""Limit for numbers in X and the constant column.

liblinear's tolerance applies to the whole gradient and value. Beyond this limit it can leave the coefficients of
smaller columns undetermined.
"""
_NUMBERS = ("tol", "max_iter", "C", "intercept_scaling")


def shortcut_of(estimator: LinearSVC) -> LinearSVCShortcut | None:
    """Return a shortcut for one problem of ``estimator``, or None if its labels could differ."""
    return LinearSVCShortcut() if usable(estimator) else None


def usable(estimator: Any) -> bool:
    """Return whether ``LinearSVCShortcut`` predicts the same labels as a fitted ``estimator``."""
    return (
        type(estimator) is LinearSVC
        and estimator.penalty == "l2"
        and estimator.loss == "squared_hinge"
        and (estimator.dual is False or estimator.dual == "auto")
        and estimator.multi_class == "ovr"
        and estimator.class_weight is None
        and estimator.verbose == 0
        and all(isinstance(getattr(estimator, name), Real) for name in _NUMBERS)
        and 0 < estimator.tol <= _TIGHT
        and estimator.max_iter >= _MIN_ROUNDS
        and 0 < estimator.C < np.inf
        and (not estimator.fit_intercept or 0 < estimator.intercept_scaling < np.inf)
    )


class LinearSVCShortcut:
    """Fit LinearSVC for many class weights, each from the nearest earlier solution."""

    def __init__(self) -> None:
        self._template: LinearSVC | None = None

    def fit(
        self, estimator: LinearSVC, X: Any, labels: np.ndarray, class_weights: np.ndarray, row_weights: Any
    ) -> list[LinearSVC | None]:
        """Return a fitted LinearSVC for each row of ``class_weights``, (k, 2), or None if its labels are not certain.

        X: (n_rows, n_columns) frame or array. labels: (n_rows,) of two classes. row_weights: (n_rows,) or None.
        ``margin_error_`` of each is the possible difference from liblinear's margin for a training row close to 0.
        Raises ValueError with LinearSVC's message for an X that LinearSVC rejects.
        """
        if issparse(X):
            return [None] * len(class_weights)
        if self._template is None:
            self._prepare(estimator, X, labels, row_weights)
        solved: list[LinearSVC | None] = [None] * len(class_weights)
        if self._is_far or not self._has_both or (self._is_wide and estimator.dual == "auto"):
            return solved
        solvable = np.flatnonzero(np.all((class_weights > 0) & np.isfinite(class_weights), axis=1))
        for place in solvable[np.argsort(_log_ratio(class_weights[solvable]), kind="stable")].tolist():
            solved[place] = self._classifier(estimator, class_weights[place])
        return solved

    def rows(self, classifiers: list[LinearSVC], X: Any) -> Any:
        """Return X as LinearSVC itself checks it for prediction, with its errors and warnings."""
        return validate_data(classifiers[0], X, accept_sparse="csr", reset=False)

    def margins(self, classifiers: list[LinearSVC], X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return the (n_rows, k) margins of the rows of X, (n_rows, n_columns), and their errors (k,)."""
        coefficients = np.concatenate([one.coef_ for one in classifiers])
        intercepts = np.array([np.ravel(one.intercept_)[0] for one in classifiers])
        errors = np.array([one.margin_error_ for one in classifiers])
        return safe_sparse_dot(X, coefficients.T, dense_output=True) + intercepts, errors

    def _prepare(self, estimator: LinearSVC, X: Any, labels: np.ndarray, row_weights: Any) -> None:
        template = clone(estimator)
        checked = validate_data(template, X, dtype=np.float64, order="C")
        template.classes_ = np.unique(labels)
        constant = float(estimator.intercept_scaling) if estimator.fit_intercept else None
        data = signed_rows(checked, np.asarray(labels) == template.classes_[1], row_weights, constant)
        self._is_far = max(checked.max(), -checked.min(), constant or 0.0) > _FAR
        self._is_wide, self._has_both = len(checked) < checked.shape[1], data.smallest_share() > 0
        self._path = SquaredHingePath(data, estimator.tol)
        self._template = template

    def _classifier(self, estimator: LinearSVC, class_weights: np.ndarray) -> LinearSVC | None:
        solved = self._path.solve(estimator.C * class_weights)
        if solved is None:
            return None
        w, n_steps, error = solved
        classifier: Any = copy(self._template)
        n_columns = classifier.n_features_in_
        classifier.coef_ = w[None, :n_columns].copy()
        classifier.intercept_ = estimator.intercept_scaling * w[n_columns:] if estimator.fit_intercept else 0.0
        classifier.n_iter_ = n_steps
        classifier.margin_error_ = error
        return classifier


def _log_ratio(class_weights: np.ndarray) -> np.ndarray:
    ratio: np.ndarray = np.log(class_weights[..., 1]) - np.log(class_weights[..., 0])
    return ratio
