"""Isotonic regression as the slopes of a convex hull (Gao, Parameswaran & Peng 2017, Algorithm 1)."""

from __future__ import annotations

import numpy as np


def isotonic_values(positive: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """The slopes z_i, (n,), of the greatest convex minorant of the points (total weight, total positive weight).

    ``positive``: (n,) float64 positive weight of each place in the order of the scores, ``weight``: (n,) its whole
    weight, above 0. The z_i are the nondecreasing values of least weighted squared error to positive / weight, and
    the sum of weight * z is that of ``positive`` over every run of equal z.

    Of our own, rather than SciPy's isotonic_regression, because it must be exact: SciPy averages averages, while
    an edge of the hull is here one quotient of two sums. Without weights those are whole numbers, so equal slopes are
    found equal and each z is the float64 nearest to the true one.
    """
    # an edge of the hull is as wide as its weight and rises by its positive weight; a new point joins the edges
    # before it for as long as they are not less steep
    widths: list[float] = []
    rises: list[float] = []
    lengths: list[int] = []
    for rise, width in zip(positive.tolist(), weight.tolist(), strict=True):
        length = 1
        while rises and rises[-1] * width >= rise * widths[-1]:
            rise += rises.pop()
            width += widths.pop()
            length += lengths.pop()
        rises.append(rise)
        widths.append(width)
        lengths.append(length)
    return np.repeat(np.array(rises) / np.array(widths), lengths)
