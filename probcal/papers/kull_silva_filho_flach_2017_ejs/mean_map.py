"""One classifier of all rows, whose probabilities are mapped by the mean of one map per fold."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, get_args

import numpy as np

from probcal._validation import Constraint
from probcal.methods._base import class_scores
from probcal.methods.calibrators._calibrated_classifier import CalibratedMethod, Calibration, Ensemble
from probcal.methods.calibrators._calibration_rows import FoldScores
from probcal.methods.calibrators._calibrator import Calibrator, Input
from probcal.methods.calibrators.beta import BetaCalibrator
from probcal.methods.calibrators.isotonic import IsotonicCalibrator
from probcal.methods.calibrators.logistic_calibration import LogisticCalibrator

MapName = Literal["logistic", "isotonic", "beta", "beta_am", "beta_ab"]


class MeanMapClassifier(CalibratedMethod):
    """Calibrate one classifier of all rows with the mean of one map per fold (Kull, Silva Filho & Flach 2017).

    Each fold's map is fitted on the scores of a classifier that was trained on the other folds. A further classifier is
    trained on all rows, its score goes through every map, and the prediction is the mean. ``ensemble=False`` of the
    other calibrators fits one map on the scores of all folds instead. Most tables of the longer paper (Electronic
    Journal of Statistics) were made in this way.

    Parameters
    ----------
    estimator : classifier
        Has ``predict_proba``, or ``decision_function``, which is read as log-odds. A ``FrozenEstimator`` is fitted
        already, so one map is fitted on all rows.
    map : {"logistic", "isotonic", "beta", "beta_am", "beta_ab"}, default="beta"
        ``"logistic"`` is the map of LogisticCalibrator with ``clip=(0, 1)``. ``"beta"``, ``"beta_am"`` and
        ``"beta_ab"`` are those of BetaCalibrator with ``targets="labels"``. ``"isotonic"`` is isotonic regression of
        the probability. It may predict 0 and 1.
    cv : int, cross-validation generator or list of pairs, default=5
        Folds, as in SigmoidClassifier.
    random_state : int, RandomState or None, default=None
        Seed of the classifiers and of the folds. None draws a new seed at each ``fit``.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels in sorted order.
    estimators_ : list of classifiers
        The classifier of all rows, once for each fold.
    calibrators_ : list of Calibrator
        Fitted map of each fold.
    estimator_ : classifier
        The classifier of all rows.

    See Also
    --------
    MapOfMeanClassifier : Takes the mean of the folds' scores first, and maps it.
    BetaCalibrationClassifier : Has a map of all folds' scores, or a classifier and a map for each fold.
    FoldMeanClassifier : Takes the mean of one classifier per fold, without a map.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.metrics import log_loss
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from probcal import MeanMapClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = MeanMapClassifier(GaussianNB(), map="beta", cv=3, random_state=0).fit(X[:300], y[:300])
    >>> [round(log_loss(y[300:], p), 2) for p in model.staged_predict_proba(X[300:])]  # before and after
    [0.21, 0.1]
    """

    prefers = "predict_proba"
    scores: Any = "auto"
    calibration: Calibration = "cross_val"
    ensemble: Ensemble = False  # one classifier of all rows
    holdout_size = 0.25

    constraints: ClassVar[dict[str, Constraint]] = {"map": get_args(MapName)}

    def __init__(
        self,
        estimator: Any,
        *,
        map: MapName = "beta",
        cv: Any = 5,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.map = map
        self.cv = cv
        self.random_state = random_state

    def _has_map_for_each_fold(self, parts: list[FoldScores], score_kind: Input, seed: int) -> bool:
        return True

    def _scores(self, learner: Any, X: Any) -> tuple[np.ndarray, Input]:
        if self.map == "isotonic" and hasattr(learner, "predict_proba"):
            # As scores, because isotonic regression measures distances of the probability itself.
            return class_scores(learner, X, "probability", self.classes_), "score"
        return super()._scores(learner, X)

    def _calibrator(self, score_kind: Input) -> Calibrator:
        if self.map == "logistic":
            return LogisticCalibrator(score_kind, clip=(0.0, 1.0))
        if self.map == "isotonic":
            return IsotonicCalibrator(score_kind, clip=(0.0, 1.0))
        parameters: Any = {"beta": "abm", "beta_am": "am", "beta_ab": "ab"}[self.map]
        return BetaCalibrator(score_kind, parameters=parameters, targets="labels")
