"""Temperature, vector, matrix and Dirichlet scaling: softmax regressions on the logarithms of all classes."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from probcal._validation import Constraint
from probcal.methods.calibrators._calibrated_classifier import CalibratedMethod, Calibration, Ensemble
from probcal.methods.calibrators._calibrator import Calibrator, Input
from probcal.methods.calibrators._regression import (
    Form,
    Penalty,
    class_targets,
    fit_affine,
    fit_temperature,
    logit_unit,
    scaled_probabilities,
)
from probcal.methods.calibrators.formula import Formula, clip, logistic

_LARGE = 128.0
"""Unit of logits beyond which the map of Dirichlet calibration is searched in units of it."""
_MOST_POWER = 6
"""Of 1 / 2n. The log-odds of naive Bayes say something far beyond 1 / 2n, and those of most forests do not."""


class TemperatureCalibrator(Calibrator):
    """Map logits z to softmax(z / T), T the temperature of least log loss (Guo, Pleiss, Sun & Weinberger 2017).

    No calibrated probability is below 1 / (2n) for n rows, before rows are divided by their sums.

    Parameters
    ----------
    input : {"probability", "score"}, default="probability"
        What ``fit`` and ``predict_proba`` get. ``"probability"``: z is ln p. ``"score"``: z itself, or for two classes
        its log-odds in one column. A given p below a bound is read as the bound. For n rows this is (1 / (2n))^k with
        the k from 1 to 6 that fits the rows best. Scores have no bound.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels in sorted order.
    smallest_ : float
        1 / (2n). n is the number of rows of positive weight, and with ``frequency_weights`` their total weight.
    temperature_ : float
        T. Above 1 it makes predictions less certain.
    bound_ : float
        The bound of p, 0 for scores.

    See Also
    --------
    TemperatureClassifier : Fits a learner and this map.
    VectorScalingCalibrator : Has a factor and a shift for each class.
    SigmoidCalibrator : Has a shift, too, and a map for each class against the rest.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import cross_val_predict
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from probcal import TemperatureCalibrator
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> p = cross_val_predict(GaussianNB(), X, y, method="predict_proba")
    >>> calibrator = TemperatureCalibrator().fit(p, y)
    >>> round(calibrator.temperature_, 1)
    7.2
    >>> calibrator.predict_proba([[0.999, 0.001], [0.3, 0.7]]).round(2)
    array([[0.72, 0.28],
           [0.47, 0.53]])
    """

    fitted_attributes = ("temperature_", "bound_")
    is_scale_free = True
    is_rising = True

    def __init__(self, input: Input = "probability") -> None:
        self.input = input

    def _fit_maps(self, matrix: np.ndarray, labels: np.ndarray, weights: np.ndarray | None) -> None:
        weights = np.ones(len(labels)) if weights is None else weights
        codes, truth = np.searchsorted(self.classes_, labels), np.eye(len(self.classes_))
        logits = self._logits(matrix, self.smallest_**_MOST_POWER)
        if self.input == "score":
            unit = logit_unit(logits)
            self.bound_, self.temperature_ = 0.0, unit * fit_temperature(logits / unit, codes, truth, weights)[0]
            return
        least, temperature = np.inf, 1.0
        lowest = logits.min()
        for power in range(1, _MOST_POWER + 1):
            bound = self.smallest_**power
            bounded = np.maximum(logits, np.log(bound))
            temperature, loss = fit_temperature(bounded, codes, truth, weights, temperature)
            if loss < least:
                least, self.bound_, self.temperature_ = loss, bound, temperature
            if np.log(bound) <= lowest:
                break  # a lower bound changes no row

    def _calibrated(self, matrix: np.ndarray) -> np.ndarray:
        return scaled_probabilities(self._logits(matrix, self.bound_), 1 / self.temperature_, None, self.smallest_)

    def _formula(self) -> Formula:
        if self.input == "score":
            log_odds = self._score_formula()
        else:
            negative, positive = self._log_probability_formulas(self.bound_)
            log_odds = positive - negative
        return _with_least(log_odds / self.temperature_, self.smallest_)

    def _logits(self, matrix: np.ndarray, bound: float) -> np.ndarray:
        """Return (n_classes, n_rows) logits. Those of scores are the scores, which keep all their digits."""
        if self.input == "probability":
            return self._log_probabilities(matrix, bound)
        columns = np.ascontiguousarray(matrix.T)
        return np.vstack([np.zeros(len(matrix)), columns]) if len(columns) == 1 else columns


class _AffineScaling(Calibrator):
    """Base of the maps softmax(W z / T + b). No probability is below 1 / (2n)^2 for n rows."""

    fitted_attributes = ("temperature_", "matrix_", "intercept_")
    constraints: ClassVar[dict[str, Constraint]] = {"penalty": ("structured", "none")}
    form: Form
    penalty: Penalty

    def _fit_maps(self, matrix: np.ndarray, labels: np.ndarray, weights: np.ndarray | None) -> None:
        weights = np.ones(len(labels)) if weights is None else weights
        logits = self._log_probabilities(matrix, self.smallest_)
        codes = np.searchsorted(self.classes_, labels)
        targets = class_targets(codes, len(self.classes_), weights)
        # the penalty pulls towards T, not towards 1; constant predictions tell nothing about T
        cooled = self.penalty == "structured" and self.form != "dirichlet" and bool(np.ptp(logits, axis=1).any())
        unit = logit_unit(logits) if self.input == "score" else 1.0
        if self.form == "dirichlet" and unit <= _LARGE:
            unit = 1.0
        temperature = 1.0
        if cooled or unit != 1:
            temperature = unit * fit_temperature(logits / unit, codes, targets, weights)[0]
        self.temperature_, unit = (temperature, 1.0) if cooled else (1.0, unit)
        logits /= self.temperature_ * unit
        self.matrix_, self.intercept_ = fit_affine(
            logits, codes, targets, weights, self.form, self.penalty, unit, start=unit / temperature
        )

    def _calibrated(self, matrix: np.ndarray) -> np.ndarray:
        logits = self._log_probabilities(matrix, self.smallest_)
        least = self.smallest_**2  # W may be so large that p rounds to 0
        return scaled_probabilities(logits, self.matrix_ / self.temperature_, self.intercept_, least)

    def _formula(self) -> Formula:
        negative, positive = self._log_probability_formulas(self.smallest_)
        of_negative, of_positive = ((self.matrix_[1] - self.matrix_[0]) / self.temperature_).tolist()
        log_odds = of_negative * negative + of_positive * positive + float(self.intercept_[1] - self.intercept_[0])
        return _with_least(log_odds, self.smallest_**2)


def _with_least(log_odds: Formula, least: float) -> Formula:
    """Return the formula of what ``scaled_probabilities`` returns for two classes."""
    negative, positive = (clip(logistic(one), low=least) for one in (-log_odds, log_odds))
    return positive / (negative + positive)


class VectorScalingCalibrator(_AffineScaling):
    """Map logits z to softmax(v z + b), a factor and a shift for each class (Guo et al. 2017, section 4.2).

    Targets are smoothed. A row of a class with n_c rows has the target (n_c + 1) / (n_c + 2) for this class. The other
    classes share the rest equally. No calibrated probability is below 1 / (2n)^2 for n rows, before rows are divided by
    their sums.

    Parameters
    ----------
    input : {"probability", "score"}, default="probability"
        What ``fit`` and ``predict_proba`` get. ``"probability"``: z is ln p. A given p below 1 / (2n) for n rows is
        read as 1 / (2n). ``"score"``: z itself, or for two classes its log-odds in one column. Scores have no bound.
    penalty : {"structured", "none"}, default="structured"
        ``"structured"`` applies temperature scaling first. Then it fits v and b under a penalty of k / n on
        ``|v - 1|^2`` and ``|b|^2``, for k classes and n rows (structured vector scaling, Berta et al. 2025). ``"none"``
        fits the plain map.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels in sorted order.
    smallest_ : float
        1 / (2n). n is the number of rows of positive weight, and with ``frequency_weights`` their total weight.
    temperature_ : float
        T of softmax(W z / T + b). It is 1 with ``penalty="none"``.
    matrix_ : ndarray of shape (n_classes, n_classes)
        W. It is diagonal.
    intercept_ : ndarray of shape (n_classes,)
        The intercept b.

    See Also
    --------
    VectorScalingClassifier : Fits a learner and this map.
    TemperatureCalibrator : Has one number for all classes.
    MatrixScalingCalibrator : Has a full matrix.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.metrics import log_loss
    >>> from sklearn.model_selection import cross_val_predict
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from probcal import VectorScalingCalibrator
    >>> X, y = load_wine(return_X_y=True)
    >>> p = cross_val_predict(DecisionTreeClassifier(max_depth=3, random_state=0), X, y, cv=5, method="predict_proba")
    >>> calibrator = VectorScalingCalibrator().fit(p[::2], y[::2])
    >>> [round(log_loss(y[1::2], one), 2) for one in (p[1::2], calibrator.predict_proba(p[1::2]))]  # before and after
    [2.91, 0.4]
    >>> calibrator.matrix_.diagonal().round(2)
    array([1.29, 0.85, 0.92])
    """

    form = "vector"

    def __init__(self, input: Input = "probability", *, penalty: Penalty = "structured") -> None:
        self.input = input
        self.penalty = penalty


class MatrixScalingCalibrator(_AffineScaling):
    """Map logits z to softmax(W z + b) with a full matrix W (Guo et al. 2017, section 4.2).

    Targets are smoothed. A row of a class with n_c rows has the target (n_c + 1) / (n_c + 2) for this class. The other
    classes share the rest equally. No calibrated probability is below 1 / (2n)^2 for n rows, before rows are divided by
    their sums.

    Parameters
    ----------
    input : {"probability", "score"}, default="probability"
        What ``fit`` and ``predict_proba`` get. ``"probability"``: z is ln p. A given p below 1 / (2n) for n rows is
        read as 1 / (2n). ``"score"``: z itself, or for two classes its log-odds in one column. Scores have no bound.
    penalty : {"structured", "none"}, default="structured"
        ``"structured"`` applies temperature scaling first. Then it fits W and b under a penalty, for k classes and n
        rows (structured matrix scaling, Berta et al. 2025). The penalty is k / n on ``|b|^2`` and ``|diag W - 1|^2``,
        and k (k - 1) / n on the squares of the other entries of W. ``"none"`` fits the plain map, which needs many
        rows.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels in sorted order.
    smallest_ : float
        1 / (2n). n is the number of rows of positive weight, and with ``frequency_weights`` their total weight.
    temperature_ : float
        T of softmax(W z / T + b). It is 1 with ``penalty="none"``.
    matrix_ : ndarray of shape (n_classes, n_classes)
        W.
    intercept_ : ndarray of shape (n_classes,)
        The intercept b.

    See Also
    --------
    MatrixScalingClassifier : Fits a learner and this map.
    VectorScalingCalibrator : Has a diagonal matrix, which suits fewer rows.
    DirichletCalibrator : Is the same map of log-probabilities, with another penalty.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.metrics import log_loss
    >>> from sklearn.model_selection import cross_val_predict
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from probcal import MatrixScalingCalibrator
    >>> X, y = load_wine(return_X_y=True)
    >>> p = cross_val_predict(DecisionTreeClassifier(max_depth=3, random_state=0), X, y, cv=5, method="predict_proba")
    >>> calibrator = MatrixScalingCalibrator().fit(p[::2], y[::2])
    >>> [round(log_loss(y[1::2], one), 2) for one in (p[1::2], calibrator.predict_proba(p[1::2]))]  # before and after
    [2.91, 0.39]
    """

    form = "matrix"

    def __init__(self, input: Input = "probability", *, penalty: Penalty = "structured") -> None:
        self.input = input
        self.penalty = penalty


class DirichletCalibrator(_AffineScaling):
    """Map p to softmax(W ln p + b), Dirichlet calibration (Kull et al. 2019).

    The paper is by Kull, Perello-Nieto, Kaengsepp, Silva Filho, Song & Flach.

    Targets are smoothed. A row of a class with n_c rows has the target (n_c + 1) / (n_c + 2) for this class. The other
    classes share the rest equally. No calibrated probability is below 1 / (2n)^2 for n rows, before rows are divided by
    their sums.

    Parameters
    ----------
    input : {"probability", "score"}, default="probability"
        What ``fit`` and ``predict_proba`` get. ``"probability"``: z is ln p. A given p below 1 / (2n) for n rows is
        read as 1 / (2n). ``"score"``: z itself, or for two classes its log-odds in one column. Scores have no bound.
    penalty : {"structured", "none"}, default="structured"
        ``"structured"`` pulls the off-diagonal entries of W and b to 0 (ODIR, section 3). The strengths are
        k (k - 1) / n and k / n for k classes and n rows. The paper chooses them by cross-validation. ``"none"`` fits
        the plain map.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels in sorted order.
    smallest_ : float
        1 / (2n). n is the number of rows of positive weight, and with ``frequency_weights`` their total weight.
    matrix_ : ndarray of shape (n_classes, n_classes)
        W.
    intercept_ : ndarray of shape (n_classes,)
        The intercept b.
    temperature_ : float
        Always 1.

    See Also
    --------
    DirichletClassifier : Fits a learner and this map.
    BetaCalibrator : Is the case of two classes.
    MatrixScalingCalibrator : Is the same map, with another penalty.
    TemperatureCalibrator : Has one number for all classes.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.metrics import log_loss
    >>> from sklearn.model_selection import cross_val_predict
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from probcal import DirichletCalibrator
    >>> X, y = load_wine(return_X_y=True)
    >>> p = cross_val_predict(DecisionTreeClassifier(max_depth=3, random_state=0), X, y, cv=5, method="predict_proba")
    >>> calibrator = DirichletCalibrator().fit(p[::2], y[::2])
    >>> [round(log_loss(y[1::2], one), 2) for one in (p[1::2], calibrator.predict_proba(p[1::2]))]  # before and after
    [2.91, 0.38]
    """

    form = "dirichlet"

    def __init__(self, input: Input = "probability", *, penalty: Penalty = "structured") -> None:
        self.input = input
        self.penalty = penalty


class TemperatureClassifier(CalibratedMethod):
    """Calibrate a learner with temperature scaling (Guo, Pleiss, Sun & Weinberger 2017) on cross-validated scores.

    scikit-learn's ``CalibratedClassifierCV(method="temperature")``, up to version 1.9.1 at least, reads numeric labels
    as positions of their classes. With classes 1 and 2 it silently fits T to the wrong class. This class does not.

    Parameters
    ----------
    estimator : classifier
        Has ``decision_function`` or ``predict_proba``. A ``FrozenEstimator`` is fitted already, so all rows calibrate
        it.
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
    calibrators_ : list of TemperatureCalibrator
        Fitted map of each classifier. The classifiers of several folds may share one map.
    estimator_ : classifier
        The fitted classifier, if there is only one.
    calibrator_ : TemperatureCalibrator
        The fitted map, if there is only one.

    See Also
    --------
    TemperatureCalibrator : The map alone, for given scores.
    VectorScalingClassifier : Has a factor and a shift for each class.
    SigmoidClassifier : Has a shift, too, and a map for each class against the rest.
    sklearn.calibration.CalibratedClassifierCV : Has the same map with ``method="temperature"``.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.metrics import log_loss
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from probcal import TemperatureClassifier
    >>> X, y = make_classification(2000, n_informative=5, n_redundant=8, n_classes=3, random_state=0)
    >>> model = TemperatureClassifier(GaussianNB(), random_state=0).fit(X[:1000], y[:1000])
    >>> [round(log_loss(y[1000:], p), 3) for p in model.staged_predict_proba(X[1000:])]  # before and after
    [0.893, 0.655]
    >>> round(model.calibrators_[0].temperature_, 1)  # above 1: the learner was too certain
    2.4
    """

    prefers = "predict_proba"

    def _calibrator(self, score_kind: Input) -> TemperatureCalibrator:
        return TemperatureCalibrator(score_kind)


class _AffineScalingClassifier(CalibratedMethod):
    """Base of the classifiers whose calibrator has a penalty."""

    prefers = "predict_proba"

    def __init__(
        self,
        estimator: Any,
        *,
        penalty: Penalty = "structured",
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


class VectorScalingClassifier(_AffineScalingClassifier):
    """Calibrate a learner with vector scaling (Guo et al. 2017) on cross-validated probabilities.

    Parameters
    ----------
    estimator : classifier
        Has ``decision_function`` or ``predict_proba``. A ``FrozenEstimator`` is fitted already, so all rows calibrate
        it.
    penalty : {"structured", "none"}, default="structured"
        Penalty of the fit, as in VectorScalingCalibrator.
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
    calibrators_ : list of VectorScalingCalibrator
        Fitted map of each classifier. The classifiers of several folds may share one map.
    estimator_ : classifier
        The fitted classifier, if there is only one.
    calibrator_ : VectorScalingCalibrator
        The fitted map, if there is only one.

    See Also
    --------
    VectorScalingCalibrator : The map alone, for given scores.
    TemperatureClassifier : Has one number for all classes.
    MatrixScalingClassifier : Has a full matrix.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.metrics import log_loss
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from probcal import VectorScalingClassifier
    >>> X, y = make_classification(2000, n_informative=5, n_redundant=8, n_classes=3, random_state=0)
    >>> model = VectorScalingClassifier(GaussianNB(), random_state=0).fit(X[:1000], y[:1000])
    >>> [round(log_loss(y[1000:], p), 3) for p in model.staged_predict_proba(X[1000:])]  # before and after
    [0.893, 0.647]
    """

    def _calibrator(self, score_kind: Input) -> VectorScalingCalibrator:
        return VectorScalingCalibrator(score_kind, penalty=self.penalty)


class MatrixScalingClassifier(_AffineScalingClassifier):
    """Calibrate a learner with matrix scaling (Guo et al. 2017, Berta et al. 2025) on cross-validated probabilities.

    Parameters
    ----------
    estimator : classifier
        Has ``decision_function`` or ``predict_proba``. A ``FrozenEstimator`` is fitted already, so all rows calibrate
        it.
    penalty : {"structured", "none"}, default="structured"
        Penalty of the fit, as in MatrixScalingCalibrator.
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
    calibrators_ : list of MatrixScalingCalibrator
        Fitted map of each classifier. The classifiers of several folds may share one map.
    estimator_ : classifier
        The fitted classifier, if there is only one.
    calibrator_ : MatrixScalingCalibrator
        The fitted map, if there is only one.

    See Also
    --------
    MatrixScalingCalibrator : The map alone, for given scores.
    VectorScalingClassifier : Has a diagonal matrix, which suits fewer rows.
    DirichletClassifier : Has the same map of log-probabilities, with another penalty.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.metrics import log_loss
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from probcal import MatrixScalingClassifier
    >>> X, y = make_classification(2000, n_informative=5, n_redundant=8, n_classes=3, random_state=0)
    >>> model = MatrixScalingClassifier(GaussianNB(), random_state=0).fit(X[:1000], y[:1000])
    >>> [round(log_loss(y[1000:], p), 3) for p in model.staged_predict_proba(X[1000:])]  # before and after
    [0.893, 0.591]
    """

    def _calibrator(self, score_kind: Input) -> MatrixScalingCalibrator:
        return MatrixScalingCalibrator(score_kind, penalty=self.penalty)


class DirichletClassifier(_AffineScalingClassifier):
    """Calibrate a learner with Dirichlet calibration (Kull et al. 2019) on cross-validated probabilities.

    Parameters
    ----------
    estimator : classifier
        Has ``decision_function`` or ``predict_proba``. A ``FrozenEstimator`` is fitted already, so all rows calibrate
        it.
    penalty : {"structured", "none"}, default="structured"
        Penalty of the fit, as in DirichletCalibrator.
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
    calibrators_ : list of DirichletCalibrator
        Fitted map of each classifier. The classifiers of several folds may share one map.
    estimator_ : classifier
        The fitted classifier, if there is only one.
    calibrator_ : DirichletCalibrator
        The fitted map, if there is only one.

    See Also
    --------
    DirichletCalibrator : The map alone, for given scores.
    BetaCalibrationClassifier : Is the case of two classes.
    MatrixScalingClassifier : Has the same map, with another penalty.
    TemperatureClassifier : Has one number for all classes.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.metrics import log_loss
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from probcal import DirichletClassifier
    >>> X, y = make_classification(2000, n_informative=5, n_redundant=8, n_classes=3, random_state=0)
    >>> model = DirichletClassifier(GaussianNB(), random_state=0).fit(X[:1000], y[:1000])
    >>> [round(log_loss(y[1000:], p), 3) for p in model.staged_predict_proba(X[1000:])]  # before and after
    [0.893, 0.589]
    """

    def _calibrator(self, score_kind: Input) -> DirichletCalibrator:
        return DirichletCalibrator(score_kind, penalty=self.penalty)
