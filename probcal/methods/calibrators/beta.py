"""Beta calibration and quadratic scaling: logistic regressions on the logarithms of a probability."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.special import expit

from probcal._validation import check_choices
from probcal.methods.calibrators._calibrated_classifier import CalibratedMethod, Calibration, Ensemble
from probcal.methods.calibrators._calibrator import Input, OneAgainstRestCalibrator
from probcal.methods.calibrators._regression import fit_logistic, smoothed_targets

Targets = Literal["smoothed", "labels"]
_LEAST = float(np.finfo(np.float64).eps)
"""Where the authors' package betacal cuts probabilities of 0 and 1."""


@dataclass(frozen=True)
class Beta:
    """Map (n,) log-odds s of p by ln(q / (1 - q)) = a ln p - b ln(1 - p) + c, with p first cut at ``least``."""

    a: float
    b: float
    c: float
    least: float

    def __call__(self, scores: np.ndarray) -> np.ndarray:
        return np.asarray(expit(self._log_odds(scores)))

    def complement(self, scores: np.ndarray) -> np.ndarray:
        """Return 1 minus the probability, (n,), with all its digits where the probability rounds to 1."""
        return np.asarray(expit(-self._log_odds(scores)))

    def _log_odds(self, scores: np.ndarray) -> np.ndarray:
        log_p, minus_log_rest = beta_features(scores, self.least)
        return np.asarray(self.a * log_p + self.b * minus_log_rest + self.c)


def beta_features(log_odds: np.ndarray, least: float) -> np.ndarray:
    """Return ln p and -ln(1 - p), (2, n), of the (n,) log-odds of p, with p moved into [least, 1 - least]."""
    most = np.log1p(-least) - np.log(least)
    s = np.clip(log_odds, -most, most)
    tail = np.log1p(np.exp(-np.abs(s)))
    return np.stack([np.minimum(s, 0) - tail, np.maximum(s, 0) + tail])


def fit_beta(
    log_odds: np.ndarray,
    positive: np.ndarray,
    weights: np.ndarray | None = None,
    parameters: Literal["abm", "am", "ab"] = "abm",
    targets: Targets = "labels",
    least: float = _LEAST,
) -> Beta:
    """Return the beta map of least cross entropy (Kull, Silva Filho & Flach 2017, Algorithm 1).

    ``log_odds``: (n,) of the predicted probability. ``positive``: (n,) bool. ``weights``: (n,) above 0, or None.
    ``parameters`` and ``targets`` as in BetaCalibrator. A negative a or b would make the map fall. It is set to 0 and
    the others are fitted again, as the paper does.
    """
    weights = np.ones(len(log_odds)) if weights is None else weights
    target = smoothed_targets(positive, weights) if targets == "smoothed" else positive.astype(np.float64)
    features = beta_features(log_odds, least)
    if parameters == "am":
        features = features.sum(axis=0, keepdims=True)
    elif parameters == "ab":  # c = (b - a) ln 2, so that 1/2 stays 1/2
        features += np.array([[np.log(2)], [-np.log(2)]])
    slopes, kept = np.zeros(len(features)), list(range(len(features)))
    while True:
        c, *fitted = fit_logistic(features[kept], target, weights, intercept=parameters != "ab").tolist()
        if min(fitted, default=0.0) >= 0:
            break
        del kept[[slope < 0 for slope in fitted].index(True)]
    slopes[kept] = fitted
    a, b = float(slopes[0]), float(slopes[-1])
    return Beta(a, b, float((a - b) * np.log(2)) if parameters == "ab" else c, least)


