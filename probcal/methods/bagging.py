"""Bagging as a method: the predicted probability of a class is the share of bags that vote for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Literal, Self

import numpy as np

from probcal._learner_output import learner_probabilities, normalised_rows, predicted_classes
from probcal._validation import CLIP_OR_ROWS, COUNT, Constraint
from probcal.methods._base import ProbabilityMethod, drawn_seed, fit_on_sample, fresh_copy, refuse_frozen, sampler
from probcal.methods._multiclass import clipped_rows
from probcal.methods.calibrators._calibrator import smallest_probability


class BaggedVoteClassifier(ProbabilityMethod):
    """Vote with classifiers trained on bootstrap samples (Langford & Zadrozny 2005, section 2, "Bagging").

    Parameters
    ----------
    estimator : classifier
        With ``voting="means"`` it needs ``predict_proba``.
    n_estimators : int, default=100
        Number of bags. The paper uses 100.
    voting : {"auto", "votes", "means"}, default="auto"
        What the bags contribute.

        - ``"votes"`` predicts the proportion of classifiers that output the class, as in the paper. With
          ``clip=(0, 1)`` that is 0 or 1 where all bags agree.
        - ``"means"`` predicts the mean of their probabilities, as Weka's Bagging does.
        - ``"auto"`` is ``"means"`` if the classifier has ``predict_proba``, and ``"votes"`` otherwise.

        Votes of a stable classifier, such as logistic regression, are near 0 and 1.
    clip : "rows" or tuple of (float, float), default="rows"
        Predicted probabilities are clipped to this range. With more than two classes each row is then divided by its
        sum. ``"rows"`` is [1 / 2n, 1 - 1 / 2n] for n training rows. The paper does not clip, and ``(0, 1)`` changes
        nothing. With ``frequency_weights`` in ``fit``, n is the sum of the weights, and so is the size of a bag.
    random_state : int, RandomState, Generator or None, default=None
        Seed. Each bag has its own random stream.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels in sorted order.
    estimators_ : list of classifiers
        One fitted classifier per bag.
    n_features_in_ : int
        Number of columns of X. Only set if X has columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns of X. Only set if all names are strings.

    See Also
    --------
    ProbingClassifier : Needs labels only, too, and also suits stable classifiers.
    DirectClassifier : Takes the probabilities of a single classifier.
    sklearn.ensemble.BaggingClassifier : Takes the mean of the bags, without clipping.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.metrics import log_loss
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from probcal import BaggedVoteClassifier, DirectClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> tree = DecisionTreeClassifier(random_state=0)
    >>> for method in (DirectClassifier(tree), BaggedVoteClassifier(tree, 20, voting="votes", random_state=0)):
    ...     print(round(log_loss(y[300:], method.fit(X[:300], y[:300]).predict_proba(X[300:])), 2))
    3.89
    0.14
    """

    forwards_sample_weight = False
    constraints: ClassVar[dict[str, Constraint]] = {
        "voting": ("auto", "votes", "means"),
        "n_estimators": COUNT,
        "clip": CLIP_OR_ROWS,
    }

    def __init__(
        self,
        estimator: Any,
        n_estimators: int = 100,
        *,
        voting: Literal["auto", "votes", "means"] = "auto",
        clip: Literal["rows"] | tuple[float, float] = "rows",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.voting = voting
        self.clip = clip
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, frequency_weights: bool = False) -> Self:
        # The chance of a row to be drawn is proportional to its weight, so the learner itself gets no weights.
        refuse_frozen(self.estimator)
        X, labels, weights = self._begin(X, y, sample_weight, frequency_weights)
        if self.voting == "means" and not hasattr(self.estimator, "predict_proba"):
            raise ValueError(
                f"voting='means' needs predict_proba, and {type(self.estimator).__name__} has none; set voting='votes'"
            )
        n_rows = int(weights.sum()) if weights is not None and frequency_weights else len(labels)
        low = smallest_probability(n_rows)
        self._clip: tuple[float, float] = (low, 1 - low) if isinstance(self.clip, str) else self.clip
        chances = None if weights is None else weights / weights.sum()
        # A bag has a stream of its own, so bags do not depend on how many there are.
        streams = np.random.SeedSequence(drawn_seed(self.random_state)).spawn(self.n_estimators)
        sample = sampler(self.estimator, X)
        self.estimators_ = [
            self._fit_bag(sample, labels, chances, n_rows, np.random.default_rng(stream)) for stream in streams
        ]
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        self._before_predicting(X)
        if len(self.classes_) == 2:
            return clipped_rows(np.mean([self._output(bag, X) for bag in self.estimators_], axis=0), self._clip)
        total = sum(self._output(bag, X) for bag in self.estimators_)
        return normalised_rows(np.clip(total / len(self.estimators_), *self._clip))

    def _fit_bag(
        self,
        sample: Callable[[np.ndarray], Any],
        labels: np.ndarray,
        chances: np.ndarray | None,
        n_rows: int,
        random: np.random.Generator,
    ) -> Any:
        if chances is None:
            rows = random.integers(n_rows, size=n_rows)
        else:
            rows = random.choice(len(labels), size=n_rows, p=chances)
        return fit_on_sample(fresh_copy(self.estimator, random), sample(rows), labels[rows])

    def _output(self, bag: Any, X: Any) -> np.ndarray:
        """Return the votes or probabilities of one bag, (n_rows, n_classes), with zeros for classes it has not seen."""
        if self.voting == "votes" or (self.voting == "auto" and not hasattr(bag, "predict_proba")):
            votes: np.ndarray = np.eye(len(self.classes_))[predicted_classes(bag, X, self.classes_)]
            return votes
        return learner_probabilities(bag, X, self.classes_, unseen=True)
