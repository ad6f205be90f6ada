"""Kernel density on values rounded to a step, as in Weka's KernelEstimator (John & Langley 1995, section 3)."""

from __future__ import annotations

import math
from copy import copy
from itertools import pairwise

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy.special import ndtr

# Weka's smallest rounding step (its Utils.SMALL).
_FINEST = 1e-6
# Kernels are left out of a sum if their total is below this share of it.
_IGNORED_SHARE = 1e-12
_NODES_PER_WIDTH = 8
# Number of nodes for the interpolation of a kernel. With nodes this close the relative error is at most 2e-12 up to 6
# widths from the centre, 8e-10 up to 8 and 3e-6 up to 10.
_STENCIL = 20
# Bins farther than this many widths from every centre are summed, not interpolated. Nearer bins have a kernel so high
# that those beyond 8 widths cannot matter, with the exception below.
_FAR = 4.0
# Nodes for bins within _FAR widths are at most this many widths from a centre.
_FARTHEST_NODE = 6.0
# If a kernel has less than this share of the weight, no bin is interpolated.
_SMALLEST_SHARE = 1e-12
# Number of nodes that cost as much as the sum of a bin without a table.
_NODES_PAY = 8
# Bins narrower than this many widths have a series around their middle. A difference of ndtr would lose digits.
_NARROW = 0.01
# Number of widths beyond which a kernel is 0 in floating point.
_ZERO_DISTANCE = 40.0


def bins_of(values: np.ndarray, precision: float) -> np.ndarray:
    """Return the numbers of the bins of ``values``, (n,) float64. A value halfway goes to the even one."""
    return np.rint(values / precision)


