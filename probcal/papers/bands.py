"""Whether a published number is one that our splits make plausible.

With a tolerance the split is the paper's own, and our mean must come as near as that. Without one the published
number is one more draw of a random split. Then the band is the prediction interval of a new draw, by Student's t
with n - 1 degrees of freedom: it leaves out as many draws whatever n is, ``LEVEL`` of them. A normal quantile would
leave out 20 % with two splits, since their sd is itself a guess.

What a band cannot tell is not judged, neither for nor against: ``why_not_judged`` says why. A ranking of rivals on the
same splits is no such verdict; it takes ``SIGMAS`` for its yardstick, however few the splits are.
"""

from __future__ import annotations

import functools
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from scipy.special import ndtr, stdtrit

SIGMAS = 3.0
"""The band of ever more splits, in standard deviations to each side."""
LEVEL = 2.0 * float(ndtr(-SIGMAS))
"""The share of draws that a band leaves out, on both sides together: .27 %."""
FEWEST = 5
"""Finite splits that a verdict needs. A band reaches 289 sd to each side with two splits, 22 with three, 10 with four,
7.3 with five, 4.3 with ten, 3.3 with thirty: with fewer than five nearly every number would be in it, and say nothing.
With five a number 10 sd away is out of band nine times in ten."""
ROUNDING = 0.0005
"""A published number was rounded to three decimals."""
_EPSILON = 1e-9
"""Keeps a difference of exactly the tolerance inside it, whatever its last binary digit."""


@dataclass(frozen=True)
class Verdict:
    """``distance``: |published - our mean| over half the width of the band, so 1 at its edge; may be infinite."""

    in_band: bool
    distance: float


def why_not_judged(values: Sequence[float], published: float, tolerance: float | None) -> str | None:
    """Return why a published number cannot be judged by ``values``, as in "2 splits"; None where it can be.

    Without a tolerance, a number needs ``FEWEST`` finite splits that are not all alike: where they are, nothing says
    how far another split may be. ∞ beside splits without any, and a number beside splits that are all ∞, may come by
    chance once in n + 1 splits, so that it takes 1 / ``LEVEL`` of them, 370, to hold one against the other.
    """
    if not values:
        return "no splits"
    if tolerance is not None:
        return None
    n, finite = len(values), _finite(values)
    other_kind = len(finite) == n if math.isinf(published) else not finite
    if other_kind:
        return None if 1 / (n + 1) < LEVEL else _splits(n, "none finite" if not finite else "none infinite")
    if math.isinf(published):
        return None if n >= FEWEST else _splits(n)
    if len(finite) < FEWEST:
        return _splits(n, "" if len(finite) == n else f"{len(finite)} of them finite")
    return _splits(n, "all alike") if statistics.stdev(finite) <= _EPSILON else None


def enough(values: Sequence[float], published: float, tolerance: float | None) -> bool:
    """Return whether ``compare`` can be worked out: a spread needs two finite splits, ∞ needs two splits.

    Where no split at all is finite, a finite published number needs no spread to be far away.
    """
    if tolerance is not None:
        return bool(values)
    finite = len(_finite(values))
    return len(values) > 1 and (math.isinf(published) or finite != 1)


def compare(
    values: Sequence[float],
    published: float,
    tolerance: float | None,
    rounding: float = ROUNDING,
    runs: int = 1,
    sigmas: float | None = None,
) -> Verdict:
    """Hold a ``published`` number (infinity for ∞) against ours, ``values``, one of each split.

    Without a ``tolerance`` the published number has to be within t sd sqrt(1 + 1/n) of our mean, and its
    ``rounding``; the mean of several ``runs`` within less, t sd sqrt(1/runs + 1/n). ``sigmas`` takes the place of t.
    Only finite splits count for mean, sd and n; ∞ is plausible where one of our splits at least gives ∞.

    Raises ValueError where there are not ``enough`` values.
    """
    if not enough(values, published, tolerance):
        raise ValueError("too few splits have a number to compare")
    finite = _finite(values)
    if math.isinf(published):
        return Verdict(len(finite) < len(values), 0.0 if len(finite) < len(values) else math.inf)
    if not finite:
        return Verdict(False, math.inf)
    difference = abs(statistics.fmean(finite) - published)
    half = tolerance if tolerance is not None else _half_band(finite, rounding, runs, sigmas)
    return Verdict(difference <= half + _EPSILON, difference / half)


def _half_band(finite: Sequence[float], rounding: float, runs: int, sigmas: float | None) -> float:
    n = len(finite)
    return (sigmas or _t_quantile(n - 1)) * statistics.stdev(finite) * math.sqrt(1 / runs + 1 / n) + rounding


@functools.cache
def _t_quantile(degrees: int) -> float:
    return float(stdtrit(degrees, 1 - LEVEL / 2))


def _finite(values: Sequence[float]) -> list[float]:
    return [value for value in values if math.isfinite(value)]


def _splits(n: int, more: str = "") -> str:
    return f"{n} split{'s' if n > 1 else ''}" + (f", {more}" if more else "")
