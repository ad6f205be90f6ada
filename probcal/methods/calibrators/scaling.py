"""Temperature, vector, matrix and Dirichlet scaling: softmax regressions on the logarithms of all classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from probcal._validation import check_choices
from probcal.methods.calibrators._calibrated_classifier import CalibratedMethod, Calibration, Ensemble
from probcal.methods.calibrators._calibrator import Calibrator, Input
from probcal.methods.calibrators._softmax import (
    Form,
    Penalty,
    class_targets,
    fit_affine,
    fit_temperature,
    scaled_probabilities,
)

_MOST_POWER = 6
"""Of 1 / 2n. The log-odds of naive Bayes say something far beyond 1 / 2n, and those of most forests do not."""


class TemperatureCalibrator(Calibrator):
    """Map logits z to softmax(z / T), T the temperature of least log loss (Guo, Pleiss, Sun & Weinberger 2017).

    Parameters
    ----------
    input : what ``fit`` gets. ``"probability"``: z is ln p. ``"score"``: z itself, or for two classes its log-odds in
        one column. A given p below a bound is read as the bound. For n rows this is (1 / 2n)^k with the k from 1 to 6
        that fits the rows best. Scores have no bound.

    No calibrated probability is below 1 / 2n, before rows are divided by their sums.

    Attributes
    ----------
    classes_ : (n_classes,) labels in sorted order.
    temperature_ : T. Above 1 it makes predictions less certain.
    bound_ : the bound of p, 0 for scores.
    """

    def __init__(self, input: Input = "probability") -> None:
        self.input = input

    def _fit_maps(self, matrix: np.ndarray, labels: np.ndarray, weights: np.ndarray | None) -> None:
        weights = np.ones(len(labels)) if weights is None else weights
        codes, truth = np.searchsorted(self.classes_, labels), np.eye(len(self.classes_))
        logits = self._log_probabilities(matrix, self.smallest_**_MOST_POWER)
        if self.input == "score":
            self.bound_, self.temperature_ = 0.0, fit_temperature(logits, codes, truth, weights)[0]
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
        k = len(self.classes_)
        logits = self._log_probabilities(matrix, self.bound_)
        return scaled_probabilities(logits, np.eye(k) / self.temperature_, np.zeros(k), self.smallest_)


class _AffineScaling(Calibrator):
    """Base of the maps softmax(W z / T + b). No probability is below 1 / (2n)^2 for n rows."""

    form: Form
    penalty: Penalty

    def check_parameters(self) -> None:
        """Raise ValueError for an invalid parameter."""
        super().check_parameters()
        check_choices(self, {"penalty": ("structured", "none")})

    def _fit_maps(self, matrix: np.ndarray, labels: np.ndarray, weights: np.ndarray | None) -> None:
        weights = np.ones(len(labels)) if weights is None else weights
        logits = self._log_probabilities(matrix, self.smallest_)
        codes = np.searchsorted(self.classes_, labels)
        targets = class_targets(codes, len(self.classes_), weights)
        # the penalty pulls towards T, not towards 1; constant predictions tell nothing about T
        cooled = self.penalty == "structured" and self.form != "dirichlet" and bool(np.ptp(logits, axis=1).any())
        self.temperature_ = fit_temperature(logits, codes, targets, weights)[0] if cooled else 1.0
        logits /= self.temperature_
        self.matrix_, self.intercept_ = fit_affine(logits, codes, targets, weights, self.form, self.penalty)

    def _calibrated(self, matrix: np.ndarray) -> np.ndarray:
        logits = self._log_probabilities(matrix, self.smallest_)
        least = self.smallest_**2  # W may be so large that p rounds to 0
        return scaled_probabilities(logits, self.matrix_ / self.temperature_, self.intercept_, least)


class VectorScalingCalibrator(_AffineScaling):
    """Map logits z to softmax(v z + b), a factor and a shift for each class (Guo et al. 2017, section 4.2).

    Parameters
    ----------
    input : as in TemperatureCalibrator.
    penalty : ``"structured"``: temperature scaling first, then v and b under a penalty of k / n for k classes and n
        rows, on |v - 1|^2 and |b|^2 (structured vector scaling, Berta et al. 2025). ``"none"``: the plain map.

    Attributes
    ----------
    classes_ : (n_classes,) labels in sorted order.
    temperature_, matrix_, intercept_ : T, W and b of softmax(W z / T + b). W is diagonal.
    """

    form = "vector"

    def __init__(self, input: Input = "probability", *, penalty: Penalty = "structured") -> None:
        self.input = input
        self.penalty = penalty


class MatrixScalingCalibrator(_AffineScaling):
    """Map logits z to softmax(W z + b) with a full matrix W (Guo et al. 2017, section 4.2).

    Parameters
    ----------
    input : as in TemperatureCalibrator.
    penalty : ``"structured"``: temperature scaling first, then W and b under a penalty of k / n for k classes and n
        rows, on |b|^2 and |diag W - 1|^2, and of k (k - 1) / n on the other entries of W (structured matrix scaling,
        Berta et al. 2025). ``"none"``: the plain map, which needs many rows.

    Attributes
    ----------
    classes_ : (n_classes,) labels in sorted order.
    temperature_, matrix_, intercept_ : T, W and b of softmax(W z / T + b).
    """

    form = "matrix"

    def __init__(self, input: Input = "probability", *, penalty: Penalty = "structured") -> None:
        self.input = input
        self.penalty = penalty


class DirichletCalibrator(_AffineScaling):
    """Map p to softmax(W ln p + b), Dirichlet calibration (Kull, Perello-Nieto, Kaengsepp, Silva Filho, Song & Flach
    2019).

    Parameters
    ----------
    input : as in TemperatureCalibrator.
    penalty : ``"structured"``: the off-diagonal entries of W and b are pulled to 0 (ODIR, section 3), with strengths of
        k (k - 1) / n and k / n for k classes and n rows. The paper chooses them by cross-validation. ``"none"``: the
        plain map.

    Attributes
    ----------
    classes_ : (n_classes,) labels in sorted order.
    matrix_, intercept_ : W and b.
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
    estimator, scores, calibration, ensemble, cv, holdout_size, random_state : as in SigmoidClassifier. ``"auto"`` is
        the predicted probability if the learner has one, and the decision function otherwise.

    Attributes
    ----------
    classes_ : (n_classes,) labels in sorted order.
    estimators_, calibrators_ : the fitted classifiers, and the TemperatureCalibrator of each: one per fold, or only
        one.
    estimator_, calibrator_ : the only ones, if there is one of each.
    """

    prefers = "predict_proba"

    def _calibrator(self, read_as: Input) -> TemperatureCalibrator:
        return TemperatureCalibrator(read_as)


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
    estimator, scores, calibration, ensemble, cv, holdout_size, random_state : as in TemperatureClassifier.
    penalty : as in VectorScalingCalibrator.

    Attributes
    ----------
    classes_, estimators_, calibrators_, estimator_, calibrator_ : as in TemperatureClassifier.
    """

    def _calibrator(self, read_as: Input) -> VectorScalingCalibrator:
        return VectorScalingCalibrator(read_as, penalty=self.penalty)


