"""A fitted two-class estimator made of one classifier a threshold."""

from __future__ import annotations

from bisect import bisect, insort
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from probcal.methods.minimax import Goal


@dataclass(frozen=True, eq=False)
class ThresholdClassifiers:
    """Classifiers that say ``positive`` where they hold its probability above their threshold.

    ``thresholds``: (n,) rising; ``classifiers`` in that order; ``order``: (n,) int, their places in the
    order of fitting; ``estimates``: (n + 1,) the probability for each number of votes, from 0 up;
    ``goal``: under which the intervals were split.
    """

    thresholds: np.ndarray
    classifiers: list[Any]
    order: np.ndarray
    estimates: np.ndarray
    positive: Any
    goal: Goal

    def says_one(self, place: int, X: Any) -> np.ndarray:
        """(n_rows,) bool: whether the classifier at ``place`` says the positive class."""
        return np.asarray(self.classifiers[place].predict(X) == self.positive)

    def answers(self, X: Any) -> np.ndarray:
        """(n_rows, n) bool, a column for each threshold in rising order."""
        return np.column_stack([self.says_one(place, X) for place in range(len(self.classifiers))])

    def votes(self, X: Any) -> np.ndarray:
        """(n_rows,) int, how many say the positive class."""
        votes = self.says_one(0, X).astype(np.int64)
        for place in range(1, len(self.classifiers)):
            votes += self.says_one(place, X)
        return votes

    def staged_estimates(self, X: Any) -> Iterator[np.ndarray]:
        """(n_rows,) estimates after the first classifier that was fitted, the first two, ..."""
        intervals, before = [self.goal.interval(0.0, 1.0)], []
        votes: Any = 0
        for place in self.order.tolist():
            split = bisect(before, place)
            insort(before, place)
            intervals[split : split + 1] = self.goal.split(intervals[split])
            votes = votes + self.says_one(place, X).astype(np.int64)
            yield np.array([one.p for one in intervals])[votes]
