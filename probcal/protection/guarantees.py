"""When a test martingale says that the base estimates are not calibrated.

How much more a Simple Jumper can lose than the best calibrators in hindsight.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from probcal.protection.stream_input import as_number, is_whole, numbers


def first_alarm(log10_martingale: Any, level: float) -> int | None:
    """The first row, counted from 0, after whose label S has reached ``level``; None if it never does.

    log10_martingale : (n,) log10 S_1, ..., log10 S_n, as ``protect`` returns them.

    If the label of every row is drawn with the probability that the base states for it, given all that came before,
    S is a martingale of expectation 1, and by Ville's inequality P(S_n >= c for some n) <= 1 / c: an alarm at level
    100 is false once in a hundred streams at most, however long they are. ``has_reached`` of a Jumper says the same
    row by row.

    Raises ValueError for a ``level`` that is not above 1, and for what is no array of that shape.
    """
    least = log10_level(level)
    log10 = numbers(log10_martingale, "log10_martingale")
    if log10.ndim != 1 or np.isnan(log10).any():
        raise ValueError(f"log10_martingale must be of shape (n,), with no missing values, not {log10.shape}")
    reached = log10 >= least
    return int(np.argmax(reached)) if reached.any() else None


def log10_level(level: float) -> float:
    """log10 of the level of an alarm. Raises ValueError unless it is a finite number above 1."""
    if not 1 < as_number(level) < math.inf:
        raise ValueError(f"level must be a number above 1, as 1 is where S starts, not {level!r}")
    return math.log10(level)


def regret_bound(n: int, n_calibrators: int, jump_rate: float, switches: int = 0) -> float:
    """log10 loss of the protected estimates on ``n`` labels, less that of the best sequence of calibrators, at most.

    The sequence changes its calibrator ``switches`` times; with 0 it is the best fixed calibrator. For Algorithm 1 of
    Vovk, Petej & Gammerman (2021) as printed, start="uniform".

    Its capital is a mixture over all sequences of calibrators: the first has weight 1 / |E|, since a jump out of equal
    shares leaves them equal; each of the n - 1 jumps thereafter keeps the calibrator with weight 1 - J + J / |E| and
    takes any other with J / |E|. The mixture is at least the weight of one sequence times its likelihood, so the loss
    is at most that of the sequence and
    log10 |E| + (n - 1 - k) log10(1 / (1 - J + J / |E|)) + k log10(|E| / J) for k switches.

    Raises ValueError for a number that is out of its range; at most n - 1 switches are possible.
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
