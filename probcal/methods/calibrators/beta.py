"""Beta calibration and quadratic scaling: logistic regressions on the logarithms of a probability."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from probcal._validation import Constraint
from probcal.methods.calibrators._calibrated_classifier import CalibratedMethod, Calibration, Ensemble
from probcal.methods.calibrators._calibrator import Input, LogOddsMap, OneAgainstRestCalibrator, bounded
from probcal.methods.calibrators._regression import fit_logistic, smoothed_targets
from probcal.methods.calibrators.formula import Formula, clip, log_probabilities, logistic

Targets = Literal["smoothed", "labels"]
_LEAST = float(np.finfo(np.float64).eps)
"""Where the authors' package betacal cuts probabilities of 0 and 1."""


@dataclass(frozen=True)
class Beta(LogOddsMap):
    """Map log-odds s of p by ln(q / (1 - q)) = a ln p - b ln(1 - p) + c.

    Parameters
    ----------
    a : float
        Factor of ln p.
    b : float
        Factor of -ln(1 - p).
    c : float
        Intercept, in nats.
    least : float
        Bound of p, which is first moved into [least, 1 - least].
    """

    a: float
    b: float
    c: float
    least: float

    def log_odds(self, scores: np.ndarray) -> np.ndarray:
        log_p, minus_log_rest = beta_features(scores, self.least)
        log_p *= self.a
        minus_log_rest *= self.b
        log_p += minus_log_rest
        log_p += self.c
        return np.asarray(log_p)

    def formula(self, scores: Formula) -> Formula:
        most = math.log1p(-self.least) - math.log(self.least)
        log_rest, log_p = log_probabilities(clip(scores, -most, most))
        return logistic(self.a * log_p - self.b * log_rest + self.c)


def beta_features(log_odds: np.ndarray, least: float) -> np.ndarray:
    """Return ln p and -ln(1 - p), (2, n_rows) in nats, for log-odds of p, with p moved into [least, 1 - least]."""
    most = np.log1p(-least) - np.log(least)
    s = bounded(log_odds, -most, most)
    tail = np.abs(s)
    np.log1p(np.exp(np.negative(tail, out=tail), out=tail), out=tail)
    features = np.empty((2, *s.shape))
    np.subtract(np.minimum(s, 0, out=features[0]), tail, out=features[0])
    np.add(np.maximum(s, 0, out=features[1]), tail, out=features[1])
    return features


def fit_beta(
    log_odds: np.ndarray,
    positive: np.ndarray,
    weights: np.ndarray | None = None,
    parameters: Literal["abm", "am", "ab"] = "abm",
    targets: Targets = "labels",
    least: float = _LEAST,
) -> Beta:
    """Fit the beta map of least cross entropy (Kull, Silva Filho & Flach 2017, Algorithm 1).

    ``log_odds``, (n_rows,), are those of the predicted probability p, in nats. A negative a or b would make the map
    fall. It is set to 0 and the others are fitted again, as the paper does. ``parameters`` and ``targets`` are as in
    BetaCalibrator. p is moved into [least, 1 - least] with both targets.
    """
    weights = np.ones(len(log_odds)) if weights is None else weights
    target = smoothed_targets(positive, weights) if targets == "smoothed" else positive.astype(np.float64)
    features = beta_features(log_odds, least)
    if parameters == "am":
        features = features.sum(axis=0, keepdims=True)
    elif parameters == "ab":  # c = (b - a) ln 2, so that 1/2 stays 1/2
        features += np.array([[np.log(2)], [-np.log(2)]])
    slopes, free = np.zeros(len(features)), list(range(len(features)))
    while True:
        c, *fitted = fit_logistic(features[free], target, weights, intercept=parameters != "ab").tolist()
        if min(fitted, default=0.0) >= 0:
            break
        del free[[slope < 0 for slope in fitted].index(True)]
    slopes[free] = fitted
    a, b = float(slopes[0]), float(slopes[-1])
    return Beta(a, b, float((a - b) * np.log(2)) if parameters == "ab" else c, least)


