"""Temperature, vector, matrix and Dirichlet scaling: softmax regressions on the logarithms of all classes."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from probcal._validation import check_choices
from probcal.methods._base import normalised_rows
from probcal.methods.calibrators._calibrated_classifier import CalibratedMethod, Calibration, Ensemble
from probcal.methods.calibrators._calibrator import Calibrator, Input

_COLDEST, _HOTTEST = 1e-3, 1e3
_MOST_STEPS = 100
_CLOSE = 1e-10
"""Share of 1 / T. A smaller step is the last."""
_MOST_POWER = 6
"""Of 1 / 2n. The log-odds of naive Bayes say something far beyond 1 / 2n, and those of most forests do not."""
Form = Literal["vector", "matrix", "dirichlet"]
Penalty = Literal["structured", "none"]


def class_targets(codes: np.ndarray, n_classes: int, weights: np.ndarray) -> np.ndarray:
    """Return smoothed targets, (n_rows, n_classes): (n_c + 1) / (n_c + 2) for the row's class c of total weight n_c.

    The other classes share the rest equally. Two classes have Platt's targets (1999, section 2.2). With them the
    fitted map stays finite on separated classes.
    """
    size = np.bincount(codes, weights, n_classes)[codes]
    targets = np.repeat(1 / (size + 2) / (n_classes - 1), n_classes).reshape(-1, n_classes)
    targets[np.arange(len(codes)), codes] = (size + 1) / (size + 2)
    return targets


def fit_temperature(
    logits: np.ndarray, targets: np.ndarray, weights: np.ndarray, start: float = 1.0
) -> tuple[float, float]:
    """Return (T, loss): T in [.001, 1000] of least cross entropy of softmax(logits / T) (Guo et al. 2017, section 4.2).

    ``logits`` and ``targets``: (n_rows, n_classes). ``weights``: (n_rows,). The loss, in nats and summed over the rows,
    is convex in b = 1 / T. Newton's method searches b from 1 / ``start``, and takes the middle of the interval where a
    step leaves it.
    """
    z = (logits - logits.max(axis=1, keepdims=True)).T.copy()  # one row for each class, at most 0
    aim = float((z * targets.T).sum(axis=0) @ weights)
    low, high, b = 1 / _HOTTEST, 1 / _COLDEST, 1 / start
    for _ in range(_MOST_STEPS):
        e = np.exp(b * z)
        total = e.sum(axis=0)
        e *= z
        mean = e.sum(axis=0) / total
        gradient = float(weights @ mean) - aim
        e *= z
        curve = float(weights @ (e.sum(axis=0) / total - mean**2))
        if gradient == 0:
            break  # all classes of each row have the same logit, or the rows are separated
        low, high = (low, b) if gradient > 0 else (b, high)
        after = b - gradient / curve if curve > 0 else 0.0
        after = after if low < after < high else float(np.sqrt(low * high))
        if abs(after - b) <= _CLOSE * b:
            break
        b = after
    return float(1 / b), float(weights @ np.log(np.exp(b * z).sum(axis=0)) - b * aim)


def fit_affine(
    logits: np.ndarray, targets: np.ndarray, weights: np.ndarray, form: Form, penalty: Penalty
) -> tuple[np.ndarray, np.ndarray]:
    """Return (W, b) of least penalised cross entropy of softmax(logits W^T + b).

    ``"vector"``: W is diagonal (Guo et al. 2017, section 4.2). ``"matrix"``: W is full. With the penalty
    ``"structured"`` the loss is the mean cross entropy in nats plus (k |b|^2 + k |diag W - 1|^2 + k (k - 1) |off W|^2)
    / n for k classes and n rows, which is structured matrix scaling (Berta et al. 2025). ``"dirichlet"`` leaves the
    diagonal free (Kull et al. 2019, section 3: off-diagonal and intercept regularisation). ``"none"``: no penalty but
    1e-12, which chooses among equal solutions. A class whose logit is constant keeps its column of the unit matrix.
    """
    k, n = logits.shape[1], float(weights.sum())
    diagonal = np.eye(k, dtype=bool)
    free = (diagonal if form == "vector" else np.ones((k, k), dtype=bool)) & (np.ptp(logits, axis=0) > 0)
    strength = np.where(diagonal, 0.0 if form == "dirichlet" else k, k * (k - 1)) / n
    of_intercept = k / n
    if penalty == "none":
        strength, of_intercept = np.full((k, k), 1e-12), 1e-12
    shares = weights / n

    def loss(parameters: np.ndarray) -> tuple[float, np.ndarray]:
        change, b = np.zeros((k, k)), parameters[-k:]
        change[free] = parameters[:-k]
        log_p = log_softmax(logits + logits @ change.T + b, axis=1)
        value = -(shares @ (targets * log_p).sum(axis=1)) + (strength * change**2).sum() + of_intercept * b @ b
        residual = shares[:, None] * (np.exp(log_p) - targets)
        slope = residual.T @ logits + 2 * strength * change
        return float(value), np.concatenate([slope[free], residual.sum(axis=0) + 2 * of_intercept * b])

    start = np.zeros(int(free.sum()) + k)
    options = {"maxiter": 2000, "maxfun": 4000, "ftol": 1e-15, "gtol": 1e-9}
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options=options).x
    matrix = np.eye(k)
    matrix[free] += found[:-k]
    return matrix, found[-k:]


class TemperatureCalibrator(Calibrator):
    """Map logits z to softmax(z / T), T the temperature of least log loss (Guo, Pleiss, Sun & Weinberger 2017).

    Parameters
    ----------
    input : what ``fit`` gets. ``"probability"``: z is ln p. ``"score"``: z itself, or for two classes its log-odds in
        one column. A p of softmax(z) below a bound is read as the bound. For n rows this is (1 / 2n)^k with the k
        from 1 to 6 that fits the rows best. No calibrated probability is below 1 / 2n, before rows are divided by their
        sums.

    Attributes
    ----------
    classes_ : (n_classes,) labels in sorted order.
    temperature_ : T. Above 1 it makes predictions less certain.
    bound_ : the bound of p.
    """

    def __init__(self, input: Input = "probability") -> None:
        self.input = input

    def _fit_maps(self, matrix: np.ndarray, labels: np.ndarray, weights: np.ndarray | None) -> None:
        weights = np.ones(len(labels)) if weights is None else weights
        truth = np.eye(len(self.classes_))[np.searchsorted(self.classes_, labels)]
        least, temperature = np.inf, 1.0
        lowest = self._log_probabilities(matrix, self.smallest_**_MOST_POWER).min()
        for power in range(1, _MOST_POWER + 1):
            bound = self.smallest_**power
            temperature, loss = fit_temperature(self._log_probabilities(matrix, bound), truth, weights, temperature)
            if loss < least:
                least, self.bound_, self.temperature_ = loss, bound, temperature
            if np.log(bound) <= lowest:
                break  # a lower bound changes no row

    def _calibrated(self, matrix: np.ndarray) -> np.ndarray:
        p = softmax(self._log_probabilities(matrix, self.bound_) / self.temperature_, axis=1)
        return normalised_rows(np.maximum(p, self.smallest_))


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
        targets = class_targets(np.searchsorted(self.classes_, labels), len(self.classes_), weights)
        # the penalty pulls towards T, not towards 1; constant predictions tell nothing about T
        cooled = self.penalty == "structured" and self.form != "dirichlet" and bool(np.ptp(logits, axis=0).any())
        self.temperature_ = fit_temperature(logits, targets, weights)[0] if cooled else 1.0
        self.matrix_, self.intercept_ = fit_affine(
            logits / self.temperature_, targets, weights, self.form, self.penalty
        )

    def _calibrated(self, matrix: np.ndarray) -> np.ndarray:
        logits = self._log_probabilities(matrix, self.smallest_) / self.temperature_
        p = softmax(logits @ self.matrix_.T + self.intercept_, axis=1)
        return normalised_rows(np.maximum(p, self.smallest_**2))  # W may be so large that p rounds to 0


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
