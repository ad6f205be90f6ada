"""Fit the classifiers of thresholds separately, in batches by a shortcut, or by one fit for all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, NamedTuple, Protocol

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.preprocessing import FunctionTransformer

from probcal._learner_output import predicted_classes
from probcal._validation import count_rows, take_rows
from probcal.fast_paths.prior_shift import PriorShift
from probcal.fast_paths.shortcut import Shortcut, transform_rows
from probcal.methods._executors import EarlyFits, InProcesses, InThreads, Step, Workers
from probcal.methods.importance import WeightedTraining

_NUMBERS_OF_A_BLOCK = 2**20


def batch_answers(shortcut: Shortcut, classifiers: list[Any], X: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the predicted labels of all ``classifiers``, and for which of them the margins decide every label.

    The first array is (n_rows, k) bool, True for the second class. The second is (k,) bool.
    """
    blocks, sure = [], np.ones(len(classifiers), dtype=bool)
    for margins, error in _margins(shortcut, classifiers, X):
        blocks.append(margins > 0)
        sure &= (np.abs(margins) > error).all(axis=0)  # False for a margin that is not a number
    return np.concatenate(blocks), sure


def batch_votes(shortcut: Shortcut, classifiers: list[Any], X: Any) -> np.ndarray:
    """Return how many classifiers predict the second class, (n_rows,) int64."""
    return np.concatenate([(margins > 0).sum(axis=1) for margins, _ in _margins(shortcut, classifiers, X)])