class BetaCalibrator(OneAgainstRestCalibrator):
    """Map p by the beta map ln(q / (1 - q)) = a ln p - b ln(1 - p) + c (Kull, Silva Filho & Flach 2017).

    Parameters
    ----------
    input : {"probability", "score"}, default="probability"
        What ``fit`` and ``predict_proba`` get: predicted probabilities, or any real scores, which are read as log-odds.
    parameters : {"abm", "am", "ab"}, default="abm"
        Fitted parameters of the map. ``"abm"`` fits all three. ``"am"`` sets a = b. ``"ab"`` sets c = (a - b) ln 2, so
        that 1/2 stays 1/2. (m is the p that becomes 1/2.)
    targets : {"smoothed", "labels"}, default="smoothed"
        Targets of the fit. ``"smoothed"``: Platt's targets, (n1 + 1) / (n1 + 2) and 1 / (n0 + 2), and p within
        [1 / (2n), 1 - 1 / (2n)] for n rows. The map is finite even if the classes are separated, and a few wrong
        predictions of 0 or 1 do not flatten it. ``"labels"``: 0 and 1, and p within [2.2e-16, 1 - 2.2e-16], as in the
        authors' package betacal. With ``input="score"`` neither choice bounds p in this way.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels in sorted order.
    smallest_ : float
        1 / (2n). n is the number of rows of positive weight, and with ``frequency_weights`` their total weight.
    maps_ : list of Beta
        Fitted maps with ``a``, ``b`` and ``c``: one for the second of two classes, or one for each of several.

    See Also
    --------
    BetaCalibrationClassifier : Fits a learner and this map.
    SigmoidCalibrator : Has two parameters, like this map with a = b.
    QuadraticCalibrator : Is another map of three parameters, in the log-odds.
    DirichletCalibrator : Is the same idea for several classes at once.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import cross_val_predict
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from probcal import BetaCalibrator
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> p = cross_val_predict(GaussianNB(), X, y, method="predict_proba")[:, 1]
    >>> calibrator = BetaCalibrator().fit(p, y)
    >>> calibrator.predict_proba([0.001, 0.5, 0.999])[:, 1].round(2)
    array([0.04, 0.32, 0.95])
    >>> fitted = calibrator.maps_[0]
    >>> [round(float(one), 2) for one in (fitted.a, fitted.b, fitted.c)]
    [0.31, 0.57, -0.93]
    """

    map_class = Beta
    is_rising = True
    constraints: ClassVar[dict[str, Constraint]] = {
        "parameters": ("abm", "am", "ab"),
        "targets": ("smoothed", "labels"),
    }

    def __init__(
        self,
        input: Input = "probability",
        *,
        parameters: Literal["abm", "am", "ab"] = "abm",
        targets: Targets = "smoothed",
    ) -> None:
        self.input = input
        self.parameters = parameters
        self.targets = targets

    def _fit_map(self, scores: np.ndarray, positive: np.ndarray, weights: np.ndarray | None) -> Beta:
        least = self.smallest_ if self.targets == "smoothed" else _LEAST
        if self.input == "score":  # unlike a predicted 0 or 1, a large score still tells how sure the classifier was
            least = float(np.finfo(np.float64).tiny)
        return fit_beta(scores, positive, weights, self.parameters, self.targets, least)


