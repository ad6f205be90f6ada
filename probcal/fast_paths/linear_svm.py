"""The shortcut of scikit-learn's LinearSVC: exact minima instead of rounds of liblinear.

It stands for a LinearSVC whose own answer is the minimum up to a known error: the primal solver for the squared
hinge at a tolerance of 1e-8 or less. At the default 1e-4 the labels are not the minimum's, nor are those of the dual
solver, which the hinge needs, where it runs out of rounds.
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
"""Of a number in X or the constant column: beyond it liblinear's tolerance, which is of the whole gradient and value,
can leave coefficients of smaller columns anywhere."""
_NUMBERS = ("tol", "max_iter", "C", "intercept_scaling")


def shortcut_of(estimator: LinearSVC) -> LinearSVCShortcut | None:
    """A shortcut for a problem of ``estimator``'s, or None where it would not give the same labels."""
    return LinearSVCShortcut() if usable(estimator) else None


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
        and all(isinstance(getattr(estimator, name), Real) for name in _NUMBERS)
        and 0 < estimator.tol <= _TIGHT
        and estimator.max_iter >= _MIN_ROUNDS
        and 0 < estimator.C < np.inf
        and (not estimator.fit_intercept or 0 < estimator.intercept_scaling < np.inf)
    )


class LinearSVCShortcut:
    """LinearSVC for many class weights, each solved from the nearest one before it."""

    def __init__(self) -> None:
        self._template: LinearSVC | None = None

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
        if self._is_far or not self._has_both or (self._is_wide and estimator.dual == "auto"):
            return found
        able = np.flatnonzero(np.all((class_weights > 0) & np.isfinite(class_weights), axis=1))
        for place in able[np.argsort(_log_ratio(class_weights[able]), kind="stable")].tolist():
            found[place] = self._classifier(estimator, class_weights[place])
        return found

    def rows(self, classifiers: list[LinearSVC], X: Any) -> Any:
        """X as LinearSVC itself takes the rows it is asked about, refused or warned of as there."""
        return validate_data(classifiers[0], X, accept_sparse="csr", reset=False)

    def margins(self, classifiers: list[LinearSVC], X: Any) -> tuple[np.ndarray, np.ndarray]:
        """(n_rows, k) margins of the rows of X, (n_rows, n_columns), and (k,) their errors."""
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
        found = self._path.solve(estimator.C * class_weights)
        if found is None:
            return None
        w, n_steps, error = found
        classifier = copy(self._template)
        n_columns = classifier.n_features_in_  # type: ignore[union-attr]
        classifier.coef_ = w[None, :n_columns].copy()  # type: ignore[union-attr]
        classifier.intercept_ = estimator.intercept_scaling * w[n_columns:] if estimator.fit_intercept else 0.0  # type: ignore[union-attr]
        classifier.n_iter_ = n_steps  # type: ignore[union-attr]
        classifier.margin_error_ = error  # type: ignore[union-attr]
        return classifier


def _log_ratio(class_weights: np.ndarray) -> np.ndarray:
    return np.log(class_weights[..., 1]) - np.log(class_weights[..., 0])
