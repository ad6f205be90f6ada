"""Fitting the classifiers of thresholds: one after the other, ahead of need in processes, or together.

What classifiers of a shortcut say of rows, taken in blocks so that their margins never fill the memory.

Rows that occur more than once, asked about once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, NamedTuple, Protocol

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.preprocessing import FunctionTransformer

from probcal._validation import count_rows, take_rows
from probcal.fast_paths.prior_shift import PriorShift
from probcal.fast_paths.shortcut import Shortcut, rows_of
from probcal.methods._executors import Ahead, InProcesses, InThreads, Step
from probcal.methods.importance import WeightedTraining

_NUMBERS_OF_A_BLOCK = 2**20


def says_together(shortcut: Shortcut, classifiers: list[Any], X: Any) -> tuple[np.ndarray, np.ndarray]:
    """((n_rows, k) bool: whether each says the second class, (k,) bool: whether its margins tell for every row)."""
    blocks, sure = [], np.ones(len(classifiers), dtype=bool)
    for margins, error in _margins(shortcut, classifiers, X):
        blocks.append(margins > 0)
        sure &= (np.abs(margins) > error).all(axis=0)  # false of a margin that is no number
    return np.concatenate(blocks), sure


def votes_together(shortcut: Shortcut, classifiers: list[Any], X: Any) -> np.ndarray:
    """(n_rows,) int64, how many say the second class."""
    return np.concatenate([(margins > 0).sum(axis=1) for margins, _ in _margins(shortcut, classifiers, X)])


def _margins(shortcut: Shortcut, classifiers: list[Any], X: Any) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    X = rows_of(shortcut, classifiers, X)
    n = count_rows(X)
    step = max(1, _NUMBERS_OF_A_BLOCK // max(len(classifiers), 1))
    if n <= step:
        yield _checked(shortcut, classifiers, X)
        return
    for start in range(0, n, step):
        yield _checked(shortcut, classifiers, take_rows(X, slice(start, start + step)))


def _checked(shortcut: Shortcut, classifiers: list[Any], X: Any) -> tuple[np.ndarray, np.ndarray]:
    """The margins and, of a shape that goes with theirs, their errors; ValueError for anything else."""
    told = shortcut.margins(classifiers, X)
    wanted = count_rows(X), len(classifiers)
    kind = type(shortcut).__name__
    if not isinstance(told, tuple) or len(told) != 2:
        raise ValueError(f"the shortcut {kind} must give margins and how far off they may be, not {told!r}")
    margins, error = (np.asarray(one) for one in told)
    if margins.shape != wanted:
        raise ValueError(f"the shortcut {kind} gave margins of shape {margins.shape}, not {wanted}: rows, classifiers")
    try:
        fits = np.broadcast_shapes(error.shape, wanted) == wanted
    except ValueError:
        fits = False
    if not fits or (error < 0).any():
        raise ValueError(
            f"the shortcut {kind} gave errors of shape {error.shape}: what is wanted is one number, or one for each"
            f" margin, {wanted}, or each row, ({wanted[0]}, 1), or each classifier, (1, {wanted[1]}), none below 0"
        )
    return margins, error


_KNOWN = ("sklearn", "probcal")
_WORTH_IT = 0.9
"""Asking about more of the rows than this saves less than finding the others costs."""


def answers_row_by_row(estimator: Any) -> bool:
    """Whether what ``estimator`` predicts of a row hangs on that row alone.

    It is taken to be so of learners of scikit-learn and probcal made of nothing else, but for a FunctionTransformer,
    whose function may look at all rows, and of one of yours that says so by an attribute ``answers_row_by_row``.
    """
    if hasattr(estimator, "answers_row_by_row"):
        return bool(estimator.answers_row_by_row)
    parts = [estimator, *(part for part in estimator.get_params(deep=True).values() if hasattr(part, "get_params"))]
    kinds = [type(part) for part in parts]
    return all(kind.__module__.split(".")[0] in _KNOWN and kind is not FunctionTransformer for kind in kinds)


@dataclass(frozen=True, eq=False)
class DistinctRows:
    """``X``: rows to be asked about; ``place``: (n_rows,) int, which of them each row is, or None for all in order."""

    X: Any
    place: np.ndarray | None = None

    def labels(self, classifier: Any) -> np.ndarray:
        """(n_rows,) what ``classifier`` predicts."""
        labels = np.asarray(classifier.predict(self.X))
        return labels if self.place is None else labels[self.place]


def distinct_rows(X: Any) -> DistinctRows:
    """The distinct rows of a frame or an array of numbers, each once; all of any other ``X``."""
    if isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "biuf":
        frame = pd.DataFrame(X)
    elif isinstance(X, pd.DataFrame):
        frame = X
    else:
        return DistinctRows(X)
    try:
        hashes = pd.util.hash_pandas_object(frame, index=False).to_numpy()
    except TypeError:  # cells that cannot be hashed
        return DistinctRows(X)
    _, first, place = np.unique(hashes, return_index=True, return_inverse=True)
    if len(first) > _WORTH_IT * len(frame) or not _same(frame, frame.take(first[place])):
        return DistinctRows(X)
    return DistinctRows(take_rows(X, first), place)


def _same(frame: pd.DataFrame, other: pd.DataFrame) -> bool:
    return frame.equals(other.set_axis(frame.index))  # two rows may share a hash


class Train(Protocol):
    """Gives the classifier of a threshold: the same whenever, wherever and after whatever it is fitted."""

    def __call__(self, p: float) -> Any: ...


class Probe(NamedTuple):
    """A fitted probe; ``together``: whether the shortcut made it, and can tell of it together with others."""

    classifier: Any
    together: bool


class Probes(Protocol):
    """The classifiers of thresholds, each fitted once, and what they say of the rows that intervals are weighed by."""

    def fit_ahead(self, steps: Iterator[Step]) -> None:
        """Told before every ``take`` which thresholds come next, the one to be taken first."""
        ...

    def take(self, p: float) -> tuple[Probe, np.ndarray]:
        """The probe of threshold ``p`` and, (n_rows,) bool, whether it says the positive class."""
        ...

    def close(self) -> None:
        """Drop what was not taken."""
        ...


class EachByItself:
    """One fit after the other or, told of the next steps, ahead in ``n_workers`` threads or processes.

    Fitting ahead is safe because a probe depends on its threshold and on nothing that was fitted before
    it; one that is never taken is dropped.
    """

    def __init__(
        self, train: Train, rows: DistinctRows, positive: Any, n_workers: int = 1, *, in_threads: bool = False
    ) -> None:
        self._fit = _Fit(train, rows, positive)
        workers = InThreads if in_threads else InProcesses
        self._ahead = Ahead(workers(self._fit, n_workers)) if n_workers > 1 else None  # type: ignore[arg-type]

    def fit_ahead(self, steps: Iterator[Step]) -> None:
        if self._ahead is not None:
            self._ahead.start(steps)

    def take(self, p: float) -> tuple[Probe, np.ndarray]:
        classifier, says = self._fit(p) if self._ahead is None else self._ahead.take(p)
        return Probe(classifier, together=False), says

    def close(self) -> None:
        if self._ahead is not None:
            self._ahead.close()


class Together:
    """All that are sure to be needed next fitted at once by ``shortcut``; those it cannot vouch for by the learner."""

    def __init__(self, train: WeightedTraining, rows: Any, positive: Any, shortcut: Shortcut) -> None:
        self._train, self._rows, self._shortcut = train, rows, shortcut
        self._slow = EachByItself(train, DistinctRows(rows), positive)
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
        made = [(p, classifier) for p, classifier in zip(thresholds, found, strict=True) if classifier is not None]
        ready = {}
        if made:
            classifiers = [classifier for _, classifier in made]
            says, sure = says_together(self._shortcut, classifiers, self._rows)
            ready = {
                p: (Probe(classifier, together=True), column)
                for (p, classifier), column, one in zip(made, says.T.copy(), sure, strict=True)
                if one
            }
        return ready | {p: self._slow.take(p) for p in thresholds if p not in ready}


class Shifted:
    """One fit for all, where class weights shift the learner's log-odds and do nothing else."""

    def __init__(self, train: WeightedTraining, rows: Any, positive: Any, shortcut: PriorShift) -> None:
        self._train, self._rows, self._shortcut = train, rows, shortcut
        self._slow = EachByItself(train, DistinctRows(rows), positive)
        self._log_odds: _LogOdds | None = None

    def fit_ahead(self, steps: Iterator[Step]) -> None:
        """Nothing is gained by it."""

    def take(self, p: float) -> tuple[Probe, np.ndarray]:
        train = self._train
        weights = np.array([train.class_weights(p)])
        (made,) = self._shortcut.fit(train.estimator, train.X, train.labels, weights, train.row_weights)
        if made is not None:
            if self._log_odds is None:
                self._log_odds = _LogOdds(*self._shortcut.log_odds(made.base, self._rows))
            if self._log_odds.tell(-made.shift):
                return Probe(made, together=True), self._log_odds.values > -made.shift
        return self._slow.take(p)

    def close(self) -> None:
        """Nothing waits to be taken."""


class _LogOdds:
    """``values``: (n_rows,) nats, each off by at most its ``error``."""

    def __init__(self, values: np.ndarray, error: np.ndarray | float) -> None:
        self.values = values
        self._lows, self._highs = np.sort(values - error), np.sort(values + error)

    def tell(self, point: float) -> bool:
        """Whether all lie on one side of ``point`` for sure. Of one that is no number, none do."""
        from_below = np.searchsorted(self._lows, point, side="right")
        return bool(from_below == np.searchsorted(self._highs, point) and not np.isnan(self._highs[-1]))


class _Fit(NamedTuple):
    train: Train
    rows: DistinctRows
    positive: Any

    def __call__(self, p: float) -> tuple[Any, np.ndarray]:
        classifier = self.train(p)
        return classifier, self.rows.labels(classifier) == self.positive
