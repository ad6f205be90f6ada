"""Logistic calibration: a logistic regression of the label on the predicted probability itself."""

from __future__ import annotations

import numpy as np

from probcal.methods.calibrators._calibrator import Input
from probcal.methods.calibrators._regression import fit_logistic
from probcal.methods.calibrators.sigmoid import Sigmoid, SigmoidCalibrator, SigmoidClassifier

_PENALTY = 1e-11
"""Of the squared slope: 1 / C of the authors, so that separated classes have a finite map."""


class LogisticCalibrator(SigmoidCalibrator):
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

    def _columns(self, matrix: np.ndarray) -> np.ndarray:
        p = self._probabilities(matrix)
        return p[:, 1:] if p.shape[1] == 2 else p

    def _fit_map(self, scores: np.ndarray, positive: np.ndarray, weights: np.ndarray | None) -> Sigmoid:
        weights = np.ones(len(scores)) if weights is None else weights
        intercept, slope = fit_logistic(scores[None], positive.astype(np.float64), weights, _PENALTY).tolist()
        low, high = (self.smallest_, 1 - self.smallest_) if self.clip == "rows" else self.clip
        return Sigmoid(-slope, -intercept, clip=(low, high))


class LogisticCalibrationClassifier(SigmoidClassifier):
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
    slope_, intercept_ : as in SigmoidClassifier.
    """

    prefers = "predict_proba"

    def _calibrator(self, read_as: Input) -> LogisticCalibrator:
        return LogisticCalibrator(read_as, clip=self.clip)
