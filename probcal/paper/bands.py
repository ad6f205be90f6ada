"""Whether a published number is one that our splits make plausible."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

WIDTH = 3.0
"""Half the band of a random split, in standard deviations."""
ROUNDING = 0.0005
"""A published number was rounded to three decimals."""
_EPSILON = 1e-9
"""Keeps a difference of exactly the tolerance inside it, whatever its last binary digit."""


@dataclass(frozen=True)
class Verdict:
    """``distance``: how far the published number is from ours, 1 at the edge of the band; may be infinite."""

    in_band: bool
    distance: float


def enough(values: Sequence[float], published: float, tolerance: float | None) -> bool:
    """Whether ``compare`` can say anything: a spread needs two finite splits, ∞ needs two splits.

    Where no split at all is finite, a finite published number needs no spread to be refuted.
    """
    if tolerance is not None:
        return bool(values)
    finite = sum(math.isfinite(value) for value in values)
    return len(values) > 1 and (math.isinf(published) or finite != 1)


def compare(
    values: Sequence[float], published: float, tolerance: float | None, rounding: float = ROUNDING, runs: int = 1
) -> Verdict:
    """Hold a ``published`` number (infinity for ∞) against ours, ``values``, one of each split.

    With a ``tolerance`` the split is the paper's own: the mean must come as near as that. Without one the
    published number is one more draw of a random split: it lies within ``WIDTH`` standard deviations of a
    draw about our mean, sd * sqrt(1 + 1/n), and its ``rounding``; the mean of several ``runs`` lies within less,
    sd * sqrt(1/runs + 1/n). Only finite splits make that mean; ∞ is
    plausible where one of our splits at least gives ∞.

    Raises ValueError where there are not ``enough`` values.
    """
    if not enough(values, published, tolerance):
        raise ValueError("too few splits have a number to compare")
    finite = [value for value in values if math.isfinite(value)]
    if math.isinf(published):
        return Verdict(len(finite) < len(values), 0.0 if len(finite) < len(values) else math.inf)
    if not finite:
        return Verdict(False, math.inf)
    difference = abs(statistics.fmean(finite) - published)
    half = tolerance if tolerance is not None else _half_band(finite, rounding, runs)
    return Verdict(difference <= half + _EPSILON, difference / half)


def _half_band(finite: Sequence[float], rounding: float, runs: int) -> float:
    return WIDTH * statistics.stdev(finite) * math.sqrt(1 / runs + 1 / len(finite)) + rounding
