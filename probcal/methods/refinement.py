"""Which thresholds are probed: Algorithm 1 of Langford & Zadrozny (2005), or a grid given beforehand."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from probcal.methods.minimax import Goal, Interval
from probcal.methods.probes import Probes
from probcal.methods.threshold_classifiers import ThresholdClassifiers

_EQUAL = 1e-9
"""Gains this close are a tie: [0, .5] and [.5, 1] gain the same, but rounding would prefer one."""


def refined(
    probes: Probes, n_probes: int, goal: Goal, row_weights: np.ndarray, positive: Any
) -> ThresholdClassifiers:
    """Steps 1 and 2 of Algorithm 1: split the interval with the largest potential gain, ``n_probes`` times.

    ``row_weights``: (n_rows,), how much each row counts of those that ``probes`` answers about; |S_a| is
    their sum over the interval. Ends early when no interval that floating point can still split is left.
    """
    intervals, fitted, chosen = [goal.interval(0.0, 1.0)], [], []
    votes = np.zeros(len(row_weights), dtype=np.int64)
    for step in range(n_probes):
        counts = np.bincount(votes, weights=row_weights, minlength=len(intervals))
        gains = np.array([n * one.gain if one.can_be_split else -1.0 for n, one in zip(counts, intervals, strict=True)])
        if gains.max() < 0:
            break
        equal = gains >= gains.max() * (1 - _EQUAL)
        place = int(np.argmax(equal))  # the first, so ties go to the lowest interval
        threshold = intervals[place].p
        next_best = np.argsort(-gains, kind="stable")[: n_probes - step]
        likely = [threshold, *(intervals[i].p for i in next_best if gains[i] > 0)]
        probes.fit_ahead(list(dict.fromkeys(likely))[: probes.n_workers])
        classifier, says_one = probes.take(threshold)
        intervals[place : place + 1] = goal.split(intervals[place])
        fitted.insert(place, classifier)
        chosen.append(threshold)
        votes += says_one
    return _classifiers(intervals, fitted, chosen, positive, goal)


def evenly(n_probes: int) -> np.ndarray:
    """(n_probes,) the thresholds t / (n_probes + 1), as Theorem 2 assumes them."""
    return np.arange(1, n_probes + 1) / (n_probes + 1)


def on_grid(probes: Probes, thresholds: np.ndarray, goal: Goal, positive: Any) -> ThresholdClassifiers:
    """A classifier for each of ``thresholds``, (n,) rising within (0, 1)."""
    edges = [0.0, *thresholds.tolist(), 1.0]
    intervals = [goal.interval(a, b) for a, b in pairwise(edges)]
    chosen = edges[1:-1]
    probes.fit_ahead(chosen)
    return _classifiers(intervals, [probes.take(p)[0] for p in chosen], chosen, positive, goal)


def _classifiers(
    intervals: list[Interval], fitted: list[Any], chosen: list[float], positive: Any, goal: Goal
) -> ThresholdClassifiers:
    thresholds = np.array([one.b for one in intervals[:-1]])
    estimates = np.array([one.p for one in intervals])
    return ThresholdClassifiers(thresholds, fitted, np.searchsorted(thresholds, chosen), estimates, positive, goal)
