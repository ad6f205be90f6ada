"""One number that was held against another."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from probcal.paper.bands import Verdict

FARTHEST = 10.0
"""A distance beyond this, ∞ too, is printed as beyond it and counts as this in a median."""

State = Literal["in band", "out of band", "not run", "cannot be judged", "no finite difference"]


@dataclass(frozen=True)
class Finding:
    """``what`` names our column, or both columns of a difference; ``columns`` are the paper's, (learner, method)."""

    kind: Literal["number", "difference"]
    dataset: str
    of: str
    """The paper's data set that it is held against, of which ``dataset`` may be another reading."""
    what: str
    metric: str
    columns: tuple[tuple[str, str], ...]
    published: float
    values: tuple[float, ...]
    """Ours, one number of each split."""
    planned: int
    state: State
    distance: float | None = None
    """|published - mean| over half the width of the band: 1 at its edge; None where nothing was compared."""
    why: str | None = None
    """Why it cannot be judged, where that is so: ``2 splits``."""

    @property
    def mean(self) -> float | None:
        """Of the finite splits, which are what is compared; ∞ where there are none, None without splits."""
        return mean_of_finite(self.values)

    @property
    def sd(self) -> float | None:
        return sd_of_finite(self.values)

    @property
    def infinite(self) -> int:
        return sum(math.isinf(value) for value in self.values)


def state_of(values: Sequence[float], verdict: Verdict | None) -> State:
    if verdict is not None:
        return "in band" if verdict.in_band else "out of band"
    return "cannot be judged" if values else "not run"


def mean_of_finite(values: Sequence[float]) -> float | None:
    finite = [value for value in values if math.isfinite(value)]
    if not finite:
        return math.inf if values else None
    return statistics.fmean(finite)


def sd_of_finite(values: Sequence[float]) -> float | None:
    """With n - 1 in the denominator; None for fewer than two finite ones."""
    finite = [value for value in values if math.isfinite(value)]
    return statistics.stdev(finite) if len(finite) > 1 else None