class KernelDensity:
    """Sum Gaussian kernels on values rounded to a precision. The mass of a value is that of its rounding bin.

    Bin b holds the values around b times the precision. The width is range / sqrt(total weight), but at least a sixth
    of the precision, as in Weka's KernelEstimator. Weka stops summing kernels when the rest weighs less than 1 %. Here
    the relative error stays below 1e-8.

    Kernels and bins lie on the same lattice. So one table of a kernel, by distance in bins, serves all of them. The
    density needs memory for all bins between the lowest and the highest value.

    Parameters
    ----------
    values : ndarray of shape (n,)
        Finite values.
    weights : ndarray of shape (n,)
        Weights of the values, not negative.
    precision : float
        Rounding step, in the units of the values. A step below 1e-6 counts as 1e-6.

    Attributes
    ----------
    precision : float
        The rounding step that is used.
    """

    def __init__(self, values: np.ndarray, weights: np.ndarray, precision: float) -> None:
        # a value of weight 0 would widen the range, and with it the kernels
        values, weights = values[weights > 0], weights[weights > 0]
        self._is_empty = not len(values)
        if self._is_empty:  # Weka's estimator without values has one kernel at 0
            values, weights = np.zeros(1), np.ones(1)
        self.precision = max(precision, _FINEST)
        bins = bins_of(values, self.precision)
        self._first = bins.min()
        self._total = weights.sum()
        self._shares = np.bincount((bins - self._first).astype(np.intp), weights) / self._total
        self._centres = np.flatnonzero(self._shares)
        self._gaps = self._gaps_to_centres(np.arange(len(self._shares)))
        # squared widths beyond which kernels with all the weight add _IGNORED_SHARE to the nearest of the least weight
        smallest = self._shares[self._centres].min()
        self._reach = -2 * (np.log(_IGNORED_SHARE) + np.log(max(smallest, np.finfo(np.float64).tiny)))
        self._is_smooth = smallest >= _SMALLEST_SHARE

    @property
    def width(self) -> float:
        """Return the standard deviation of a kernel, in the units of the values."""
        return float(self.precision * self._width)

    @property
    def _width(self) -> float:
        return float(max((len(self._shares) - 1) / np.sqrt(self._total), 1 / 6))

    def reweighted(self, factor: float) -> KernelDensity:
        """Return the density for weights that are multiplied by a ``factor`` above 0. It shares their sums."""
        # the kernel of an empty estimator stands for no row
        if factor == 1 or self._is_empty:
            return self
        made = copy(self)
        made._total = self._total * factor
        return made

    def mass(self, bins: np.ndarray) -> np.ndarray:
        """Return the masses in [0, 1] of ``bins``, (n,) distinct numbers."""
        n_bins, edge = len(self._shares), np.ceil(_ZERO_DISTANCE * self._width) + 1
        places = np.clip(bins - self._first, -edge, n_bins - 1 + edge)
        stride = max(1, int(min(self._width, n_bins) / _NODES_PER_WIDTH))
        near = (places >= 0) & (places < n_bins)
        if stride > 1:
            near[near] = self._gaps[places[near].astype(np.intp)] <= _FAR * self._width
            near &= self._is_smooth
        # for few bins their sums cost less than the table of all bins
        if _NODES_PAY * np.count_nonzero(near) < n_bins / stride:
            near[:] = False
        mass = np.empty(len(places))
        if near.any():
            mass[near] = self._table(stride)[places[near].astype(np.intp)]
        mass[~near] = self._summed_mass(places[~near])
        return mass

    def _gaps_to_centres(self, places: np.ndarray) -> np.ndarray:
        """Return the distance of each place from the nearest centre, (n,) int, in bins."""
        after = np.searchsorted(self._centres, places)
        left = self._centres[np.maximum(after - 1, 0)]
        right = self._centres[np.minimum(after, len(self._centres) - 1)]
        gaps: np.ndarray = np.minimum(np.abs(places - left), np.abs(places - right))
        return gaps

    def _kernel(self, distances: np.ndarray) -> np.ndarray:
        """Return the mass of a kernel in the bins at some ``distances`` from it, not negative, in bins."""
        bin_width = 1 / self._width
        z = distances * bin_width
        # the kernel is symmetric, and ndtr keeps its digits only in the lower tail
        if bin_width > _NARROW:
            mass: np.ndarray = ndtr(bin_width / 2 - z) - ndtr(-bin_width / 2 - z)
            return mass
        z *= z
        # the even derivatives of the density at the middle of the bin, up to the sixth, which are polynomials in z^2
        mass = bin_width**2 / 24 * (z - 1) + bin_width**4 / 1920 * (z * (z - 6) + 3) + 1
        mass += bin_width**6 / 322560 * (z * (z * (z - 15) + 45) - 15)
        return mass * np.exp(z / -2) * (bin_width / math.sqrt(2 * math.pi))

    def _table(self, stride: int) -> np.ndarray:
        """Return the masses of all bins from the first centre to the last. Every ``stride``-th is summed.

        With a stride above 1, bins farther than ``_FAR`` widths from every centre are wrong.
        """
        n_bins = len(self._shares)
        reach = math.sqrt(_FARTHEST_NODE**2 + self._reach) if stride > 1 else _ZERO_DISTANCE
        reach = min(n_bins - 1 + _STENCIL * stride, math.ceil(reach * self._width) + 1)
        half = self._kernel(np.arange(reach + 1))
        kernel = np.concatenate([half[:0:-1], half])
        if stride == 1:
            return np.convolve(self._shares, kernel)[reach : reach + n_bins]
        n_cells = -(-n_bins // stride)
        before = _STENCIL // 2 - 1
        padded = np.zeros((n_cells + _STENCIL - 1) * stride + 2 * reach + 1)
        start = before * stride + reach
        padded[start : start + n_bins] = self._shares
        nodes = sliding_window_view(padded, len(kernel))[: (n_cells + _STENCIL - 1) * stride : stride] @ kernel
        cells = sliding_window_view(nodes, _STENCIL)[:n_cells] @ _interpolation(stride)
        table: np.ndarray = cells.ravel()[:n_bins]
        return table

    def _summed_mass(self, places: np.ndarray) -> np.ndarray:
        reach = np.sqrt((self._gaps_to_centres(places) / self._width) ** 2 + self._reach) * self._width + 1
        first = np.searchsorted(self._centres, places - reach)
        counts = np.searchsorted(self._centres, places + reach, side="right") - first
        mass = np.empty(len(places))
        for start, stop in _chunks(counts):
            # the kernels in reach of each place, as one ragged array
            n, starts = counts[start:stop], np.cumsum(counts[start:stop]) - counts[start:stop]
            centres = self._centres[np.arange(n.sum()) - np.repeat(starts - first[start:stop], n)]
            kernels = self._kernel(np.abs(centres - np.repeat(places[start:stop], n))) * self._shares[centres]
            mass[start:stop] = np.add.reduceat(kernels, starts)
        return mass


def _interpolation(stride: int) -> np.ndarray:
    """Return the weights of the nodes around a cell for its ``stride`` bins, (_STENCIL, stride), in barycentric form.

    The first bin of the cell is the node in the middle, at ``_STENCIL // 2 - 1``.
    """
    offset = _STENCIL // 2 - 1 + np.arange(stride) / stride - np.arange(_STENCIL)[:, None]
    offset[offset == 0] = 1e-200  # at a node: its own term outweighs all others, and no term overflows
    weight = _BARYCENTRIC[:, None] / offset
    shares: np.ndarray = weight / weight.sum(axis=0)
    return shares


# (-1)^j times the binomial coefficient of _STENCIL - 1 over j.
_BARYCENTRIC = np.cumprod([1.0, *((i - _STENCIL) / i for i in range(1, _STENCIL))])


def _chunks(sizes: np.ndarray, most: int = 2_000_000) -> list[tuple[int, int]]:
    """Return runs of points whose ``sizes`` add up to about ``most``, to limit memory."""
    group = np.cumsum(sizes) // most
    edges = [*np.flatnonzero(np.diff(group, prepend=-1)), len(sizes)]
    return list(pairwise(edges))
