"""Correct predicted probabilities for training rows that were resampled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np

from probcal._learner_output import normalised_rows
from probcal._validation import Constraint, Rule
from probcal.components.classes import refuse_unmet_need
from probcal.methods.calibrators._calibrated_classifier import CalibratedMethod, Calibration
from probcal.methods.calibrators._calibrator import Calibrator, Input
from probcal.methods.calibrators.formula import Formula, clip


class PriorCalibrator(Calibrator):
    """Multiply the odds of each class by its true base rate over its share among ``y`` (Saerens et al. 2002, eq. 2.4).

    Use it if the classifier was trained on rows drawn by class: a rare class drawn more often, a frequent one less.
    ``fit`` reads the shares of the classes from ``y``. It changes nothing else.

    Parameters
    ----------
    base_rate : float or mapping of label to float, default=None
        Share of the second of two classes where the probabilities will be used, or a mapping from each class to its
        share. None takes the shares in ``y``, so nothing changes.
    input : {"probability", "score"}, default="probability"
        What ``fit`` and ``predict_proba`` get: predicted probabilities, or any real scores, which are read as log-odds.
    clip : "rows" or float, default="rows"
        The smallest probability that is read as it is; smaller ones are read as this. ``"rows"`` is 1 / (2n) for n
        rows. Give a small number, such as 1e-12, for rare events: the correction learns nothing from rows but shares,
        so few rows do not make small probabilities less certain.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels in sorted order.
    smallest_ : float
        ``clip``, or 1 / (2n). n is the number of rows of positive weight, and with ``frequency_weights`` their total
        weight.
    factors_ : ndarray of shape (n_classes,)
        Base rate of each class over its share in ``y``.

    See Also
    --------
    PriorCorrectedClassifier : Fits a learner and this correction.
    SigmoidCalibrator : Fits a map to labels, if there are some of the new rows.
    LogisticCalibrator : Fits a map of the probability to labels.

    Examples
    --------
    >>> from probcal import PriorCalibrator
    >>> y = [0, 1] * 50  # half of the training rows are positive
    >>> calibrator = PriorCalibrator(base_rate=0.1).fit([0.5] * 100, y)
    >>> calibrator.predict_proba([0.2, 0.5, 0.9])[:, 1].round(2)
    array([0.03, 0.1 , 0.5 ])
    >>> calibrator.factors_.round(2)
    array([1.8, 0.2])
    """

    fitted_attributes = ("factors_",)
    is_rising = True

    constraints: ClassVar[dict[str, Constraint]] = {
        "clip": Rule(
            lambda value: value == "rows" or (isinstance(value, int | float) and 0 < value < 0.5),
            '"rows", or a number above 0 and below .5',
        ),
    }

    def __init__(
        self,
        base_rate: float | Mapping[Any, float] | None = None,
        *,
        input: Input = "probability",
        clip: Literal["rows"] | float = "rows",
    ) -> None:
        self.base_rate = base_rate
        self.input = input
        self.clip = clip

    def _fit_maps(self, matrix: np.ndarray, labels: np.ndarray, weights: np.ndarray | None) -> None:
        if self.clip != "rows":
            self.smallest_ = float(self.clip)
        shares = np.bincount(np.searchsorted(self.classes_, labels), weights)
        shares = shares / shares.sum()
        self.factors_ = (shares if self.base_rate is None else _base_rates(self.base_rate, self.classes_)) / shares

    def _calibrated(self, matrix: np.ndarray) -> np.ndarray:
        return normalised_rows(np.maximum(self._probabilities(matrix), self.smallest_) * self.factors_)

    def _formula(self) -> Formula:
        both = zip(self._probability_formulas(), self.factors_.tolist(), strict=True)
        negative, positive = (clip(one, low=self.smallest_) * float(factor) for one, factor in both)
        return positive / (negative + positive)


def _base_rates(given: Any, classes: np.ndarray) -> np.ndarray:
    """Return (n_classes,) base rates. Raises ValueError unless they are above 0 and have the sum 1."""
    if isinstance(given, Mapping):
        if set(given) != set(classes.tolist()):
            raise ValueError(f"base_rate names the classes {sorted(given, key=str)}, and y holds {classes.tolist()}")
        rates = np.array([given[label] for label in classes.tolist()], dtype=np.float64)
    elif len(classes) == 2:
        if not isinstance(given, int | float | np.number) or not 0 < given < 1:
            raise ValueError(f"base_rate must be a number above 0 and below 1, or a mapping of classes, not {given!r}")
        rates = np.array([1 - given, given], dtype=np.float64)
    else:
        raise ValueError(f"base_rate must name the share of each of {len(classes)} classes, such as {{'a': .2, ...}}")
    if not (rates > 0).all() or abs(rates.sum() - 1) > 1e-6:
        raise ValueError(f"base rates must lie above 0 and have the sum 1, not {rates.tolist()}")
    return rates


class PriorCorrectedClassifier(CalibratedMethod):
    """Correct a learner's probabilities for a base rate that differs from that of the training rows.

    Give rows that were resampled by class, and the base rate of the rows to come. See PriorCalibrator.

    Parameters
    ----------
    estimator : classifier
        Has ``predict_proba``.
    base_rate : float or mapping of label to float, default=None
        Share of the second of two classes in the rows to come, or a mapping from each class to its share, as in
        PriorCalibrator.
    calibration : {"train", "prefit", "cross_val", "holdout"}, default="train"
        ``"train"``: fit the learner on all rows, whose shares are those to correct. ``"prefit"``: ``estimator`` is
        fitted already, on rows with the shares of ``y``. The other choices are those of SigmoidClassifier, with its
        default folds and holdout.
    random_state : int, RandomState or None, default=None
        Seed of the classifier. None draws a new seed at each ``fit``.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels in sorted order.
    estimator_ : classifier
        The fitted classifier.
    calibrator_ : PriorCalibrator
        The fitted correction.

    See Also
    --------
    PriorCalibrator : The correction alone, for given probabilities.
    SigmoidClassifier : Fits a map to labels, if the training rows have the right base rate.
    DirectClassifier : Corrects nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from probcal import PriorCorrectedClassifier
    >>> X, y = make_classification(4000, weights=[0.9], random_state=0)
    >>> rows = np.concatenate([np.flatnonzero(y == 0)[:400], np.flatnonzero(y == 1)[:400]])  # drawn by class
    >>> model = PriorCorrectedClassifier(LogisticRegression(), base_rate=y.mean(), random_state=0).fit(X[rows], y[rows])
    >>> [round(float(p[:, 1].mean()), 2) for p in (model.estimator_.predict_proba(X), model.predict_proba(X))]
    [0.28, 0.1]
    >>> float(y.mean().round(2))
    0.11
    """

    needs_one_of = ("predict_proba",)
    prefers = "predict_proba"

    def __init__(
        self,
        estimator: Any,
        base_rate: float | Mapping[Any, float] | None = None,
        *,
        calibration: Calibration = "train",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        super().__init__(estimator, calibration=calibration, random_state=random_state)
        self.base_rate = base_rate

    def _calibrator(self, score_kind: Input) -> PriorCalibrator:
        return PriorCalibrator(self.base_rate, input=score_kind)

    def _scores(self, learner: Any, X: Any) -> tuple[np.ndarray, Input]:
        # the scores of a learner without probabilities belong to no base rate
        refuse_unmet_need(type(self), learner)
        return super()._scores(learner, X)
