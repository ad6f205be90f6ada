"""Bands and distributions of draws, which decide whether a published number agrees with our results.

With a tolerance, our split is the paper's own, and our mean must be within the tolerance. Without one, the published
number comes from another random split. Then the band is the prediction interval of a new draw, by Student's t with
n - 1 degrees of freedom. It misses the share ``LEVEL`` of draws for every n. A normal quantile would miss 20 % with
two splits, since their sd is itself uncertain.

Numbers without a useful band are not judged, and ``Band.no_verdict_reason`` gives the reason. Rankings of variants on
the same splits are no such verdicts. They use ``SIGMAS`` as their unit, however few the splits are.

On a paper's own split, a published number of a column that draws is one draw. Another draw differs from it, so a
tolerance says nothing. Many draws of ours on the same rows say how far apart two draws can be. Their quantiles are data
of the paper: the file that ``drawn`` names in the paper's YAML. It begins with comment lines that tell which results it
was written from.
"""

from __future__ import annotations

import csv
import functools
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from probcal._io import refuse_cut_off
from probcal.analysis.spread import standard_deviation

SIGMAS = 3.0
"""Half the width of the band with infinitely many splits, in standard deviations."""
LEVEL = math.erfc(SIGMAS / math.sqrt(2))
"""Share of draws outside the band, on both sides together: .27 %."""
FEWEST_SPLITS = 5
"""Number of finite splits that a verdict needs. The band reaches 289 sd to each side with two splits, 22 with three,
10 with four, 7.3 with five, 4.3 with ten and 3.3 with thirty. With fewer than five it contains nearly every number.
With five, a number 10 sd away is outside the band nine times in ten.
"""
ROUNDING = 0.0005
"""Largest rounding error of a number printed with three decimals."""
_EPSILON = 1e-9
"""Margin that keeps a difference of exactly the tolerance inside it, whatever its last binary digit.

It also stands for the last digits that a file of draws does not have.
"""


@dataclass(frozen=True)
class Verdict:
    """Hold the comparison with one published number.

    ``distance`` is |published - our mean| over half the width of the band. It is 1 at the edge and may be infinite.
    """

    in_band: bool
    distance: float


@dataclass(frozen=True)
class Band:
    """Hold the band of published numbers that agree with our ``values``, one per split.

    With a ``tolerance``, the published number must be within it. Without one, it must be within t sd sqrt(1 + 1/n) of
    our mean, plus its ``rounding``. The mean of several ``runs`` must be within t sd sqrt(1/runs + 1/n). ``sigmas``
    replaces t. Only finite splits count for mean, sd and n. ∞ agrees where at least one of our splits is ∞.
    """

    values: Sequence[float]
    tolerance: float | None = None
    rounding: float = ROUNDING
    runs: int = 1
    sigmas: float | None = None

    def no_verdict_reason(self, published: float) -> str | None:
        """Return why a published number cannot be judged, such as "2 splits", or None where it can.

        Without a tolerance, a verdict needs ``FEWEST_SPLITS`` finite splits that are not all alike. Splits that are all
        alike say nothing about the spread. A published ∞ beside finite splits may occur by chance once in n + 1
        splits, and so may a published number beside splits that are all ∞. That takes 1 / ``LEVEL`` splits, 370, to
        judge.
        """
        if not self.values:
            return "no splits"
        if self.tolerance is not None:
            return None
        n, n_finite = len(self.values), len(self._finite)
        other_kind = n_finite == n if math.isinf(published) else not n_finite
        if other_kind:
            return None if 1 / (n + 1) < LEVEL else _splits_text(n, "none infinite" if n_finite else "none finite")
        if math.isinf(published):
            return None if n >= FEWEST_SPLITS else _splits_text(n)
        if n_finite < FEWEST_SPLITS:
            return _splits_text(n, "" if n_finite == n else f"{n_finite} of them finite")
        return _splits_text(n, "all alike") if self._sd <= _EPSILON else None

    def has_enough_values(self, published: float) -> bool:
        """Return whether ``compare`` can be computed: a spread needs two finite splits, ∞ needs two splits.

        Where no split is finite, a finite published number needs no spread to be far away.
        """
        if self.tolerance is not None:
            return bool(self.values)
        return len(self.values) > 1 and (math.isinf(published) or len(self._finite) != 1)

    def compare(self, published: float) -> Verdict:
        """Compare a ``published`` number (infinity for ∞) with our values.

        Raises ValueError where there are too few values, as ``has_enough_values`` says.
        """
        if not self.has_enough_values(published):
            raise ValueError("too few splits have a number to compare")
        if math.isinf(published):
            some_infinite = len(self._finite) < len(self.values)
            return Verdict(some_infinite, 0.0 if some_infinite else math.inf)
        if not self._finite:
            return Verdict(False, math.inf)
        difference = abs(self._mean - published)
        return Verdict(difference <= self._half_width + _EPSILON, difference / self._half_width)

    @functools.cached_property
    def _finite(self) -> list[float]:
        return list(filter(math.isfinite, self.values))

    @functools.cached_property
    def _mean(self) -> float:
        return statistics.fmean(self._finite)

    @functools.cached_property
    def _sd(self) -> float:
        return standard_deviation(self._finite)

    @functools.cached_property
    def _half_width(self) -> float:
        if self.tolerance is not None:
            return self.tolerance
        n = len(self._finite)
        return (self.sigmas or _t_quantile(n - 1)) * self._sd * math.sqrt(1 / self.runs + 1 / n) + self.rounding


