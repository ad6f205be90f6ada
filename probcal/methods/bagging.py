"""Bagging as an estimator of class probabilities: the share of bags that vote for a class."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from probcal.methods.binary import (
    drawn_seed,
    fit_on_sample,
    fresh_copy,
    is_count,
    is_range,
    likelier_class,
    two_classes,
    two_columns,
)


class BaggedVoteClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Classifiers trained on bootstrap samples (Langford & Zadrozny 2005, section 2, "Bagging").

    Parameters
    ----------
    estimator : any classifier.
    n_estimators : number of bags; the paper uses 100.
    voting : ``"votes"`` reports the proportion of classifiers that output the class, as the paper
        says; ``"means"`` the mean of their probabilities, as Weka's Bagging does.
    clip : estimates are projected to this range; the paper says nothing of it, ``(0, 1)`` leaves them.
    random_state : seed; each bag has a random stream of its own.

    Attributes: ``classes_`` (2,) labels in sorted order, ``estimators_`` the fitted classifiers.
    """

    def __init__(
        self,
        estimator: Any,
        n_estimators: int = 100,
        *,
        voting: Literal["votes", "means"] = "votes",
        clip: tuple[float, float] = (0.0, 1.0),
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.voting = voting
        self.clip = clip
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> BaggedVoteClassifier:
        """X: (n_rows, n_columns); y: (n_rows,) labels of two kinds. Raises ValueError otherwise."""
        self.check_parameters()
        labels, self.classes_ = two_classes(X, y)
        streams = np.random.SeedSequence(drawn_seed(self.random_state)).spawn(self.n_estimators)
        self.estimators_ = [self._fit_bag(X, labels, np.random.default_rng(stream)) for stream in streams]
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """(n_rows, 2) probabilities of ``classes_``; unclipped, 0 and 1 where all bags agree."""
        check_is_fitted(self)
        return two_columns(np.clip(np.mean([self._says(bag, X) for bag in self.estimators_], axis=0), *self.clip))

    def predict(self, X: Any) -> np.ndarray:
        """The likelier class of each row: (n_rows,) labels."""
        return likelier_class(self, X)

    def check_parameters(self) -> None:
        """Raises ValueError for a parameter that is not as documented."""
        if self.voting not in ("votes", "means"):
            raise ValueError(f"voting must be 'votes' or 'means', not {self.voting!r}")
        if not is_count(self.n_estimators):
            raise ValueError(f"n_estimators must be a whole number from 1, not {self.n_estimators!r}")
        if not is_range(self.clip):
            raise ValueError(f"clip must be two rising numbers within [0, 1], not {self.clip!r}")

    def _fit_bag(self, X: Any, labels: np.ndarray, random: np.random.Generator) -> Any:
        rows = random.integers(len(labels), size=len(labels))
        return fit_on_sample(fresh_copy(self.estimator, random), _safe_indexing(X, rows), labels[rows])

    def _says(self, bag: Any, X: Any) -> np.ndarray:
        if self.voting == "votes":
            return bag.predict(X) == self.classes_[1]
        column = np.flatnonzero(bag.classes_ == self.classes_[1])
        return bag.predict_proba(X)[:, column].sum(axis=1)
