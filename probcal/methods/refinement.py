"""Choose the thresholds of Probing: Algorithm 1 of Langford & Zadrozny (2005), or a given grid.

The rules for splitting an interval are those of section 3, "Loss Details". All logarithms are natural (nats).
"""

from __future__ import annotations

import math
from bisect import bisect, insort
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np

from probcal._learner_output import predicted_classes
from probcal._validation import count_rows
from probcal.fast_paths.shortcut import Shortcut
from probcal.methods._executors import InThreads, Step
from probcal.methods._probes import DistinctRows, Probe, Probes, batch_answers, batch_votes, distinct_rows

Loss = Literal["log_loss", "squared_error"]
Refinement = Literal["printed", "true_drop"]


@dataclass(frozen=True)
class Goal:
    """Hold the loss that thresholds are chosen for, and the rule for the gain of splitting an interval.

    Parameters
    ----------
    loss : {"log_loss", "squared_error"}, default="log_loss"
        The loss. Log loss is in nats.
    refinement : {"printed", "true_drop"}, default="printed"
        Rule for squared error. ``"printed"`` is the b - a of the paper, and ``"true_drop"`` is the largest drop in
        squared error, (b - a)^2 / 4. For log loss the printed rule is the true drop.
    """

    loss: Loss = "log_loss"
    refinement: Refinement = "printed"

    def interval(self, a: float, b: float) -> Interval:
        """Return the interval [a, b] under this loss.

        Parameters
        ----------
        a, b : float
            Ends of the interval, within [0, 1].

        Returns
        -------
        Interval
            The interval with its minimax optimal p and its gain.
        """
        if self.loss == "log_loss":
            p = _minimax_log_loss(a, b)
            return Interval(a, b, p, _gain_log_loss(a, p) if a < p < b else 0.0)
        return Interval(a, b, (a + b) / 2, b - a if self.refinement == "printed" else ((b - a) / 2) ** 2)

    def split(self, one: Interval) -> tuple[Interval, Interval]:
        """Split an interval at its p: step 2(c) of Algorithm 1.

        Parameters
        ----------
        one : Interval
            The interval [a, b].

        Returns
        -------
        tuple of (Interval, Interval)
            The intervals [a, p] and [p, b].
        """
        return self.interval(one.a, one.p), self.interval(one.p, one.b)


@dataclass(frozen=True)
class Interval:
    """Hold an interval of probabilities, its minimax optimal prediction and the possible gain of splitting it.

    Parameters
    ----------
    a, b : float
        Ends of the interval, within [0, 1].
    p : float
        Minimax optimal prediction, within [a, b].
    gain : float
        Largest possible drop in loss for one training row inside the interval, in nats for log loss. For squared error
        with the rule ``"printed"`` it is b - a instead.
    """

    a: float
    b: float
    p: float
    gain: float

    @property
    def can_be_split(self) -> bool:
        """Return whether ``p`` lies strictly inside.

        Returns
        -------
        bool
            False if no float is left between a and b.
        """
        return self.a < self.p < self.b


def _minimax_log_loss(a: float, b: float) -> float:
    """Return p = 1 / (1 + exp((H(b) - H(a)) / (b - a))), where H is the entropy in nats.

    The slope is written so that no digits cancel, however narrow or close to 0 the interval is:
    (H(b) - H(a)) / (b - a) = [ln(1-a) + g((b-a)/(1-b))] - [ln b + g((b-a)/a)] with g(u) = ln(1+u)/u.
    """
    if not a < b:
        return a
    upper = math.log1p(-a) + (_log1p_ratio((b - a) / (1 - b)) if b < 1 else 0.0)
    lower = math.log(b) + (_log1p_ratio((b - a) / a) if a > 0 else 0.0)
    slope = upper - lower
    if slope > 700:  # exp would overflow here, and a slope this steep needs b below 1e-300
        return a
    return min(max(1 / (1 + math.exp(slope)), a), b)


def _gain_log_loss(a: float, p: float) -> float:
    """Return (1-a) ln((1-a)/(1-p)) + a ln(a/p), the regret of predicting p when the truth is a."""
    return (1 - a) * math.log1p((p - a) / (1 - p)) + (a * math.log1p((a - p) / p) if a > 0 else 0.0)


def _log1p_ratio(u: float) -> float:
    return math.log1p(u) / u if u > 0 else 1.0


