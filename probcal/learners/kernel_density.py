"""The one-dimensional kernel density of Weka's NaiveBayes -K (John & Langley 1995)."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from scipy.special import ndtr

_REACH = 80.0
"""A kernel counts while its exponent z*z is within this of the nearest kernel's: e**-40, below rounding."""
_NODES_PER_WIDTH = 8
_STENCIL = 12
"""Interpolation between so many nodes, so closely set, is exact to about 2e-11 of a kernel's height."""
_NODES_PAY = 4
"""Points per cell between nodes from which interpolation costs less than the sums themselves."""
_FAR = 6.0
"""Beyond so many widths from every kernel the density falls too steeply to interpolate."""


class KernelDensity:
    """Gaussian kernels on values rounded to a precision; the mass of a value is that of its rounding bin.

    The width is range / sqrt(total weight), but never below a sixth of the precision, as in Weka's
    KernelEstimator. Weka stops summing kernels when what is left weighs less than 1 %; here all that
    floating point can see are summed.
    """

    def __init__(self, values: np.ndarray, weights: np.ndarray, precision: float) -> None:
        """``values``, ``weights``: (n,) floats without NaN; ``precision`` > 0."""
        values, weights = values[weights > 0], weights[weights > 0]
        if not len(values):  # Weka's estimator without values: one kernel at 0
            values, weights = np.zeros(1), np.ones(1)
        self.precision = precision
        self.centres, bins = np.unique(np.rint(values / precision) * precision, return_inverse=True)
        total = weights.sum()
        self.share = np.bincount(bins, weights) / total
        spread = self.centres[-1] - self.centres[0]
        self.width = max(spread / np.sqrt(total), precision / 6)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """The mass of the bin of width ``precision`` around each x: (n,) in [0, 1]."""
        points, inverse = np.unique(x, return_inverse=True)
        spacing = self.width / _NODES_PER_WIDTH
        cells = np.unique(np.floor(points / spacing))
        steep = self.precision >= self.width  # such kernels have steps that nodes would miss
        if steep or len(points) < _NODES_PAY * len(cells):
            return self._exactly(points)[inverse]
        far = self._distance(points) > _FAR * self.width
        mass = np.empty(len(points))
        mass[far] = self._exactly(points[far])
        mass[~far] = self._between_nodes(points[~far], spacing)
        return mass[inverse]

    def _distance(self, points: np.ndarray) -> np.ndarray:
        after = np.clip(np.searchsorted(self.centres, points), 1, len(self.centres) - 1)
        if len(self.centres) == 1:
            return np.abs(points - self.centres[0])
        return np.minimum(np.abs(points - self.centres[after - 1]), np.abs(points - self.centres[after]))

    def _exactly(self, points: np.ndarray) -> np.ndarray:
        reach = np.sqrt((self._distance(points) / self.width) ** 2 + _REACH) * self.width + self.precision
        first = np.searchsorted(self.centres, points - reach)
        last = np.searchsorted(self.centres, points + reach, side="right")
        mass = np.empty(len(points))
        for start, stop in _chunks(last - first):
            mass[start:stop] = self._sum(points[start:stop], first[start:stop], last[start:stop])
        return mass

    def _sum(self, points: np.ndarray, first: np.ndarray, last: np.ndarray) -> np.ndarray:
        """Kernels ``first`` to ``last`` of each point, summed as one ragged array."""
        counts = last - first
        starts = np.cumsum(counts) - counts
        kernel = np.arange(counts.sum()) - np.repeat(starts - first, counts)
        # in the lower tail, where ndtr keeps its digits
        nearer = -np.abs(self.centres[kernel] - np.repeat(points, counts)) / self.width
        half = self.precision / (2 * self.width)
        mass = (ndtr(nearer + half) - ndtr(nearer - half)) * self.share[kernel]
        return np.add.reduceat(mass, starts)

    def _between_nodes(self, points: np.ndarray, spacing: float) -> np.ndarray:
        """Polynomial interpolation on evenly spaced nodes around each point (barycentric form)."""
        left = np.floor(points / spacing).astype(np.int64) - (_STENCIL // 2 - 1)
        nodes, at = np.unique(left[:, None] + np.arange(_STENCIL), return_inverse=True)
        value = self._exactly(nodes * spacing)[at.reshape(len(points), _STENCIL)]
        offset = (points / spacing - left)[:, None] - np.arange(_STENCIL)
        offset[offset == 0] = 1e-200  # on a node: its own term outweighs all others, and none overflows
        binomial = np.array([np.prod([(_STENCIL - 1 - i) / (i + 1) for i in range(j)]) for j in range(_STENCIL)])
        weight = binomial * (-1.0) ** np.arange(_STENCIL) / offset
        return np.maximum((weight * value).sum(axis=1) / weight.sum(axis=1), 0.0)


def _chunks(sizes: np.ndarray, most: int = 2_000_000) -> list[tuple[int, int]]:
    """Runs of points whose ``sizes`` add up to about ``most``, to bound memory."""
    group = np.cumsum(sizes) // most
    edges = [*np.flatnonzero(np.diff(group, prepend=-1)), len(sizes)]
    return list(pairwise(edges))
