"""Isotonic calibration: the nondecreasing function of the score that fits the labels best.

Isotonic regression as the slopes of a convex hull (Gao, Parameswaran & Peng 2017, Algorithm 1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from probcal._validation import refuse_no_range, refuse_other_choices
from probcal.methods._base import SCORES, Scores, class_scores
from probcal.methods.calibrators._calibrator import CalibratingMethod, Calibration
from probcal.methods.direct import RescaledClassifier


def isotonic_values(positive: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """The slopes z_i, (n,), of the greatest convex minorant of the points (total weight, total positive weight).

    ``positive``: (n,) float64 positive weight of each place in the order of the scores, ``weight``: (n,) its whole
    weight, above 0. The z_i are the nondecreasing values of least weighted squared error to positive / weight, and
    the sum of weight * z is that of ``positive`` over every run of equal z.

    Of our own, rather than SciPy's isotonic_regression, because it must be exact: SciPy averages averages, while
    an edge of the hull is here one quotient of two sums. Without weights those are whole numbers, so equal slopes are
    found equal and each z is the float64 nearest to the true one.
    """
    # an edge of the hull is as wide as its weight and rises by its positive weight; a new point joins the edges
    # before it for as long as they are not less steep
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
    """Linear between the knots, constant beyond the outermost, and projected to ``clip``.

    ``scores``: (n_knots,) rising; ``probabilities``: (n_knots,) not falling.
    """

    scores: np.ndarray
    probabilities: np.ndarray
    clip: tuple[float, float]

    def __call__(self, scores: np.ndarray) -> np.ndarray:
        return np.clip(np.interp(scores, self.scores, self.probabilities), *self.clip)


class IsotonicClassifier(CalibratingMethod):
    """Isotonic regression by the PAV algorithm, as Algorithm 1 of Gao, Parameswaran & Peng (2017).

    Rows of equal score are pooled first. Between the scores that it was fitted on the function is linear, and beyond
    them constant: the paper asks for "a continuous nondecreasing function" and leaves open which. On the rows that it
    was fitted on the empirical calibration error is 0 (Claim 5).

    Parameters
    ----------
    estimator : classifier with ``decision_function`` or ``predict_proba``.
    scores : ``"decision_function"``, ``"log_odds"`` of the estimated probability (in nats, within +-708),
        ``"probability"``, or ``"auto"``, the first of these that the classifier offers; or ``"rescaled"``, the scores
        of ``"auto"`` stretched to [0, 1] over the rows that the classifier was trained on, as RescaledClassifier
        does it. Their order is what counts; only between two fitted scores does it matter which they are, and for
        what ``staged_predict_proba`` gives as the estimates before: with ``"rescaled"`` it is these scores.
    calibration : whose scores: ``"holdout"``, of a stratified part of the rows that was kept from the classifier, as
        in the paper; ``"train"``, of the rows that it was trained on, which are often too good; ``"cross_val"``, of
        each row by a classifier that was trained without its fold, while the final one is trained on all rows
        (CalibratedClassifierCV with ``ensemble=False``).
    holdout_size : for ``"holdout"``: the share of rows kept, or their number; the paper keeps 2000.
    cv : for ``"cross_val"``: number of stratified shuffled folds, a splitter of scikit-learn, or a list of
        (rows to learn from, rows to calibrate on).
    clip : the function is projected to this range. It reaches exactly 0 and 1 where only rows of one class have the
        lowest or highest scores, and the cross entropy of a row that turns out otherwise is then infinite. ``(0, 1)``
        leaves it, as the paper does. Of more than two classes it is each class's function that is projected, before
        rows are divided by their sums.
    random_state : seed of the classifier and of the split.

    Attributes
    ----------
    classes_ : (n_classes,) labels in sorted order.
    estimator_ : the fitted classifier; with ``scores="rescaled"`` the RescaledClassifier around it.
    maps_ : the fitted functions, each with its knots ``scores`` and ``probabilities``, (n_knots,): one function, of the
        second of two classes, or one for each of several.
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
        """Raises ValueError for a parameter that is not as documented."""
        refuse_other_choices(self, {"scores": (*SCORES, "rescaled")})
        super().check_parameters()
        refuse_no_range(self.clip)

    def _learner(self) -> Any:
        return RescaledClassifier(self.estimator) if self.scores == "rescaled" else self.estimator

    def _scores(self, learner: Any, X: Any) -> np.ndarray:
        wanted: Scores = "probability" if self.scores == "rescaled" else self.scores
        return class_scores(learner, X, wanted, len(self.classes_))

    def _fit_map(self, scores: np.ndarray, positive: np.ndarray, weights: np.ndarray | None) -> Isotonic:
        return Isotonic(*fit_isotonic(scores, positive, weights), clip=tuple(self.clip))  # type: ignore[arg-type]


def fit_isotonic(
    scores: np.ndarray, positive: np.ndarray, weights: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The knots of g, two arrays (n_knots,): scores, rising, and probabilities, not falling.

    ``scores``: (n_rows,) finite floats, higher for the positive class; ``positive``: (n_rows,) bool; ``weights``:
    (n_rows,) above 0, None for 1 each. A run of equal probabilities is kept as its two ends.
    """
    distinct, place = np.unique(np.asarray(scores, dtype=np.float64), return_inverse=True)
    weights = np.ones(len(scores)) if weights is None else weights
    values = isotonic_values(np.bincount(place, weights * positive), np.bincount(place, weights))
    inside = np.zeros(len(values), dtype=bool)
    inside[1:-1] = (values[1:-1] == values[:-2]) & (values[1:-1] == values[2:])
    return distinct[~inside], values[~inside]
