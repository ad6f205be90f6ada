"""Rows that occur more than once, asked about once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils import _safe_indexing

_WORTH_IT = 0.9
"""Asking about more of the rows than this saves less than finding the others costs."""


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
