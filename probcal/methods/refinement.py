"""Which thresholds are probed: Algorithm 1 of Langford & Zadrozny (2005), or a grid given beforehand.

Which interval of probabilities Probing splits next, and where.

Langford & Zadrozny (2005), section 3, "Loss Details". All logarithms here are natural (nats).

A fitted two-class estimator made of one classifier a threshold.
"""

from __future__ import annotations

import math
from bisect import bisect, insort
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np

from probcal._validation import count_rows
from probcal.fast_paths.shortcut import Shortcut
from probcal.methods._executors import InThreads, Step
from probcal.methods._probes import DistinctRows, Probe, Probes, distinct_rows, says_together, votes_together

Loss = Literal["log_loss", "squared_error"]
Refinement = Literal["printed", "true_drop"]


@dataclass(frozen=True)
class Goal:
    """The loss that thresholds are chosen for, and the rule that says what splitting an interval gains.

    ``refinement``: for squared error ``"printed"`` is the b - a of the paper and ``"true_drop"`` the largest
    drop in squared error, (b - a)^2 / 4. For log loss the printed rule is the true drop.
    """

    loss: Loss = "log_loss"
    refinement: Refinement = "printed"

    def interval(self, a: float, b: float) -> Interval:
        """The interval [a, b] under this loss."""
        if self.loss == "log_loss":
            p = _minimax_log_loss(a, b)
            return Interval(a, b, p, _gain_log_loss(a, p) if a < p < b else 0.0)
        return Interval(a, b, (a + b) / 2, b - a if self.refinement == "printed" else ((b - a) / 2) ** 2)

    def split(self, one: Interval) -> tuple[Interval, Interval]:
        """[a, p] and [p, b]: step 2(c) of Algorithm 1."""
        return self.interval(one.a, one.p), self.interval(one.p, one.b)


@dataclass(frozen=True)
class Interval:
    """An interval [a, b] of probabilities, its minimax optimal ``p``, and what splitting it may gain.

    ``gain`` is the largest possible drop in loss for one training example that lies in it.
    """

    a: float
    b: float
    p: float
    gain: float

    @property
    def can_be_split(self) -> bool:
        """False once ``p`` is no longer strictly inside: floating point has run out between a and b."""
        return self.a < self.p < self.b


def _minimax_log_loss(a: float, b: float) -> float:
    """p = 1 / (1 + exp((H(b) - H(a)) / (b - a))), H the entropy in nats.

    The slope is written out so that no digits cancel, however narrow or close to 0 the interval is:
    (H(b) - H(a)) / (b - a) = [ln(1-a) + g((b-a)/(1-b))] - [ln b + g((b-a)/a)] with g(u) = ln(1+u)/u.
    """
    if not a < b:
        return a
    upper = math.log1p(-a) + (_g((b - a) / (1 - b)) if b < 1 else 0.0)
    lower = math.log(b) + (_g((b - a) / a) if a > 0 else 0.0)
    slope = upper - lower
    if slope > 700:  # exp would overflow; a slope this steep needs b below 1e-300
        return a
    return min(max(1 / (1 + math.exp(slope)), a), b)


def _gain_log_loss(a: float, p: float) -> float:
    """(1-a) ln((1-a)/(1-p)) + a ln(a/p): the regret of p when the truth is a."""
    return (1 - a) * math.log1p((p - a) / (1 - p)) + (a * math.log1p((a - p) / p) if a > 0 else 0.0)


def _g(u: float) -> float:
    return math.log1p(u) / u if u > 0 else 1.0


@dataclass(frozen=True, eq=False)
class ThresholdClassifiers:
    """Classifiers that say ``positive`` where they hold its probability above their threshold.

    ``thresholds``: (n,) rising; ``classifiers`` in that order; ``order``: (n,) int, their places in the
    order of fitting; ``estimates``: (n + 1,) the probability for each number of votes, from 0 up;
    ``goal``: under which the intervals were split; ``shortcut``: None, or what tells of the classifiers that it
    made, (n,) bool ``together``, at once; ``equal_rows_once``: whether the others are asked about equal rows once,
    and in how many ``threads``.
    """

    thresholds: np.ndarray
    classifiers: list[Any]
    order: np.ndarray
    estimates: np.ndarray
    positive: Any
    goal: Goal
    shortcut: Shortcut | None
    together: np.ndarray
    equal_rows_once: bool
    threads: int = 1

    def says_one(self, place: int, X: Any) -> np.ndarray:
        """(n_rows,) bool: whether the classifier at ``place`` says the positive class."""
        return np.asarray(self.classifiers[place].predict(X) == self.positive)

    def answers(self, X: Any) -> np.ndarray:
        """(n_rows, n) bool, a column for each threshold in rising order."""
        answers = np.empty((count_rows(X), len(self.classifiers)), dtype=bool)
        if self.shortcut is not None and self.together.any():
            answers[:, self.together], _ = says_together(self.shortcut, self._made_together, X)
        for place, column in self._each_by_itself(X):
            answers[:, place] = column
        return answers

    def votes(self, X: Any) -> np.ndarray:
        """(n_rows,) int64, how many say the positive class."""
        votes = np.zeros(count_rows(X), dtype=np.int64)
        if self.shortcut is not None and self.together.any():
            votes += votes_together(self.shortcut, self._made_together, X)
        for _, column in self._each_by_itself(X):
            votes += column
        return votes

    def staged_estimates(self, X: Any) -> Iterator[np.ndarray]:
        """(n_rows,) estimates after the first classifier that was fitted, the first two, ..."""
        intervals, before = [self.goal.interval(0.0, 1.0)], []  # type: ignore[var-annotated]
        votes: Any = 0
        for place in self.order.tolist():
            split = bisect(before, place)
            insort(before, place)
            intervals[split : split + 1] = self.goal.split(intervals[split])
            votes = votes + self.says_one(place, X).astype(np.int64)
            yield np.array([one.p for one in intervals])[votes]

    @property
    def _made_together(self) -> list[Any]:
        return [one for one, together in zip(self.classifiers, self.together, strict=True) if together]

    def _each_by_itself(self, X: Any) -> Iterator[tuple[int, np.ndarray]]:
        """(place, (n_rows,) bool) of each classifier that no shortcut made."""
        places = np.flatnonzero(~self.together).tolist()
        rows = distinct_rows(X) if self.equal_rows_once and len(places) > 1 else DistinctRows(X)
        for place, labels in zip(places, self._labels(rows, places), strict=True):
            yield place, labels == self.positive

    def _labels(self, rows: DistinctRows, places: list[int]) -> Iterator[np.ndarray]:
        classifiers = [self.classifiers[place] for place in places]
        if self.threads == 1:
            yield from map(rows.labels, classifiers)
            return
        with InThreads(rows.labels, self.threads) as threads:
            yield from threads.map(classifiers)


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


def on_grid(probes: Probes, thresholds: np.ndarray, goal: Goal, positive: Any, tells: Tells) -> ThresholdClassifiers:
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
