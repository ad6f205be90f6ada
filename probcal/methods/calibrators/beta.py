"""Beta calibration with the package betacal (needs ``pip install 'probcal[calibrators]'``)."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from probcal._validation import check_choices
from probcal.methods.calibrators._calibrator import (
    CalibratingMethod,
    Calibration,
    optional_class,
    silenced,
    unmet_class,
)

_PACKAGE = "betacal", "BetaCalibration"


@dataclass(frozen=True, eq=False)
class Beta:
    """Map (n,) probabilities to (n,) probabilities with a fitted ``betacal.BetaCalibration``."""

    fitted: Any

    def __call__(self, scores: np.ndarray) -> np.ndarray:
        with silenced():
            calibrated: np.ndarray = self.fitted.predict(scores)
            return calibrated


@dataclass(frozen=True)
class Constant:
    """Predict the same ``probability`` for any score. betacal cannot fit a map if all scores are equal."""

    probability: float

    def __call__(self, scores: np.ndarray) -> np.ndarray:
        return np.full(len(scores), self.probability)


class BetaCalibrationClassifier(CalibratingMethod):
    """Calibrate with the beta map (Kull, Silva Filho & Flach 2017): ln(p' / (1 - p')) = a ln p - b ln(1 - p) + c.

    The map is fitted on the learner's probabilities by a logistic regression with almost no penalty. A probability of
    exactly 0 or 1 has no logarithm, so betacal replaces it by 2.2e-16 or 1 - 2.2e-16. A few wrong predictions of that
    kind flatten the whole map. Prefer learners that smooth their probabilities.

    Parameters
    ----------
    estimator : classifier with ``predict_proba``.
    parameters : the fitted parameters of the map. ``"abm"`` fits all three. ``"am"`` sets a = b. ``"ab"`` sets c = (b -
        a) ln 2, so that 1/2 stays 1/2. (m is the p that becomes 1/2.)
    calibration : whose probabilities the map is fitted on. ``"holdout"``: a stratified part of the rows that the
        classifier has not seen. ``"train"``: its training rows, whose probabilities are often too good.
        ``"cross_val"``: all rows, each predicted by a classifier trained without its fold. The final classifier is then
        trained on all rows.
    holdout_size : for ``"holdout"``: the share or the number of rows kept.
    cv : for ``"cross_val"``: number of stratified shuffled folds, a splitter of scikit-learn, or a list of (rows to
        learn from, rows to calibrate on).
    random_state : seed of the classifier and of the split.

    Attributes
    ----------
    classes_ : (n_classes,) labels in sorted order.
    estimator_ : the fitted classifier.
    maps_ : the fitted maps: one for the second of two classes, or one for each of several. Each holds its
        ``betacal.BetaCalibration`` as ``fitted``. If all probabilities were equal, the map is constant.

    Raises
    ------
    CalibratorMissing
        In ``fit``, if betacal is not installed. It is an ImportError.
    """

    needs_one_of = ("predict_proba",)
    scores = "probability"

    def __init__(
        self,
        estimator: Any,
        *,
        parameters: Literal["abm", "am", "ab"] = "abm",
        calibration: Calibration = "holdout",
        holdout_size: float = 0.25,
        cv: Any = 5,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.parameters = parameters
        self.calibration = calibration
        self.holdout_size = holdout_size
        self.cv = cv
        self.random_state = random_state

    @staticmethod
    def unmet_requirement() -> str | None:
        """Return the install command if betacal is missing, and None otherwise."""
        return unmet_class(*_PACKAGE)

    def check_parameters(self) -> None:
        """Raise ValueError for an invalid parameter."""
        check_choices(self, {"parameters": ("abm", "am", "ab")})
        super().check_parameters()

    def _fit_map(self, scores: np.ndarray, positive: np.ndarray, weights: np.ndarray | None) -> Beta | Constant:
        if np.ptp(scores) == 0:
            return Constant(float(np.average(positive, weights=weights)))
        calibration = optional_class(*_PACKAGE)(self.parameters)
        with silenced():
            calibration.fit(scores, positive.astype(np.int64), weights)
        regression = calibration.calibrator_.lr_
        if regression.n_iter_[0] >= regression.max_iter:  # betacal turns this warning off
            warnings.warn("the beta calibration did not converge", ConvergenceWarning, stacklevel=3)
        return Beta(calibration)
