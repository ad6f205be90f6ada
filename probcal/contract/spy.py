"""A learner that knows how its frames ought to look."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.tree import DecisionTreeClassifier

from probcal.contract.verdict import Failed


class FrameSpy(ClassifierMixin, BaseEstimator):
    """A small tree on the codes of the categories; raises Failed for a frame that is not some rows of ``known``."""

    def __init__(self, known: pd.DataFrame) -> None:
        self.known = known

    def fit(self, X: pd.DataFrame, y: np.ndarray, sample_weight: np.ndarray | None = None) -> FrameSpy:
        """X: some rows of ``known``, in any order; y: (n_rows,); sample_weight: (n_rows,)."""
        self.tree_ = DecisionTreeClassifier(max_depth=3, random_state=0)
        self.tree_.fit(self._codes(X, "fit"), y, sample_weight)
        self.classes_ = self.tree_.classes_
        return self

    def predict_proba(self, X: pd.DataFrame) -> np.ndarray:
        """(n_rows, n_classes)"""
        return self.tree_.predict_proba(self._codes(X, "predict_proba"))

    def predict(self, X: pd.DataFrame) -> np.ndarray:
        """(n_rows,)"""
        return self.tree_.predict(self._codes(X, "predict"))

    def _codes(self, X: Any, where: str) -> np.ndarray:
        came = _difference(X, self.known)
        if came:
            raise Failed(
                f"the learner's {where} to get rows of the frame that was given",
                came,
                "hand X on as it is; take rows with sklearn.utils._safe_indexing or X.iloc",
            )
        return np.column_stack([X["size"], X["colour"].cat.codes])


def _difference(X: Any, known: pd.DataFrame) -> str:
    """What is not as in ``known``; empty when ``X`` is some of its rows."""
    if not isinstance(X, pd.DataFrame):
        return f"a {type(X).__name__} came"
    if list(X.columns) != list(known.columns):
        return f"the columns {list(X.columns)} came instead of {list(known.columns)}"
    for name in known.columns:
        came, given = X[name].dtype, known[name].dtype
        if came != given:
            return f"the column {name!r} came as {came} instead of {given}, or with other categories"
    if not X.index.isin(known.index).all():
        return "an index came that was not given"
    return "" if X.equals(known.loc[X.index]) else "other values came under the same index"
