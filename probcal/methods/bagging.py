"""Bagging as an estimator of class probabilities: the share of bags that vote for a class."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, Self

import numpy as np

from probcal._validation import count_rows, refuse_no_count, refuse_no_range, refuse_other_choices
from probcal.methods._base import ProbabilityMethod, clipped, normalised
from probcal.methods._fitting import drawn_seed, fit_on_sample, fresh_copy, refuse_frozen, sampler


class BaggedVoteClassifier(ProbabilityMethod):
    """Classifiers trained on bootstrap samples (Langford & Zadrozny 2005, section 2, "Bagging").

    Parameters
    ----------
    estimator : any classifier; under ``voting="means"`` one with ``predict_proba``.
    n_estimators : number of bags; the paper uses 100.
    voting : ``"votes"`` reports the proportion of classifiers that output the class, as the paper
        says; ``"means"`` the mean of their probabilities, as Weka's Bagging does.
    clip : estimates are projected to this range; the paper says nothing of it, ``(0, 1)`` leaves them.
        With more than two classes the rows are then divided by their sums.
    random_state : seed; each bag has a random stream of its own.

    Attributes: ``classes_`` (n_classes,) labels in sorted order, ``estimators_`` the fitted classifiers,
    ``n_features_in_`` and ``feature_names_in_`` where X has them.
    """

    hands_weights_on = False

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

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """X: (n_rows, n_columns); y: (n_rows,) labels; sample_weight: (n_rows,), not negative.

        A row comes into a bag in proportion to its weight, so that the learner needs to know of none.
        Raises ValueError for anything else.
        """
        refuse_frozen(self.estimator)
        X, labels, weights = self._begin(X, y, sample_weight)
        chances = None if weights is None else weights / weights.sum()
        streams = np.random.SeedSequence(drawn_seed(self.random_state)).spawn(self.n_estimators)
        sample = sampler(self.estimator, X)
        self.estimators_ = [self._fit_bag(sample, labels, chances, np.random.default_rng(stream)) for stream in streams]
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """(n_rows, n_classes) probabilities of ``classes_``; unclipped, 0 and 1 where all bags agree."""
        self._before_predicting(X)
        if len(self.classes_) == 2:
            return clipped(np.mean([self._says(bag, X) for bag in self.estimators_], axis=0), self.clip)
        total = sum(self._says(bag, X) for bag in self.estimators_)
        return normalised(np.clip(total / len(self.estimators_), *self.clip))

    def check_parameters(self) -> None:
        """Raises ValueError for a parameter that is not as documented."""
        refuse_other_choices(self, {"voting": ("votes", "means")})
        refuse_no_count(self, "n_estimators")
        refuse_no_range(self.clip)

    def _fit_bag(
        self,
        sample: Callable[[np.ndarray], Any],
        labels: np.ndarray,
        chances: np.ndarray | None,
        random: np.random.Generator,
    ) -> Any:
        if chances is None:
            rows = random.integers(len(labels), size=len(labels))
        else:
            rows = random.choice(len(labels), size=len(labels), p=chances)
        return fit_on_sample(fresh_copy(self.estimator, random), sample(rows), labels[rows])

    def _says(self, bag: Any, X: Any) -> np.ndarray:
        """(n_rows, n_classes): what one bag says, zeros for classes that it has not seen."""
        if self.voting == "votes":
            return (bag.predict(X)[:, None] == self.classes_).astype(np.float64)
        says = np.zeros((count_rows(X), len(self.classes_)))
        says[:, np.searchsorted(self.classes_, bag.classes_)] = bag.predict_proba(X)
        return says
