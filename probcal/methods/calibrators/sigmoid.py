"""Platt's sigmoid, which turns a score into the probability 1 / (1 + exp(A score + B))."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.special import expit

from probcal._validation import check_clip
from probcal.methods._base import Scores
from probcal.methods.calibrators._calibrated_classifier import CalibratedMethod, Calibration, Ensemble
from probcal.methods.calibrators._calibrator import Input, OneAgainstRestCalibrator
from probcal.methods.calibrators._regression import fit_logistic, smoothed_targets


@dataclass(frozen=True)
class Sigmoid:
    """Map (n,) scores to 1 / (1 + exp(slope * score + intercept)), clipped to ``clip``.

    With ``of_probability`` the scores are log-odds, and the formula gets their probability.
    """

    slope: float
    intercept: float
    clip: tuple[float, float] = (0.0, 1.0)
    of_probability: bool = False

    def __call__(self, scores: np.ndarray) -> np.ndarray:
        return np.asarray(np.clip(expit(-self._exponent(scores)), *self.clip))

    def complement(self, scores: np.ndarray) -> np.ndarray:
        """Return 1 minus the probability, (n,), with all its digits where the probability rounds to 1."""
        low, high = self.clip
        return np.asarray(np.clip(expit(self._exponent(scores)), 1 - high, 1 - low))

    def _exponent(self, scores: np.ndarray) -> np.ndarray:
        return self.slope * (expit(scores) if self.of_probability else scores) + self.intercept


class SigmoidCalibrator(OneAgainstRestCalibrator):
    """Map scores to 1 / (1 + exp(A score + B)) (Platt 1999).

    Parameters
    ----------
    input : what ``fit`` gets. ``"probability"``: predictions. They are first moved into [1 / 2n, 1 - 1 / 2n]
        for n rows, because a single wrong prediction of 0 or 1 would flatten the sigmoid. The score is their log-odds,
        or the probability itself if this fits the rows better. ``"score"``: any real scores, such as a decision
        function. A is fitted to them as they are. Give probabilities as scores to have the sigmoid of a probability.
    clip : the sigmoid is clipped to this range. ``"rows"`` is from 1 / 2n to 1 - 1 / 2n, for n rows. ``(0, 1)`` changes
        nothing, as in the paper. With more than two classes each class's sigmoid is clipped before rows are divided by
        their sums.

    Attributes
    ----------
    classes_ : (n_classes,) labels in sorted order.
    maps_ : the fitted sigmoids, with ``slope`` A and ``intercept`` B, and ``of_probability``: True if the score is the
        probability itself. One for the second of two classes, or one for each of several.
    """

    def __init__(self, input: Input = "probability", *, clip: Literal["rows"] | tuple[float, float] = "rows") -> None:
        self.input = input
        self.clip = clip

    def check_parameters(self) -> None:
        """Raise ValueError for an invalid parameter."""
        super().check_parameters()
        check_clip(self.clip, or_rows=True)

    def _columns(self, matrix: np.ndarray) -> np.ndarray:
        return self._log_odds(matrix, self.smallest_)

    def _fit_map(self, scores: np.ndarray, positive: np.ndarray, weights: np.ndarray | None) -> Sigmoid:
        low, high = (self.smallest_, 1 - self.smallest_) if self.clip == "rows" else self.clip
        slope, intercept = fit_sigmoid(scores, positive, weights)
        fitted = Sigmoid(slope, intercept, clip=(low, high))
        if self.input == "score":
            return fitted
        slope, intercept = fit_sigmoid(expit(scores), positive, weights)
        other = Sigmoid(slope, intercept, clip=(low, high), of_probability=True)
        return min(fitted, other, key=lambda one: _loss(one(scores), positive, weights))


class SigmoidClassifier(CalibratedMethod):
    """Calibrate a learner with Platt's sigmoid (1999) on cross-validated scores.

    Parameters
    ----------
    estimator : classifier with ``decision_function`` or ``predict_proba``. A ``FrozenEstimator`` is a classifier that
        is fitted already: all rows are used to calibrate it.
    scores : the scores that the sigmoid is fitted on. ``"auto"`` is the decision function if the learner has one.
        Otherwise it is the log-odds of the predicted probability, or this itself, as SigmoidCalibrator says.
        ``"decision_function"`` is the learner's. ``"log_odds"`` is that of the predicted probability (Bennett 2000, for
        naive Bayes), in nats and within +-708. ``"probability"`` is the probability itself, as in scikit-learn's
        CalibratedClassifierCV. It suits few learners.
    calibration : which rows the sigmoid is fitted on. ``"cross_val"``: every row, scored by a classifier that was
        trained without the row's fold. ``"holdout"``: a stratified part of the rows, which the classifier does not see.
        ``"train"``: the classifier's own training rows, like Weka's SMO -M. Their scores are too good for most
        learners. ``"prefit"``: all rows. ``estimator`` is fitted already.
    ensemble : for ``"cross_val"``. True: one classifier and one map per fold, and the mean of their probabilities.
        False: one map for the scores of all folds, and one classifier trained on all rows. Both are as in
        scikit-learn's CalibratedClassifierCV. ``"auto"``: one classifier per fold, one map for the scores of all folds,
        and the mean of the mapped probabilities. Each fold has a map of its own if this predicts better: half of each
        fold's rows fits the maps, the other half judges them by log loss, and the other way round.
    cv : for ``"cross_val"``: number of stratified shuffled folds, a splitter of scikit-learn, or a list of (rows to
        learn from, rows to calibrate on).
    holdout_size : for ``"holdout"``: the share of rows kept, such as 0.25, or their number, such as 2000.
    clip : as in SigmoidCalibrator.
    random_state : seed of the classifiers and of the split.

    Attributes
    ----------
    classes_ : (n_classes,) labels in sorted order.
    estimators_, calibrators_ : the fitted classifiers, and the SigmoidCalibrator of each: one per fold, or only one.
    estimator_, calibrator_ : the only ones, if there is one of each.
    slope_, intercept_ : A and B of the only calibrator. Each is a float for two classes and (n_classes,) for several.
    """

    def __init__(
        self,
        estimator: Any,
        *,
        scores: Scores = "auto",
        calibration: Calibration = "cross_val",
        ensemble: Ensemble = "auto",
        cv: Any = 5,
        holdout_size: float = 0.25,
        clip: Literal["rows"] | tuple[float, float] = "rows",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        super().__init__(
            estimator,
            scores=scores,
            calibration=calibration,
            ensemble=ensemble,
            cv=cv,
            holdout_size=holdout_size,
            random_state=random_state,
        )
        self.clip = clip

    @property
    def slope_(self) -> float | np.ndarray:
        """Return A of 1 / (1 + exp(A score + B)), a float for two classes and (n_classes,) for several."""
        return self._of_maps("slope")

    @property
    def intercept_(self) -> float | np.ndarray:
        """Return B of 1 / (1 + exp(A score + B)), a float for two classes and (n_classes,) for several."""
        return self._of_maps("intercept")

    def _calibrator(self, read_as: Input) -> SigmoidCalibrator:
        return SigmoidCalibrator(read_as, clip=self.clip)

    def _of_maps(self, name: str) -> float | np.ndarray:
        values = [getattr(one, name) for one in self.calibrator_.maps_]
        return values[0] if len(values) == 1 else np.array(values)


def fit_sigmoid(scores: np.ndarray, positive: np.ndarray, weights: np.ndarray | None = None) -> tuple[float, float]:
    """Return (A, B) of Platt (1999), by Newton's method with backtracking (as Lin, Lin & Weng 2007).

    ``scores``: (n_rows,) finite floats, higher for the positive class. ``positive``: (n_rows,) bool. ``weights``:
    (n_rows,) above 0, or None for 1 each.

    Targets are smoothed as Platt does: (n1 + 1) / (n1 + 2) for positive rows and 1 / (n0 + 2) for the others. n1 and n0
    are the total weights of each, so a row of weight 2 equals the row twice. If all scores are equal, A is 0.
    """
    weights = np.ones(len(scores)) if weights is None else weights
    shift, slope = fit_logistic(scores[None], smoothed_targets(positive, weights), weights).tolist()
    return -slope, -shift


def _loss(p: np.ndarray, positive: np.ndarray, weights: np.ndarray | None) -> float:
    """Return the log loss in nats of (n,) probabilities, summed over rows."""
    return float(-np.sum(np.log(np.where(positive, p, 1 - p)) * (1 if weights is None else weights)))
