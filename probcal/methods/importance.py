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
    weights = np.where(positive, (1 - p) / p, 1.0)
    total: float = len(weights)
    if row_weights is not None:
        weights, total = weights * row_weights, row_weights.sum()
    return weights if total_weight is None else weights * (total / weights.sum())


def class_weights(positive: np.ndarray, p: float, total_weight: TotalWeight = None) -> tuple[float, float]:
    """What ``importance_weights`` gives the rows of the negative and of the positive class, to the last bit.

    Where rows have weights of their own these are multiplied, but under ``total_weight="n"``, where the order of the
    factors would tell in the last bit.
    """
    ratio = (1 - p) / p
    if total_weight is None:
        return 1.0, ratio
    scale = len(positive) / float(np.where(positive, ratio, 1.0).sum())
    return scale, ratio * scale


def rejection_sample(weights: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Row numbers of one rejection sample: row i is kept with probability w_i / Z.

    Z is the largest weight, the smallest that is valid, so that no row is thrown away needlessly
    (Zadrozny, Langford & Abe 2003, section 2.3). Rows keep their order and none is repeated.
    """
    return np.flatnonzero(random.random(len(weights)) * weights.max() < weights)
