"""A sum of millions of terms that does not drift."""

from __future__ import annotations

from dataclasses import dataclass


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

    @property
    def value(self) -> float:
        return self.high + self.low
