"""Isotonic calibration: the nondecreasing function of the score that fits the labels best."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from probcal._validation import check_clip, check_flag
from probcal.methods._base import SCORES, Scores, class_scores
from probcal.methods.calibrators._calibrated_classifier import CalibratedMethod, Calibration, Ensemble
from probcal.methods.calibrators._calibrator import Input, OneAgainstRestCalibrator
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
        return np.asarray(np.clip(np.interp(scores, self.scores, self.probabilities), *self.clip))


class IsotonicCalibrator(OneAgainstRestCalibrator):
    """Map scores by isotonic regression with the PAV algorithm (Gao, Parameswaran & Peng 2017, Algorithm 1).

    Rows with equal scores are pooled first. Between the fitted scores the function is linear, and beyond them it is
    constant. The paper asks for "a continuous nondecreasing function" and does not say which.

    Parameters
    ----------
    input : what ``fit`` gets: ``"probability"`` or any real ``"score"``. Only the order counts, and the distances
        between two fitted scores. Those of probabilities are measured in log-odds.
    clip : ``"rows"``: a probability is never 0 or 1. Where w rows of one class have the lowest or the highest scores,
        it is 1 / (w + 2) or 1 - 1 / (w + 2), Laplace's rule of succession, or that of the next run of rows if this is
        nearer to 0 or 1. ``(low, high)``: the function is clipped to
        this range. ``(0, 1)`` is the paper's function, which can be exactly 0 or 1. The cross entropy of a row with the
        other label is then infinite. Its empirical calibration error on the calibration rows is 0 (Claim 5).
    centered : fit Oron & Flournoy's (2017) centered isotonic regression. The function goes through the mean score of
        each run of equal probabilities, and rises strictly between them. A run that is 0 or 1 stays flat.

    Attributes
    ----------
    classes_ : (n_classes,) labels in sorted order.
    maps_ : the fitted functions: one for the second of two classes, or one for each of several. Each has its knots
        ``scores`` and ``probabilities``, (n_knots,).
    """

    def __init__(
        self,
        input: Input = "probability",
        *,
        clip: Literal["rows"] | tuple[float, float] = "rows",
        centered: bool = False,
    ) -> None:
        self.input = input
        self.clip = clip
        self.centered = centered

    def check_parameters(self) -> None:
        """Raise ValueError for an invalid parameter."""
        super().check_parameters()
        check_flag(self, "centered")
        check_clip(self.clip, or_rows=True)

    def _fit_map(self, scores: np.ndarray, positive: np.ndarray, weights: np.ndarray | None) -> Isotonic:
        knots, probabilities = (fit_centered_isotonic if self.centered else fit_isotonic)(scores, positive, weights)
        if self.clip != "rows":
            low, high = self.clip
            return Isotonic(knots, probabilities, clip=(low, high))
        low, high = rule_of_succession(scores, positive, weights)
        # a bound from few rows must not move a run of many rows that has both classes
        low = min(low, probabilities[probabilities > 0].min())
        high = max(high, probabilities[probabilities < 1].max())
        return Isotonic(knots, probabilities, clip=(float(low), float(high)))


class IsotonicClassifier(CalibratedMethod):
    """Calibrate a learner by isotonic regression (Gao, Parameswaran & Peng 2017, Algorithm 1) on cross-validated
    scores.

    Parameters
    ----------
    estimator, calibration, ensemble, cv, holdout_size, random_state : as in SigmoidClassifier. The paper keeps 2000
        rows to calibrate on.
    scores : as in SigmoidClassifier, and ``"rescaled"``. This stretches the scores of ``"auto"`` to [0, 1] over the
        training rows, as RescaledClassifier does. Mainly their order counts. The values matter only between two fitted
        scores, and for the stage before calibration of ``staged_predict_proba``, which with ``"rescaled"`` returns
        these scores.
    clip, centered : as in IsotonicCalibrator.

    Attributes
    ----------
    classes_ : (n_classes,) labels in sorted order.
    estimators_, calibrators_ : the fitted classifiers, and the IsotonicCalibrator of each: one per fold, or only one.
        With ``scores="rescaled"`` the classifiers are the RescaledClassifier around each.
    estimator_, calibrator_ : the only ones, if there is one of each.
    """

    score_choices = (*SCORES, "rescaled")

    def __init__(
        self,
        estimator: Any,
        *,
        scores: Scores | Literal["rescaled"] = "auto",
        calibration: Calibration = "cross_val",
        ensemble: Ensemble = "auto",
        cv: Any = 5,
        holdout_size: float = 0.25,
        clip: Literal["rows"] | tuple[float, float] = "rows",
        centered: bool = False,
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
        self.clip = clip
        self.centered = centered

    def _learner(self) -> Any:
        return RescaledClassifier(self.estimator) if self.scores == "rescaled" else self.estimator

    def _scores(self, learner: Any, X: Any) -> tuple[np.ndarray, Input]:
        if self.scores == "rescaled":
            return class_scores(learner, X, "probability", len(self.classes_)), "score"
        return super()._scores(learner, X)

    def _calibrator(self, read_as: Input) -> IsotonicCalibrator:
        return IsotonicCalibrator(read_as, clip=self.clip, centered=self.centered)


def rule_of_succession(
    scores: np.ndarray, positive: np.ndarray, weights: np.ndarray | None = None
) -> tuple[float, float]:
    """Return the (low, high) that w rows of one class at an end of the scores allow: 1 / (w + 2) and 1 - 1 / (w + 2).

    ``w`` is the weight of the rows below the lowest positive score, or above the highest negative one. A row of either
    class at that score belongs to a run that has both. An end without such rows needs no bound. Arguments are those of
    ``fit_isotonic``.
    """
    weights = np.ones(len(scores)) if weights is None else weights
    below = weights[scores < scores[positive].min()].sum()
    above = weights[scores > scores[~positive].max()].sum()
    return 1 / (below + 2) if below else 0.0, 1 - 1 / (above + 2) if above else 1.0


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


def fit_centered_isotonic(
    scores: np.ndarray, positive: np.ndarray, weights: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the knots of centered isotonic regression (Oron & Flournoy 2017, section 3), two arrays (n_knots,).

    Each run of equal probabilities becomes one knot at the weighted mean of its scores. A run of 0 or 1 keeps its two
    ends, because a probability cannot lie beyond them. Arguments are those of ``fit_isotonic``.
    """
    distinct, place = np.unique(np.asarray(scores, dtype=np.float64), return_inverse=True)
    weights = np.ones(len(scores)) if weights is None else weights
    total = np.bincount(place, weights)
    values = isotonic_values(np.bincount(place, weights * positive), total)
    run = np.concatenate([[0], np.cumsum(values[1:] != values[:-1])])
    heights = values[np.concatenate([[True], values[1:] != values[:-1]])]
    centers = np.bincount(run, total * distinct) / np.bincount(run, total)
    knots: list[tuple[float, float]] = []
    for number, (center, height) in enumerate(zip(centers, heights, strict=True)):
        members = distinct[run == number] if height in (0.0, 1.0) else None
        ends = [center] if members is None else sorted({members[0], members[-1]})
        knots += [(float(end), float(height)) for end in ends]
    return np.array([x for x, _ in knots]), np.array([p for _, p in knots])
