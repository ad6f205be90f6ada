"""What a shortcut is, and which learner has one.

The shortcut for a Pipeline whose last step has one: the steps before it are fitted once.

They never see the weights, which a Pipeline hands to its last step, so that each probe's would learn the same.

The rows of a two-class problem as a linear machine sees them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from probcal._validation import open_seeds

_HOMES = {
    "GaussianNB": "probcal.fast_paths.prior_shift",
    "LinearSVC": "probcal.fast_paths.linear_svm",
    "LogisticRegression": "probcal.fast_paths.logistic",
}
"""Class of scikit-learn -> the module whose ``shortcut_of`` knows of it."""


class Shortcut(Protocol):
    """How a learner is fitted under many weights of its two classes at once. One object serves one problem.

    A learner of your own declares one by an attribute ``class_weight_shortcut``: a function without arguments that
    gives such an object, for instance its class; or None.
    """

    def fit(
        self, estimator: Any, X: Any, labels: np.ndarray, class_weights: np.ndarray, row_weights: np.ndarray | None
    ) -> list[Any]:
        """A classifier for each row of ``class_weights``, (k, 2), the weights of the first and the second class.

        Each has ``predict`` and says of every row what ``estimator``, unfitted, says after ``fit`` on the same rows
        with ``sample_weight`` the weight of the row's class, times ``row_weights``, (n_rows,), where there are any.
        None stands for one that this cannot be promised of: it is then fitted by the learner itself. Called again
        with other class weights, and the same rows, as they are needed.
        """
        ...

    def margins(self, classifiers: list[Any], X: Any) -> tuple[np.ndarray, np.ndarray | float]:
        """((n_rows, k) margins, how far off they may be): above 0 where a classifier says the second class.

        Where the margin of a training row may be off by more than itself, the learner itself is fitted instead. X
        comes in blocks of rows. An optional method ``rows(classifiers, X)`` gives what blocks are made of, and refuses
        what cannot be asked about; otherwise they are made of X as it was given.
        """
        ...


def rows_of(shortcut: Shortcut, classifiers: list[Any], X: Any) -> Any:
    """What ``margins`` of ``shortcut`` takes blocks of, where ``X`` is asked about."""
    return shortcut.rows(classifiers, X) if hasattr(shortcut, "rows") else X


def shortcut_of(estimator: Any) -> Shortcut | None:
    """The shortcut of ``estimator``, or of the last step where it is a Pipeline; None where it has none."""
    if type(estimator) is Pipeline:
        return pipeline_shortcut(estimator)
    return shortcut_of_learner(estimator)


def shortcut_of_learner(estimator: Any) -> Shortcut | None:
    """The shortcut that ``estimator`` declares, or the one for its class and parameters where it is scikit-learn's."""
    if hasattr(estimator, "class_weight_shortcut"):
        declared: Callable[[], Shortcut] | None = estimator.class_weight_shortcut
        return declared() if declared is not None else None
    kind = type(estimator)  # not of a subclass, which may do something else
    if kind.__name__ in _HOMES and kind.__module__.startswith("sklearn."):
        return import_module(_HOMES[kind.__name__]).shortcut_of(estimator)
    return None


def modules_for(kind: type) -> list[str]:
    """The modules that may be behind the shortcut of a learner of class ``kind``, but for what it declares itself."""
    if kind is Pipeline:
        return list(_HOMES.values())
    return [_HOMES[kind.__name__]] if kind.__name__ in _HOMES and kind.__module__.startswith("sklearn.") else []


def pipeline_shortcut(estimator: Pipeline) -> PipelineShortcut | None:
    """None where the last step has none, or a step before it draws from a seed of its own at every fit."""
    if len(estimator.steps) < 2 or estimator.memory is not None or estimator.verbose:
        return None
    last = None if open_seeds(estimator[:-1]) else shortcut_of_learner(estimator.steps[-1][1])
    return PipelineShortcut(last) if last is not None else None


class PipelineShortcut:
    """Fits the steps before the last one once, and then goes the way of the last one's shortcut."""

    def __init__(self, last: Shortcut) -> None:
        self._last = last
        self._steps: Pipeline | None = None
        self._learned_from: tuple[Any, Any] = (None, None)

    def fit(
        self, estimator: Pipeline, X: Any, labels: np.ndarray, class_weights: np.ndarray, row_weights: np.ndarray | None
    ) -> list[Pipeline | None]:
        """A Pipeline for each row of ``class_weights``, (k, 2); all have the same fitted steps but the last."""
        if self._steps is None:
            steps = clone(estimator[:-1])
            self._learned_from = X, steps.fit_transform(X, labels)
            self._steps = steps
        name, learner = estimator.steps[-1]
        made = self._last.fit(clone(learner), self._learned_from[1], labels, class_weights, row_weights)
        return [None if one is None else Pipeline([*self._steps.steps, (name, one)]) for one in made]

    def rows(self, classifiers: list[Pipeline], X: Any) -> Any:
        """``X`` as the last steps get it."""
        of, learned = self._learned_from
        transformed = learned if X is of else classifiers[0][:-1].transform(X)
        return rows_of(self._last, [one.steps[-1][1] for one in classifiers], transformed)

    def margins(self, classifiers: list[Pipeline], X: Any) -> tuple[np.ndarray, np.ndarray | float]:
        """Those of the last steps, for ``rows`` of X."""
        return self._last.margins([one.steps[-1][1] for one in classifiers], X)


@dataclass(frozen=True, eq=False)
class SignedRows:
    """A copy of the rows, sorted by class, with a constant column, those of the first class times -1.

    ``rows``: (n_rows, d); ``n_first``: how many are of the first class; ``weights``: (n_rows,), or None for ones.
    """

    rows: np.ndarray
    n_first: int
    weights: np.ndarray | None

    def smallest_share(self) -> float:
        """The share of the class with fewer rows of weight above 0; 0 where it has none."""
        above = np.ones(len(self.rows), dtype=bool) if self.weights is None else self.weights > 0
        first, second = np.count_nonzero(above[: self.n_first]), np.count_nonzero(above[self.n_first :])
        return min(first, second) / max(first + second, 1)  # type: ignore[operator]


def signed_rows(
    X: np.ndarray, is_second: np.ndarray, row_weights: np.ndarray | None, constant: float | None
) -> SignedRows:
    """Of ``X``, (n_rows, n_columns) float64, and ``is_second``, (n_rows,) bool; ``constant``: of the last column."""
    n_first = len(X) - int(np.count_nonzero(is_second))
    rows = np.empty((len(X), X.shape[1] + (constant is not None)))
    order = np.argsort(is_second, kind="stable")
    np.take(X, order, axis=0, out=rows[:, : X.shape[1]])
    if constant is not None:
        rows[:, -1] = constant
    np.negative(rows[:n_first], out=rows[:n_first])
    weights = None if row_weights is None else np.asarray(row_weights, dtype=np.float64)[order]
    return SignedRows(rows, n_first, weights)
