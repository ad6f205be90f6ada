"""Isotonic calibration: the nondecreasing function of the score that fits the labels best."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from probcal._validation import CLIP_OR_ROWS, FLAG, Constraint
from probcal.methods._base import SCORES, Scores, class_scores
from probcal.methods.calibrators._calibrated_classifier import CalibratedMethod, Calibration, Ensemble
from probcal.methods.calibrators._calibrator import Input, OneAgainstRestCalibrator, bounded
from probcal.methods.calibrators.formula import Formula, pieces
from probcal.methods.direct import RescaledClassifier

_FEW_EDGES = 200
"""So few edges that a loop over them takes less time than a pass over arrays."""


def isotonic_values(positive: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return what ``isotonic_runs`` does, with the value of each distinct score, (n_scores,)."""
    return np.repeat(*isotonic_runs(positive, weight))


def isotonic_runs(positive: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the rising slopes z_i of the greatest convex minorant of (cumulative weight, cumulative positive weight).

    The second array is the number of scores that have each slope.

    This is isotonic regression by a convex hull (Gao, Parameswaran & Peng 2017, Algorithm 1). The arguments are those
    of each distinct score, (n_scores,), in rising order. The z_i are the nondecreasing values of least weighted squared
    error to positive / weight. Over every run of equal z the sum of weight * z equals that of ``positive``.

    SciPy's isotonic_regression is not used, because the result must be exact. SciPy averages averages, while here each
    edge of the hull is one quotient of two sums. Without weights those sums are whole numbers. Equal slopes are then
    found equal, and each z is the float64 nearest to the true value.
    """
    rises, widths, lengths = _pool_falling_runs(positive, weight)
    # an edge of the hull is as wide as its weight and rises by its positive weight. A new point is merged with
    # the edges before it while they are at least as steep.
    edges: list[tuple[float, float, int]] = []
    for rise, width, length in zip(rises.tolist(), widths.tolist(), lengths.tolist(), strict=True):
        while edges and edges[-1][0] * width >= rise * edges[-1][1]:
            rise_before, width_before, length_before = edges.pop()
            rise, width, length = rise + rise_before, width + width_before, length + length_before
        edges.append((rise, width, length))
    hull = np.array(edges).reshape(-1, 3)
    values, lengths = hull[:, 0] / hull[:, 1], hull[:, 2].astype(np.intp)
    first = np.flatnonzero(np.append(True, values[1:] != values[:-1]))  # two quotients may round to one float
    return values[first], np.add.reduceat(lengths, first)


def _pool_falling_runs(rises: np.ndarray, widths: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (rises, widths, lengths) of edges, after edges that are not steeper than the edge before were merged.

    Every solution merges such neighbours, and the order of merging does not change the hull. These passes over arrays
    leave few edges to the loop of ``isotonic_values``, which is some thirty times as slow for an edge.
    """
    n_points = len(rises)
    starts = np.arange(n_points)
    while len(starts) > _FEW_EDGES:
        is_steeper = rises[1:] * widths[:-1] > rises[:-1] * widths[1:]
        first = np.concatenate([[0], np.flatnonzero(is_steeper) + 1])
        # scores may be such that each pass merges one edge only. The loop is faster then.
        if len(first) > 0.9 * len(starts):
            break
        rises, widths, starts = np.add.reduceat(rises, first), np.add.reduceat(widths, first), starts[first]
    return rises, widths, np.diff(starts, append=n_points)


@dataclass(frozen=True, eq=False)
class Isotonic:
    """Interpolate linearly between knots, and stay constant beyond them.

    Parameters
    ----------
    scores : ndarray of shape (n_knots,)
        Rising scores of the knots.
    probabilities : ndarray of shape (n_knots,)
        Probabilities of the knots, which do not fall.
    clip : tuple of (low, high)
        Range that the result is clipped to.
    """

    scores: np.ndarray
    probabilities: np.ndarray
    clip: tuple[float, float]

    def __call__(self, scores: np.ndarray) -> np.ndarray:
        order = np.argsort(scores)  # in rising order each search starts where the last one ended
        probabilities = np.empty(len(scores))
        probabilities[order] = np.interp(scores[order], self.scores, self.probabilities)
        return bounded(probabilities, *self.clip)

    def formula(self, scores: Formula) -> Formula:
        knots, p = self.scores, self.probabilities
        for bound in self.clip:
            # the function bends where it meets a bound. A clip of the whole formula would write it thrice in SQL.
            place = int(np.searchsorted(p, bound))
            if 0 < place < len(p) and p[place] > bound:
                between = slice(place - 1, place + 1)
                knots = np.insert(knots, place, np.interp(bound, p[between], knots[between]))
                p = np.insert(p, place, bound)
        p = np.clip(p, *self.clip)
        with np.errstate(all="ignore"):
            slopes = np.diff(p) / np.diff(knots)
        # between neighbouring floats lies no score
        slopes[~np.isfinite(slopes)] = 0.0
        lines = np.column_stack([p, np.append(slopes, 0.0)])
        # it is constant below the first knot
        origins, lines = np.append(knots[0], knots), np.vstack([[p[0], 0.0], lines])
        return pieces(scores, scores, knots, origins, lines)


class IsotonicCalibrator(OneAgainstRestCalibrator):
    """Map scores by isotonic regression with the PAV algorithm (Gao, Parameswaran & Peng 2017, Algorithm 1).

    Rows with equal scores are pooled first. Between the fitted scores the function is linear, and beyond them it is
    constant. The paper asks for "a continuous nondecreasing function" and does not say which.

    Parameters
    ----------
    input : {"probability", "score"}, default="probability"
        What ``fit`` and ``predict_proba`` get: predicted probabilities or any real scores. Only their order counts, and
        the distances between two fitted scores. The distances of probabilities are measured in log-odds.
    clip : "rows" or tuple of (low, high), default="rows"
        Range that the function is clipped to. ``"rows"``: a probability is never 0 or 1. Where w rows of one class have
        the lowest or the highest scores, it is 1 / (w + 2) or 1 - 1 / (w + 2), Laplace's rule of succession. It is that
        of the next run of rows if this is nearer to 0 or 1. ``(0, 1)`` gives the paper's function, which can be exactly
        0 or 1. The cross entropy of a row with the other label is then infinite. The empirical calibration error of
        this function on the calibration rows is 0 (Claim 5).
    centered : bool, default=False
        If True, fit the centered isotonic regression of Oron & Flournoy (2017). The function goes through the mean
        score of each run of equal probabilities, and rises strictly between them. A run that is 0 or 1 stays flat.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels in sorted order.
    smallest_ : float
        1 / (2n). n is the number of rows of positive weight, and with ``frequency_weights`` their total weight.
    maps_ : list of Isotonic
        Fitted functions: one for the second of two classes, or one for each of several. Each has its knots ``scores``
        and ``probabilities``, which are ndarrays of shape (n_knots,).

    See Also
    --------
    IsotonicClassifier : Fits a learner and this map.
    SigmoidCalibrator : Has two parameters, which suits few rows.
    VennAbersCalibrator : Is built on isotonic regression, and never predicts 0 or 1.
    sklearn.isotonic.IsotonicRegression : Fits any real target, and does not clip to 1 / (2n).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import cross_val_predict
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from probcal import IsotonicCalibrator
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> p = cross_val_predict(GaussianNB(), X, y, method="predict_proba")[:, 1]
    >>> calibrator = IsotonicCalibrator().fit(p, y)
    >>> calibrator.predict_proba([0.001, 0.5, 0.999])[:, 1].round(2)
    array([0.12, 0.41, 0.78])
    """

    map_class = Isotonic
    is_scale_free = True
    is_rising = True
    constraints: ClassVar[dict[str, Constraint]] = {"centered": FLAG, "clip": CLIP_OR_ROWS}

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

    def _fit_map(self, scores: np.ndarray, positive: np.ndarray, weights: np.ndarray | None) -> Isotonic:
        pooled = pool_equal_scores(scores, positive, weights)
        knots, probabilities = (_centered_knots if self.centered else _knots)(*pooled)
        if self.clip != "rows":
            low, high = self.clip
            return Isotonic(knots, probabilities, clip=(low, high))
        low, high = rule_of_succession(*pooled[1:])
        # a bound from few rows must not move a run of many rows that has both classes
        low = min(low, probabilities[probabilities > 0].min())
        high = max(high, probabilities[probabilities < 1].max())
        return Isotonic(knots, probabilities, clip=(float(low), float(high)))


class IsotonicClassifier(CalibratedMethod):
    """Calibrate a learner by isotonic regression on cross-validated scores.

    The isotonic regression is Algorithm 1 of Gao, Parameswaran & Peng (2017).

    Parameters
    ----------
    estimator : classifier
        Has ``decision_function`` or ``predict_proba``. A ``FrozenEstimator`` is fitted already, so all rows calibrate
        it.
    scores : {"auto", "decision_function", "log_odds", "probability", "rescaled"}, default="auto"
        ``"rescaled"`` stretches the scores of ``"auto"`` to [0, 1] over the training rows, as RescaledClassifier does.
        The other choices are those of SigmoidClassifier. Mainly the order of the scores counts. Their values matter
        only between two fitted scores, and for the stage before calibration of ``staged_predict_proba``. With
        ``"rescaled"`` this stage returns the rescaled scores.
    calibration : {"cross_val", "holdout", "train", "prefit"}, default="cross_val"
        Rows on which the map is fitted, as in SigmoidClassifier.
    ensemble : bool or "auto", default="auto"
        Which classifiers and maps ``calibration="cross_val"`` fits, as in SigmoidClassifier.
    cv : int, cross-validation generator or list of pairs, default=5
        Folds of ``calibration="cross_val"``, as in SigmoidClassifier.
    holdout_size : float or int, default=0.25
        Share or number of the rows that ``calibration="holdout"`` keeps to fit the map. The paper keeps 2000 rows.
    clip : "rows" or tuple of (low, high), default="rows"
        Range that the function is clipped to, as in IsotonicCalibrator.
    centered : bool, default=False
        If True, fit the centered isotonic regression, as in IsotonicCalibrator.
    random_state : int, RandomState or None, default=None
        Seed of the classifiers and of the split. None draws a new seed at each ``fit``.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels in sorted order.
    estimators_ : list of classifiers
        Fitted classifiers: one per fold, or only one. With ``scores="rescaled"`` each is the RescaledClassifier around
        the learner.
    calibrators_ : list of IsotonicCalibrator
        Fitted map of each classifier. The classifiers of several folds may share one map.
    estimator_ : classifier
        The fitted classifier, if there is only one.
    calibrator_ : IsotonicCalibrator
        The fitted map, if there is only one.

    See Also
    --------
    IsotonicCalibrator : The map alone, for given scores.
    SigmoidClassifier : Has a map of two parameters, which suits few rows.
    VennAbersClassifier : Is built on isotonic regression, and never predicts 0 or 1.
    HistogramBinningClassifier : Takes the frequencies of bins, which need not rise.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.metrics import log_loss
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from probcal import IsotonicClassifier
    >>> X, y = make_classification(2000, n_redundant=8, flip_y=0.1, random_state=0)
    >>> model = IsotonicClassifier(GaussianNB(), random_state=0).fit(X[:1000], y[:1000])
    >>> [round(log_loss(y[1000:], p), 3) for p in model.staged_predict_proba(X[1000:])]  # before and after
    [1.105, 0.19]
    """

    constraints: ClassVar[dict[str, Constraint]] = {"scores": (*SCORES, "rescaled")}

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
            return class_scores(learner, X, "probability", self.classes_), "score"
        return super()._scores(learner, X)

    def _calibrator(self, score_kind: Input) -> IsotonicCalibrator:
        return IsotonicCalibrator(score_kind, clip=self.clip, centered=self.centered)


def rule_of_succession(hits: np.ndarray, total: np.ndarray) -> tuple[float, float]:
    """Return the bounds that the rows of one class at each end of the scores allow: 1 / (w + 2) and 1 - 1 / (w + 2).

    ``hits`` and ``total`` are the positive weight and the weight of each distinct score in rising order, (n_scores,).
    ``w`` is the weight below the lowest positive score, or above the highest negative one. A row of either class at
    that score belongs to a run that has both. An end without such rows needs no bound: it has 0 or 1.
    """
    below = total[: np.argmax(hits > 0)].sum()
    above = total[len(total) - np.argmax((hits < total)[::-1]) :].sum()
    return 1 / (below + 2) if below else 0.0, 1 - 1 / (above + 2) if above else 1.0


def pool_equal_scores(
    scores: np.ndarray, positive: np.ndarray, weights: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the distinct scores in rising order, the positive weight of each and its weight, (n_scores,) each."""
    scores = np.asarray(scores, dtype=np.float64)
    # weights of equal scores are added in the order of the rows, so that no platform's sort changes the last bit
    order = np.argsort(scores, kind=None if weights is None else "stable")
    ordered = scores[order]
    is_first = np.concatenate([[True], ordered[1:] != ordered[:-1]])
    first = np.flatnonzero(is_first)
    if weights is None:
        hits = positive[order].astype(np.float64)
        if len(first) == len(scores):
            return ordered, hits, np.ones(len(scores))
        return ordered[first], np.add.reduceat(hits, first), np.diff(first, append=len(scores)).astype(np.float64)
    number = np.cumsum(is_first) - 1
    weights = weights[order]
    return ordered[first], np.bincount(number, weights * positive[order]), np.bincount(number, weights)


def fit_isotonic(
    scores: np.ndarray, positive: np.ndarray, weights: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the rising scores and the probabilities of the knots of isotonic regression, (n_knots,) each.

    A run of equal probabilities is stored as its two ends.
    """
    return _knots(*pool_equal_scores(scores, positive, weights))


def _knots(distinct: np.ndarray, hits: np.ndarray, total: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    values, lengths = isotonic_runs(hits, total)
    return _ends(distinct, lengths, values, np.ones(len(values), dtype=bool))


def _centered_knots(distinct: np.ndarray, hits: np.ndarray, total: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the knots of centered isotonic regression (Oron & Flournoy 2017, section 3), as ``fit_isotonic`` does.

    Each run of equal probabilities becomes one knot at the weighted mean of its scores. A run of 0 or 1 keeps its two
    ends, because a probability cannot lie beyond them.
    """
    values, lengths = isotonic_runs(hits, total)
    run = np.repeat(np.arange(len(values)), lengths)
    # one after the other, unlike reduceat: the last digit decides where two classes have equal probabilities
    centers = np.bincount(run, total * distinct) / np.bincount(run, total)
    is_certain = (values == 0) | (values == 1)
    knots, probabilities = _ends(distinct, lengths, values, is_certain)
    knots[np.repeat(~is_certain, np.where(is_certain & (lengths > 1), 2, 1))] = centers[~is_certain]
    return knots, probabilities


def _ends(
    distinct: np.ndarray, lengths: np.ndarray, values: np.ndarray, keeps_both: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the first score of each run and its value, and of some runs the last score too, if it is another."""
    last = np.cumsum(lengths) - 1
    n_knots = np.where(keeps_both & (lengths > 1), 2, 1)
    places = np.repeat(last - lengths + 1, n_knots)
    places[np.cumsum(n_knots) - 1] = np.where(keeps_both, last, last - lengths + 1)
    return distinct[places], np.repeat(values, n_knots)