def _margins(shortcut: Shortcut, classifiers: list[Any], X: Any) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    X = transform_rows(shortcut, classifiers, X)
    n = count_rows(X)
    step = max(1, _NUMBERS_OF_A_BLOCK // max(len(classifiers), 1))
    if n <= step:
        yield _checked(shortcut, classifiers, X)
        return
    for start in range(0, n, step):
        yield _checked(shortcut, classifiers, take_rows(X, slice(start, start + step)))


def _checked(shortcut: Shortcut, classifiers: list[Any], X: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the margins and their errors. Raises ValueError if their shapes do not match."""
    output = shortcut.margins(classifiers, X)
    expected = count_rows(X), len(classifiers)
    kind = type(shortcut).__name__
    if not isinstance(output, tuple) or len(output) != 2:
        raise ValueError(f"the shortcut {kind} must return (margins, errors of the margins), not {output!r}")
    margins, error = (np.asarray(one) for one in output)
    if margins.shape != expected:
        raise ValueError(
            f"the shortcut {kind} gave margins of shape {margins.shape}; {expected} (rows, classifiers) is needed"
        )
    try:
        fits = np.broadcast_shapes(error.shape, expected) == expected
    except ValueError:
        fits = False
    if not fits or (error < 0).any():
        raise ValueError(
            f"the shortcut {kind} gave errors of shape {error.shape}, or below 0; give errors from 0: one number, or"
            f" one per margin, {expected}, per row, ({expected[0]}, 1), or per classifier, (1, {expected[1]})"
        )
    return margins, error


_TRUSTED_PACKAGES = ("sklearn", "probcal")
_MAX_DISTINCT_SHARE = 0.9
"""Predicting for a larger share of the rows than this saves less than finding the distinct rows costs."""


def answers_row_by_row(estimator: Any) -> bool:
    """Return whether the prediction of ``estimator`` for a row depends on that row only.

    That is assumed for learners made only of parts from scikit-learn and probcal. The exception is FunctionTransformer,
    whose function may look at all rows. Other learners can declare it by an attribute ``answers_row_by_row``.
    """
    if hasattr(estimator, "answers_row_by_row"):
        return bool(estimator.answers_row_by_row)
    parts = [estimator, *(part for part in estimator.get_params(deep=True).values() if hasattr(part, "get_params"))]
    kinds = [type(part) for part in parts]
    return all(kind.__module__.split(".")[0] in _TRUSTED_PACKAGES and kind is not FunctionTransformer for kind in kinds)


@dataclass(frozen=True, eq=False)
class DistinctRows:
    """Hold the rows to predict for.

    ``X``: the rows. ``place``: (n_rows,) int, the position in ``X`` of each original row, or None if ``X`` holds all
    rows in order.
    """

    X: Any
    place: np.ndarray | None = None

    def predicted(self, classifier: Any, classes: np.ndarray) -> np.ndarray:
        """Return the place in ``classes`` of the label that is predicted for each original row, (n_rows,) int."""
        predicted = predicted_classes(classifier, self.X, classes)
        return predicted if self.place is None else predicted[self.place]


def distinct_rows(X: Any) -> DistinctRows:
    """Return each distinct row of a frame or a numeric array once, and all rows of any other ``X``."""
    if isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "biuf":
        frame = pd.DataFrame(X)
    elif isinstance(X, pd.DataFrame):
        frame = X
    else:
        return DistinctRows(X)
    try:
        hashes = pd.util.hash_pandas_object(frame, index=False).to_numpy()
    except TypeError:  # some cells cannot be hashed
        return DistinctRows(X)
    _, first, place = np.unique(hashes, return_index=True, return_inverse=True)
    if len(first) > _MAX_DISTINCT_SHARE * len(frame) or not _same_rows(frame, frame.take(first[place])):
        return DistinctRows(X)
    return DistinctRows(take_rows(X, first), place)


def _same_rows(frame: pd.DataFrame, other: pd.DataFrame) -> bool:
    return bool(frame.equals(other.set_axis(frame.index)))  # two rows may share a hash


class Train(Protocol):
    """Train the classifier of a threshold. The result must not depend on when, where or after what it is fitted."""

    def __call__(self, p: float) -> Any: ...


class Probe(NamedTuple):
    """Hold a fitted probe. ``together`` is True if a shortcut made it and can predict for it in a batch."""

    classifier: Any
    together: bool


class Probes(Protocol):
    """Fit the classifier of each threshold once, and return its predictions for the rows that weigh the intervals."""

    def fit_ahead(self, steps: Iterator[Step]) -> None:
        """Announce the next thresholds before every ``take``. The first one is taken next."""
        ...

    def take(self, p: float) -> tuple[Probe, np.ndarray]:
        """Return the probe of threshold ``p`` and whether it predicts the positive class, (n_rows,) bool."""
        ...

    def close(self) -> None:
        """Drop what was not taken."""
        ...


class SeparateProbes:
    """Fit each threshold separately, or start the next ones early in ``n_workers`` threads or processes.

    Early fitting is safe because a probe depends only on its threshold, not on earlier fits. A probe that nobody takes
    is dropped.
    """

    def __init__(
        self, train: Train, rows: DistinctRows, classes: np.ndarray, n_workers: int = 1, *, in_threads: bool = False
    ) -> None:
        self._fit = _Fit(train, rows, classes)
        workers: Callable[[Train, int], Workers] = InThreads if in_threads else InProcesses
        self._ahead = EarlyFits(workers(self._fit, n_workers)) if n_workers > 1 else None

    def fit_ahead(self, steps: Iterator[Step]) -> None:
        if self._ahead is not None:
            self._ahead.start(steps)

    def take(self, p: float) -> tuple[Probe, np.ndarray]:
        classifier, positive = self._fit(p) if self._ahead is None else self._ahead.take(p)
        return Probe(classifier, together=False), positive

    def close(self) -> None:
        if self._ahead is not None:
            self._ahead.close()


class BatchProbes:
    """Fit the thresholds that are sure to be needed next in one batch by ``shortcut``.

    The learner itself is fitted where the shortcut cannot guarantee the labels.
    """

    def __init__(self, train: WeightedTraining, rows: Any, classes: np.ndarray, shortcut: Shortcut) -> None:
        self._train, self._rows, self._classes, self._shortcut = train, rows, classes, shortcut
        self._slow = SeparateProbes(train, DistinctRows(rows), classes)
        self._ready: dict[float, tuple[Probe, np.ndarray]] = {}

    def fit_ahead(self, steps: Iterator[Step]) -> None:
        first = next(steps)
        if first.p in self._ready:
            return
        sure = [first.p, *(step.p for step in takewhile(lambda step: not step.guessed, steps))]
        self._ready.update(self._fitted([p for p in dict.fromkeys(sure) if p not in self._ready]))

    def take(self, p: float) -> tuple[Probe, np.ndarray]:
        if p not in self._ready:
            self._ready.update(self._fitted([p]))
        return self._ready.pop(p)

    def close(self) -> None:
        self._ready.clear()

    def _fitted(self, thresholds: list[float]) -> dict[float, tuple[Probe, np.ndarray]]:
        train = self._train
        weights = np.array([train.class_weights(p) for p in thresholds])
        found = self._shortcut.fit(clone(train.estimator), train.X, train.labels, weights, train.row_weights)
        if not isinstance(found, list) or len(found) != len(thresholds):
            raise ValueError(
                f"fit of the shortcut {type(self._shortcut).__name__} must give a list of {len(thresholds)}"
                f" classifiers, one for each row of class_weights, or None in place of one; it gave {found!r}"
            )
        made = [
            (p, classifier)
            for p, classifier in zip(thresholds, found, strict=True)
            # in another order, its margins may be those of the first class
            if classifier is not None and np.array_equal(getattr(classifier, "classes_", self._classes), self._classes)
        ]
        ready = {}
        if made:
            classifiers = [classifier for _, classifier in made]
            answers, sure = batch_answers(self._shortcut, classifiers, self._rows)
            ready = {
                p: (Probe(classifier, together=True), column)
                for (p, classifier), column, one in zip(made, answers.T.copy(), sure, strict=True)
                if one
            }
        return ready | {p: self._slow.take(p) for p in thresholds if p not in ready}


class ShiftedProbes:
    """Fit once for all thresholds, where class weights only shift the learner's log-odds."""

    def __init__(self, train: WeightedTraining, rows: Any, classes: np.ndarray, shortcut: PriorShift) -> None:
        self._train, self._rows, self._shortcut = train, rows, shortcut
        self._slow = SeparateProbes(train, DistinctRows(rows), classes)
        self._log_odds: _LogOdds | None = None

    def fit_ahead(self, steps: Iterator[Step]) -> None:
        """Do nothing: a single fit serves all thresholds."""

    def take(self, p: float) -> tuple[Probe, np.ndarray]:
        train = self._train
        weights = np.array([train.class_weights(p)])
        (made,) = self._shortcut.fit(train.estimator, train.X, train.labels, weights, train.row_weights)
        if made is not None:
            if self._log_odds is None:
                self._log_odds = _LogOdds(*self._shortcut.log_odds(made.base, self._rows))
            if self._log_odds.all_on_one_side(-made.shift):
                return Probe(made, together=True), self._log_odds.values > -made.shift
        return self._slow.take(p)

    def close(self) -> None:
        """Do nothing: no fit is waiting."""


class _LogOdds:
    """Hold (n_rows,) log-odds ``values`` in nats, each within ``error`` of the true value."""

    def __init__(self, values: np.ndarray, error: np.ndarray | float) -> None:
        self.values = values
        self._lows, self._highs = np.sort(values - error), np.sort(values + error)

    def all_on_one_side(self, point: float) -> bool:
        """Return whether every value lies on one side of ``point`` for certain. False if any value is NaN."""
        from_below = np.searchsorted(self._lows, point, side="right")
        return bool(from_below == np.searchsorted(self._highs, point) and not np.isnan(self._highs[-1]))


class _Fit(NamedTuple):
    train: Train
    rows: DistinctRows
    classes: np.ndarray

    def __call__(self, p: float) -> tuple[Any, np.ndarray]:
        classifier = self.train(p)
        return classifier, self.rows.predicted(classifier, self.classes) == 1
