"""Which thresholds are probed: Algorithm 1 of Langford & Zadrozny (2005), or a grid given beforehand."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from probcal.methods.ahead import Step
from probcal.methods.minimax import Goal, Interval
from probcal.methods.probes import Probe, Probes
from probcal.methods.threshold_classifiers import ThresholdClassifiers
from probcal.shortcuts.shortcut import Shortcut

_EQUAL = 1e-9
"""Gains this close are a tie: [0, .5] and [.5, 1] gain the same, but rounding would prefer one."""


class Tells(NamedTuple):
    """How fitted classifiers are asked: fields of ``ThresholdClassifiers``."""

    shortcut: Shortcut | None
    equal_rows_once: bool
    threads: int


def refined(
    probes: Probes, n_probes: int, goal: Goal, row_weights: np.ndarray, positive: Any, tells: Tells
) -> ThresholdClassifiers:
    """Steps 1 and 2 of Algorithm 1: split the interval with the largest potential gain, ``n_probes`` times.

    ``row_weights``: (n_rows,), how much each row counts of those that ``probes`` answers about; |S_a| is
    their sum over the interval. Ends early when no interval that floating point can still split is left.
    """
    intervals, fitted, chosen = [goal.interval(0.0, 1.0)], [], []  # type: ignore[var-annotated]
    votes = np.zeros(len(row_weights), dtype=np.min_scalar_type(-n_probes - 1))
    weights = None if (row_weights == 1).all() else row_weights  # counting is faster than adding
    for step in range(n_probes):
        counts = np.bincount(votes, weights=weights, minlength=len(intervals)).tolist()
        place = _widest(intervals, counts)
        if place is None:
            break
        threshold = intervals[place].p
        probes.fit_ahead(_played_ahead(intervals, counts, goal, n_probes - step))
        probe, says_one = probes.take(threshold)
        intervals[place : place + 1] = goal.split(intervals[place])
        fitted.insert(place, probe)
        chosen.append(threshold)
        votes += says_one
    return _classifiers(intervals, fitted, chosen, positive, goal, tells)


def _widest(intervals: list[Interval], counts: list[float]) -> int | None:
    """The place of the interval whose split may gain most, the lowest of equal ones; None where none can be split."""
    gains = [n * one.gain if one.can_be_split else -1.0 for n, one in zip(counts, intervals, strict=True)]
    most = max(gains)
    return None if most < 0 else next(place for place, gain in enumerate(gains) if gain >= most * (1 - _EQUAL))


def _played_ahead(intervals: list[Interval], counts: list[float], goal: Goal, n_steps: int) -> Iterator[Step]:
    """The next ``n_steps`` steps, as if half of the rows of an interval that is split fell into each half."""
    intervals, counts, guessed = list(intervals), list(counts), [False] * len(intervals)
    for _ in range(n_steps):
        place = _widest(intervals, counts)
        if place is None:
            return
        yield Step(intervals[place].p, guessed[place])
        intervals[place : place + 1] = goal.split(intervals[place])
        counts[place : place + 1] = [counts[place] / 2] * 2
        guessed[place : place + 1] = [True] * 2


def evenly(n_probes: int) -> np.ndarray:
    """(n_probes,) the thresholds t / (n_probes + 1), as Theorem 2 assumes them."""
    return np.arange(1, n_probes + 1) / (n_probes + 1)


def on_grid(
    probes: Probes, thresholds: np.ndarray, goal: Goal, positive: Any, tells: Tells
) -> ThresholdClassifiers:
    """A classifier for each of ``thresholds``, (n,) rising within (0, 1)."""
    edges = [0.0, *thresholds.tolist(), 1.0]
    intervals = [goal.interval(a, b) for a, b in pairwise(edges)]
    chosen, fitted = edges[1:-1], []
    for place, p in enumerate(chosen):
        probes.fit_ahead(Step(later, guessed=False) for later in chosen[place:])
        fitted.append(probes.take(p)[0])
    return _classifiers(intervals, fitted, chosen, positive, goal, tells)


def _classifiers(
    intervals: list[Interval],
    fitted: list[Probe],
    chosen: list[float],
    positive: Any,
    goal: Goal,
    tells: Tells,
) -> ThresholdClassifiers:
    thresholds = np.array([one.b for one in intervals[:-1]])
    return ThresholdClassifiers(
        thresholds,
        [probe.classifier for probe in fitted],
        np.searchsorted(thresholds, chosen),
        np.array([one.p for one in intervals]),
        positive,
        goal,
        tells.shortcut,
        np.array([probe.together for probe in fitted], dtype=bool),
        tells.equal_rows_once,
        tells.threads,
    )