class MatrixScalingClassifier(_AffineScalingClassifier):
    """Calibrate a learner with matrix scaling (Guo et al. 2017; Berta et al. 2025) on cross-validated probabilities.

    Parameters
    ----------
    estimator, scores, calibration, ensemble, cv, holdout_size, random_state : as in TemperatureClassifier.
    penalty : as in MatrixScalingCalibrator.

    Attributes
    ----------
    classes_, estimators_, calibrators_, estimator_, calibrator_ : as in TemperatureClassifier.
    """

    def _calibrator(self, read_as: Input) -> MatrixScalingCalibrator:
        return MatrixScalingCalibrator(read_as, penalty=self.penalty)


class DirichletClassifier(_AffineScalingClassifier):
    """Calibrate a learner with Dirichlet calibration (Kull et al. 2019) on cross-validated probabilities.

    Parameters
    ----------
    estimator, scores, calibration, ensemble, cv, holdout_size, random_state : as in TemperatureClassifier.
    penalty : as in DirichletCalibrator.

    Attributes
    ----------
    classes_, estimators_, calibrators_, estimator_, calibrator_ : as in TemperatureClassifier.
    """

    def _calibrator(self, read_as: Input) -> DirichletCalibrator:
        return DirichletCalibrator(read_as, penalty=self.penalty)
