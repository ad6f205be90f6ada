"""What classifiers of a shortcut say of rows, taken in blocks so that their margins never fill the memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from probcal.shortcuts.shortcut import Shortcut, rows_of

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


def _margins(shortcut: Shortcut, classifiers: list[Any], X: Any) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    X = rows_of(shortcut, classifiers, X)
    n = _num_samples(X)
    step = max(1, _NUMBERS_OF_A_BLOCK // max(len(classifiers), 1))
    if n <= step:
        yield _checked(shortcut, classifiers, X)
        return
    for start in range(0, n, step):
        yield _checked(shortcut, classifiers, _safe_indexing(X, slice(start, start + step)))


def _checked(shortcut: Shortcut, classifiers: list[Any], X: Any) -> tuple[np.ndarray, np.ndarray]:
    """The margins and, of a shape that goes with theirs, their errors; ValueError for anything else."""
    told = shortcut.margins(classifiers, X)
    wanted = _num_samples(X), len(classifiers)
    kind = type(shortcut).__name__
    if not isinstance(told, tuple) or len(told) != 2:
        raise ValueError(f"the shortcut {kind} must give margins and how far off they may be, not {told!r}")
    margins, error = (np.asarray(one) for one in told)
    if margins.shape != wanted:
        raise ValueError(f"the shortcut {kind} gave margins of shape {margins.shape}, not {wanted}: rows, classifiers")
    try:
        fits = np.broadcast_shapes(error.shape, wanted) == wanted
    except ValueError:
        fits = False
    if not fits or (error < 0).any():
        raise ValueError(
            f"the shortcut {kind} gave errors of shape {error.shape}: what is wanted is one number, or one for each"
            f" margin, {wanted}, or each row, ({wanted[0]}, 1), or each classifier, (1, {wanted[1]}), none below 0"
        )
    return margins, error
