"""What a shortcut is, and which learner has one."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, Protocol

import numpy as np
from sklearn.pipeline import Pipeline

_HOMES = {
    "GaussianNB": "probcal.shortcuts.gaussian_nb",
    "LinearSVC": "probcal.shortcuts.linear_svm",
    "LogisticRegression": "probcal.shortcuts.logistic",
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
        return import_module("probcal.shortcuts.pipeline").shortcut_of(estimator)
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
        return ["probcal.shortcuts.pipeline", *_HOMES.values()]
    return [_HOMES[kind.__name__]] if kind.__name__ in _HOMES and kind.__module__.startswith("sklearn.") else []
