"""Spline calibration: a logistic regression on a natural cubic spline of the log-odds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from probcal._parts import row_parts
from probcal._validation import Constraint, Rule
from probcal.methods.calibrators._calibrated_classifier import CalibratedMethod, Calibration, Ensemble
from probcal.methods.calibrators._calibrator import Input, LogOddsMap, OneAgainstRestCalibrator
from probcal.methods.calibrators._regression import fit_logistic, smoothed_targets
from probcal.methods.calibrators.formula import Formula, clip, logistic, pieces

_QUANTILES = (0.05, 0.275, 0.5, 0.725, 0.95)
"""Where the five knots lie (Harrell 2015, Table 2.3)."""


def natural_spline(scores: np.ndarray, knots: np.ndarray) -> np.ndarray:
    """Return the features of a cubic spline that is linear beyond its outer knots, (max(n_knots - 1, 1), n_rows).

    The first row is s itself, and the others are the nonlinear terms, of which there are none with fewer than three
    rising knots. This is the truncated power basis of Harrell (2015), equation 2.25, divided by the squared range of
    the knots.
    """
    if len(knots) <= 2:
        return scores[None]
    features = np.empty((len(knots) - 1, len(scores)))
    start, first, before_last, last = knots[:-2, None], knots[0], knots[-2], knots[-1]
    for rows in row_parts(len(scores), len(knots)):
        s = scores[rows]
        features[0, rows] = s
        above = np.maximum(s - knots[:, None], 0)
        cubes = above * above * above
        beyond = ((last - start) * cubes[-2] - (before_last - start) * cubes[-1]) / (last - before_last)
        features[1:, rows] = (cubes[:-2] - beyond) / (last - first) ** 2
    return features


@dataclass(frozen=True, eq=False)
class Spline(LogOddsMap):
    """Map scores s to 1 / (1 + exp(-f(s))), with a natural cubic spline f.

    Parameters
    ----------
    knots : ndarray of shape (n_knots,)
        Rising knots of f.
    coefficients : ndarray of shape (n_features + 1,)
        Intercept, and coefficients of the features of ``natural_spline``.
    low : float
        Lower bound that s is cut to.
    high : float
        Upper bound that s is cut to.
    """

    knots: np.ndarray
    coefficients: np.ndarray
    low: float
    high: float

    def log_odds(self, scores: np.ndarray) -> np.ndarray:
        features = natural_spline(np.clip(scores, self.low, self.high), self.knots)
        return np.asarray(self.coefficients[0] + self.coefficients[1:] @ features)

    def formula(self, scores: Formula) -> Formula:
        s = clip(scores, self.low, self.high)
        constant, slope, *bends = self.coefficients.tolist()
        if not bends:
            return logistic(slope * s + constant)
        knots = self.knots
        before_last, last = knots[-2:]
        # the factors of max(s - knot, 0)^3. Those of the last two knots make the function linear beyond them.
        factors = np.array(bends) / (last - knots[0]) ** 2
        of_ends = np.array([-(last - knots[:-2]) @ factors, (before_last - knots[:-2]) @ factors])
        factors = np.append(factors, of_ends / (last - before_last))
        # between two knots it is a polynomial, written as its Taylor series at the lower one
        origins = np.append(knots[0], knots)
        distance = origins[:, None] - knots
        has_begun = np.tri(len(origins), len(knots), -1)
        derivatives = [distance**3, 3 * distance**2, 3 * distance, np.ones_like(distance)]
        coefficients = np.column_stack([(has_begun * one) @ factors for one in derivatives])
        coefficients[:, 0] += constant + slope * origins
        coefficients[:, 1] += slope
        # it is linear beyond the last knot, where cubes of narrow knots would cancel each other
        at_last, at_end = self.log_odds(np.array([last, max(last, self.high)]))
        rise = (at_end - at_last) / (self.high - last) if self.high > last else 0.0
        coefficients[-1] = [at_last, rise, 0.0, 0.0]
        return logistic(pieces(scores, s, knots, origins, coefficients))


class SplineCalibrator(OneAgainstRestCalibrator):
    """Map log-odds by a logistic regression on a natural cubic spline of five knots (Lucena 2018).

    Lucena's spline is one of the probability, with many knots and a cross-validated ridge penalty. Here the knots lie
    at five quantiles of the log-odds and the penalty is fixed.

    Parameters
    ----------
    input : {"probability", "score"}, default="probability"
        What ``fit`` and ``predict_proba`` get. ``"probability"``: a predicted probability is moved into
        [1 / (2n), 1 - 1 / (2n)] for n rows, and becomes log-odds. ``"score"``: any real scores, taken as they are.
    penalty : float, default=1.0
        Strength of the penalty, from 0. Half the sum of squares of the spline's nonlinear coefficients is multiplied by
        this number and added to the loss in nats. Each coefficient is for a term of variance 1. 0 means no penalty.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels in sorted order.
    smallest_ : float
        1 / (2n). n is the number of rows of positive weight, and with ``frequency_weights`` their total weight.
    maps_ : list of Spline
        Fitted maps with ``knots`` and ``coefficients``: one for the second of two classes, or one for each of several.

    See Also
    --------
    SplineClassifier : Fits a learner and this map.
    QuadraticCalibrator : Is a quadratic function of the log-odds.
    IsotonicCalibrator : Never falls, but is not smooth.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import cross_val_predict
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from probcal import SplineCalibrator
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> p = cross_val_predict(GaussianNB(), X, y, method="predict_proba")[:, 1]
    >>> calibrator = SplineCalibrator(penalty=1.0).fit(p, y)
    >>> calibrator.predict_proba([0.001, 0.5, 0.999])[:, 1].round(2)
    array([0.04, 0.47, 0.95])
    """

    map_class = Spline
    is_scale_free = True
    constraints: ClassVar[dict[str, Constraint]] = {
        "penalty": Rule(
            lambda size: isinstance(size, int | float | np.number) and 0 <= size < np.inf, "a number from 0"
        )
    }

    def __init__(self, input: Input = "probability", *, penalty: float = 1.0) -> None:
        self.input = input
        self.penalty = penalty

    def _map_inputs(self, matrix: np.ndarray) -> np.ndarray:
        return self._log_odds(matrix, self.smallest_)

    def _map_input_formula(self) -> Formula:
        return self._log_odds_formula(self.smallest_)

    def _fit_map(self, scores: np.ndarray, positive: np.ndarray, weights: np.ndarray | None) -> Spline:
        weights = np.ones(len(scores)) if weights is None else weights
        order = np.argsort(scores)
        reached = np.cumsum(weights[order]) / weights.sum()
        knots = np.unique(scores[order][np.searchsorted(reached, np.array(_QUANTILES) - 1e-12)])
        features = natural_spline(scores, knots)
        penalty = np.append(0.0, np.full(len(features) - 1, self.penalty))
        target = smoothed_targets(positive, weights)
        coefficients = fit_logistic(features, target, weights, penalty, standardised=True)
        return Spline(knots, coefficients, float(scores.min()), float(scores.max()))


class SplineClassifier(CalibratedMethod):
    """Calibrate a learner with a natural cubic spline of its log-odds (after Lucena 2018), on cross-validated scores.

    Parameters
    ----------
    estimator : classifier
        Has ``decision_function`` or ``predict_proba``. A ``FrozenEstimator`` is fitted already, so all rows calibrate
        it.
    penalty : float, default=1.0
        Strength of the penalty, as in SplineCalibrator.
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
    calibrators_ : list of SplineCalibrator
        Fitted map of each classifier. The classifiers of several folds may share one map.
    estimator_ : classifier
        The fitted classifier, if there is only one.
    calibrator_ : SplineCalibrator
        The fitted map, if there is only one.

    See Also
    --------
    SplineCalibrator : The map alone, for given scores.
    QuadraticClassifier : Has a quadratic function of the log-odds.
    IsotonicClassifier : Has a map that never falls, but is not smooth.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.metrics import log_loss
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from probcal import SplineClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = SplineClassifier(GaussianNB(), penalty=1.0, random_state=0).fit(X[:300], y[:300])
    >>> [round(log_loss(y[300:], p), 2) for p in model.staged_predict_proba(X[300:])]  # before and after
    [0.18, 0.13]
    """

    prefers = "predict_proba"

    def __init__(
        self,
        estimator: Any,
        *,
        penalty: float = 1.0,
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
        self.penalty = penalty

    def _calibrator(self, score_kind: Input) -> SplineCalibrator:
        return SplineCalibrator(score_kind, penalty=self.penalty)
