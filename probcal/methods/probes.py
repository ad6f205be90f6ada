"""Fitting the classifiers of thresholds: one after the other, ahead of need in processes, or together."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile
from typing import Any, NamedTuple, Protocol

import numpy as np
from sklearn.base import clone

from probcal.methods.ahead import Ahead, Step
from probcal.methods.distinct_rows import DistinctRows
from probcal.methods.in_processes import InProcesses
from probcal.methods.in_threads import InThreads
from probcal.methods.together import says_together
from probcal.methods.weighted_training import WeightedTraining
from probcal.shortcuts.prior_shift import PriorShift
from probcal.shortcuts.shortcut import Shortcut


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