@dataclass(frozen=True, eq=False)
class ThresholdClassifiers:
    """Hold the fitted classifiers of one two-class problem, one for each threshold.

    Each predicts the second class where the probability lies above its threshold.

    Parameters
    ----------
    thresholds : ndarray of shape (n,)
        Thresholds, rising.
    classifiers : list of classifiers
        Fitted, in the order of ``thresholds``.
    order : ndarray of shape (n,), dtype int
        Positions of the classifiers in the order of fitting.
    probabilities : ndarray of shape (n + 1,)
        Predicted probability for each number of votes, from 0 up.
    classes : ndarray of shape (2,)
        The two labels. The second is positive.
    goal : Goal
        Loss and rule that split the intervals.
    shortcut : Shortcut or None
        Shortcut that predicts in a batch for the classifiers it made.
    together : ndarray of shape (n,), dtype bool
        Which classifiers the shortcut made.
    equal_rows_once : bool
        Whether the other classifiers predict equal rows only once.
    threads : int, default=1
        Number of threads in which the other classifiers predict.
    """

    thresholds: np.ndarray
    classifiers: list[Any]
    order: np.ndarray
    probabilities: np.ndarray
    classes: np.ndarray
    goal: Goal
    shortcut: Shortcut | None
    together: np.ndarray
    equal_rows_once: bool
    threads: int = 1

    def predicts_positive(self, place: int, X: Any) -> np.ndarray:
        """Return whether one classifier predicts the positive class.

        Parameters
        ----------
        place : int
            Position of the classifier, from 0.
        X : array-like or DataFrame of shape (n_rows, n_columns)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n_rows,), dtype bool
            True for the positive class.
        """
        return np.asarray(predicted_classes(self.classifiers[place], X, self.classes) == 1)

    def answers(self, X: Any) -> np.ndarray:
        """Return the answers of all classifiers.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_rows, n_columns)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n_rows, n), dtype bool
            True for the positive class. There is one column per threshold, in rising order.
        """
        answers = np.empty((count_rows(X), len(self.classifiers)), dtype=bool)
        if self.shortcut is not None and self.together.any():
            answers[:, self.together], _ = batch_answers(self.shortcut, self._batched_classifiers, X)
        for place, column in self._separate_answers(X):
            answers[:, place] = column
        return answers

    def votes(self, X: Any) -> np.ndarray:
        """Count the classifiers that predict the positive class.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_rows, n_columns)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n_rows,), dtype int64
            Numbers from 0 to n.
        """
        votes = np.zeros(count_rows(X), dtype=np.int64)
        if self.shortcut is not None and self.together.any():
            votes += batch_votes(self.shortcut, self._batched_classifiers, X)
        for _, column in self._separate_answers(X):
            votes += column
        return votes

    def staged_probabilities(self, X: Any) -> Iterator[np.ndarray]:
        """Predict the probability after the first fitted classifier, after the first two, ...

        It is meant for thresholds that Algorithm 1 chose, not for a grid.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_rows, n_columns)
            Rows to predict.

        Yields
        ------
        ndarray of shape (n_rows,)
            Predicted probabilities of the positive class.
        """
        intervals = [self.goal.interval(0.0, 1.0)]
        before: list[int] = []
        votes: Any = 0
        for place in self.order.tolist():
            split = bisect(before, place)
            insort(before, place)
            intervals[split : split + 1] = self.goal.split(intervals[split])
            votes = votes + self.predicts_positive(place, X).astype(np.int64)
            yield np.array([one.p for one in intervals])[votes]

    @property
    def _batched_classifiers(self) -> list[Any]:
        return [one for one, together in zip(self.classifiers, self.together, strict=True) if together]

    def _separate_answers(self, X: Any) -> Iterator[tuple[int, np.ndarray]]:
        """Yield (place, (n_rows,) bool) for each classifier that no shortcut made."""
        places = np.flatnonzero(~self.together).tolist()
        rows = distinct_rows(X) if self.equal_rows_once and len(places) > 1 else DistinctRows(X)
        for place, predicted in zip(places, self._predicted(rows, places), strict=True):
            yield place, predicted == 1

    def _predicted(self, rows: DistinctRows, places: list[int]) -> Iterator[np.ndarray]:
        classifiers = [self.classifiers[place] for place in places]
        of_one = partial(rows.predicted, classes=self.classes)
        if self.threads == 1:
            yield from map(of_one, classifiers)
            return
        with InThreads(of_one, self.threads) as threads:
            yield from threads.map(classifiers)


_EQUAL = 1e-9
"""Gains this close count as a tie. [0, .5] and [.5, 1] gain the same, but rounding would prefer one."""


class AnswerOptions(NamedTuple):
    """Hold how fitted classifiers predict: fields of ``ThresholdClassifiers``.

    Parameters
    ----------
    shortcut : Shortcut or None
        Shortcut that predicts in a batch for the classifiers it made.
    equal_rows_once : bool
        Whether the other classifiers predict equal rows only once.
    threads : int
        Number of threads in which the other classifiers predict.
    """

    shortcut: Shortcut | None
    equal_rows_once: bool
    threads: int


