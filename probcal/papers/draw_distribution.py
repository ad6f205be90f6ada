"""Distributions of columns that draw, on a paper's own splits.

A published number of such a column is one draw. Another draw differs from it, so a tolerance says nothing. Many draws
of ours on the same rows say how far apart two draws can be. Their quantiles are data of the paper: the file that
``drawn`` names in the paper's YAML. It begins with comment lines that tell which results it was written from.
"""

from __future__ import annotations

import csv
import functools
import math
from dataclasses import dataclass
from pathlib import Path

from probcal._io import refuse_cut_off
from probcal.papers.bands import Verdict

_EPSILON = 1e-9
"""Margin for the last digits that the file does not have."""


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
