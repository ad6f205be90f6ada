"""The linear support vector machine of the papers (Weka's SMO), solved to the last digits."""

from __future__ import annotations

from numbers import Real
from typing import Any
from warnings import warn

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from probcal.learners.hinge import Hinge
from probcal.methods.training_set import row_weights, two_classes
from probcal.shortcuts.signed_rows import signed_rows


class HingeSVM(ClassifierMixin, BaseEstimator):
    """The minimum of |w|^2 / 2 + C sum_i weight_i max(0, 1 - y_i (x_i'w + b)), y_i = -1 or 1. Two classes.

    As in Weka's SMO and sklearn's SVC(kernel="linear"), and not in LinearSVC, the intercept b is not penalised.
    Where b may lie anywhere between two bounds, it lies halfway. Columns of unlike range are best scaled before.

    Parameters
    ----------
    C : above 0, what a margin short of 1 by 1 costs.

    Attributes: ``classes_`` (2,), ``coef_`` (1, n_columns), ``intercept_`` (1,), ``n_iter_`` Newton steps,
    ``n_features_in_``, ``feature_names_in_`` where X had names.
    """

    def __init__(self, C: float = 1.0) -> None:
        self.C = C

    def fit(self, X: Any, y: Any, sample_weight: np.ndarray | None = None) -> HingeSVM:
        """X: (n_rows, n_columns); y: (n_rows,); sample_weight: (n_rows,) not negative, 1 unless given.

        Margins of the rows that hold the boundary are exact to 1e-11. Where that is not reached, which rows of
        very unlike size may bring about, a ConvergenceWarning says so and the nearest point stands.
        Raises ValueError for a C not above 0, missing or infinite values, sparse X, weights that are not as said or
        leave a class without any, and all but two classes.
        """
        if not isinstance(self.C, Real) or not 0 < self.C < np.inf:
            raise ValueError(f"C must be a number above 0, not {self.C!r}")
        checked = validate_data(self, X, dtype=np.float64, order="C")
        labels, self.classes_ = two_classes(checked, y)
        second = labels == self.classes_[1]
        weights = row_weights(sample_weight, len(labels))
        for of_class, name in ((~second, self.classes_[0]), (second, self.classes_[1])):
            if weights is not None and not weights[of_class].any():
                raise ValueError(f"sample_weight is zero for all rows of class {name}, so y holds one class only")
        problem = Hinge(signed_rows(checked, second, weights, 1.0), float(self.C))
        solution = problem.minimise()
        if not solution.converged:
            warn(
                f"HingeSVM did not reach its minimum: margins are off by up to {solution.residual:.1e}; scale the "
                "columns of X, or take a smaller C",
                ConvergenceWarning,
                stacklevel=2,
            )
        down, up = problem.room(solution)
        self.coef_, self.intercept_ = solution.w[None, :-1].copy(), solution.w[-1:] + (up - down) / 2
        self.n_iter_ = solution.n_steps
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """(n_rows,) margins, above 0 for the second class."""
        check_is_fitted(self)
        return validate_data(self, X, dtype=np.float64, reset=False) @ self.coef_[0] + self.intercept_[0]  # type: ignore[has-type]

    def predict(self, X: Any) -> np.ndarray:
        """(n_rows,) labels; a margin of 0 goes to the first class."""
        margins = self.decision_function(X)
        return self.classes_[(margins > 0).astype(int)]  # type: ignore[has-type]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
