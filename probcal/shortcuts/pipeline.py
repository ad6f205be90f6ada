"""The shortcut for a Pipeline whose last step has one: the steps before it are fitted once.

They never see the weights, which a Pipeline hands to its last step, so that each probe's would learn the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from probcal.seeds import open_seeds
from probcal.shortcuts.shortcut import Shortcut, rows_of, shortcut_of_learner


def shortcut_of(estimator: Pipeline) -> PipelineShortcut | None:
    """None where the last step has none, or a step before it draws from a seed of its own at every fit."""
    if len(estimator.steps) < 2 or estimator.memory is not None or estimator.verbose:
        return None
    last = None if open_seeds(estimator[:-1]) else shortcut_of_learner(estimator.steps[-1][1])
    return PipelineShortcut(last) if last is not None else None


class PipelineShortcut:
    """Fits the steps before the last one once, and then goes the way of the last one's shortcut."""

    def __init__(self, last: Shortcut) -> None:
        self._last = last
        self._steps: Pipeline | None = None
        self._learned_from: tuple[Any, Any] = (None, None)

    def fit(
        self, estimator: Pipeline, X: Any, labels: np.ndarray, class_weights: np.ndarray, row_weights: np.ndarray | None
    ) -> list[Pipeline | None]:
        """A Pipeline for each row of ``class_weights``, (k, 2); all have the same fitted steps but the last."""
        if self._steps is None:
            steps = clone(estimator[:-1])
            self._learned_from = X, steps.fit_transform(X, labels)
            self._steps = steps
        name, learner = estimator.steps[-1]
        made = self._last.fit(clone(learner), self._learned_from[1], labels, class_weights, row_weights)
        return [None if one is None else Pipeline([*self._steps.steps, (name, one)]) for one in made]

    def rows(self, classifiers: list[Pipeline], X: Any) -> Any:
        """``X`` as the last steps get it."""
        of, learned = self._learned_from
        transformed = learned if X is of else classifiers[0][:-1].transform(X)
        return rows_of(self._last, [one.steps[-1][1] for one in classifiers], transformed)

    def margins(self, classifiers: list[Pipeline], X: Any) -> tuple[np.ndarray, np.ndarray | float]:
        """Those of the last steps, for ``rows`` of X."""
        return self._last.margins([one.steps[-1][1] for one in classifiers], X)
