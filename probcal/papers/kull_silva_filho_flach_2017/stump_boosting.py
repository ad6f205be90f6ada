"""AdaBoost of decision stumps, discrete and real, with probabilities: the two forms that scikit-learn no longer has."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from probcal._classes import two_classes
from probcal._validation import COUNT, CheckedParameters, Constraint, row_weights
from probcal.papers.kull_silva_filho_flach_2017.stump_search import Stump, StumpSearch

_LEAST = float(np.finfo(np.float64).eps)
"""Where a stump's probability is cut before its logarithm."""
_AT_ONCE = 10_000
"""Rows that are predicted together."""
_CERTAIN = 2.0
"""Twice the weight 1 of a stump without error, with which the discrete form stops."""


class StumpBoosting(CheckedParameters, ClassifierMixin, BaseEstimator):
    """Boost decision stumps. The decision function is the log-odds of the predicted probability.

    ``"discrete"`` (Freund & Schapire 1997): stump t predicts -1 or 1 with weighted error e. The log-odds are the sum of
    ln((1 - e) / e) times the predictions. Boosting stops at the first stump with error 0, which adds 2. It also stops
    at the first stump with error 1/2 or more, which adds nothing.

    ``"real"`` (Friedman, Hastie & Tibshirani 2000; SAMME.R): the log-odds are the mean over the stumps of the log-odds
    that each predicts. A row's weight is multiplied by exp(-1/2 times the log-odds of its label). Boosting stops at the
    first stump with error 0.

    Kull, Silva Filho & Flach (2017) call the two forms "adao" and "adas". AdaBoostClassifier of scikit-learn had the
    real form as ``algorithm="SAMME.R"`` until version 1.6.

    Parameters
    ----------
    algorithm : {"discrete", "real"}, default="real"
        Form of AdaBoost.
    n_estimators : int, default=200
        Largest number of stumps.
    random_state : int, RandomState instance or None, default=None
        Seed of the stumps, which decides between equally good columns. It decides as in scikit-learn's trees of depth
        1, whose stumps these are.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        Labels in sorted order.
    stumps_ : ndarray of shape (n_stumps, 4)
        Column, limit, the vote of rows up to the limit, and the vote of rows above it. A vote of the real form is a
        log-odds in nats.
    weights_ : ndarray of shape (n_stumps,)
        Factor of each stump's vote, or of its log-odds.
    n_features_in_ : int
        Number of columns of ``X``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns of ``X``, if it has names.
    """

    constraints: ClassVar[dict[str, Constraint]] = {"algorithm": ("discrete", "real"), "n_estimators": COUNT}

    def __init__(
        self,
        algorithm: Literal["discrete", "real"] = "real",
        *,
        n_estimators: int = 200,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.algorithm = algorithm
        self.n_estimators = n_estimators
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the stumps. Numbers are compared in single precision, as in scikit-learn's trees.

        Raises ValueError for an invalid parameter or weight, for missing or infinite numbers, and unless the rows of
        positive weight have exactly two classes. Raises TypeError if ``X`` is sparse.
        """
        self.check_parameters()
        X = validate_data(self, X, dtype=np.float32, ensure_min_samples=2)  # in which trees compare
        labels, self.classes_ = two_classes(X, y)
        given = row_weights(sample_weight, len(labels))
        weights = np.ones(len(labels)) if given is None else given
        if len(np.unique(labels[weights > 0])) < 2:
            raise ValueError("the rows of positive weight are of one class only")
        sign = np.where(labels == self.classes_[1], 1.0, -1.0)
        random = check_random_state(self.random_state)
        search = StumpSearch(X, sign > 0)
        stumps: list[tuple[float, float, float, float]] = []
        kept: list[float] = []
        for _ in range(self.n_estimators):
            weights = weights / weights.sum()
            stump = search.best(weights, random.randint(2**31 - 1)) or Stump(0, np.inf)
            above = ~stump.goes_left(X)
            shares = np.bincount(2 * above + (sign > 0), weights, minlength=4).reshape(2, 2)
            low, high = (self._vote_of(shares[side] if shares[side].any() else shares[0]) for side in (0, 1))
            votes = np.where(above, high, low)
            error = float(weights[(votes > 0) != (sign > 0)].sum())
            weight = self._weight(error)
            if weight <= 0 and stumps:
                break
            stumps.append((*stump, low, high))
            kept.append(weight)
            if error <= 0 or weight <= 0:
                break
            weights = weights * np.exp(-sign * weight * votes / 2)
        self.stumps_ = np.array(stumps)
        self.weights_ = np.array(kept) if self.algorithm == "discrete" else np.full(len(kept), 1 / len(kept))
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the log-odds of the second class in nats, (n_rows,)."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float32, reset=False)
        # A call of each stump would take twenty times as long.
        columns, limits, low, high = self.stumps_.T
        parts = [
            np.where(X[start : start + _AT_ONCE, columns.astype(int)] <= limits, low, high) @ self.weights_
            for start in range(0, len(X), _AT_ONCE)
        ]
        return np.concatenate(parts)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Predict the probability of each class, (n_rows, 2)."""
        log_odds = self.decision_function(X)
        return np.column_stack([expit(-log_odds), expit(log_odds)])

    def predict(self, X: Any) -> np.ndarray:
        """Predict the more probable label of each row, (n_rows,). The first class wins a tie."""
        positive = self.decision_function(X) > 0
        return np.asarray(self.classes_[positive.astype(int)])

    def _weight(self, error: float) -> float:
        """Return the factor of a stump's vote. The real form has none, and takes every stump."""
        if self.algorithm == "real":
            return 1.0
        return _CERTAIN if error <= 0 else max(0.0, float(np.log((1 - error) / error)))

    def _vote_of(self, shares: np.ndarray) -> float:
        """Return the vote of a leaf with these weights of the classes, (2,)."""
        if self.algorithm == "discrete":
            return 1.0 if shares[1] > shares[0] else -1.0
        low, high = np.log(np.maximum(shares / shares.sum(), _LEAST)).tolist()
        return float(high - low)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
