"""Fitting the classifier of a threshold, several ahead of need where there are processes for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs


class Probes:
    """The classifiers of thresholds, each fitted once by ``train(p)``, and what they say of the rows ``X``.

    Fitting ahead is safe because a probe depends on its threshold and on nothing that was fitted before
    it; one that is never taken is dropped.
    """

    def __init__(self, train: Callable[[float], Any], X: Any, positive: Any, n_jobs: int | None) -> None:
        self._train, self._X, self._positive = train, X, positive
        self._n_jobs = n_jobs
        self._ready: dict[float, tuple[Any, np.ndarray]] = {}

    @property
    def n_workers(self) -> int:
        return effective_n_jobs(self._n_jobs)

    def fit_ahead(self, wanted: list[float]) -> None:
        """Fit the ``wanted`` thresholds at once, if there are several workers and the first is not ready."""
        if self.n_workers == 1 or wanted[0] in self._ready:
            return
        batch = [p for p in dict.fromkeys(wanted) if p not in self._ready]
        done = Parallel(n_jobs=self.n_workers)(delayed(self._fit)(p) for p in batch)
        self._ready.update(zip(batch, done, strict=True))

    def take(self, p: float) -> tuple[Any, np.ndarray]:
        """The classifier of threshold ``p`` and, per row of ``X``, whether it says the positive class."""
        return self._ready.pop(p) if p in self._ready else self._fit(p)

    def _fit(self, p: float) -> tuple[Any, np.ndarray]:
        classifier = self._train(p)
        return classifier, np.asarray(classifier.predict(self._X) == self._positive)
