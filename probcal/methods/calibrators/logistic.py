"""Logistic calibration: a logistic regression of the label on the predicted probability itself."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from probcal._validation import check_clip
from probcal.methods.calibrators._calibrated_classifier import CalibratedMethod, Calibration, Ensemble
from probcal.methods.calibrators._calibrator import Input, OneAgainstRestCalibrator
from probcal.methods.calibrators._regression import fit_logistic
from probcal.methods.calibrators.sigmoid import Sigmoid

_PENALTY = 1e-11
"""Of the squared coefficients: 1 / C of the authors, so that separated classes have a finite map."""


class LogisticCalibrator(OneAgainstRestCalibrator):
    """Map p to 1 / (1 + exp(A p + B)), fitted to the labels 0 and 1 (Kull, Silva Filho & Flach 2017).

    It differs from SigmoidCalibrator in two ways: p is never turned into log-odds, and the labels are not smoothed. So
    it is more certain on few rows. It is here for the comparison with the paper.

    Parameters
    ----------
    input : what ``fit`` gets: ``"probability"``, or any real ``"score"``, which is read as log-odds.
    clip : as in SigmoidCalibrator. ``(0, 1)`` changes nothing, as in the paper.

    Attributes
    ----------
    classes_ : (n_classes,) labels in sorted order.
    maps_ : the fitted sigmoids, with ``slope`` A and ``intercept`` B: one for the second of two classes, or one for
        each of several.
    """

    def __init__(self, input: Input = "probability", *, clip: Literal["rows"] | tuple[float, float] = "rows") -> None:
        self.input = input
        self.clip = clip

    def check_parameters(self) -> None:
        """Raise ValueError for an invalid parameter."""
        super().check_parameters()
        check_clip(self.clip, or_rows=True)

    def _columns(self, matrix: np.ndarray) -> np.ndarray:
        p = self._probabilities(matrix)
        return p[:, 1:] if p.shape[1] == 2 else p

    def _fit_map(self, scores: np.ndarray, positive: np.ndarray, weights: np.ndarray | None) -> Sigmoid:
        weights = np.ones(len(scores)) if weights is None else weights
        features = np.column_stack([scores, np.ones(len(scores))])
        slope, intercept = fit_logistic(features, positive.astype(np.float64), weights, _PENALTY).tolist()
        low, high = (self.smallest_, 1 - self.smallest_) if self.clip == "rows" else self.clip
        return Sigmoid(-slope, -intercept, clip=(low, high))


class LogisticCalibrationClassifier(CalibratedMethod):
    """Calibrate a learner by logistic regression on its cross-validated probabilities (Kull et al. 2017).

    Parameters
    ----------
    estimator, calibration, ensemble, cv, holdout_size, random_state : as in SigmoidClassifier.
    scores : ``"auto"`` is the predicted probability if the learner has one. Otherwise it is the decision function, read
        as log-odds. The other choices are those of SigmoidClassifier, all read as log-odds.
    clip : as in LogisticCalibrator.

    Attributes
    ----------
    classes_ : (n_classes,) labels in sorted order.
    estimators_, calibrators_ : the fitted classifiers, and the LogisticCalibrator of each: one per fold, or only one.
    estimator_, calibrator_ : the only ones, if there is one of each.
    """

    prefers = "predict_proba"

    def __init__(
        self,
        estimator: Any,
        *,
        scores: Any = "auto",
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

    def _calibrator(self, read_as: Input) -> LogisticCalibrator:
        return LogisticCalibrator(read_as, clip=self.clip)
