"""Naive Bayes of Weka 3.4.1, NaiveBayes -K, for one set of training rows at a time, compiled by numba.

It gives the numbers of that release, whose kernel sums stop early and do not round the value that is looked up.
``KernelNaiveBayes`` of probcal has those of Weka 3.9, which differ in the third digit.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

_STOP_SHARE = 0.01
"""Weka stops a sum of kernels when the others cannot add this share to it."""
_SMALLEST = 1e-75
_DEFAULT_PRECISION = 0.01
_NARROW_WIDTH, _CENTRAL_WIDTH = 0.05, 4.0
"""In widths. Bins narrower than the first take a series; nearer to the centre than the second, tables are read."""
_NODES_PER_WIDTH = 64
_NODES = np.arange(-_NODES_PER_WIDTH * 5, _NODES_PER_WIDTH * 5 + 1) / _NODES_PER_WIDTH
_DENSITIES = np.exp(-0.5 * _NODES**2) / math.sqrt(2 * math.pi)
_CUMULATIVE = np.array([0.5 * math.erfc(-node / math.sqrt(2)) for node in _NODES])
_SLOPES = -_NODES * _DENSITIES


@njit(cache=True)
def add_nominal(codes, n_levels, y, train, mask, out):
    """Add the log ratio of one nominal column to ``out``, for the rows that are ``mask``. Code -1 is missing."""
    counts = np.ones((2, n_levels))
    for row in range(len(y)):
        if train[row] and codes[row] >= 0:
            counts[y[row], codes[row]] += 1
    ratio = np.log(counts[1] / counts[1].sum()) - np.log(counts[0] / counts[0].sum())
    for row in range(len(y)):
        if mask[row] and codes[row] >= 0:
            out[row] += ratio[codes[row]]


@njit(cache=True)
def _normal_cdf(z):
    """Return the normal distribution function as Weka computes it: the upper tail loses its digits."""
    half = 0.5 * math.erfc(abs(z) / math.sqrt(2.0))
    return 1.0 - half if z > 0 else half


@njit(cache=True)
def _interpolate(z, values, slopes):
    """Interpolate a table by cubics, with an error below 1e-9."""
    place = (z - _NODES[0]) * _NODES_PER_WIDTH
    index = int(place)
    t = place - index
    rise = values[index + 1] - values[index]
    first, last = slopes[index] / _NODES_PER_WIDTH, slopes[index + 1] / _NODES_PER_WIDTH
    return values[index] + t * (first + t * (3 * rise - 2 * first - last + t * (first + last - 2 * rise)))


@njit(cache=True)
def _mass(z, bin_width):
    """Return the mass of a bin around z, both in widths of the kernel."""
    if abs(z) + bin_width / 2 > _CENTRAL_WIDTH:
        return _normal_cdf(z + bin_width / 2) - _normal_cdf(z - bin_width / 2)
    if bin_width < _NARROW_WIDTH:
        density = _interpolate(z, _DENSITIES, _SLOPES)
        return density * bin_width * (1 + (z * z - 1) * bin_width * bin_width / 24)
    return _interpolate(z + bin_width / 2, _CUMULATIVE, _DENSITIES) - _interpolate(
        z - bin_width / 2, _CUMULATIVE, _DENSITIES
    )


@njit(cache=True)
def _density(x, centres, weights, size, total, width, precision):
    """Return the estimate of Weka's KernelEstimator.getProbability, which stops early on either side."""
    if size == 0:
        return _mass(x / width, precision / width)
    start = np.searchsorted(centres[:size], x)
    estimate, weight_sum = 0.0, 0.0
    for place in range(start, size):
        mass = _mass((centres[place] - x) / width, precision / width)
        estimate += mass * weights[place]
        weight_sum += weights[place]
        if mass * (total - weight_sum) < estimate * _STOP_SHARE:
            break
    for place in range(start - 1, -1, -1):
        mass = _mass((centres[place] - x) / width, precision / width)
        estimate += mass * weights[place]
        weight_sum += weights[place]
        if mass * (total - weight_sum) < estimate * _STOP_SHARE:
            break
    return estimate / total


@njit(cache=True)
def add_numeric(values, order, y, train, mask, out):
    """Add the log ratio of one numeric column to ``out``. ``order``: its known rows, sorted by value."""
    gaps, distinct, previous, first = 0.0, 0, 0.0, True
    for row in order:
        if train[row]:
            if not first and values[row] != previous:
                gaps += values[row] - previous
                distinct += 1
            previous, first = values[row], False
    precision = gaps / distinct if distinct else _DEFAULT_PRECISION
    centres, weights = np.empty((2, len(order))), np.zeros((2, len(order)))
    size, total = np.zeros(2, np.int64), np.zeros(2)
    for row in order:
        if train[row]:
            k, centre = y[row], np.rint(values[row] / precision) * precision
            if size[k] == 0 or centres[k, size[k] - 1] != centre:
                centres[k, size[k]] = centre
                size[k] += 1
            weights[k, size[k] - 1] += 1
            total[k] += 1
    width = np.empty(2)
    for k in range(2):
        width[k] = precision / 6
        if size[k] > 1:
            width[k] = max((centres[k, size[k] - 1] - centres[k, 0]) / math.sqrt(total[k]), width[k])
    x, ratio = np.nan, 0.0
    for row in order:
        if mask[row]:
            if values[row] != x:
                x = values[row]
                ratio = 0.0
                for k in range(2):
                    density = _density(x, centres[k], weights[k], size[k], total[k], width[k], precision)
                    ratio += (2 * k - 1) * math.log(max(density, _SMALLEST))
            out[row] += ratio
