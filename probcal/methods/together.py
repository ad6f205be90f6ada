"""What classifiers of a shortcut say of rows, taken in blocks so that their margins never fill the memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from probcal.shortcuts.shortcut import Shortcut

_NUMBERS_OF_A_BLOCK = 2**20


def says_together(shortcut: Shortcut, classifiers: list[Any], X: Any) -> tuple[np.ndarray, np.ndarray]:
    """((n_rows, k) bool: whether each says the second class, (k,) bool: whether its margins tell for every row)."""
    blocks, sure = [], np.ones(len(classifiers), dtype=bool)
    for margins, error in _margins(shortcut, classifiers, X):
        blocks.append(margins > 0)
        sure &= (np.abs(margins) > error).all(axis=0)  # false of a margin that is no number
    return np.concatenate(blocks), sure


def votes_together(shortcut: Shortcut, classifiers: list[Any], X: Any) -> np.ndarray:
    """(n_rows,) int64, how many say the second class."""
    return np.concatenate([(margins > 0).sum(axis=1) for margins, _ in _margins(shortcut, classifiers, X)])


def _margins(shortcut: Shortcut, classifiers: list[Any], X: Any) -> Iterator[tuple[np.ndarray, Any]]:
    if hasattr(shortcut, "rows"):
        X = shortcut.rows(classifiers, X)
    n = _num_samples(X)
    step = max(1, _NUMBERS_OF_A_BLOCK // max(len(classifiers), 1))
    if n <= step:
        yield shortcut.margins(classifiers, X)
        return
    for start in range(0, n, step):
        yield shortcut.margins(classifiers, _safe_indexing(X, slice(start, start + step)))
