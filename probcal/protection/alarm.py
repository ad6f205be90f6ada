"""When a test martingale says that the base estimates are not calibrated."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from probcal.protection.checks import as_number
from probcal.protection.inputs import numbers


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
