"""Platt's sigmoid: a score turned into a probability by 1 / (1 + exp(A score + B))."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.utils.validation import check_is_fitted

from probcal.methods.binary import drawn_seed, fresh_copy, likelier_class, two_classes, two_columns

Scores = Literal["auto", "decision_function", "log_odds", "probability"]

_MOST_STEPS = 100
_RIDGE = 1e-12
"""Added to the Hessian, which is singular where all scores are equal."""
_CLOSE = 1e-10
"""Share of the loss: a step that promises less is the last, for the loss has no digits left to compare."""
_LENGTHS = 0.5 ** np.arange(40)
_SUFFICIENT = 1e-4
"""A step must bring this part of what its length promised (ridge, digits and part: Lin, Lin & Weng 2007)."""


class SigmoidClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Platt (1999), fitted on the scores of the training rows, as Weka's SMO -M does.

    Parameters
    ----------
    estimator : classifier with ``decision_function`` or ``predict_proba``.
    scores : what the sigmoid is fitted on: ``"decision_function"``, ``"log_odds"`` of the estimated
        probability (Bennett 2000, for naive Bayes; within +-708), ``"probability"`` itself, or ``"auto"``,
        the first of these that the classifier offers.
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
        estimate = np.asarray(self.estimator_.predict_proba(X), dtype=np.float64)
        if wanted == "probability":
            return estimate[:, 1]
        # from both columns: a probability next to 1 has lost the digits that its complement still has;
        # the floor keeps the log-odds of an exact 0 and 1 finite, at -708 and 708
        log = np.log(np.maximum(estimate, np.finfo(np.float64).tiny))
        return log[:, 1] - log[:, 0]


def fit_sigmoid(scores: np.ndarray, positive: np.ndarray) -> tuple[float, float]:
    """(A, B) of Platt (1999), by Newton's method with backtracking (Lin, Lin & Weng 2007, Algorithm 1).

    ``scores``: (n_rows,) float, higher for the positive class; ``positive``: (n_rows,) bool. Targets are
    smoothed as Platt has it: (n1 + 1) / (n1 + 2) for positive rows, 1 / (n0 + 2) for the others. Where all
    scores are equal A is 0. Raises ValueError for scores that are not finite.
    """
    if not np.isfinite(scores).all():
        raise ValueError("a sigmoid needs finite scores; the learner gave infinite or missing ones")
    n1 = int(positive.sum())
    n0 = len(positive) - n1
    target = np.where(positive, (n1 + 1) / (n1 + 2), 1 / (n0 + 2))
    # as spread out as 1 around 0, so that neither huge log-odds nor scores far from 0 upset the Hessian
    centre = scores.mean() if np.ptp(scores) > 0 else scores[0]
    scale = np.abs(scores - centre).mean() or 1.0
    score = (scores - centre) / scale
    slope, shift = _newton(score, target, np.array([0.0, np.log((n0 + 1) / (n1 + 1))]))
    return float(slope / scale), float(shift - slope * centre / scale)


def _newton(score: np.ndarray, target: np.ndarray, parameters: np.ndarray) -> np.ndarray:
    """The (slope, shift) of least loss, from a start of (0, anything)."""
    loss = _sigmoid_loss(parameters, score, target)
    for _ in range(_MOST_STEPS):
        p = expit(-(parameters[0] * score + parameters[1]))
        gradient = np.array([np.dot(score, target - p), np.sum(target - p)])
        curve = p * (1 - p)
        slope_slope, slope_shift, shift_shift = np.dot(score * score, curve), np.dot(score, curve), curve.sum()
        hessian = np.array([[slope_slope, slope_shift], [slope_shift, shift_shift]]) + _RIDGE * np.eye(2)
        step = np.linalg.solve(hessian, gradient)
        promised = np.dot(gradient, step)
        if promised <= _CLOSE * loss:
            return parameters - step
        for length in _LENGTHS:
            candidate = parameters - length * step
            candidate_loss = _sigmoid_loss(candidate, score, target)
            if candidate_loss < loss - _SUFFICIENT * length * promised:
                break
        else:
            return parameters
        parameters, loss = candidate, candidate_loss
    return parameters


def _sigmoid_loss(parameters: np.ndarray, score: np.ndarray, target: np.ndarray) -> float:
    """Cross entropy in nats between the targets and 1 / (1 + exp(A score + B))."""
    z = parameters[0] * score + parameters[1]
    return float(np.sum(np.logaddexp(0, z) - (1 - target) * z))
