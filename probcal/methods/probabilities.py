"""Arrays of estimates: (n_rows, n_classes), each row summing to 1."""

from __future__ import annotations

import numpy as np


def two_columns(p: np.ndarray) -> np.ndarray:
    """(n_rows, 2) probabilities from the (n_rows,) probabilities of the second class."""
    return np.column_stack([1 - p, p])


def one_against_rest(estimates: list[np.ndarray]) -> np.ndarray:
    """(n_rows, n_classes) probabilities from the (n_rows,) estimates of each class put against the rest.

    One estimate is of the second of two classes; several are normalised.
    """
    return two_columns(estimates[0]) if len(estimates) == 1 else normalised(np.column_stack(estimates))


def clipped(estimates: np.ndarray, clip: tuple[float, float]) -> np.ndarray:
    """(n_rows, n_classes) estimates projected to a range; of more than two classes each row is divided by its sum."""
    if tuple(clip) == (0, 1):
        return estimates
    if estimates.shape[1] == 2:  # a row within the range keeps both columns: 1 - p loses the digits of a small one
        p = estimates[:, 1]
        inside = (p >= clip[0]) & (p <= clip[1])
        return np.where(inside[:, None], estimates, two_columns(np.clip(p, *clip)))
    return normalised(np.clip(estimates, *clip))


def normalised(estimates: np.ndarray) -> np.ndarray:
    """Each row divided by its sum, (n_rows, n_classes); a row of zeros says that all classes are as likely."""
    total = estimates.sum(axis=1, keepdims=True)
    return np.divide(estimates, total, out=np.full_like(estimates, 1 / estimates.shape[1]), where=total > 0)