@functools.cache
def _t_quantile(degrees: int) -> float:
    # Imported late, because most tables do not need it and it takes .2 s.
    from scipy.special import stdtrit

    return float(stdtrit(degrees, 1 - LEVEL / 2))


def _splits_text(n: int, detail: str = "") -> str:
    return f"{n} split{'s' if n > 1 else ''}" + (f", {detail}" if detail else "")


def difference_in_units(number: float, published: float, decimals: int) -> float:
    """Return our number minus the published one, in units of its last digit, once ours is rounded to its ``decimals``.

    Two ∞ are 0 units apart. ∞ and a number are ∞ or -∞ apart.
    """
    if math.isinf(number) or math.isinf(published):
        return 0.0 if number == published else number - published
    scale = 10**decimals
    # Both rounded, because a number such as .460 times 1000 is no whole number in binary.
    return float(round(number * scale) - round(published * scale))


@dataclass(frozen=True)
class DrawDistribution:
    """Hold the distribution of one number over our draws on the paper's own split."""

    smallest: float
    low: float
    """The 2.5 % point of the draws."""
    median: float
    high: float
    """The 97.5 % point of the draws."""
    largest: float

    def minus(self, number: float) -> DrawDistribution:
        """Return the distribution of the difference to a ``number`` that is not drawn."""
        places = (self.smallest, self.low, self.median, self.high, self.largest)
        return DrawDistribution(*(place - number for place in places))

    def verdict(self, number: float, published: float, rounding: float) -> Verdict:
        """Judge a ``published`` number and our ``number``.

        The published number must be in the middle 95 % of the draws, within its ``rounding``. Our own must be between
        the smallest and the largest draw, or something has changed since they were drawn. The distance is the larger
        one of both, measured from the median: 1 at the end of its range.
        """
        published_distance = self._distance(published, self.low - rounding, self.high + rounding)
        distance = self._distance(number, self.smallest, self.largest)
        return Verdict(max(published_distance, distance) <= 1, max(published_distance, distance))

    def _distance(self, number: float, low: float, high: float) -> float:
        if not math.isfinite(number):
            return math.inf
        side = high - self.median if number > self.median else self.median - low
        return abs(number - self.median) / (side + _EPSILON)


@functools.cache
def read_distributions(path: Path) -> dict[tuple[str, str, str, str], DrawDistribution]:
    """Return (data set, learner, method, metric) -> distribution, by the names of the paper."""
    text = path.read_text(encoding="utf-8")
    refuse_cut_off(path, text)
    return {
        (line["dataset"], line["learner"], line["method"], line["metric"]): DrawDistribution(
            *(float(line[name]) for name in ("smallest", "low", "median", "high", "largest"))
        )
        for line in csv.DictReader(line for line in text.splitlines() if not line.startswith("#"))
    }
