"""Beta calibration, by the package betacal (needs ``pip install 'probcal[calibrators]'``)."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from probcal._validation import refuse_other_choices
from probcal.methods.calibrators._calibrator import (
    CalibratingMethod,
    Calibration,
    contained,
    optional_class,
    unmet_class,
)

_PACKAGE = "betacal", "BetaCalibration"


@dataclass(frozen=True, eq=False)
class Beta:
    """A fitted ``betacal.BetaCalibration``: (n,) probabilities to (n,) probabilities."""

    fitted: Any

    def __call__(self, scores: np.ndarray) -> np.ndarray:
        with contained():
            return self.fitted.predict(scores)


@dataclass(frozen=True)
class Constant:
    """The same ``probability`` for whatever score: betacal has nothing to fit where all scores are equal."""

    probability: float

    def __call__(self, scores: np.ndarray) -> np.ndarray:
        return np.full(len(scores), self.probability)


class BetaCalibrationClassifier(CalibratingMethod):
    """Beta calibration (Kull, Silva Filho & Flach 2017): ln(p' / (1 - p')) = a ln p - b ln(1 - p) + c.

    It is fitted on the learner's probabilities by a logistic regression with next to no penalty. A probability of
    exactly 0 or 1 has no logarithm, so betacal takes 2.2e-16 and 1 - 2.2e-16 for them: a few rows of such certain
    estimates that are wrong flatten the whole map. Prefer learners that smooth their estimates.

    Parameters
    ----------
    estimator : classifier with ``predict_proba``.
    parameters : which of the map are fitted: ``"abm"`` all three; ``"am"`` with a = b; ``"ab"`` with c = (b - a) ln 2,
        so that 1/2 stays 1/2. (m is the p that becomes 1/2.)
    calibration : whose probabilities: ``"holdout"``, of a stratified part of the rows that was kept from the
        classifier; ``"train"``, of the rows that it was trained on, which are often too good; ``"cross_val"``, of each
        row by a classifier that was trained without its fold, while the final one is trained on all rows.
    holdout_size : for ``"holdout"``: the share of rows kept, or their number.
    cv : for ``"cross_val"``: number of stratified shuffled folds, a splitter of scikit-learn, or a list of
        (rows to learn from, rows to calibrate on).
    random_state : seed of the classifier and of the split.

    Attributes
    ----------
    classes_ : (n_classes,) labels in sorted order.
    estimator_ : the fitted classifier.
    maps_ : the fitted maps, each with its ``betacal.BetaCalibration`` as ``fitted``, or a constant one where all
        probabilities were equal: one, of the second of two classes, or one for each of several.

    Besides what ``fit`` says, it raises CalibratorMissing, an ImportError, when betacal is not installed.
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
        """Return what to install first; None when betacal is there."""
        return unmet_class(*_PACKAGE)

    def check_parameters(self) -> None:
        """Raises ValueError for a parameter that is not as documented."""
        refuse_other_choices(self, {"parameters": ("abm", "am", "ab")})
        super().check_parameters()

    def _fit_map(self, scores: np.ndarray, positive: np.ndarray, weights: np.ndarray | None) -> Beta | Constant:
        if np.ptp(scores) == 0:
            return Constant(float(np.average(positive, weights=weights)))
        calibration = optional_class(*_PACKAGE)(self.parameters)
        with contained():
            calibration.fit(scores, positive.astype(np.int64), weights)
        regression = calibration.calibrator_.lr_
        if regression.n_iter_[0] >= regression.max_iter:  # betacal has switched off the warning of it
            warnings.warn("the beta calibration did not converge", ConvergenceWarning, stacklevel=3)
        return Beta(calibration)
