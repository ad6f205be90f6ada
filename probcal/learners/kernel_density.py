"""The one-dimensional kernel density of Weka's NaiveBayes -K (John & Langley 1995)."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from scipy.special import ndtr

_FINEST = 1e-6
"""Weka's smallest rounding step (its ``Utils.SMALL``)."""
_LEFT_OUT = 1e-12
"""Kernels are left out of a sum that together are less than this share of it."""
_NODES_PER_WIDTH = 8
_STENCIL = 20
"""Between so many nodes, so closely set, a kernel is interpolated with a relative error of 7e-13 up to 6
widths from its centre, 7e-10 up to 8 and 2e-6 up to 10, and more exactly still where bins are wide."""
_FAR = 4.0
"""Points further than so many widths from every centre are summed. Nearer ones have a kernel so high that
those beyond 8 widths cannot spoil it ..."""
_SMALLEST_SHARE = 1e-12
"""... unless it holds less than this share of the weight: then all points are summed."""
_NODES_PAY = 4
"""Points per cell between nodes from which interpolation costs less than the sums themselves."""
_NOTHING = 40.0
"""Widths beyond which a kernel is 0 in floating point."""


class KernelDensity:
    """Gaussian kernels on values rounded to a precision; the mass of a value is that of its rounding bin.

    The width is range / sqrt(total weight), but never below a sixth of the precision, as in Weka's
    KernelEstimator. Weka stops summing kernels when what is left weighs less than 1 %; here the relative
    error stays below 1e-8, as long as the precision is above a millionth of the width.
    """

    def __init__(self, values: np.ndarray, weights: np.ndarray, precision: float) -> None:
        """``values``: (n,) finite; ``weights``: (n,) not negative; ``precision``: the rounding step."""
        values, weights = values[weights > 0], weights[weights > 0]
        if not len(values):  # Weka's estimator without values: one kernel at 0
            values, weights = np.zeros(1), np.ones(1)
        self.precision = max(precision, _FINEST)
        centres, bins = np.unique(np.rint(values / self.precision) * self.precision, return_inverse=True)
        self._origin = centres[0]
        self._centres = centres - self._origin  # so that values far from 0 keep their digits
        total = weights.sum()
        self._share = np.bincount(bins, weights) / total
        self.width = max(self._centres[-1] / np.sqrt(total), self.precision / 6)
        # from here out, kernels with all the weight would add _LEFT_OUT to the nearest one with the least
        self._reach = -2 * (np.log(_LEFT_OUT) + np.log(max(self._share.min(), np.finfo(np.float64).tiny)))

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """The mass of the bin of width ``precision`` around each x: (n,) in [0, 1]."""
        edge = _NOTHING * self.width + self.precision
        x = np.clip(x, self._origin - edge, self._origin + self._centres[-1] + edge) - self._origin
        points, inverse = np.unique(x, return_inverse=True)
        near = self._distance(points) <= _FAR * self.width
        n_cells = len(np.unique(self._cell(points[near])))
        if near.sum() < _NODES_PAY * n_cells or self._share.min() < _SMALLEST_SHARE:
            near[:] = False
        mass = np.empty(len(points))
        mass[~near] = self._summed(points[~near])
        mass[near] = self._interpolated(points[near])
        return mass[inverse]

    def _cell(self, points: np.ndarray) -> np.ndarray:
        return np.floor(points * (_NODES_PER_WIDTH / self.width)).astype(np.int64)

    def _distance(self, points: np.ndarray) -> np.ndarray:
        after = np.searchsorted(self._centres, points)
        left = self._centres[np.maximum(after - 1, 0)]
        right = self._centres[np.minimum(after, len(self._centres) - 1)]
        return np.minimum(np.abs(points - left), np.abs(points - right))

    def _summed(self, points: np.ndarray) -> np.ndarray:
        reach = np.sqrt((self._distance(points) / self.width) ** 2 + self._reach) * self.width + self.precision
        first = np.searchsorted(self._centres, points - reach)
        last = np.searchsorted(self._centres, points + reach, side="right")
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
        nearer = -np.abs(self._centres[kernel] - np.repeat(points, counts)) / self.width
        half = self.precision / (2 * self.width)
        mass = (ndtr(nearer + half) - ndtr(nearer - half)) * self._share[kernel]
        return np.add.reduceat(mass, starts)

    def _interpolated(self, points: np.ndarray) -> np.ndarray:
        """Polynomial interpolation on evenly spaced nodes around each point (barycentric form)."""
        stencil = np.arange(_STENCIL)
        left = self._cell(points) - (_STENCIL // 2 - 1)
        nodes = np.unique(np.unique(left)[:, None] + stencil)
        value = self._summed(nodes * (self.width / _NODES_PER_WIDTH))
        value = value[np.searchsorted(nodes, left)[:, None] + stencil]
        offset = (points * (_NODES_PER_WIDTH / self.width) - left)[:, None] - stencil
        offset[offset == 0] = 1e-200  # on a node: its own term outweighs all others, and none overflows
        weight = _BARYCENTRIC / offset
        return (weight * value).sum(axis=1) / weight.sum(axis=1)


_BARYCENTRIC = np.cumprod([1.0, *((i - _STENCIL) / i for i in range(1, _STENCIL))])
"""(-1)^j times the binomial coefficient of _STENCIL - 1 over j."""


def _chunks(sizes: np.ndarray, most: int = 2_000_000) -> list[tuple[int, int]]:
    """Runs of points whose ``sizes`` add up to about ``most``, to bound memory."""
    group = np.cumsum(sizes) // most
    edges = [*np.flatnonzero(np.diff(group, prepend=-1)), len(sizes)]
    return list(pairwise(edges))
