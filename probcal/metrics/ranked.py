"""One sort of the rows, from which AUC and every measure of calibration are read."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from probcal.metrics.rows import Rows


@dataclass(frozen=True)
class Ranked:
    """Rows of two classes in rising order of p. Rows of equal p form one block: no metric can tell them apart."""

    y: np.ndarray
    p: np.ndarray
    weight: np.ndarray
    ends: np.ndarray
    """The last row of each block."""
    sums: np.ndarray
    """The running sum of weight (y - p) before the first block and after each."""

    @classmethod
    def of(cls, rows: Rows) -> Ranked:
        order = np.argsort(rows.p)
        y, p, weight = rows.y[order], rows.p[order], rows.weight[order]
        ends = np.append(np.flatnonzero(p[1:] != p[:-1]), len(p) - 1)
        return cls(y, p, weight, ends, np.append(0.0, np.cumsum(weight * (y - p))[ends]))

    @property
    def total(self) -> float:
        return float(self.weight.sum())

    def has_both_classes(self) -> bool:
        return bool((self.y == 0).any() and (self.y == 1).any())

    def in_blocks(self, values: np.ndarray) -> np.ndarray:
        """The sum of ``values``, (n,), within each block."""
        return np.add.reduceat(values, np.append(0, self.ends[:-1] + 1))

    def up_to(self, values: np.ndarray) -> np.ndarray:
        """The running sum of ``values``, (n,), before the first block and after each."""
        return np.append(0.0, np.cumsum(values)[self.ends])
