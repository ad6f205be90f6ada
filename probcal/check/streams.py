"""What a paper claims of a protected stream: what was gained over the base, and where on the way."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

STEEPEST = "steepest_growth"
"""By this name claims speak of where the tenth of a stream begins in which log10 S grows most."""
LOG10_MARTINGALE = "log10_martingale"
_TENTH = 0.1


def steepest_growth(curves: Mapping[str, Sequence[Mapping[str, Any]]]) -> float:
    """From 0, the first row, to .9; of the first line of ``martingale``, straight between its points; NaN without.

    NaN also where the points do not rise along the stream.
    """
    lines = curves.get("martingale", ())
    if not lines:
        return math.nan
    x, y = (np.asarray(lines[0][axis], dtype=float) for axis in "xy")
    if len(x) < 2 or not (np.diff(x) > 0).all():
        return math.nan
    rows = (x - x[0]) / (x[-1] - x[0])
    last = 1 - _TENTH
    # the growth is straight between these, so that it is largest at one of them
    starts = np.unique(np.clip(np.concatenate([rows, rows - _TENTH]), 0, last))
    growth = np.interp(starts + _TENTH, rows, y) - np.interp(starts, rows, y)
    return float(starts[growth.argmax()])


def largest_gap(
    base: Mapping[int, float], protected: Mapping[int, float], log10_s: Mapping[int, float], rounding: float
) -> tuple[float, int]:
    """By how much what was gained, log10 loss less log10 loss, misses log10 S at most, as a share of it; of how many.

    Only repetitions that all three have count; ``rounding`` is what each by itself may miss.
    """
    shared = base.keys() & protected.keys() & log10_s.keys()
    gaps = [_gap(base[one] - protected[one], log10_s[one], rounding) for one in shared]
    return max(gaps, default=math.nan), len(gaps)


def _gap(gained: float, log10_s: float, rounding: float) -> float:
    missed = max(0.0, abs(gained - log10_s) - rounding)
    return missed / abs(log10_s) if log10_s else (math.inf if missed else 0.0)
