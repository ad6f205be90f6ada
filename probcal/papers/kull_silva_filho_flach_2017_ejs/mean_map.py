"""One classifier of all rows, whose probabilities are mapped by the mean of one map per fold."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self, get_args

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

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None, *, frequency_weights: bool = False
    ) -> Self:
        """Fit the classifiers of the folds, their maps, and the classifier of all rows.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_rows, n_columns)
            Rows to learn from. The classifier gets them unchanged. They may also be a sparse matrix or texts, if the
            classifier accepts these.
        y : array-like of shape (n_rows,)
            Labels of two classes or more.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows, not negative. The classifiers and the maps use them. Only their ratios count: they are
            multiplied by a number that makes their mean 1. A row of weight 0 is left out. None means equal weights.
        groups : array-like of shape (n_rows,), default=None
            Group of each row. The rows of one group fall into one fold, and a splitter gets the groups.
        frequency_weights : bool, default=False
            Whether the weights are whole numbers that say how often each row occurs. A row of weight 2 then counts as
            two rows.

        Returns
        -------
        object
            This method, fitted.

        Raises
        ------
        ValueError
            If a parameter, the labels or the weights are invalid, or the estimator is no classifier.
            If a class is too rare for the folds.
            If groups are given with a list of pairs as ``cv``, or with a classifier that is fitted already.
            If a group is missing, or the groups have several types or another number than the rows.
            If weights are given for a learner that takes none.
            If the learner has no scores, or a score is missing or infinite.
            If ``classes_`` of the learner is missing, or does not hold the labels of ``y``.
        NotFittedError
            If a classifier that must be fitted already is not.

        Warns
        -----
        UserWarning
            If a class has fewer rows (or groups) than ``cv``. There are then as many folds as the class has rows
            (or groups).
        """
        super().fit(X, y, sample_weight, groups, frequency_weights=frequency_weights)
        self.estimators_ = self.estimators_ * len(self.calibrators_)
        return self

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
