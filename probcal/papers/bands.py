"""Bands that decide whether a published number agrees with the results of our splits.

With a tolerance, our split is the paper's own, and our mean must be within the tolerance. Without one, the published
number comes from another random split. Then the band is the prediction interval of a new draw, by Student's t with
n - 1 degrees of freedom. It misses the share ``LEVEL`` of draws for every n. A normal quantile would miss 20 % with
two splits, since their sd is itself uncertain.

Numbers without a useful band are not judged, and ``no_verdict_reason`` gives the reason. Rankings of variants on the
same splits are no such verdicts. They use ``SIGMAS`` as their unit, however few the splits are.
"""

from __future__ import annotations

import functools
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from scipy.special import ndtr, stdtrit

from probcal.analysis.spread import standard_deviation

SIGMAS = 3.0
"""Half the width of the band with infinitely many splits, in standard deviations."""
LEVEL = 2.0 * float(ndtr(-SIGMAS))
"""Share of draws outside the band, on both sides together: .27 %."""
FEWEST_SPLITS = 5
"""Number of finite splits that a verdict needs. The band reaches 289 sd to each side with two splits, 22 with three,
10 with four, 7.3 with five, 4.3 with ten and 3.3 with thirty. With fewer than five it contains nearly every number.
With five, a number 10 sd away is outside the band nine times in ten.
"""
ROUNDING = 0.0005
"""Largest rounding error of a number printed with three decimals."""
_EPSILON = 1e-9
"""Margin that keeps a difference of exactly the tolerance inside it, whatever its last binary digit."""


@dataclass(frozen=True)
class Verdict:
    """Hold the comparison with one published number.

    ``distance`` is |published - our mean| over half the width of the band. It is 1 at the edge and may be infinite.
    """

    in_band: bool
    distance: float


def no_verdict_reason(values: Sequence[float], published: float, tolerance: float | None) -> str | None:
    """Return why a published number cannot be judged by ``values``, such as "2 splits", or None where it can.

    Without a tolerance, a verdict needs ``FEWEST_SPLITS`` finite splits that are not all alike. Splits that are all
    alike say nothing about the spread. A published ∞ beside finite splits may occur by chance once in n + 1 splits,
    and so may a published number beside splits that are all ∞. That takes 1 / ``LEVEL`` splits, 370, to judge.
    """
    if not values:
        return "no splits"
    if tolerance is not None:
        return None
    n, finite = len(values), _finite_values(values)
    other_kind = len(finite) == n if math.isinf(published) else not finite
    if other_kind:
        return None if 1 / (n + 1) < LEVEL else _splits_text(n, "none finite" if not finite else "none infinite")
    if math.isinf(published):
        return None if n >= FEWEST_SPLITS else _splits_text(n)
    if len(finite) < FEWEST_SPLITS:
        return _splits_text(n, "" if len(finite) == n else f"{len(finite)} of them finite")
    return _splits_text(n, "all alike") if _standard_deviation(finite) <= _EPSILON else None


def has_enough_values(values: Sequence[float], published: float, tolerance: float | None) -> bool:
    """Return whether ``compare`` can be computed: a spread needs two finite splits, ∞ needs two splits.

    Where no split is finite, a finite published number needs no spread to be far away.
    """
    if tolerance is not None:
        return bool(values)
    finite = len(_finite_values(values))
    return len(values) > 1 and (math.isinf(published) or finite != 1)


def compare(
    values: Sequence[float],
    published: float,
    tolerance: float | None,
    rounding: float = ROUNDING,
    runs: int = 1,
    sigmas: float | None = None,
) -> Verdict:
    """Compare a ``published`` number (infinity for ∞) with our ``values``, one per split.

    Without a ``tolerance`` the published number must be within t sd sqrt(1 + 1/n) of our mean, plus its ``rounding``.
    The mean of several ``runs`` must be within t sd sqrt(1/runs + 1/n). ``sigmas`` replaces t. Only finite splits
    count for mean, sd and n. ∞ agrees where at least one of our splits is ∞.

    Raises ValueError where there are too few values, as ``has_enough_values`` says.
    """
    if not has_enough_values(values, published, tolerance):
        raise ValueError("too few splits have a number to compare")
    finite = _finite_values(values)
    if math.isinf(published):
        return Verdict(len(finite) < len(values), 0.0 if len(finite) < len(values) else math.inf)
    if not finite:
        return Verdict(False, math.inf)
    difference = abs(_mean(finite) - published)
    half = tolerance if tolerance is not None else _half_width(finite, rounding, runs, sigmas)
    return Verdict(difference <= half + _EPSILON, difference / half)


def _half_width(finite: tuple[float, ...], rounding: float, runs: int, sigmas: float | None) -> float:
    n = len(finite)
    return (sigmas or _t_quantile(n - 1)) * _standard_deviation(finite) * math.sqrt(1 / runs + 1 / n) + rounding


@functools.cache
def _t_quantile(degrees: int) -> float:
    return float(stdtrit(degrees, 1 - LEVEL / 2))


def _finite_values(values: Sequence[float]) -> tuple[float, ...]:
    return _finite(tuple(values))


# The power of the check compares the same splits with each published column, so these three remember what they found.
_remember = functools.lru_cache(maxsize=1 << 14)


@_remember
def _finite(values: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(filter(math.isfinite, values))


@_remember
def _mean(finite: tuple[float, ...]) -> float:
    return statistics.fmean(finite)


@_remember
def _standard_deviation(finite: tuple[float, ...]) -> float:
    return standard_deviation(finite)


def _splits_text(n: int, detail: str = "") -> str:
    return f"{n} split{'s' if n > 1 else ''}" + (f", {detail}" if detail else "")


def difference_in_units(number: float, published: float, decimals: int) -> float:
    """Return our number minus the published one, in units of its last digit, once ours is rounded to its ``decimals``.

    Two ∞ are 0 units apart. ∞ and a number are ∞ or -∞ apart.
    """
    if math.isinf(number) or math.isinf(published):
        return 0.0 if number == published else number - published
    scale = 10**decimals
    return float(round(number * scale) - round(published * scale))