def refine_thresholds(
    probes: Probes, n_probes: int, goal: Goal, row_weights: np.ndarray, classes: np.ndarray, options: AnswerOptions
) -> ThresholdClassifiers:
    """Split the interval with the largest possible gain, ``n_probes`` times: steps 1 and 2 of Algorithm 1.

    It ends early when floats can split no interval any more.

    Parameters
    ----------
    probes : Probes
        Fits the classifiers.
    n_probes : int
        Number of classifiers.
    goal : Goal
        Loss and rule that split the intervals.
    row_weights : ndarray of shape (n_rows,)
        Weight of each row that ``probes`` predict for. ``|S_a|`` is their sum over the interval.
    classes : ndarray of shape (2,)
        The two labels. The second is positive.
    options : AnswerOptions
        How the fitted classifiers predict.

    Returns
    -------
    ThresholdClassifiers
        The fitted classifiers.
    """
    intervals = [goal.interval(0.0, 1.0)]
    fitted: list[Probe] = []
    chosen: list[float] = []
    votes = np.zeros(len(row_weights), dtype=np.min_scalar_type(-n_probes - 1))
    weights = None if (row_weights == 1).all() else row_weights  # counting is faster than adding
    for step in range(n_probes):
        counts = np.bincount(votes, weights=weights, minlength=len(intervals)).tolist()
        place = _best_interval(intervals, counts)
        if place is None:
            break
        threshold = intervals[place].p
        probes.fit_ahead(_expected_steps(intervals, counts, goal, n_probes - step))
        probe, positive_rows = probes.take(threshold)
        intervals[place : place + 1] = goal.split(intervals[place])
        fitted.insert(place, probe)
        chosen.append(threshold)
        votes += positive_rows
    return _classifiers(intervals, fitted, chosen, classes, goal, options)


def _best_interval(intervals: list[Interval], counts: list[float]) -> int | None:
    """Return the position of the interval whose split may gain most, or None if no interval can be split.

    The lowest interval wins a tie.
    """
    gains = [n * one.gain if one.can_be_split else -1.0 for n, one in zip(counts, intervals, strict=True)]
    most = max(gains)
    return None if most < 0 else next(place for place, gain in enumerate(gains) if gain >= most * (1 - _EQUAL))


def _expected_steps(intervals: list[Interval], counts: list[float], goal: Goal, n_steps: int) -> Iterator[Step]:
    """Yield the next ``n_steps`` steps, assuming that half of an interval's rows fall into each half."""
    intervals, counts, guessed = list(intervals), list(counts), [False] * len(intervals)
    for _ in range(n_steps):
        place = _best_interval(intervals, counts)
        if place is None:
            return
        yield Step(intervals[place].p, guessed[place])
        intervals[place : place + 1] = goal.split(intervals[place])
        counts[place : place + 1] = [counts[place] / 2] * 2
        guessed[place : place + 1] = [True] * 2


def even_thresholds(n_probes: int) -> np.ndarray:
    """Return the thresholds t / (n_probes + 1), as in Theorem 2.

    Parameters
    ----------
    n_probes : int
        Number of thresholds.

    Returns
    -------
    ndarray of shape (n_probes,)
        Thresholds, rising.
    """
    return np.arange(1, n_probes + 1) / (n_probes + 1)


def fit_on_grid(
    probes: Probes, thresholds: np.ndarray, goal: Goal, classes: np.ndarray, options: AnswerOptions
) -> ThresholdClassifiers:
    """Fit a classifier for each threshold of a grid.

    Parameters
    ----------
    probes : Probes
        Fits the classifiers.
    thresholds : ndarray of shape (n,)
        Rising numbers within (0, 1).
    goal : Goal
        Loss that decides the predicted probability of each interval.
    classes : ndarray of shape (2,)
        The two labels. The second is positive.
    options : AnswerOptions
        How the fitted classifiers predict.

    Returns
    -------
    ThresholdClassifiers
        The fitted classifiers.
    """
    edges = [0.0, *thresholds.tolist(), 1.0]
    intervals = [goal.interval(a, b) for a, b in pairwise(edges)]
    chosen, fitted = edges[1:-1], []
    for place, p in enumerate(chosen):
        probes.fit_ahead(Step(later, guessed=False) for later in chosen[place:])
        fitted.append(probes.take(p)[0])
    return _classifiers(intervals, fitted, chosen, classes, goal, options)


def _classifiers(
    intervals: list[Interval],
    fitted: list[Probe],
    chosen: list[float],
    classes: np.ndarray,
    goal: Goal,
    options: AnswerOptions,
) -> ThresholdClassifiers:
    thresholds = np.array([one.b for one in intervals[:-1]])
    return ThresholdClassifiers(
        thresholds,
        [probe.classifier for probe in fitted],
        np.searchsorted(thresholds, chosen),
        np.array([one.p for one in intervals]),
        classes,
        goal,
        options.shortcut,
        np.array([probe.together for probe in fitted], dtype=bool),
        options.equal_rows_once,
        options.threads,
    )
