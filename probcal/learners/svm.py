"""The linear support vector machine of the papers (Weka's SMO), solved exactly, alone or for many class weights."""

from __future__ import annotations

from copy import copy
from numbers import Real
from typing import Any
from warnings import warn

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model._base import LinearClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from probcal._classes import two_classes
from probcal._validation import row_weights
from probcal.fast_paths.fast_path import signed_rows
from probcal.fast_paths.hinge_path import HingePath, Point


class HingeSVMShortcut:
    """Fit HingeSVM for many class weights, each from the nearest earlier solutions."""

    def __init__(self) -> None:
        self._path: HingePath | None = None

    def fit(
        self, estimator: HingeSVM, X: Any, labels: np.ndarray, class_weights: np.ndarray, row_weights: np.ndarray | None
    ) -> list[HingeSVM | None]:
        """Return a fitted HingeSVM for each row of ``class_weights``, (k, 2), or None if its labels are not certain.

        ``margin_error_`` of each is the largest error of the margin of a training row. Raises ValueError as
        ``HingeSVM.fit``.
        """
        if self._path is None:  # one path for all calls, because later solutions start from earlier ones
            self._template = clone(estimator)
            self._path = self._template._path(X, labels, row_weights)
        solved: list[HingeSVM | None] = [None] * len(class_weights)
        # a class of weight 0 or infinity has no minimum here: the learner itself says so
        for place in np.flatnonzero(np.all((class_weights > 0) & np.isfinite(class_weights), axis=1)).tolist():
            solution = self._path.solve(estimator.C * class_weights[place])
            if solution.margin_error is not None:
                # the template has the classes and the names of the columns
                classifier = copy(self._template)._take(solution)
                classifier.margin_error_ = solution.margin_error
                solved[place] = classifier
        return solved

    def rows(self, classifiers: list[HingeSVM], X: Any) -> Any:
        """Return ``X`` as HingeSVM itself checks it for prediction, with its errors and warnings."""
        return validate_data(classifiers[0], X, dtype=np.float64, reset=False)

    def margins(self, classifiers: list[HingeSVM], X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return the (n_rows, k) margins of ``rows``, above 0 for the second class, and their errors (k,)."""
        coefficients = np.concatenate([one.coef_ for one in classifiers])
        intercepts = np.concatenate([one.intercept_ for one in classifiers])
        # twice, because the learner's own fit may be off by the same error
        return X @ coefficients.T + intercepts, np.array([2 * one.margin_error_ for one in classifiers])


class HingeSVM(LinearClassifierMixin, BaseEstimator):
    """Fit a linear support vector machine for two classes, with an intercept that is not penalised.

    It minimises ``|w|^2 / 2`` + C sum_i weight_i max(0, 1 - y_i (x_i'w + b)), y_i = -1 or 1. Weka's SMO and sklearn's
    SVC(kernel="linear") do not penalise the intercept b either, but LinearSVC does. If b is free between two bounds,
    the midpoint is taken. Scale columns of different ranges first.

    Parameters
    ----------
    C : float, default=1.0
        Cost of a margin that is 1 too small, above 0.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        Labels in sorted order.
    coef_ : ndarray of shape (1, n_columns)
        Coefficients w of the columns.
    intercept_ : ndarray of shape (1,)
        Intercept b.
    n_iter_ : int
        Number of Newton steps.
    n_features_in_ : int
        Number of columns of ``X``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns of ``X``, if it has names.

    See Also
    --------
    sklearn.svm.SVC : Fits the same model with ``kernel="linear"``, and other kernels.
    sklearn.svm.LinearSVC : Penalises the intercept.
    probcal.SigmoidClassifier : Turns its scores into probabilities.
    probcal.ProbingClassifier : Turns its labels into probabilities.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from sklearn.svm import SVC
    >>> from probcal.learners import HingeSVM
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> svm = HingeSVM(C=0.1).fit(scale(X), y)
    >>> svm.coef_[0, :3].round(3)
    array([-0.224, -0.299, -0.22 ])
    >>> SVC(kernel="linear", C=0.1, tol=1e-6).fit(scale(X), y).coef_[0, :3].round(3)
    array([-0.224, -0.299, -0.22 ])
    """

    classes_: np.ndarray
    coef_: np.ndarray
    intercept_: np.ndarray
    margin_error_: float
    class_weight_shortcut = HingeSVMShortcut

    def __init__(self, C: float = 1.0) -> None:
        self.C = C

    def fit(self, X: Any, y: Any, sample_weight: np.ndarray | None = None) -> HingeSVM:
        """Fit the machine.

        The margins of the rows that determine the boundary are exact to 1e-11. If that is not reached, a
        ConvergenceWarning says so and the nearest point is kept. Rows of very different size can cause that.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_rows, n_columns)
            Finite numbers, not sparse.
        y : array-like of shape (n_rows,)
            Labels of two classes.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows, not negative. None means weight 1 for each row.

        Returns
        -------
        HingeSVM
            The classifier itself.

        Raises
        ------
        ValueError
            If ``C`` is not above 0, or ``X`` holds missing or infinite values. Also if ``y`` does not hold exactly two
            classes, a weight is invalid, or all weights of a class are 0.
        TypeError
            If ``X`` is sparse.
        """
        solution = self._path(X, y, sample_weight).solve(np.array([self.C, self.C]))
        if not solution.converged:
            warn(
                f"HingeSVM did not reach its minimum: margins are off by up to {solution.residual:.1e}; scale the "
                "columns of X, or take a smaller C",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self._take(solution)

    def _path(self, X: Any, y: Any, sample_weight: Any) -> HingePath:
        """Return the problems of all class weights, after checking what ``fit`` is given."""
        if not isinstance(self.C, Real) or not 0 < self.C < np.inf:
            raise ValueError(f"C must be a number above 0, not {self.C!r}")
        checked = validate_data(self, X, dtype=np.float64, order="C")
        labels, self.classes_ = two_classes(checked, y)
        second = labels == self.classes_[1]
        weights = row_weights(sample_weight, len(labels))
        for of_class, name in ((~second, self.classes_[0]), (second, self.classes_[1])):
            if weights is not None and not weights[of_class].any():
                raise ValueError(f"sample_weight is zero for all rows of class {name}, so y holds one class only")
        return HingePath(signed_rows(checked, second, weights, 1.0))

    def _take(self, solution: Point) -> HingeSVM:
        # copies, so that a stored classifier does not keep the arrays of the search
        self.coef_, self.intercept_ = solution.w[None, :-1].copy(), solution.w[-1:].copy()
        self.n_iter_ = solution.n_steps
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the margin of each row.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_rows, n_columns)
            Finite numbers, in the columns of ``fit``.

        Returns
        -------
        ndarray of shape (n_rows,)
            Margins. They are above 0 for the second class.
        """
        check_is_fitted(self)
        checked = validate_data(self, X, dtype=np.float64, reset=False)
        margins: np.ndarray = checked @ self.coef_[0] + self.intercept_[0]
        return margins

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
