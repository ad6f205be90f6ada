"""The corrected resampled t-test: random splits of one data set share rows, so they are no independent draws."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

_ZERO = 1e-12
"""Differences whose spread is below this are the same number but for rounding."""


@dataclass(frozen=True)
class Corrected:
    """Of the mean of k numbers. ``error`` is its standard error; ``p`` is two-sided, of a mean of 0."""

    mean: float
    error: float
    low: float
    high: float
    p: float


def inflation(n: int, test_share: float) -> float:
    """What the variance of one split is multiplied with to give that of the mean of ``n``: 1/n + n_test/n_train.

    ``test_share`` is n_test / (n_train + n_test); 0 where the numbers are independent draws, which makes this 1/n.
    C. Nadeau and Y. Bengio, Inference for the generalization error, Machine Learning 52 (2003), section 4.2.
    Raises ValueError where ``n`` is 0 or no such share is given.
    """
    if n < 1 or not 0 <= test_share < 1:
        raise ValueError(f"{n} numbers and a share of test rows of {test_share:g} say nothing of a spread")
    return 1 / n + test_share / (1 - test_share)


def corrected_t_test(values: Sequence[float], test_share: float, level: float = 0.95) -> Corrected:
    """Whether the mean of ``values``, (n_splits,), one difference of two methods a split, is 0.

    Raises ValueError for fewer than two values, for one that is not finite (∞ has no spread), and as ``inflation``.
    """
    numbers = np.asarray(values, dtype=np.float64)
    n = len(numbers)
    if n < 2 or not np.isfinite(numbers).all():
        raise ValueError("a t-test needs two numbers or more, all finite")
    from scipy import stats

    mean, sd = float(numbers.mean()), float(numbers.std(ddof=1))
    if sd < _ZERO:
        return Corrected(mean, 0.0, mean, mean, 1.0 if abs(mean) < _ZERO else 0.0)
    error = sd * math.sqrt(inflation(n, test_share))
    half = error * float(stats.t.ppf((1 + level) / 2, n - 1))
    return Corrected(mean, error, mean - half, mean + half, float(2 * stats.t.sf(abs(mean) / error, n - 1)))


def corrected_interval(values: Sequence[float], test_share: float, level: float = 0.95) -> tuple[float, float]:
    """Where the mean of ``values``, (n_splits,), lies: ± t sd sqrt(1/n + n_test/n_train), n - 1 degrees of freedom.

    ``test_share`` is that of ``inflation``. Raises ValueError as ``corrected_t_test``.
    """
    found = corrected_t_test(values, test_share, level)
    return found.low, found.high
