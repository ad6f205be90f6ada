"""The interface of a fast path, the choice of the fast path of a learner, and the fast path of a Pipeline."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from probcal._validation import unset_seeds

# Class of scikit-learn -> the module whose make_fast_path handles it.
_HOMES = {
    "GaussianNB": "probcal.fast_paths.prior_shift",
    "LinearSVC": "probcal.fast_paths.linear_svm",
    "LogisticRegression": "probcal.fast_paths.logistic",
}
# Largest difference by rounding, as a share of the largest number of a column.
_ROUNDING = 1e-9


class FastPath(Protocol):
    """Fit a learner under many weights of its two classes at once. One object serves one problem.

    Your own learner can declare a fast path by an attribute ``class_weight_shortcut``. It is None or a function without
    arguments that returns a fast path, for instance its class.

    An optional method ``rows(classifiers, X)`` returns what is cut into blocks for ``margins``, and rejects an invalid
    ``X``. Without it ``X`` itself is cut.
    """

    def fit(
        self, estimator: Any, X: Any, labels: np.ndarray, class_weights: np.ndarray, row_weights: np.ndarray | None
    ) -> list[Any]:
        """Fit a classifier for each pair of class weights.

        The method is called again with other class weights and the same rows, as they are needed.

        Parameters
        ----------
        estimator : classifier
            Unfitted learner.
        X : array-like or DataFrame of shape (n_rows, n_columns)
            Training rows.
        labels : ndarray of shape (n_rows,)
            Labels of two classes.
        class_weights : ndarray of shape (k, 2)
            Weights of the first and of the second class.
        row_weights : ndarray of shape (n_rows,) or None
            Weights of the rows. None means weight 1 for each row.

        Returns
        -------
        list of classifier or None, of length k
            Each classifier has ``predict``. It must predict for every row the same label as ``estimator``, fitted on
            the same rows with ``sample_weight``. There the weight of a row is that of its class, times its row weight.
            None means that this cannot be guaranteed. The learner itself is then fitted.
        """
        ...

    def margins(self, classifiers: list[Any], X: Any) -> tuple[np.ndarray, np.ndarray | float]:
        """Return the margins of all classifiers, and their possible errors.

        If the margin of a training row may be off by more than its size, the learner itself is fitted instead.

        Parameters
        ----------
        classifiers : list of classifier, of length k
            Classifiers that ``fit`` returned.
        X : array-like or DataFrame of shape (n_rows, n_columns)
            A block of rows.

        Returns
        -------
        margins : ndarray of shape (n_rows, k)
            A margin above 0 predicts the second class.
        errors : float or ndarray
            Possible errors of the margins, not negative. An array has a shape that broadcasts to that of the margins.
        """
        ...


def transform_rows(fast_path: FastPath, classifiers: list[Any], X: Any) -> Any:
    """Return what ``margins`` of ``fast_path`` takes blocks of, for predictions on ``X``."""
    return fast_path.rows(classifiers, X) if hasattr(fast_path, "rows") else X


def make_fast_path(estimator: Any) -> FastPath | None:
    """Return the fast path of ``estimator``, or of the last step of a Pipeline, or None."""
    if type(estimator) is not Pipeline:
        return learner_fast_path(estimator)
    # a Pipeline with a memory writes at every fit, and a verbose one prints, which a shared fit would not do
    if len(estimator.steps) < 2 or estimator.memory is not None or estimator.verbose:
        return None
    # an earlier step that draws its own seed is another one at every fit
    last = None if unset_seeds(estimator[:-1]) else learner_fast_path(estimator.steps[-1][1])
    return PipelineFastPath(last) if last is not None else None


def learner_fast_path(estimator: Any) -> FastPath | None:
    """Return the fast path that ``estimator`` declares, the one for its scikit-learn class and parameters, or None."""
    if hasattr(estimator, "class_weight_shortcut"):
        declared: Callable[[], FastPath] | None = estimator.class_weight_shortcut
        return declared() if declared is not None else None
    home = _home(type(estimator))
    made: FastPath | None = import_module(home).make_fast_path(estimator) if home else None
    return made


def modules_for(kind: type) -> list[str]:
    """Return the modules that may implement the fast path of class ``kind``, except for one that it declares itself."""
    if kind is Pipeline:
        return list(_HOMES.values())
    home = _home(kind)
    return [home] if home else []


def _home(kind: type) -> str | None:
    """Return the module for a class of scikit-learn. A subclass, which may do something else, has none."""
    # a class of the same name in another package is another learner
    return _HOMES.get(kind.__name__) if kind.__module__.startswith("sklearn.") else None


class PipelineFastPath:
    """Fit the steps before the last one once, and then use the fast path of the last step.

    The earlier steps never see the weights, which a Pipeline passes to its last step. So each probe would fit them
    alike.
    """

    def __init__(self, last: FastPath) -> None:
        self._last = last
        self._steps: Pipeline | None = None
        self._learned_from: tuple[Any, Any] = (None, None)
        self._predicted_as: Any = None

    def fit(
        self, estimator: Pipeline, X: Any, labels: np.ndarray, class_weights: np.ndarray, row_weights: np.ndarray | None
    ) -> list[Pipeline | None]:
        """Return a Pipeline for each row of ``class_weights``, (k, 2). All share the fitted steps before the last."""
        if self._steps is None:
            steps = clone(estimator[:-1])
            self._learned_from = X, steps.fit_transform(X, labels)
            self._steps = steps
        name, learner = estimator.steps[-1]
        made = self._last.fit(clone(learner), self._learned_from[1], labels, class_weights, row_weights)
        return [None if one is None else Pipeline([*self._steps.steps, (name, one)]) for one in made]

    def rows(self, classifiers: list[Pipeline], X: Any) -> Any:
        """Return ``X`` as the last steps get it to predict."""
        transformed = self._train_rows() if X is self._learned_from[0] else classifiers[0][:-1].transform(X)
        return transform_rows(self._last, [one.steps[-1][1] for one in classifiers], transformed)

    def _train_rows(self) -> Any:
        """Return the training rows as the steps transform them later."""
        if self._predicted_as is None and self._steps is not None:
            X, fitted_on = self._learned_from
            # what fit_transform gave may differ: a TargetEncoder learns from the rows by cross-fitting
            transformed = self._steps.transform(X)
            # the very rows of the fit let the last step recognise them
            self._predicted_as = fitted_on if _differ_by_rounding(fitted_on, transformed) else transformed
        return self._predicted_as

    def margins(self, classifiers: list[Pipeline], X: Any) -> tuple[np.ndarray, np.ndarray | float]:
        """Return the margins of the last steps, for ``rows`` of X."""
        return self._last.margins([one.steps[-1][1] for one in classifiers], X)


def _differ_by_rounding(one: Any, other: Any) -> bool:
    """Return whether two tables of numbers are equal but for rounding. False if they are no numbers."""
    if issparse(one):
        difference, size = (abs(part).max(axis=0).toarray() for part in (one - other, one))
    else:
        try:
            one, other = np.asarray(one, dtype=np.float64), np.asarray(other, dtype=np.float64)
        except (TypeError, ValueError):
            return False
        difference, size = (np.abs(part).max(axis=0, initial=0) for part in (one - other, one))
    return bool((difference <= _ROUNDING * size).all())


@dataclass(frozen=True, eq=False)
class SignedRows:
    """Hold a copy of the rows, sorted by class, with a constant column. Rows of the first class are multiplied by -1.

    ``rows``: (n_rows, d). ``n_first``: number of rows of the first class. ``weights``: (n_rows,), or None for ones.
    """

    rows: np.ndarray
    n_first: int
    weights: np.ndarray | None

    def smallest_share(self) -> float:
        """Return the share of the rarer class among rows of positive weight. It is 0 if the class has no such rows."""
        above = np.ones(len(self.rows), dtype=bool) if self.weights is None else self.weights > 0
        first, second = (int(np.count_nonzero(part)) for part in (above[: self.n_first], above[self.n_first :]))
        return min(first, second) / max(first + second, 1)


def signed_rows(
    X: np.ndarray, is_second: np.ndarray, row_weights: np.ndarray | None, constant: float | None
) -> SignedRows:
    """Return the signed rows of ``X``, (n_rows, n_columns) float64. ``constant`` is the value of the last column."""
    n_first = len(X) - int(np.count_nonzero(is_second))
    rows = np.empty((len(X), X.shape[1] + (constant is not None)))
    order = np.argsort(is_second, kind="stable")
    np.take(X, order, axis=0, out=rows[:, : X.shape[1]])
    if constant is not None:
        rows[:, -1] = constant
    np.negative(rows[:n_first], out=rows[:n_first])
    weights = None if row_weights is None else np.asarray(row_weights, dtype=np.float64)[order]
    return SignedRows(rows, n_first, weights)
