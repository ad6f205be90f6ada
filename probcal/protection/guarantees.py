"""Guarantees of protection: when a test martingale raises an alarm, and how much a Simple Jumper can lose."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from probcal.protection.stream_input import as_number, is_whole, numbers


def first_alarm(log10_martingale: Any, level: float) -> int | None:
    """Return the first row after whose label S has reached a level.

    Suppose the base forecaster is right: the label of every row is drawn with its predicted probability, given the
    past. Then S is a martingale of expectation 1. By Ville's inequality P(S_n >= c for some n) <= 1 / c. So at most one
    stream in a hundred has a false alarm at level 100, however long it is. ``has_reached`` of a Jumper returns the same
    row by row.

    Parameters
    ----------
    log10_martingale : array-like of shape (n,)
        Values log10 S_1, ..., log10 S_n, as ``protect`` returns them.
    level : float
        Level c of S, above 1.

    Returns
    -------
    int or None
        Number of the row, counted from 0. None if S never reaches the level.

    Raises
    ------
    ValueError
        If ``level`` is not a finite number above 1, or ``log10_martingale`` has another shape or missing values.
    """
    least = log10_level(level)
    log10 = numbers(log10_martingale, "log10_martingale")
    if log10.ndim != 1 or np.isnan(log10).any():
        raise ValueError(f"log10_martingale must be of shape (n,), with no missing values, not {log10.shape}")
    reached = log10 >= least
    return int(np.argmax(reached)) if reached.any() else None


def log10_level(level: float) -> float:
    """Return log10 of the level of an alarm. Raises ValueError unless it is a finite number above 1."""
    if not 1 < as_number(level) < math.inf:
        raise ValueError(f"level must be a number above 1, as 1 is where S starts, not {level!r}")
    return math.log10(level)


def regret_bound(n: int, n_calibrators: int, jump_rate: float, switches: int = 0) -> float:
    """Return the regret bound of a Simple Jumper: its log10 loss minus that of the best sequence of calibrators.

    The bound holds for Algorithm 1 of Vovk, Petej & Gammerman (2021) as printed, with start="uniform", on ``n`` labels.
    The sequence changes its calibrator ``switches`` times. With 0 it is the best fixed calibrator.

    The capital is a mixture over all sequences of calibrators. The first calibrator has weight ``1 / |E|``, because a
    jump out of equal shares keeps them equal. Each of the n - 1 later jumps keeps the calibrator with weight
    ``1 - J + J / |E|`` and takes any other with ``J / |E|``. The mixture is at least the weight of one sequence times
    its likelihood. So its loss exceeds that of a sequence with k switches by at most
    ``log10 |E| + (n - 1 - k) log10(1 / (1 - J + J / |E|)) + k log10(|E| / J)``.

    Parameters
    ----------
    n : int
        Number of labels, at least 1.
    n_calibrators : int
        Size of the family, ``|E|``, at least 1.
    jump_rate : float
        J, in (0, 1].
    switches : int, default=0
        Number k of changes of the calibrator, from 0 to n - 1.

    Returns
    -------
    float
        Largest difference of the cumulative log10 losses.

    Raises
    ------
    ValueError
        If a number is out of its range.
    """
    counts = is_whole(n, 1) and is_whole(n_calibrators, 1) and is_whole(switches, 0, n - 1)
    if not counts or not 0 < as_number(jump_rate) <= 1:
        raise ValueError(
            "n, n_calibrators and switches must be whole numbers, the first two at least 1, switches from 0 to n - 1,"
            " and jump_rate a number in (0, 1]"
        )
    arrive = jump_rate / n_calibrators
    stays, first = -math.log10(1 - jump_rate + arrive), math.log10(n_calibrators)
    return first + (n - 1 - switches) * stays - switches * math.log10(arrive)
