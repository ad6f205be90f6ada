"""A search among all float64 numbers, which halves the bits of numbers and not their values."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


def lowest_float(
    low: float, high: float, n: int, is_high_enough: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray:
    """Return the lowest float64 from ``low`` to ``high`` for each row that is high enough, or ``high``."""
    below, above = (np.full(n, _rank(np.float64(end))) for end in (low, high))
    below -= 1
    while (below + 1 < above).any():
        # the sum of two ranks could overflow, and a row that is done must stay within the ends
        middle = np.maximum(below // 2 + above // 2 + (below % 2 + above % 2) // 2, _rank(np.float64(low)))
        reached = is_high_enough(_of_rank(middle))
        below, above = np.where(reached, below, middle), np.where(reached, middle, above)
    return _of_rank(above)


def _rank(value: np.float64) -> int:
    """Return a whole number that is the higher, the higher a float is, and differs by 1 for neighbouring floats."""
    bits = int(np.abs(value).view(np.int64))
    return -bits if value < 0 else bits


def _of_rank(rank: np.ndarray) -> np.ndarray:
    return np.asarray(np.sign(rank) * np.abs(rank).view(np.float64))
