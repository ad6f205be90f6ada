"""Importance weights, given to a learner directly or through rejection sampling."""

from __future__ import annotations

from typing import Literal

import numpy as np

TotalWeight = Literal["n"] | None


def importance_weights(
    positive: np.ndarray, p: float, total_weight: TotalWeight = None, row_weights: np.ndarray | None = None
) -> np.ndarray:
    """i_p(y) = (1-p)/p for positive rows and 1 for the others (Langford & Zadrozny 2005, Corollary 1).

    A classifier that is best under these weights says 1 exactly where D(1|x) > p.

    ``positive``: (n_rows,) bool. ``total_weight=None`` leaves the weights as printed; ``"n"`` rescales
    them to sum to the number of rows, so that a regularised learner sees the same amount of data at
    every p. Where the rows have weights of their own, (n_rows,), these are multiplied, and ``"n"`` means
    their sum. Returns (n_rows,) float64.
    """
    negative_weight, positive_weight = class_weights(positive, p, total_weight, row_weights)
    weights = np.where(positive, positive_weight, negative_weight)
    return weights if row_weights is None else weights * row_weights


def class_weights(
    positive: np.ndarray, p: float, total_weight: TotalWeight = None, row_weights: np.ndarray | None = None
) -> tuple[float, float]:
    """What ``importance_weights`` gives the rows of the negative and of the positive class, before ``row_weights``."""
    ratio = (1 - p) / p
    if total_weight is None:
        return 1.0, ratio
    weights, total = np.where(positive, ratio, 1.0), float(len(positive))
    if row_weights is not None:
        weights, total = weights * row_weights, float(row_weights.sum())
    scale = total / float(weights.sum())
    return scale, ratio * scale


def rejection_sample(weights: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Row numbers of one rejection sample: row i is kept with probability w_i / Z.

    Z is the largest weight, the smallest that is valid, so that no row is thrown away needlessly
    (Zadrozny, Langford & Abe 2003, section 2.3). Rows keep their order and none is repeated.
    """
    return np.flatnonzero(random.random(len(weights)) * weights.max() < weights)
