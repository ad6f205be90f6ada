"""Isotonic calibration: the nondecreasing function of the score that fits the labels best."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from probcal._validation import check_choices, check_clip
from probcal.methods._base import SCORES, Scores, class_scores
from probcal.methods.calibrators._calibrator import CalibratingMethod, Calibration
from probcal.methods.direct import RescaledClassifier


def isotonic_values(positive: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return the slopes z_i, (n,), of the greatest convex minorant of (cumulative weight, cumulative positive weight).

    This is isotonic regression by a convex hull (Gao, Parameswaran & Peng 2017, Algorithm 1). ``positive``: (n,)
    float64 positive weight at each distinct score, in rising order of the scores. ``weight``: (n,) its total weight,
    above 0. The z_i are the nondecreasing values of least weighted squared error to positive / weight. Over every run
    of equal z the sum of weight * z equals that of ``positive``.

    SciPy's isotonic_regression is not used, because the result must be exact. SciPy averages averages, while here each
    edge of the hull is one quotient of two sums. Without weights those sums are whole numbers. Equal slopes are then
    found equal, and each z is the float64 nearest to the true value.
    """
    # an edge of the hull is as wide as its weight and rises by its positive weight. A new point is merged with
    # the edges before it while they are at least as steep.
    widths: list[float] = []
    rises: list[float] = []
    lengths: list[int] = []
    for rise, width in zip(positive.tolist(), weight.tolist(), strict=True):
        length = 1
        while rises and rises[-1] * width >= rise * widths[-1]:
            rise += rises.pop()
            width += widths.pop()
            length += lengths.pop()
        rises.append(rise)
        widths.append(width)
        lengths.append(length)
    return np.repeat(np.array(rises) / np.array(widths), lengths)


@dataclass(frozen=True, eq=False)
class Isotonic:
    """Interpolate linearly between the knots, stay constant beyond them, and clip to ``clip``.

    ``scores``: (n_knots,) rising. ``probabilities``: (n_knots,) not falling.
    """

    scores: np.ndarray
    probabilities: np.ndarray
    clip: tuple[float, float]

    def __call__(self, scores: np.ndarray) -> np.ndarray:
        calibrated: np.ndarray = np.clip(np.interp(scores, self.scores, self.probabilities), *self.clip)
        return calibrated


class IsotonicClassifier(CalibratingMethod):
    """Calibrate by isotonic regression with the PAV algorithm (Gao, Parameswaran & Peng 2017, Algorithm 1).

    Rows with equal scores are pooled first. Between the fitted scores the function is linear, and beyond them it is
    constant. The paper asks for "a continuous nondecreasing function" and does not say which. The empirical calibration
    error on the calibration rows is 0 (Claim 5).

    Parameters
    ----------
    estimator : classifier with ``decision_function`` or ``predict_proba``.
    scores : the scores that are calibrated. ``"decision_function"``, ``"log_odds"`` of the predicted probability (in
        nats, within +-708) and ``"probability"`` are the learner's. ``"auto"`` is the first of these that the
        classifier offers. ``"rescaled"`` stretches the scores of ``"auto"`` to [0, 1] over the training rows, as
        RescaledClassifier does. Mainly their order counts. The values matter only between two fitted scores, and for
        the stage before calibration of ``staged_predict_proba``, which with ``"rescaled"`` returns these scores.
    calibration : whose scores the map is fitted on. ``"holdout"``: a stratified part of the rows that the classifier
        has not seen, as in the paper. ``"train"``: its training rows, whose scores are often too good. ``"cross_val"``:
        all rows, each scored by a classifier trained without its fold. The final classifier is then trained on all rows
        (CalibratedClassifierCV with ``ensemble=False``).
    holdout_size : for ``"holdout"``: the share or the number of rows kept. The paper keeps 2000.
    cv : for ``"cross_val"``: number of stratified shuffled folds, a splitter of scikit-learn, or a list of (rows to
        learn from, rows to calibrate on).
    clip : the fitted function is clipped to this range. It is exactly 0 or 1 where only rows of one class have the
        lowest or highest scores. The cross entropy of a row with the other label is then infinite. ``(0, 1)`` changes
        nothing, as in the paper. With more than two classes each class's function is clipped before rows are divided by
        their sums.
    random_state : seed of the classifier and of the split.

    Attributes
    ----------
    classes_ : (n_classes,) labels in sorted order.
    estimator_ : the fitted classifier. With ``scores="rescaled"`` it is the RescaledClassifier around it.
    maps_ : the fitted functions: one for the second of two classes, or one for each of several. Each has its knots
        ``scores`` and ``probabilities``, (n_knots,).
    """

    needs_one_of = ("decision_function", "predict_proba")

    def __init__(
        self,
        estimator: Any,
        *,
        scores: Scores | Literal["rescaled"] = "auto",
        calibration: Calibration = "holdout",
        holdout_size: float = 0.25,
        cv: Any = 5,
        clip: tuple[float, float] = (0.0, 1.0),
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.scores = scores
        self.calibration = calibration
        self.holdout_size = holdout_size
        self.cv = cv
        self.clip = clip
        self.random_state = random_state

    def check_parameters(self) -> None:
        """Raise ValueError for an invalid parameter."""
        check_choices(self, {"scores": (*SCORES, "rescaled")})
        super().check_parameters()
        check_clip(self.clip)

    def _learner(self) -> Any:
        return RescaledClassifier(self.estimator) if self.scores == "rescaled" else self.estimator

    def _scores(self, learner: Any, X: Any) -> np.ndarray:
        wanted: Scores = "probability" if self.scores == "rescaled" else self.scores
        return class_scores(learner, X, wanted, len(self.classes_))

    def _fit_map(self, scores: np.ndarray, positive: np.ndarray, weights: np.ndarray | None) -> Isotonic:
        return Isotonic(*fit_isotonic(scores, positive, weights), clip=(self.clip[0], self.clip[1]))


def fit_isotonic(
    scores: np.ndarray, positive: np.ndarray, weights: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the knots of g, two arrays (n_knots,): rising scores, and probabilities that do not fall.

    ``scores``: (n_rows,) finite floats, higher for the positive class. ``positive``: (n_rows,) bool. ``weights``:
    (n_rows,) above 0, or None for 1 each. A run of equal probabilities is stored as its two ends.
    """
    distinct, place = np.unique(np.asarray(scores, dtype=np.float64), return_inverse=True)
    weights = np.ones(len(scores)) if weights is None else weights
    values = isotonic_values(np.bincount(place, weights * positive), np.bincount(place, weights))
    inside = np.zeros(len(values), dtype=bool)
    inside[1:-1] = (values[1:-1] == values[:-2]) & (values[1:-1] == values[2:])
    return distinct[~inside], values[~inside]
