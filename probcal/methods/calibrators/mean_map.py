"""One classifier of all rows, whose probabilities are mapped by the mean of one map per fold."""

from __future__ import annotations

from typing import Any, Literal, Self, get_args

import numpy as np

from probcal._validation import check_choices
from probcal.methods._base import class_scores
from probcal.methods.calibrators._calibrated_classifier import CalibratedMethod, Calibration, Ensemble
from probcal.methods.calibrators._calibrator import Calibrator, Input
from probcal.methods.calibrators._fold_maps import FoldScores
from probcal.methods.calibrators.beta import BetaCalibrator
from probcal.methods.calibrators.isotonic import IsotonicCalibrator
from probcal.methods.calibrators.logistic_calibration import LogisticCalibrator

MapName = Literal["logistic", "isotonic", "beta", "beta_am", "beta_ab"]


class MeanMapClassifier(CalibratedMethod):
    """Calibrate one classifier of all rows with the mean of one map per fold (Kull, Silva Filho & Flach 2017).

    Each fold's map is fitted on the scores of a classifier that was trained on the other folds. A further classifier
    is trained on all rows, its score goes through every map, and the prediction is the mean. ``ensemble=False`` of the
    other calibrators fits one map on the scores of all folds instead. Most tables of the longer paper (Electronic
    Journal of Statistics) were made in this way.

    Parameters
    ----------
    estimator : classifier with ``predict_proba``, or with ``decision_function``, read as log-odds.
    map : ``"logistic"`` as in LogisticCalibrator, ``"beta"``, ``"beta_am"`` and ``"beta_ab"`` as in BetaCalibrator with
        ``targets="labels"``, or ``"isotonic"``: isotonic regression of the probability, which may be 0 and 1.
    cv : as in SigmoidClassifier.
    random_state : seed of the classifiers and of the folds.

    Attributes
    ----------
    classes_ : (n_classes,) labels in sorted order.
    estimators_ : the classifier of all rows, once for each fold.
    calibrators_ : the map of each fold.
    """

    prefers = "predict_proba"
    scores: Any = "auto"
    calibration: Calibration = "cross_val"
    ensemble: Ensemble = False  # one classifier of all rows
    holdout_size = 0.25

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

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Fit the classifiers of the folds, their maps, and the classifier of all rows.

        Arguments and errors are those of SigmoidClassifier.
        """
        super().fit(X, y, sample_weight, groups)
        self.estimators_ = self.estimators_ * len(self.calibrators_)
        return self

    def check_parameters(self) -> None:
        """Raise ValueError for an invalid parameter."""
        check_choices(self, {"map": get_args(MapName)})
        super().check_parameters()

    def _has_map_for_each_fold(self, parts: list[FoldScores], read_as: Input, seed: int) -> bool:
        return True

    def _scores(self, learner: Any, X: Any) -> tuple[np.ndarray, Input]:
        if self.map == "isotonic" and hasattr(learner, "predict_proba"):
            return class_scores(learner, X, "probability", len(self.classes_)), "score"  # distances are those of p
        return super()._scores(learner, X)

    def _calibrator(self, read_as: Input) -> Calibrator:
        if self.map == "logistic":
            return LogisticCalibrator(read_as, clip=(0.0, 1.0))
        if self.map == "isotonic":
            return IsotonicCalibrator(read_as, clip=(0.0, 1.0))
        parameters: Any = {"beta": "abm", "beta_am": "am", "beta_ab": "ab"}[self.map]
        return BetaCalibrator(read_as, parameters=parameters, targets="labels")
