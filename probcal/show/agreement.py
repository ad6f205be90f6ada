"""How many published numbers of one table came back, in a line."""

from __future__ import annotations

import math
from collections.abc import Iterable

from probcal.show.grid import INFINITY
from probcal.show.summary import Summary

# A published number was rounded to three decimals.
_ROUNDING = 0.0005
# Keeps a difference of exactly the tolerance inside it, whatever its last binary digit.
_EPSILON = 1e-9


def agreement(pairs: Iterable[tuple[Summary, float]], tolerance: float) -> str | None:
    """``pairs``: our summary and the published number of each cell that has both.

    A data set with one planned split is held to ``tolerance``; one with several splits to three of
    their standard deviations, for the published number is then one draw of many. None when there is
    nothing to compare.
    """
    one_split = _Count()
    random_splits = _Count()
    for ours, published in pairs:
        if ours.mean is None:
            continue
        if ours.planned == 1:
            one_split.add(_near(ours.mean, published, tolerance))
        elif ours.infinite or ours.sd is not None:
            random_splits.add(_near(ours.mean, published, 3 * (ours.sd or 0.0) + _ROUNDING))
    said = [
        f"with one split, {one_split} means are within {tolerance:.3f} of the published number"
        if one_split.all
        else "",
        f"with random splits, {random_splits} published numbers are within three sd of our mean "
        f"(and {_ROUNDING} for their rounding)"
        if random_splits.all
        else "",
    ]
    if not any(said):
        return None
    return f"Agreement: {'; '.join(filter(None, said))}. {INFINITY} agrees with {INFINITY} only."


def _near(ours: float, published: float, margin: float) -> bool:
    if math.isinf(ours) or math.isinf(published):
        return ours == published
    return abs(ours - published) <= margin + _EPSILON


class _Count:
    def __init__(self) -> None:
        self.hits = self.all = 0

    def add(self, hit: bool) -> None:
        self.hits += hit
        self.all += 1

    def __str__(self) -> str:
        return f"{self.hits} of {self.all}"
