"""A sum of millions of terms that does not drift."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Self

from probcal.protection.checks import listed, number


@dataclass(slots=True)
class LongSum:
    """What rounding takes from ``high`` is kept in ``low`` (Neumaier 1974)."""

    high: float = 0.0
    low: float = 0.0

    def add(self, term: float) -> None:
        total = self.high + term
        larger, smaller = (self.high, term) if abs(self.high) >= abs(term) else (term, self.high)
        self.low += (larger - total) + smaller
        self.high = total

    def state(self) -> list[float]:
        return [self.high, self.low]

    @classmethod
    def from_state(cls, state: Any, name: str) -> Self:
        """Raises ValueError, which begins with ``name``, for what ``state`` does not return."""
        return cls(*(number(one, name, -math.inf, math.inf) for one in listed(state, name, 2)))

    @property
    def value(self) -> float:
        return self.high + self.low
