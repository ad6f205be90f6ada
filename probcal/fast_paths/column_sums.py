"""The fast path for learners whose log-odds are a sum over columns, such as naive Bayes with kernels.

Class weights multiply the weights of all rows of a class. So the weights of each value are summed once. Only what
depends on their total, such as the width of a kernel, is computed for each classifier. Each distinct value of a column
is found once for all classifiers, and each classifier computes its log-ratio once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

# Class weights between which no weight of a row overflows or vanishes.
_USUAL = 1e-100, 1e100
# Log-odds of 128 MB, so that memory does not grow with the number of rows times classifiers.
_MARGINS_AT_ONCE = 2**24


class ColumnSums:
    """Fit once, and derive the classifiers of all class weights.

    The learner has ``reweighted(first, second)``, which returns the classifier that a fit with the weights of each
    class multiplied by a factor would give. Its ``coded(X)`` returns, for each column, the distinct points and the
    number of each row's point. A row of number -1 has no log-ratio in this column. Each column of its ``columns_`` has
    ``classes``, whose ``log_shares(points)`` are the log shares of the points in either class, in nats.

    ``error``: a bound, in nats, of the difference between the log-odds of a derived and a fitted classifier.
    """

    def __init__(self, error: float) -> None:
        self._error = error
        self._base: Any = None
        self._train: tuple[Any, list[tuple[np.ndarray, np.ndarray]]] = (None, [])

    def fit(
        self, estimator: Any, X: Any, labels: np.ndarray, class_weights: np.ndarray, row_weights: np.ndarray | None
    ) -> list[Any]:
        """Return a classifier for each row of ``class_weights``, (k, 2), or None for weights outside 1e-100..1e100."""
        if self._base is None:
            self._base = clone(estimator).fit(X, labels, sample_weight=row_weights)
            self._train = X, self._base.coded(X)
        least, most = _USUAL
        return [
            self._base.reweighted(first, second) if least < first < most and least < second < most else None
            for first, second in class_weights.tolist()
        ]

    def rows(self, classifiers: list[Any], X: Any) -> LogOdds:
        """Return the log-odds of ``X``, computed where they are needed."""
        train_X, coded = self._train
        return LogOdds(classifiers, coded if X is train_X else classifiers[0].coded(X), len(X))

    def margins(self, classifiers: list[Any], X: LogOdds | np.ndarray) -> tuple[np.ndarray, float]:
        """Return ((n_rows, k) log-odds, their error) for ``rows`` or a part of them."""
        return X[:], self._error


class LogOdds:
    """Compute the log-odds of coded rows for all ``classifiers``, for many rows at a time."""

    def __init__(self, classifiers: Sequence[Any], coded: list[tuple[np.ndarray, np.ndarray]], n_rows: int) -> None:
        self._classifiers, self._coded, self._n_rows = classifiers, coded, n_rows
        self._start, self._block = 0, np.empty((0, len(classifiers)))

    def __len__(self) -> int:
        return self._n_rows

    def __getitem__(self, rows: slice) -> np.ndarray:
        """Return the log-odds of ``rows``, (n, k) in nats."""
        start, stop, _ = rows.indices(self._n_rows)
        if start < self._start or stop > self._start + len(self._block):
            # callers ask for one small block after the other, and each would compute the log-ratios of all points again
            n_rows = max(stop - start, _MARGINS_AT_ONCE // len(self._classifiers))
            self._start, self._block = start, self._computed(slice(start, start + n_rows))
        return self._block[start - self._start : stop - self._start]

    def _computed(self, rows: slice) -> np.ndarray:
        priors = np.array([one.log_prior_[1] - one.log_prior_[0] for one in self._classifiers])
        log_odds = np.repeat(priors[:, None], len(range(self._n_rows)[rows]), axis=1)
        for number, (points, codes) in enumerate(self._coded):
            known: list[tuple[Any, np.ndarray]] = [(None, points)] * 2
            for total, classifier in zip(log_odds, self._classifiers, strict=True):
                for place, shares in enumerate(classifier.columns_[number].classes):
                    if shares is not known[place][0]:  # classifiers share a class that they weigh alike
                        known[place] = shares, shares.log_shares(points)
                ratio = known[1][1] - known[0][1]
                total += np.append(ratio, 0.0)[codes[rows]]
        return log_odds.T
