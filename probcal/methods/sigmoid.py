"""Platt's sigmoid: a score turned into a probability by 1 / (1 + exp(A score + B))."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from scipy.special import expit, logit
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.utils.validation import check_is_fitted

from probcal.methods.binary import drawn_seed, fresh_copy, likelier_class, two_classes, two_columns

Scores = Literal["auto", "decision_function", "log_odds", "probability"]


class SigmoidClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Platt (1999), fitted on the scores of the training rows, as Weka's SMO -M does.

    Parameters
    ----------
    estimator : classifier with ``decision_function`` or ``predict_proba``.
    scores : what the sigmoid is fitted on: ``"decision_function"``, ``"log_odds"`` of the estimated
        probability (Bennett 2000, for naive Bayes), ``"probability"`` itself, or ``"auto"``, the first of
        these that the classifier offers.
    random_state : seed of the classifier.

    Attributes: ``classes_`` (2,), ``estimator_`` the fitted classifier, ``slope_`` (A), ``intercept_`` (B).
    """

    needs_one_of = ("decision_function", "predict_proba")

    def __init__(
        self,
        estimator: Any,
        *,
        scores: Scores = "auto",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.scores = scores
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> SigmoidClassifier:
        """X: (n_rows, n_columns); y: (n_rows,) labels of two kinds. Raises ValueError otherwise."""
        self.check_parameters()
        labels, self.classes_ = two_classes(X, y)
        random = np.random.default_rng(drawn_seed(self.random_state))
        self.estimator_ = fresh_copy(self.estimator, random).fit(X, labels)
        self.slope_, self.intercept_ = fit_sigmoid(self._scores(X), labels == self.classes_[1])
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """(n_rows, 2) probabilities of ``classes_``."""
        check_is_fitted(self)
        return two_columns(expit(-(self.slope_ * self._scores(X) + self.intercept_)))

    def predict(self, X: Any) -> np.ndarray:
        """The likelier class of each row: (n_rows,) labels."""
        return likelier_class(self, X)

    def check_parameters(self) -> None:
        """Raises ValueError for a parameter that is not as documented."""
        if self.scores not in ("auto", "decision_function", "log_odds", "probability"):
            raise ValueError(f"scores must be auto, decision_function, log_odds or probability, not {self.scores!r}")

    def _scores(self, X: Any) -> np.ndarray:
        wanted = self.scores
        if wanted == "auto":
            wanted = "decision_function" if hasattr(self.estimator_, "decision_function") else "log_odds"
        if wanted == "decision_function":
            return np.asarray(self.estimator_.decision_function(X), dtype=np.float64)
        p = np.asarray(self.estimator_.predict_proba(X)[:, 1], dtype=np.float64)
        if wanted == "probability":
            return p
        smallest = np.finfo(np.float64).tiny  # keeps the log-odds of an exact 0 or 1 finite
        return logit(np.clip(p, smallest, 1 - np.finfo(np.float64).epsneg))


def fit_sigmoid(scores: np.ndarray, positive: np.ndarray) -> tuple[float, float]:
    """(A, B) of Platt (1999), by Newton's method with backtracking (Lin, Lin & Weng 2007, Algorithm 1).

    ``scores``: (n_rows,) float, higher for the positive class; ``positive``: (n_rows,) bool. Targets are
    smoothed as Platt has it: (n1 + 1) / (n1 + 2) for positive rows, 1 / (n0 + 2) for the others.
    """
    n1 = int(positive.sum())
    n0 = len(positive) - n1
    target = np.where(positive, (n1 + 1) / (n1 + 2), 1 / (n0 + 2))
    scale = float(np.abs(scores).max()) or 1.0  # log-odds may reach hundreds: keep the Hessian in shape
    score = scores / scale
    parameters = np.array([0.0, np.log((n0 + 1) / (n1 + 1))])
    loss = _sigmoid_loss(parameters, score, target)
    for _ in range(100):
        p = expit(-(parameters[0] * score + parameters[1]))
        gradient = np.array([np.dot(score, target - p), np.sum(target - p)])
        if np.abs(gradient).max() < 1e-9 * len(score):
            break
        curve = p * (1 - p)
        slope_slope, slope_shift, shift_shift = np.dot(score * score, curve), np.dot(score, curve), curve.sum()
        hessian = np.array([[slope_slope, slope_shift], [slope_shift, shift_shift]]) + 1e-12 * np.eye(2)
        step = np.linalg.solve(hessian, gradient)
        length = 1.0
        while length > 1e-10:
            candidate = parameters - length * step
            candidate_loss = _sigmoid_loss(candidate, score, target)
            if candidate_loss < loss - 1e-4 * length * np.dot(gradient, step):
                break
            length /= 2
        else:
            break
        parameters, loss = candidate, candidate_loss
    return float(parameters[0] / scale), float(parameters[1])


def _sigmoid_loss(parameters: np.ndarray, score: np.ndarray, target: np.ndarray) -> float:
    """Cross entropy in nats between the targets and 1 / (1 + exp(A score + B))."""
    z = parameters[0] * score + parameters[1]
    return float(np.sum(np.logaddexp(0, z) - (1 - target) * z))
