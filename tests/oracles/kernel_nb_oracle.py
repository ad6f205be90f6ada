"""Provide a slow naive Bayes with kernel densities: plain loops from the description of Weka's NaiveBayes -K.

A column is a list of numbers (None = missing), or a pair (list of levels, levels declared).
"""

from __future__ import annotations

import math

FLOOR = 1e-75


def log_odds(columns, positive, weights, columns_new):
    """Return the log-odds of the positive class, in nats, for every row of ``columns_new``."""
    total = sum(weights)
    of_class = [sum(w for w, one in zip(weights, positive, strict=True) if one == c) for c in (False, True)]
    prior = [(w + 1) / (total + 2) for w in of_class]
    n_new = len(values_of(columns_new[0]))
    result = [math.log(prior[1]) - math.log(prior[0])] * n_new
    for column, column_new in zip(columns, columns_new, strict=True):
        for row, value in enumerate(values_of(column_new)):
            if value is None:
                continue
            p = [probability(column, positive, weights, c, value) for c in (False, True)]
            result[row] += math.log(max(p[1], FLOOR)) - math.log(max(p[0], FLOOR))
    return result


def values_of(column):
    return column[0] if isinstance(column, tuple) else column


def probability(column, positive, weights, which, value):
    """Return P(value | class ``which``), before the floor."""
    rows = [
        (v, w) for v, w, one in zip(values_of(column), weights, positive, strict=True) if v is not None and one == which
    ]
    if isinstance(column, tuple):
        here = sum(w for v, w in rows if v == value)
        return (here + 1) / (sum(w for _, w in rows) + len(column[1]))
    step = max(precision([v for v in column if v is not None]), 1e-6)
    mass = density([v for v, _ in rows], [w for _, w in rows], step, round(value / step) * step)
    return mass / step if any(w > 0 for _, w in rows) else mass


def precision(values):
    """Return the mean gap between distinct values, or .01 if there is no gap."""
    total, gaps, last = 0.0, 0, None
    for value in sorted(values):
        if last is not None and value != last:
            total += value - last
            gaps += 1
        last = value
    return total / gaps if gaps else 0.01


def width(values, weights, step):
    """Return the standard deviation of a kernel."""
    rounded = [round(v / step) * step for v, w in zip(values, weights, strict=True) if w > 0]
    widest = max(rounded) - min(rounded) if rounded else 0.0
    return max(widest / math.sqrt(sum(weights)), step / 6) if widest > 0 else step / 6


def density(values, weights, step, x):
    """Return the mass of the kernels of the rounded values within half a step of ``x``."""
    step = max(step, 1e-6)
    s = width(values, weights, step)
    kernels = [(round(v / step) * step, w) for v, w in zip(values, weights, strict=True) if w > 0] or [(0.0, 1.0)]
    mass = math.fsum(w * normal_between((v - x - step / 2) / s, (v - x + step / 2) / s) for v, w in kernels)
    return mass / math.fsum(w for _, w in kernels)


def normal_between(low, high):
    """Return Phi(high) - Phi(low), computed in the lower tail, where Phi loses no digits."""
    if low + high > 0:
        low, high = -high, -low
    return (math.erfc(-high / math.sqrt(2)) - math.erfc(-low / math.sqrt(2))) / 2