class BetaCalibrationClassifier(CalibratedMethod):
    """Calibrate a learner with the beta map (Kull, Silva Filho & Flach 2017) on cross-validated probabilities.

    Parameters
    ----------
    estimator : classifier
        Has ``decision_function`` or ``predict_proba``. A ``FrozenEstimator`` is fitted already, so all rows calibrate
        it.
    parameters : {"abm", "am", "ab"}, default="abm"
        Fitted parameters of the map, as in BetaCalibrator.
    targets : {"smoothed", "labels"}, default="smoothed"
        Targets of the fit, as in BetaCalibrator.
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
    random_state : int, RandomState or None, default=None
        Seed of the classifiers and of the split. None draws a new seed at each ``fit``.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels in sorted order.
    estimators_ : list of classifiers
        Fitted classifiers: one per fold, or only one.
    calibrators_ : list of BetaCalibrator
        Fitted map of each classifier. The classifiers of several folds may share one map.
    estimator_ : classifier
        The fitted classifier, if there is only one.
    calibrator_ : BetaCalibrator
        The fitted map, if there is only one.

    See Also
    --------
    BetaCalibrator : The map alone, for given scores.
    SigmoidClassifier : Has a map of two parameters.
    QuadraticClassifier : Has another map of three parameters, in the log-odds.
    IsotonicClassifier : Fits any rising function, and needs more rows.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.metrics import log_loss
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from probcal import BetaCalibrationClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = BetaCalibrationClassifier(GaussianNB(), parameters="abm", random_state=0).fit(X[:300], y[:300])
    >>> [round(log_loss(y[300:], p), 2) for p in model.staged_predict_proba(X[300:])]  # before and after
    [0.18, 0.13]
    """

    prefers = "predict_proba"

    def __init__(
        self,
        estimator: Any,
        *,
        parameters: Literal["abm", "am", "ab"] = "abm",
        targets: Targets = "smoothed",
        scores: Any = "auto",
        calibration: Calibration = "cross_val",
        ensemble: Ensemble = "auto",
        cv: Any = 5,
        holdout_size: float = 0.25,
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
        self.parameters = parameters
        self.targets = targets

    def _calibrator(self, score_kind: Input) -> BetaCalibrator:
        return BetaCalibrator(score_kind, parameters=self.parameters, targets=self.targets)


@dataclass(frozen=True, eq=False)
class Polynomial(LogOddsMap):
    """Map log-odds s to 1 / (1 + exp(-(c0 + c1 s + c2 s^2))).

    Parameters
    ----------
    coefficients : ndarray of shape (3,)
        The numbers c0, c1 and c2.
    most : float
        Bound of s, which is first cut to +-``most``.
    """

    coefficients: np.ndarray
    most: float

    def log_odds(self, scores: np.ndarray) -> np.ndarray:
        s = np.clip(scores, -self.most, self.most)
        constant, slope, curve = self.coefficients
        return np.asarray((curve * s + slope) * s + constant)

    def formula(self, scores: Formula) -> Formula:
        s = clip(scores, -self.most, self.most)
        constant, slope, curve = self.coefficients.tolist()
        return logistic((curve * s + slope) * s + constant)


class QuadraticCalibrator(OneAgainstRestCalibrator):
    """Map log-odds s by ln(q / (1 - q)) = c0 + c1 s + c2 s^2: quadratic scaling (Berta et al. 2026, CalArena).

    Parameters
    ----------
    input : {"probability", "score"}, default="probability"
        What ``fit`` and ``predict_proba`` get: predicted probabilities, or any real scores, which are read as log-odds.
    targets : {"smoothed", "labels"}, default="smoothed"
        Targets of the fit and bound of p, as in BetaCalibrator. With ``input="score"``, s is cut to the largest
        absolute score of ``fit``.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels in sorted order.
    smallest_ : float
        1 / (2n). n is the number of rows of positive weight, and with ``frequency_weights`` their total weight.
    maps_ : list of Polynomial
        Fitted maps with ``coefficients``, an ndarray of shape (3,): one for the second of two classes, or one for each
        of several.

    See Also
    --------
    QuadraticClassifier : Fits a learner and this map.
    SigmoidCalibrator : Is the map without the quadratic term.
    BetaCalibrator : Is another map of three parameters.
    SplineCalibrator : Bends in more places.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import cross_val_predict
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from probcal import QuadraticCalibrator
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> p = cross_val_predict(GaussianNB(), X, y, method="predict_proba")[:, 1]
    >>> calibrator = QuadraticCalibrator().fit(p, y)
    >>> calibrator.predict_proba([0.001, 0.5, 0.999])[:, 1].round(2)
    array([0.05, 0.29, 0.95])
    >>> calibrator.maps_[0].coefficients.round(3)  # c0, c1 and c2
    array([-0.907,  0.439,  0.019])
    """

    map_class = Polynomial
    constraints: ClassVar[dict[str, Constraint]] = {"targets": ("smoothed", "labels")}
    is_scale_free = True

    def __init__(self, input: Input = "probability", *, targets: Targets = "smoothed") -> None:
        self.input = input
        self.targets = targets

    def _fit_map(self, scores: np.ndarray, positive: np.ndarray, weights: np.ndarray | None) -> Polynomial:
        weights = np.ones(len(scores)) if weights is None else weights
        smoothed = self.targets == "smoothed"
        target = smoothed_targets(positive, weights) if smoothed else positive.astype(np.float64)
        least = self.smallest_ if smoothed else _LEAST
        most = float(np.log1p(-least) - np.log(least)) if self.input == "probability" else float(np.abs(scores).max())
        s = np.clip(scores, -most, most)
        return Polynomial(fit_logistic(np.stack([s, s * s]), target, weights), most)


class QuadraticClassifier(CalibratedMethod):
    """Calibrate a learner with quadratic scaling of log-odds (Berta et al. 2026) on cross-validated scores.

    Parameters
    ----------
    estimator : classifier
        Has ``decision_function`` or ``predict_proba``. A ``FrozenEstimator`` is fitted already, so all rows calibrate
        it.
    targets : {"smoothed", "labels"}, default="smoothed"
        Targets of the fit, as in QuadraticCalibrator.
    scores : {"auto", "decision_function", "log_odds", "probability"}, default="auto"
        ``"auto"`` is the predicted probability if the learner has one, and the decision function otherwise. The other
        choices are those of SigmoidClassifier.
    calibration : {"cross_val", "holdout", "train", "prefit"}, default="cross_val"
        Rows on which the map is fitted, as in SigmoidClassifier.
    ensemble : bool or "auto", default="auto"
        Which classifiers and maps ``calibration="cross_val"`` fits, as in SigmoidClassifier.
    cv : int, cross-validation generator or list of pairs, default=5
        Folds of ``calibration="cross_val"``, as in SigmoidClassifier.
    holdout_size : float or int, default=0.25
        Share or number of the rows that ``calibration="holdout"`` keeps to fit the map.
    random_state : int, RandomState or None, default=None
        Seed of the classifiers and of the split. None draws a new seed at each ``fit``.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels in sorted order.
    estimators_ : list of classifiers
        Fitted classifiers: one per fold, or only one.
    calibrators_ : list of QuadraticCalibrator
        Fitted map of each classifier. The classifiers of several folds may share one map.
    estimator_ : classifier
        The fitted classifier, if there is only one.
    calibrator_ : QuadraticCalibrator
        The fitted map, if there is only one.

    See Also
    --------
    QuadraticCalibrator : The map alone, for given scores.
    SigmoidClassifier : Has a map without the quadratic term.
    BetaCalibrationClassifier : Has another map of three parameters.
    SplineClassifier : Has a map that bends in more places.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.metrics import log_loss
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from probcal import QuadraticClassifier
    >>> X, y = make_classification(2000, n_redundant=8, flip_y=0.1, random_state=0)
    >>> model = QuadraticClassifier(GaussianNB(), random_state=0).fit(X[:1000], y[:1000])
    >>> [round(log_loss(y[1000:], p), 3) for p in model.staged_predict_proba(X[1000:])]  # before and after
    [1.105, 0.187]
    """

    prefers = "predict_proba"

    def __init__(
        self,
        estimator: Any,
        *,
        targets: Targets = "smoothed",
        scores: Any = "auto",
        calibration: Calibration = "cross_val",
        ensemble: Ensemble = "auto",
        cv: Any = 5,
        holdout_size: float = 0.25,
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
        self.targets = targets

    def _calibrator(self, score_kind: Input) -> QuadraticCalibrator:
        return QuadraticCalibrator(score_kind, targets=self.targets)
