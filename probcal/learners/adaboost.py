"""AdaBoost of decision stumps, discrete and real, with probabilities: the two forms that scikit-learn no longer has."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from probcal._validation import check_choices, is_count
from probcal.methods._base import row_weights, two_classes

_LEAST = float(np.finfo(np.float64).eps)
"""Where a stump's probability is cut before its logarithm."""
_AT_ONCE = 10_000
"""Rows that are predicted together."""
_CERTAIN = 2.0
"""Twice the weight 1 of a stump without error, with which the discrete form stops."""


class StumpBoosting(ClassifierMixin, BaseEstimator):
    """Boost decision stumps. The decision function is the log-odds of the predicted probability.

    ``"discrete"`` (Freund & Schapire 1997): stump t predicts -1 or 1 with weighted error e and adds ln((1 - e) / e)
    times that. It stops at the first stump with error 0, which adds 2, or with error 1/2 or more, which adds nothing.
    ``"real"`` (Friedman, Hastie & Tibshirani 2000; SAMME.R): the log-odds are the mean over the stumps of the log-odds
    that each predicts. A row's weight is multiplied by exp(-1/2 times the log-odds of its label). It stops at the first
    stump with error 0. Kull, Silva Filho & Flach (2017) call the two "adao" and "adas". AdaBoostClassifier of
    scikit-learn had the real form as ``algorithm="SAMME.R"`` until version 1.6.

    Parameters
    ----------
    algorithm : ``"discrete"`` or ``"real"``.
    n_estimators : most stumps.
    random_state : seed of the stumps, which decides between equally good columns.

    Attributes
    ----------
    classes_ : (2,) labels in sorted order.
    estimators_ : the stumps.
    weights_ : (n_stumps,) what each stump's vote, or its log-odds, is multiplied by.
    n_features_in_, feature_names_in_ : number and names of the columns of X.
    """

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
        """Fit the stumps.

        Parameters
        ----------
        X : numbers, (n_rows, n_columns).
        y : labels of two classes, (n_rows,).
        sample_weight : weights, (n_rows,), not negative, or None.

        Raises
        ------
        ValueError
            For an invalid parameter, and unless there are two classes, finite numbers and valid weights.
        """
        check_choices(self, {"algorithm": ("discrete", "real")})
        if not is_count(self.n_estimators):
            raise ValueError(f"n_estimators must be a whole number from 1, not {self.n_estimators!r}")
        X = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        labels, self.classes_ = two_classes(X, y)
        given = row_weights(sample_weight, len(labels))
        weights = np.ones(len(labels)) if given is None else given
        if len(np.unique(labels[weights > 0])) < 2:
            raise ValueError("the rows of positive weight are of one class only")
        sign = np.where(labels == self.classes_[1], 1.0, -1.0)
        random = check_random_state(self.random_state)
        self.estimators_: list[DecisionTreeClassifier] = []
        kept: list[float] = []
        for _ in range(self.n_estimators):
            weights = weights / weights.sum()
            stump = DecisionTreeClassifier(max_depth=1, random_state=random.randint(2**31 - 1))
            stump.fit(X, labels, sample_weight=weights)
            votes = self._vote(stump, X)
            error = float(weights[(votes > 0) != (sign > 0)].sum())
            weight = self._weight(error)
            if weight <= 0 and self.estimators_:
                break
            self.estimators_.append(stump)
            kept.append(weight)
            if error <= 0 or weight <= 0:
                break
            weights = weights * np.exp(-sign * weight * votes / 2)
        self._stumps = np.array([self._table(stump) for stump in self.estimators_])
        self.weights_ = np.array(kept) if self.algorithm == "discrete" else np.full(len(kept), 1 / len(kept))
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the log-odds of the second class, (n_rows,), in nats."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        columns, limits, low, high = self._stumps.T  # a call of each stump would take twenty times as long
        rows = X.astype(np.float32)  # in which trees compare
        parts = [
            np.where(rows[start : start + _AT_ONCE, columns.astype(int)] <= limits, low, high) @ self.weights_
            for start in range(0, len(rows), _AT_ONCE)
        ]
        return np.concatenate(parts)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return (n_rows, 2) probabilities in the order of ``classes_``."""
        log_odds = self.decision_function(X)
        return np.column_stack([expit(-log_odds), expit(log_odds)])

    def predict(self, X: Any) -> np.ndarray:
        """Return the more probable class of each row, (n_rows,)."""
        positive = self.decision_function(X) > 0
        return np.asarray(self.classes_[positive.astype(int)])

    def _weight(self, error: float) -> float:
        """Return the factor of a stump's vote. The real form has none, and takes every stump."""
        if self.algorithm == "real":
            return 1.0
        return _CERTAIN if error <= 0 else max(0.0, float(np.log((1 - error) / error)))

    def _vote(self, stump: DecisionTreeClassifier, X: np.ndarray) -> np.ndarray:
        """Return -1 or 1 for each row, or the log-odds that the stump predicts, (n_rows,)."""
        votes = np.array([self._vote_of(p) for p in stump.tree_.value[:, 0]])
        return np.asarray(votes[stump.apply(X)])

    def _vote_of(self, shares: np.ndarray) -> float:
        """Return the vote of a leaf with these weights of the classes, (2,)."""
        if self.algorithm == "discrete":
            return 1.0 if shares[1] > shares[0] else -1.0
        low, high = np.log(np.maximum(shares / shares.sum(), _LEAST)).tolist()
        return float(high - low)

    def _table(self, stump: DecisionTreeClassifier) -> tuple[float, float, float, float]:
        """Return column, limit, and the votes of rows up to the limit and above it."""
        tree = stump.tree_
        votes = [self._vote_of(p) for p in tree.value[:, 0]]
        if tree.node_count == 1:
            return 0, 0.0, votes[0], votes[0]
        left, right = int(tree.children_left[0]), int(tree.children_right[0])
        return int(tree.feature[0]), float(tree.threshold[0]), votes[left], votes[right]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
