"""Platt's sigmoid, which turns a score into the probability 1 / (1 + exp(A score + B))."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from scipy.special import expit

from probcal._validation import CLIP_OR_ROWS, Constraint
from probcal.methods._base import Scores
from probcal.methods.calibrators._calibrated_classifier import CalibratedMethod, Calibration, Ensemble
from probcal.methods.calibrators._calibrator import Input, LogOddsMap, OneAgainstRestCalibrator, clip_in_place
from probcal.methods.calibrators._regression import fit_logistic, smoothed_targets
from probcal.methods.calibrators.formula import Formula, logistic


@dataclass(frozen=True)
class Sigmoid(LogOddsMap):
    """Map scores to 1 / (1 + exp(slope * score + intercept)).

    Parameters
    ----------
    slope : float
        A of Platt (1999).
    intercept : float
        B of Platt (1999).
    clip : tuple of (low, high), default=(0.0, 1.0)
        Range that the probability is clipped to.
    of_probability : bool, default=False
        If True, the scores are log-odds, and the formula gets their probability as the score.
    """

    slope: float
    intercept: float
    clip: tuple[float, float] = (0.0, 1.0)
    of_probability: bool = False

    def log_odds(self, scores: np.ndarray) -> np.ndarray:
        log_odds = self.slope * (expit(scores) if self.of_probability else scores)
        log_odds += self.intercept
        return np.asarray(np.negative(log_odds, out=log_odds))

    def formula(self, scores: Formula) -> Formula:
        inner = logistic(scores) if self.of_probability else scores
        return logistic(-self.slope * inner - self.intercept, *self.clip)

    def __call__(self, scores: np.ndarray) -> np.ndarray:
        return clip_in_place(super().__call__(scores), *self.clip)

    def both(self, scores: np.ndarray) -> np.ndarray:
        low, high = self.clip
        probabilities = super().both(scores)
        return clip_in_place(probabilities, (1 - high, low), (1 - low, high))


class SigmoidCalibrator(OneAgainstRestCalibrator):
    """Map scores to 1 / (1 + exp(A score + B)) (Platt 1999).

    Parameters
    ----------
    input : {"probability", "score"}, default="probability"
        What ``fit`` and ``predict_proba`` get. ``"probability"``: predicted probabilities. They are first moved into
        [1 / (2n), 1 - 1 / (2n)] for n rows, because a single wrong prediction of 0 or 1 would flatten the sigmoid. The
        score is their log-odds, or the probability itself if this fits the rows better. ``"score"``: any real scores,
        such as a decision function. A is fitted to them as they are. Give probabilities as scores to have the sigmoid
        of a probability.
    clip : "rows" or tuple of (low, high), default="rows"
        Range that the sigmoid is clipped to. ``"rows"`` is from 1 / (2n) to 1 - 1 / (2n), for n rows. ``(0, 1)``
        changes nothing, as in the paper. With more than two classes each class's sigmoid is clipped first, and then
        each row is divided by its sum.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels in sorted order.
    smallest_ : float
        1 / (2n). n is the number of rows of positive weight, and with ``frequency_weights`` their total weight.
    maps_ : list of Sigmoid
        Fitted sigmoids: one for the second of two classes, or one for each of several. Each has ``slope`` A and
        ``intercept`` B. Its ``of_probability`` is True if the score is the probability itself.

    See Also
    --------
    SigmoidClassifier : Fits a learner and this map.
    LogisticCalibrator : Maps the probability itself, and does not smooth the labels.
    BetaCalibrator : Has three parameters.
    IsotonicCalibrator : Fits any rising function, and needs more rows.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import cross_val_predict
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn.svm import LinearSVC
    >>> from probcal import SigmoidCalibrator
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> learner = make_pipeline(StandardScaler(), LinearSVC(random_state=0))
    >>> scores = cross_val_predict(learner, X, y, method="decision_function")
    >>> calibrator = SigmoidCalibrator(input="score").fit(scores, y)
    >>> calibrator.predict_proba([-2, 0, 2])[:, 1].round(2)
    array([0.09, 0.62, 0.96])
    """

    map_class = Sigmoid
    is_scale_free = True
    is_rising = True
    constraints: ClassVar[dict[str, Constraint]] = {"clip": CLIP_OR_ROWS}

    def __init__(self, input: Input = "probability", *, clip: Literal["rows"] | tuple[float, float] = "rows") -> None:
        self.input = input
        self.clip = clip

    def _map_inputs(self, matrix: np.ndarray) -> np.ndarray:
        return self._log_odds(matrix, self.smallest_)

    def _map_input_formula(self) -> Formula:
        return self._log_odds_formula(self.smallest_)

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
    estimator : classifier
        Has ``decision_function`` or ``predict_proba``. A ``FrozenEstimator`` or a PrefitClassifier is fitted already,
        so all rows calibrate it.
    scores : {"auto", "decision_function", "log_odds", "probability"}, default="auto"
        Scores that the sigmoid is fitted on. ``"auto"`` is the decision function if the learner has one. Otherwise it
        is the log-odds of the predicted probability, or this probability itself, as SigmoidCalibrator says.
        ``"decision_function"`` is that of the learner. ``"log_odds"`` is the log-odds of the predicted probability
        (Bennett 2000, for naive Bayes), in nats and within +-708. ``"probability"`` is the probability itself, as in
        scikit-learn's CalibratedClassifierCV. It suits few learners.
    calibration : {"cross_val", "holdout", "train", "prefit"}, default="cross_val"
        Rows on which the sigmoid is fitted. ``"cross_val"``: every row, scored by a classifier that was trained without
        the row's fold. ``"holdout"``: a stratified part of the rows, which the classifier does not see. ``"train"``:
        the classifier's own training rows, like Weka's SMO -M. Their scores are too good for most learners.
        ``"prefit"``: all rows. ``estimator`` is fitted already.
    ensemble : bool or "auto", default="auto"
        Which classifiers and maps ``calibration="cross_val"`` fits. True fits one classifier and one map per fold, and
        predicts the mean of their probabilities. False fits one map on the scores of all folds, and one classifier on
        all rows. Both are as in scikit-learn's CalibratedClassifierCV. ``"auto"`` fits one classifier per fold and one
        map on the scores of all folds, and predicts the mean of the mapped probabilities. But each fold gets a map of
        its own if this predicts better. To decide this, half of each fold's rows fits the maps and the other half
        judges them by log loss. Then the two halves change places.
    cv : int, cross-validation generator or list of pairs, default=5
        Folds of ``calibration="cross_val"``. An int from 2 is the number of stratified shuffled folds. The alternatives
        are a splitter of scikit-learn and a list of (rows to learn from, rows to calibrate on).
    holdout_size : float or int, default=0.25
        Rows that ``calibration="holdout"`` keeps to fit the sigmoid. A float is a share, such as 0.25. An int is a
        number, such as 2000.
    clip : "rows" or tuple of (low, high), default="rows"
        Range that the sigmoid is clipped to, as in SigmoidCalibrator.
    random_state : int, RandomState or None, default=None
        Seed of the classifiers and of the split. None draws a new seed at each ``fit``.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels in sorted order.
    estimators_ : list of classifiers
        Fitted classifiers: one per fold, or only one.
    calibrators_ : list of SigmoidCalibrator
        Fitted map of each classifier. The classifiers of several folds may share one map.
    estimator_ : classifier
        The fitted classifier, if there is only one.
    calibrator_ : SigmoidCalibrator
        The fitted map, if there is only one.
    slope_ : float or ndarray of shape (n_classes,)
        A of the only calibrator. It is a float for two classes and an array for several.
    intercept_ : float or ndarray of shape (n_classes,)
        B of the only calibrator. It is a float for two classes and an array for several.

    See Also
    --------
    SigmoidCalibrator : The map alone, for given scores.
    IsotonicClassifier : Fits any rising function, and needs more rows.
    BetaCalibrationClassifier : Has a map of three parameters, for probabilities.
    sklearn.calibration.CalibratedClassifierCV : Fits the sigmoid to probabilities as they are, not to log-odds.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.metrics import log_loss
    >>> from sklearn.svm import LinearSVC
    >>> from probcal import SigmoidClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> sigmoid = SigmoidClassifier(LinearSVC(random_state=0), ensemble=False, random_state=0).fit(X[:300], y[:300])
    >>> round(log_loss(y[300:], sigmoid.predict_proba(X[300:])), 2)
    0.14
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
        """Return A of 1 / (1 + exp(A score + B)).

        Returns
        -------
        float or ndarray of shape (n_classes,)
            A of the only calibrator: a float for two classes, and an array for several.

        Raises
        ------
        AttributeError
            If there is one calibrator per fold. See ``calibrators_``.
        """
        return self._of_maps("slope")

    @property
    def intercept_(self) -> float | np.ndarray:
        """Return B of 1 / (1 + exp(A score + B)).

        Returns
        -------
        float or ndarray of shape (n_classes,)
            B of the only calibrator: a float for two classes, and an array for several.

        Raises
        ------
        AttributeError
            If there is one calibrator per fold. See ``calibrators_``.
        """
        return self._of_maps("intercept")

    def _calibrator(self, score_kind: Input) -> SigmoidCalibrator:
        return SigmoidCalibrator(score_kind, clip=self.clip)

    def _of_maps(self, name: str) -> float | np.ndarray:
        values = [getattr(one, name) for one in self.calibrator_.maps_]
        return values[0] if len(values) == 1 else np.array(values)


def fit_sigmoid(scores: np.ndarray, positive: np.ndarray, weights: np.ndarray | None = None) -> tuple[float, float]:
    """Return A and B of Platt (1999), found by Newton's method with backtracking (as Lin, Lin & Weng 2007).

    ``scores``, (n_rows,), are finite and higher for ``positive`` rows. Targets are smoothed as Platt does. ``weights``,
    (n_rows,), are above 0: a row of weight 2 equals the row twice. A is 0 if all scores are equal.
    """
    weights = np.ones(len(scores)) if weights is None else weights
    shift, slope = fit_logistic(scores[None], smoothed_targets(positive, weights), weights).tolist()
    return -slope, -shift


def _loss(p: np.ndarray, positive: np.ndarray, weights: np.ndarray | None) -> float:
    """Return the log loss in nats of (n,) probabilities, summed over rows."""
    return float(-np.sum(np.log(np.where(positive, p, 1 - p)) * (1 if weights is None else weights)))
