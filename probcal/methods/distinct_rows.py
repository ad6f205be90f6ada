"""Rows that occur more than once, asked about once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import _safe_indexing

_KNOWN = ("sklearn", "probcal")
_WORTH_IT = 0.9
"""Asking about more of the rows than this saves less than finding the others costs."""


def answers_row_by_row(estimator: Any) -> bool:
    """Whether what ``estimator`` predicts of a row hangs on that row alone.

    It is taken to be so of learners of scikit-learn and probcal made of nothing else, but for a FunctionTransformer,
    whose function may look at all rows, and of one of yours that says so by an attribute ``answers_row_by_row``.
    """
    if hasattr(estimator, "answers_row_by_row"):
        return bool(estimator.answers_row_by_row)
    parts = [estimator, *(part for part in estimator.get_params(deep=True).values() if hasattr(part, "get_params"))]
    kinds = [type(part) for part in parts]
    return all(kind.__module__.split(".")[0] in _KNOWN and kind is not FunctionTransformer for kind in kinds)


@dataclass(frozen=True, eq=False)
class DistinctRows:
    """``X``: rows to be asked about; ``place``: (n_rows,) int, which of them each row is, or None for all in order."""

    X: Any
    place: np.ndarray | None = None

    def labels(self, classifier: Any) -> np.ndarray:
        """(n_rows,) what ``classifier`` predicts."""
        labels = np.asarray(classifier.predict(self.X))
        return labels if self.place is None else labels[self.place]


def distinct_rows(X: Any) -> DistinctRows:
    """The distinct rows of a frame or an array of numbers, each once; all of any other ``X``."""
    if isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "biuf":
        frame = pd.DataFrame(X)
    elif isinstance(X, pd.DataFrame):
        frame = X
    else:
        return DistinctRows(X)
    try:
        hashes = pd.util.hash_pandas_object(frame, index=False).to_numpy()
    except TypeError:  # cells that cannot be hashed
        return DistinctRows(X)
    _, first, place = np.unique(hashes, return_index=True, return_inverse=True)
    if len(first) > _WORTH_IT * len(frame) or not _same(frame, frame.take(first[place])):
        return DistinctRows(X)
    return DistinctRows(_safe_indexing(X, first), place)


def _same(frame: pd.DataFrame, other: pd.DataFrame) -> bool:
    return frame.equals(other.set_axis(frame.index))  # two rows may share a hash
