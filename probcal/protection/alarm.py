"""When a test martingale says that the base estimates are not calibrated."""

from __future__ import annotations

from typing import Any

import numpy as np


def first_alarm(log10_martingale: Any, level: float) -> int | None:
    """The first row, counted from 0, after whose label S has reached ``level``; None if it never does.

    log10_martingale : (n,) log10 S_1, ..., log10 S_n, as ``protect`` returns them.

    If the label of every row is drawn with the probability that the base states for it, given all that came before,
    S is a martingale of expectation 1, and by Ville's inequality P(S_n >= c for some n) <= 1 / c: an alarm at level
    100 is false once in a hundred streams at most, however long they are.

    Raises ValueError for a ``level`` that is not above 1.
    """
    if not level > 1:
        raise ValueError(f"level must be a number above 1, as 1 is where S starts, not {level!r}")
    reached = np.asarray(log10_martingale) >= np.log10(level)
    return int(np.argmax(reached)) if reached.any() else None
