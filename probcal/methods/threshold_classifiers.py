"""A fitted two-class estimator made of one classifier a threshold."""

from __future__ import annotations

from bisect import bisect, insort
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import _num_samples

from probcal.methods.distinct_rows import DistinctRows, distinct_rows
from probcal.methods.in_threads import InThreads
from probcal.methods.minimax import Goal
from probcal.methods.together import says_together, votes_together
from probcal.shortcuts.shortcut import Shortcut


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
        answers = np.empty((_num_samples(X), len(self.classifiers)), dtype=bool)
        if self.shortcut is not None and self.together.any():
            answers[:, self.together], _ = says_together(self.shortcut, self._made_together, X)
        for place, column in self._each_by_itself(X):
            answers[:, place] = column
        return answers

    def votes(self, X: Any) -> np.ndarray:
        """(n_rows,) int64, how many say the positive class."""
        votes = np.zeros(_num_samples(X), dtype=np.int64)
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
