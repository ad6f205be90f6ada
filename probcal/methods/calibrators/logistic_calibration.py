"""Logistic calibration: a logistic regression of the label on the predicted probability itself."""

from __future__ import annotations

import numpy as np

from probcal.methods.calibrators._calibrator import Input
from probcal.methods.calibrators._regression import fit_logistic
from probcal.methods.calibrators.formula import Formula
from probcal.methods.calibrators.sigmoid import Sigmoid, SigmoidCalibrator, SigmoidClassifier

_PENALTY = 1e-11
"""Of the squared slope: 1 / C of the authors, so that separated classes have a finite map."""


class LogisticCalibrator(SigmoidCalibrator):
    """Map p to 1 / (1 + exp(A p + B)), fitted to the labels 0 and 1 (Kull, Silva Filho & Flach 2017).

    It differs from SigmoidCalibrator in two ways: p is never turned into log-odds, and the labels are not smoothed. So
    it is more certain on few rows. It is here for the comparison with the paper.

    Parameters
    ----------
    input : {"probability", "score"}, default="probability"
        What ``fit`` and ``predict_proba`` get: predicted probabilities, or any real scores, which are read as log-odds.
    clip : "rows" or tuple of (low, high), default="rows"
        Range that the function is clipped to, as in SigmoidCalibrator. ``(0, 1)`` changes nothing, as in the paper.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels in sorted order.
    smallest_ : float
        1 / (2n). n is the number of rows of positive weight, and with ``frequency_weights`` their total weight.
    maps_ : list of Sigmoid
        Fitted sigmoids, with ``slope`` A and ``intercept`` B: one for the second of two classes, or one for each of
        several.

    See Also
    --------
    LogisticCalibrationClassifier : Fits a learner and this map.
    SigmoidCalibrator : Maps log-odds, and smooths the labels.
    BetaCalibrator : Is what the same paper compares with it.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import cross_val_predict
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from probcal import LogisticCalibrator
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> p = cross_val_predict(GaussianNB(), X, y, method="predict_proba")[:, 1]
    >>> calibrator = LogisticCalibrator().fit(p, y)
    >>> calibrator.predict_proba([0.01, 0.5, 0.99])[:, 1].round(2)
    array([0.05, 0.47, 0.94])
    """

    is_scale_free = False  # it maps the probability of a score

    def _map_inputs(self, matrix: np.ndarray) -> np.ndarray:
        p = self._probabilities(matrix)
        return p[:, 1:] if p.shape[1] == 2 else p

    def _map_input_formula(self) -> Formula:
        return self._probability_formulas()[1]

    def _fit_map(self, scores: np.ndarray, positive: np.ndarray, weights: np.ndarray | None) -> Sigmoid:
        weights = np.ones(len(scores)) if weights is None else weights
        intercept, slope = fit_logistic(scores[None], positive.astype(np.float64), weights, _PENALTY).tolist()
        low, high = (self.smallest_, 1 - self.smallest_) if self.clip == "rows" else self.clip
        return Sigmoid(-slope, -intercept, clip=(low, high))


class LogisticCalibrationClassifier(SigmoidClassifier):
    """Calibrate a learner by logistic regression on its cross-validated probabilities (Kull et al. 2017).

    Parameters
    ----------
    estimator : classifier
        Has ``decision_function`` or ``predict_proba``. A ``FrozenEstimator`` is fitted already, so all rows calibrate
        it.
    scores : {"auto", "decision_function", "log_odds", "probability"}, default="auto"
        ``"auto"`` is the predicted probability if the learner has one. Otherwise it is the decision function, read as
        log-odds. The other choices are those of SigmoidClassifier, all read as log-odds.
    calibration : {"cross_val", "holdout", "train", "prefit"}, default="cross_val"
        Rows on which the map is fitted, as in SigmoidClassifier.
    ensemble : bool or "auto", default="auto"
        Which classifiers and maps ``calibration="cross_val"`` fits, as in SigmoidClassifier.
    cv : int, cross-validation generator or list of pairs, default=5
        Folds of ``calibration="cross_val"``, as in SigmoidClassifier.
    holdout_size : float or int, default=0.25
        Share or number of the rows that ``calibration="holdout"`` keeps to fit the map.
    clip : "rows" or tuple of (low, high), default="rows"
        Range that the function is clipped to, as in LogisticCalibrator.
    random_state : int, RandomState or None, default=None
        Seed of the classifiers and of the split. None draws a new seed at each ``fit``.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels in sorted order.
    estimators_ : list of classifiers
        Fitted classifiers: one per fold, or only one.
    calibrators_ : list of LogisticCalibrator
        Fitted map of each classifier. The classifiers of several folds may share one map.
    estimator_ : classifier
        The fitted classifier, if there is only one.
    calibrator_ : LogisticCalibrator
        The fitted map, if there is only one.
    slope_ : float or ndarray of shape (n_classes,)
        A of the only calibrator. It is a float for two classes and an array for several.
    intercept_ : float or ndarray of shape (n_classes,)
        B of the only calibrator. It is a float for two classes and an array for several.

    See Also
    --------
    LogisticCalibrator : The map alone, for given scores.
    SigmoidClassifier : Smooths the labels, and maps log-odds.
    BetaCalibrationClassifier : Is what the same paper compares with it.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.metrics import log_loss
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from probcal import LogisticCalibrationClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = LogisticCalibrationClassifier(GaussianNB(), random_state=0).fit(X[:300], y[:300])
    >>> [round(log_loss(y[300:], p), 2) for p in model.staged_predict_proba(X[300:])]  # before and after
    [0.18, 0.15]
    """

    prefers = "predict_proba"

    def _calibrator(self, score_kind: Input) -> LogisticCalibrator:
        return LogisticCalibrator(score_kind, clip=self.clip)
