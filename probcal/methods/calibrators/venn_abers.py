"""Venn-Abers predictors: isotonic regression that includes the predicted row, once with each label."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from probcal.methods._multiclass import combine_classes
from probcal.methods.calibrators._calibrated_classifier import CalibratedMethod
from probcal.methods.calibrators._calibrator import Input, OneAgainstRestCalibrator, bounded
from probcal.methods.calibrators.formula import Formula, pieces

_DIGITS = 10
"""Digits kept of the largest score.

p0 and p1 jump at every calibration row's score. The last digits of a matrix product depend on how many rows are
predicted at once. Without rounding, equal rows could fall on two sides of a jump.
"""


def _sweep(width: np.ndarray, rise: np.ndarray) -> np.ndarray:
    """Return p1 at each distinct score, (m,), of total weights ``width`` and positive weights ``rise``, (m,) each.

    This is Algorithms 1 and 2 of Vovk, Petej & Fedorova (2015). ``x`` and ``y`` hold the corners of the greatest convex
    minorant of the points to the right, the leftmost corner last. Points on the left are moved by (-1, -1), which
    makes room for the predicted row. p1 is the slope of the minorant's first edge.
    """
    m = len(width)
    x, y = np.zeros(m + 2), np.zeros(m + 2)
    total_width, total_rise = width.sum(), rise.sum()
    here_x, here_y = total_width, total_rise
    top = -1
    for i in range(m, -1, -1):  # from the right: the corners of the points 1, ..., m, and of (-1, -1)
        if i < m:
            here_x -= width[i]
            here_y -= rise[i]
        px, py = (here_x, here_y) if i else (-1.0, -1.0)
        while top >= 1 and (y[top - 1] - py) * (x[top] - px) <= (y[top] - py) * (x[top - 1] - px):
            top -= 1
        top += 1
        x[top], y[top] = px, py
    p1 = np.empty(m)
    here_x, here_y = 0.0, 0.0
    for i in range(m):
        p1[i] = (y[top - 1] - y[top]) / (x[top - 1] - x[top])
        here_x += width[i]
        here_y += rise[i]
        px, py = here_x - 1.0, here_y - 1.0
        if (py - y[top]) * (x[top - 1] - x[top]) >= (y[top - 1] - y[top]) * (px - x[top]):
            continue  # at or above the edge, which stays
        top -= 1
        while top >= 1 and (y[top - 1] - py) * (x[top] - px) <= (y[top] - py) * (x[top - 1] - px):
            top -= 1
        top += 1
        x[top], y[top] = px, py
    return p1


@cache
def _compiled() -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """Return ``_sweep`` compiled by numba, or as it is where numba is not installed (some thirty times slower)."""
    try:
        from numba import njit
    except ImportError:
        return _sweep
    compiled: Callable[[np.ndarray, np.ndarray], np.ndarray] = njit(cache=True)(_sweep)
    return compiled


@dataclass(frozen=True, eq=False)
class VennAbers:
    """Hold p0 and p1 at each distinct calibration score.

    Parameters
    ----------
    scores : ndarray of shape (n_scores,)
        Rising distinct scores, divided by ``scale`` and rounded.
    p0 : ndarray of shape (n_scores,)
        Probability of the positive class at each score, if the predicted row is negative.
    p1 : ndarray of shape (n_scores,)
        Probability of the positive class at each score, if the predicted row is positive.
    scale : float
        Largest absolute score of the calibration rows, or 1 if that is 0.
    """

    scores: np.ndarray
    p0: np.ndarray
    p1: np.ndarray
    scale: float

    @classmethod
    def fit(cls, scores: np.ndarray, positive: np.ndarray, weights: np.ndarray | None = None) -> VennAbers:
        """Fit finite ``scores``, (n_rows,), that are higher for ``positive`` rows. ``weights`` are above 0."""
        scale = float(np.abs(scores).max()) or 1.0
        rounded = np.round(scores / scale, _DIGITS)
        order = np.argsort(rounded)
        rounded, weights = rounded[order], np.ones(len(scores)) if weights is None else weights[order]
        starts = np.flatnonzero(np.concatenate([[True], rounded[1:] != rounded[:-1]]))
        distinct = rounded[starts]
        width, rise = np.add.reduceat(weights, starts), np.add.reduceat(weights * positive[order], starts)
        sweep = _compiled()
        # p0 is 1 - p1 of the opposite labels in the opposite order
        return cls(distinct, 1 - sweep(width[::-1], (width - rise)[::-1])[::-1], sweep(width, rise), scale)

    def interval(self, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return p0 and p1 of ``scores``, (n_rows,) each: the probability if a row is negative or positive."""
        with np.errstate(over="ignore"):  # beyond the largest score of the fit, the size of a score does not matter
            rounded = np.round(bounded(scores / self.scale, -2, 2), _DIGITS)
        order = np.argsort(rounded)  # a search in rising order reads the memory in order, and is several times faster
        above = np.empty(len(scores), dtype=np.int64)
        above[order] = np.searchsorted(self.scores, rounded[order], side="left")
        # between two scores, p0 is that of the lower one and p1 that of the upper one
        is_inside = above < len(self.scores)
        upper = np.minimum(above, len(self.scores) - 1)
        below = above + (is_inside & (self.scores[upper] == rounded))
        return np.where(below > 0, self.p0[below - 1], 0.0), np.where(is_inside, self.p1[upper], 1.0)

    def __call__(self, scores: np.ndarray) -> np.ndarray:
        p0, p1 = self.interval(scores)
        return np.asarray(p1 / (1 - p0 + p1))

    def formula(self, scores: Formula) -> Formula:
        # a number that is rounded to a score of the fit gets what this score gets
        half = 0.5 * 10.0**-_DIGITS
        edges = np.maximum.accumulate(np.column_stack([self.scores - half, self.scores + half]).ravel()) * self.scale
        place = np.arange(len(edges) + 1)
        p0, p1 = np.append(0.0, self.p0)[(place + 1) // 2], np.append(self.p1, 1.0)[place // 2]
        return pieces(scores, scores, edges, np.zeros(len(place)), (p1 / (1 - p0 + p1))[:, None])


class VennAbersCalibrator(OneAgainstRestCalibrator):
    """Map scores with an inductive Venn-Abers predictor (Vovk, Petej & Fedorova 2015).

    The predicted row is added to the calibration rows once as negative and once as positive. Isotonic regression then
    gives it p0 and p1. The predicted probability is p1 / (1 - p0 + p1), the minimax choice for log loss. It is never 0
    or 1. Fitting n rows and predicting n others takes about n log n steps. Install numba to fit a million rows within a
    second.

    Parameters
    ----------
    input : {"probability", "score"}, default="probability"
        What ``fit`` and ``predict_proba`` get: predicted probabilities or any real scores. Only the order counts.
        Scores that differ by less than about 1e-10 of the largest one are equal.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels in sorted order.
    smallest_ : float
        1 / (2n). n is the number of rows of positive weight, and with ``frequency_weights`` their total weight.
    maps_ : list of VennAbers
        Fitted predictors: one for the second of two classes, or one for each of several.

    See Also
    --------
    VennAbersClassifier : Fits a learner and this map, inductive or cross.
    IsotonicCalibrator : Takes plain isotonic regression.
    SigmoidCalibrator : Has two parameters, which suits few rows.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import cross_val_predict
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from probcal import VennAbersCalibrator
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> p = cross_val_predict(GaussianNB(), X, y, method="predict_proba")[:, 1]
    >>> calibrator = VennAbersCalibrator().fit(p, y)
    >>> calibrator.predict_proba([0.001, 0.5, 0.999])[:, 1].round(2)
    array([0.27, 0.42, 0.75])
    >>> calibrator.predict_interval([0.001, 0.5, 0.999]).round(2)  # p0 and p1
    array([[0.11, 0.33],
           [0.4 , 0.43],
           [0.74, 0.79]])
    """

    map_class = VennAbers
    is_scale_free = True

    def __init__(self, input: Input = "probability") -> None:
        self.input = input

    def predict_interval(self, scores: Any) -> np.ndarray:
        """Predict p0 and p1 of the second of two classes.

        Parameters
        ----------
        scores : array-like of shape (n_rows,), (n_rows, 1) or (n_rows, n_classes)
            Predictions of the classifier, in the form that ``fit`` got.

        Returns
        -------
        ndarray of shape (n_rows, 2)
            Columns p0 and p1, with p0 <= p1.

        Raises
        ------
        NotFittedError
            If ``fit`` was not called.
        ValueError
            If there are more than two classes, or the scores or their columns are not as in ``fit``.
        """
        check_is_fitted(self)
        if len(self.maps_) > 1:
            raise ValueError(f"predict_interval is for two classes only, and y had {len(self.classes_)}")
        return np.column_stack(self.intervals(scores)[0])

    def intervals(self, scores: Any) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return p0 and p1 of each map.

        Parameters
        ----------
        scores : array-like of shape (n_rows,), (n_rows, 1) or (n_rows, n_classes)
            Predictions of the classifier, in the form that ``fit`` got.

        Returns
        -------
        list of tuples of two ndarrays of shape (n_rows,)
            A pair (p0, p1) for each element of ``maps_``.

        Raises
        ------
        NotFittedError
            If ``fit`` was not called.
        ValueError
            If the scores are invalid, or their columns are not those of ``fit``.
        """
        return self._intervals(self._read(self._checked_scores(scores)))

    def _intervals(self, matrix: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return what ``intervals`` does. ``matrix`` is what ``_read`` returns."""
        columns = self._map_inputs(matrix)
        return [one.interval(columns[:, number]) for number, one in enumerate(self.maps_)]

    def _fit_map(self, scores: np.ndarray, positive: np.ndarray, weights: np.ndarray | None) -> VennAbers:
        return VennAbers.fit(scores, positive, weights)


class VennAbersClassifier(CalibratedMethod):
    """Calibrate a learner with Venn-Abers predictors (Vovk, Petej & Fedorova 2015), inductive or cross.

    The prediction is GM(p1) / (GM(1 - p0) + GM(p1)), with geometric means GM over the folds. ``ensemble=True`` is the
    paper's cross predictor, which has a map for each fold. By default one map may have the scores of all folds.
    ``calibration="holdout"`` is the inductive predictor.

    Parameters
    ----------
    estimator : classifier
        Has ``decision_function`` or ``predict_proba``. A ``FrozenEstimator`` is fitted already, so all rows calibrate
        it.
    scores : {"auto", "decision_function", "log_odds", "probability"}, default="auto"
        Scores that are calibrated, as in SigmoidClassifier. Only their order counts.
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
    calibrators_ : list of VennAbersCalibrator
        Fitted map of each classifier. The classifiers of several folds may share one map.
    estimator_ : classifier
        The fitted classifier, if there is only one.
    calibrator_ : VennAbersCalibrator
        The fitted map, if there is only one.

    See Also
    --------
    VennAbersCalibrator : The map alone, for given scores.
    IsotonicClassifier : Takes plain isotonic regression.
    SigmoidClassifier : Has a map of two parameters, which suits few rows.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from probcal import VennAbersClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = VennAbersClassifier(GaussianNB(), calibration="holdout", random_state=0).fit(X[:300], y[:300])
    >>> model.predict_proba(X[300:303])[:, 1].round(2)
    array([0.05, 0.94, 0.05])
    >>> model.predict_interval(X[300:303]).round(2)  # p0 and p1
    array([[0.  , 0.05],
           [0.93, 1.  ],
           [0.  , 0.05]])
    """

    def predict_proba(self, X: Any) -> np.ndarray:
        return combine_classes([upper / (1 - lower + upper) for lower, upper in self._merged(X)])

    def predict_interval(self, X: Any) -> np.ndarray:
        """Predict p0 and p1 of the second of two classes.

        The predicted probability lies between them. With several folds they are 1 - GM(1 - p0) and GM(p1), the smaller
        first. The former can be the larger, if folds differ by more than their p0 and p1 do.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_rows, n_columns)
            Rows to predict, with the columns that ``fit`` got.

        Returns
        -------
        ndarray of shape (n_rows, 2)
            Columns p0 and p1, with p0 <= p1.

        Raises
        ------
        NotFittedError
            If ``fit`` was not called.
        ValueError
            If there are more than two classes, or ``X`` has other columns than ``fit`` got.
        """
        merged = self._merged(X)
        if len(merged) > 1:
            raise ValueError(f"predict_interval is for two classes only, and y had {len(self.classes_)}")
        return np.sort(np.column_stack(merged[0]), axis=1)

    def _calibrator(self, score_kind: Input) -> VennAbersCalibrator:
        return VennAbersCalibrator(score_kind)

    def _merged(self, X: Any) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return (1 - GM(1 - p0), GM(p1)) of each map, (n_rows,) each. GM is taken over the folds."""
        self._before_predicting(X)
        of_folds = [
            one._intervals(one._read(one._learner_matrix(self._scores(learner, X)[0])))
            for learner, one in zip(self.estimators_, self.calibrators_, strict=True)
        ]
        merged = []
        for of_map in zip(*of_folds, strict=True):
            p0, p1 = (np.array(values) for values in zip(*of_map, strict=True))
            merged.append((1 - _geometric_mean(1 - p0), _geometric_mean(p1)))
        return merged


def _geometric_mean(of_folds: np.ndarray) -> np.ndarray:
    """Return the mean (n_rows,) of (n_folds, n_rows)."""
    return np.asarray(of_folds[0] if len(of_folds) == 1 else np.exp(np.log(of_folds).mean(axis=0)))
