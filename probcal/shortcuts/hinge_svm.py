"""The shortcut of HingeSVM: the same minima, each sought from one near it."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import validate_data

from probcal.shortcuts.hinge import Solution
from probcal.shortcuts.hinge_path import HingePath
from probcal.shortcuts.signed_rows import signed_rows


class HingeSVMShortcut:
    """HingeSVM for many class weights. One object serves one problem."""

    def __init__(self) -> None:
        self._template: Any = None

    def fit(
        self, estimator: Any, X: Any, labels: np.ndarray, class_weights: np.ndarray, row_weights: np.ndarray | None
    ) -> list[Any]:
        """A fitted copy of ``estimator``, a HingeSVM, for each row of ``class_weights``, (k, 2).

        None where the minimum was not reached, or leaves the intercept some room. ``margin_error_`` of each is how
        far its margin of a training row close to 0 may be from what ``estimator`` itself would find. Raises
        ValueError for an X that it refuses.
        """
        if self._template is None:
            template = clone(estimator)
            checked = validate_data(template, X, dtype=np.float64, order="C")
            template.classes_ = np.unique(labels)
            data = signed_rows(checked, np.asarray(labels) == template.classes_[1], row_weights, 1.0)
            self._able, self._path, self._template = data.smallest_share() > 0, HingePath(data), template
        found: list[Any] = [None] * len(class_weights)
        able = np.flatnonzero(np.all((class_weights > 0) & np.isfinite(class_weights), axis=1) & self._able)
        ratios = np.log(class_weights[able, 1]) - np.log(class_weights[able, 0])
        for place in able[np.argsort(ratios, kind="stable")].tolist():
            solution = self._path.solve(estimator.C * class_weights[place])
            if solution.converged and self._path.room(solution) == (0.0, 0.0):
                found[place] = self._classifier(solution)
        return found

    def margins(self, classifiers: list[Any], X: Any) -> tuple[np.ndarray, np.ndarray]:
        """(n_rows, k) margins of the rows of X, (n_rows, n_columns), and (k,) their errors."""
        coefficients = np.concatenate([one.coef_ for one in classifiers])
        intercepts = np.concatenate([one.intercept_ for one in classifiers])
        errors = np.array([one.margin_error_ for one in classifiers])
        return np.asarray(X, dtype=np.float64) @ coefficients.T + intercepts, errors

    def _classifier(self, solution: Solution) -> Any:
        classifier = copy(self._template)
        classifier.coef_, classifier.intercept_ = solution.w[None, :-1].copy(), solution.w[-1:].copy()
        classifier.n_iter_ = solution.n_steps
        classifier.margin_error_ = self._path.margin_error(solution)
        return classifier
