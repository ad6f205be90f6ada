"""Provide exact Rademacher complexities, defined by Gao, Parameswaran & Peng (2017, section 3.1)."""

from __future__ import annotations

import math
from functools import cache
from itertools import product

import numpy as np


def rademacher(patterns):
    """Return R_D(H) over all 2^n signs. ``patterns`` is H on the rows of D: (n_functions, n) of numbers."""
    patterns = np.asarray(patterns)
    n = patterns.shape[1]
    signs = np.array(list(product((-1, 1), repeat=n)))
    return float((signs @ patterns.T).max(axis=1).mean() / n)


def intervals(estimates):
    """Return H of one classifier on its rows as patterns: 1[p1 < f <= p2] for every p1 and p2."""
    estimates = np.asarray(estimates)
    ends = [-1.0, *np.unique(estimates)]
    return np.array([(low < estimates) & (estimates <= high) for low in ends for high in ends])


@cache
def of_all_intervals(n):
    """Return R_D(H) of intervals on ``n`` distinct predictions: the mean largest rise of a walk of n signs, over n.

    It follows the distribution of (largest rise so far, height above the lowest place so far), step by step. Rises
    above 12 sqrt(n) are cut off. Their probability is below 1e-30.
    """
    most = min(n, int(12 * math.sqrt(n)))
    share = np.zeros((most + 1, most + 1))
    share[0, 0] = 1
    rises = np.arange(most)
    for _ in range(n):
        up, down = np.zeros_like(share), np.zeros_like(share)
        up[:, 1:] = share[:, :-1]
        up[rises, rises + 1] = 0
        up[rises + 1, rises + 1] += share[rises, rises]
        down[:, :-1] = share[:, 1:]
        down[:, 0] += share[:, 0]
        share = (up + down) / 2
    return float(share.sum(axis=1) @ np.arange(most + 1) / n)


def of_all_subsets(masses, n):
    """Return E_D R_D(H) where X has finitely many values with these ``masses`` and H holds every set of them.

    The best set has the values whose signs sum to more than 0. So the result is the sum over the values of E|S| / 2n.
    S is the sum of n steps that are +1 or -1 with probability mass / 2 each and else 0.
    """
    total = 0.0
    for mass in masses:
        steps = np.ones(1)
        for _ in range(n):
            steps = np.convolve(steps, [mass / 2, 1 - mass, mass / 2])
        total += steps @ np.abs(np.arange(-n, n + 1)) / (2 * n)
    return float(total)