class BetaCalibrator(OneAgainstRestCalibrator):
    """Map p by the beta map ln(q / (1 - q)) = a ln p - b ln(1 - p) + c (Kull, Silva Filho & Flach 2017).

    Parameters
    ----------
    input : what ``fit`` gets: ``"probability"``, or any real ``"score"``, which is read as log-odds.
    parameters : the fitted parameters of the map. ``"abm"`` fits all three. ``"am"`` sets a = b. ``"ab"`` sets c = (a -
        b) ln 2, so that 1/2 stays 1/2. (m is the p that becomes 1/2.)
    targets : ``"smoothed"``: Platt's targets, (n1 + 1) / (n1 + 2) and 1 / (n0 + 2), and p within [1 / 2n, 1 - 1 / 2n]
        for n rows. The map is finite even if the classes are separated, and a few wrong predictions of 0 or 1 do not
        flatten it. ``"labels"``: 0 and 1, and p within [2.2e-16, 1 - 2.2e-16], as the authors' package betacal. Scores
        have no such bound.

    Attributes
    ----------
    classes_ : (n_classes,) labels in sorted order.
    maps_ : the fitted maps with ``a``, ``b`` and ``c``: one for the second of two classes, or one for each of several.
    """

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

    def check_parameters(self) -> None:
        """Raise ValueError for an invalid parameter."""
        super().check_parameters()
        check_choices(self, {"parameters": ("abm", "am", "ab"), "targets": ("smoothed", "labels")})

    def _fit_map(self, scores: np.ndarray, positive: np.ndarray, weights: np.ndarray | None) -> Beta:
        least = self.smallest_ if self.targets == "smoothed" else _LEAST
        if self.input == "score":  # unlike a predicted 0 or 1, a large score still tells how sure the classifier was
            least = float(np.finfo(np.float64).tiny)
        return fit_beta(scores, positive, weights, self.parameters, self.targets, least)


class BetaCalibrationClassifier(CalibratedMethod):
    """Calibrate a learner with the beta map (Kull, Silva Filho & Flach 2017) on cross-validated probabilities.

    Parameters
    ----------
    estimator, calibration, ensemble, cv, holdout_size, random_state : as in SigmoidClassifier.
    parameters, targets : as in BetaCalibrator.
    scores : ``"auto"`` is the predicted probability if the learner has one. Otherwise it is the decision function, read
        as log-odds. The other choices are those of SigmoidClassifier, all read as log-odds.

    Attributes
    ----------
    classes_ : (n_classes,) labels in sorted order.
    estimators_, calibrators_ : the fitted classifiers, and the BetaCalibrator of each: one per fold, or only one.
    estimator_, calibrator_ : the only ones, if there is one of each.
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

    def _calibrator(self, read_as: Input) -> BetaCalibrator:
        return BetaCalibrator(read_as, parameters=self.parameters, targets=self.targets)


@dataclass(frozen=True, eq=False)
class Polynomial:
    """Map (n,) log-odds s to 1 / (1 + exp(-(c0 + c1 s + c2 s^2))), with s first cut to +-``most``."""

    coefficients: np.ndarray
    most: float

    def __call__(self, scores: np.ndarray) -> np.ndarray:
        return np.asarray(expit(self._log_odds(scores)))

    def complement(self, scores: np.ndarray) -> np.ndarray:
        """Return 1 minus the probability, (n,), with all its digits where the probability rounds to 1."""
        return np.asarray(expit(-self._log_odds(scores)))

    def _log_odds(self, scores: np.ndarray) -> np.ndarray:
        s = np.clip(scores, -self.most, self.most)
        constant, slope, curve = self.coefficients
        return np.asarray((curve * s + slope) * s + constant)


class QuadraticCalibrator(OneAgainstRestCalibrator):
    """Map log-odds s by ln(q / (1 - q)) = c0 + c1 s + c2 s^2: quadratic scaling (Berta et al. 2026, CalArena).

    Parameters
    ----------
    input : what ``fit`` gets: ``"probability"``, or any real ``"score"``.
    targets : as in BetaCalibrator.

    Attributes
    ----------
    classes_ : (n_classes,) labels in sorted order.
    maps_ : the fitted maps with ``coefficients``, (3,): one for the second of two classes, or one for each of several.
    """

    def __init__(self, input: Input = "probability", *, targets: Targets = "smoothed") -> None:
        self.input = input
        self.targets = targets

    def check_parameters(self) -> None:
        """Raise ValueError for an invalid parameter."""
        super().check_parameters()
        check_choices(self, {"targets": ("smoothed", "labels")})

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
    estimator, calibration, ensemble, cv, holdout_size, random_state : as in SigmoidClassifier.
    scores : ``"auto"`` is the predicted probability if the learner has one, and the decision function otherwise. The
        other choices are those of SigmoidClassifier.
    targets : as in BetaCalibrator.

    Attributes
    ----------
    classes_ : (n_classes,) labels in sorted order.
    estimators_, calibrators_ : the fitted classifiers, and the QuadraticCalibrator of each: one per fold, or only one.
    estimator_, calibrator_ : the only ones, if there is one of each.
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

    def _calibrator(self, read_as: Input) -> QuadraticCalibrator:
        return QuadraticCalibrator(read_as, targets=self.targets)
