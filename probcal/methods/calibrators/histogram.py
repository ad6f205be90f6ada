"""Histogram binning: the observed frequency of each bin of predicted probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from probcal._validation import COUNT, Constraint
from probcal.methods.calibrators._calibrated_classifier import CalibratedMethod, Calibration, Ensemble
from probcal.methods.calibrators._calibrator import Input, OneAgainstRestCalibrator
from probcal.methods.calibrators.formula import Formula, pieces
from probcal.methods.calibrators.isotonic import pool_equal_scores

Bins = Literal["balanced", "quantile", "uniform"]
Smoothing = Literal["prediction", "laplace"]
_PRIOR_ROWS = 4
"""Rows that the mean prediction of a bin counts as. ``benchmarks/defaults.py`` measures the defaults."""


@dataclass(frozen=True, eq=False)
class Histogram:
    """Map probabilities to the smoothed frequency of their bin.

    Parameters
    ----------
    edges : ndarray of shape (n_bins - 1,)
        Rising edges between the bins. A probability at an edge belongs to the bin above it.
    frequencies : ndarray of shape (n_bins,)
        Smoothed frequency of the positive class in each bin.
    """

    edges: np.ndarray
    frequencies: np.ndarray

    def __call__(self, scores: np.ndarray) -> np.ndarray:
        return self.frequencies[np.searchsorted(self.edges, scores, side="right")]

    def formula(self, scores: Formula) -> Formula:
        return pieces(scores, scores, self.edges, np.zeros_like(self.frequencies), self.frequencies[:, None])


class HistogramBinningCalibrator(OneAgainstRestCalibrator):
    """Map p to the smoothed frequency of its bin (Zadrozny & Elkan 2001, section 3.1).

    Zadrozny and Elkan take ten bins of equally many rows and no smoothing: ``n_bins=10, bins="quantile"``. Here some
    smoothing is always on, because a frequency may be 0 or 1. Use histogram binning as a reference for other
    calibrators. It is coarse.

    Parameters
    ----------
    input : {"probability", "score"}, default="probability"
        What ``fit`` and ``predict_proba`` get: predicted probabilities, or any real scores, which are read as log-odds.
    n_bins : int, default=15
        Number of bins. Equal predictions fall into one bin, so there may be fewer.
    bins : {"balanced", "quantile", "uniform"}, default="balanced"
        ``"balanced"``: bins of equal weight, where each class has half of the weight. A rare class has as many bins as
        a common one. ``"quantile"``: bins of equally many rows. ``"uniform"``: bins of equal width.
    smoothing : {"prediction", "laplace"}, default="prediction"
        ``"prediction"``: (positive rows + 4 m) / (rows + 4), where m is the mean prediction of the bin's rows. This
        mean is moved into [1 / (2n), 1 - 1 / (2n)] for n rows. A bin without rows has the middle of the bin as m.
        ``"laplace"``: (positive rows + 1) / (rows + 2).

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels in sorted order.
    smallest_ : float
        1 / (2n). n is the number of rows of positive weight, and with ``frequency_weights`` their total weight.
    maps_ : list of Histogram
        Fitted maps with ``edges`` and ``frequencies``: one for the second of two classes, or one for each of several.
        The edges are probabilities. With ``input="score"``, their log-odds are the scores between the bins.

    See Also
    --------
    HistogramBinningClassifier : Fits a learner and this map.
    IsotonicCalibrator : Finds the bins itself, and never falls.
    SplineCalibrator : Is a smooth map.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import cross_val_predict
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from probcal import HistogramBinningCalibrator
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> p = cross_val_predict(GaussianNB(), X, y, method="predict_proba")[:, 1]
    >>> calibrator = HistogramBinningCalibrator(n_bins=5, bins="uniform").fit(p, y)
    >>> calibrator.predict_proba([0.001, 0.5, 0.999])[:, 1].round(2)
    array([0.05, 0.33, 0.94])
    >>> calibrator.maps_[0].frequencies.round(2)  # one per bin
    array([0.05, 0.46, 0.33, 0.67, 0.94])
    """

    map_class = Histogram
    constraints: ClassVar[dict[str, Constraint]] = {
        "n_bins": COUNT,
        "bins": ("balanced", "quantile", "uniform"),
        "smoothing": ("prediction", "laplace"),
    }

    def __init__(
        self,
        input: Input = "probability",
        *,
        n_bins: int = 15,
        bins: Bins = "balanced",
        smoothing: Smoothing = "prediction",
    ) -> None:
        self.input = input
        self.n_bins = n_bins
        self.bins = bins
        self.smoothing = smoothing

    def _map_inputs(self, matrix: np.ndarray) -> np.ndarray:
        p = self._probabilities(matrix)
        return p[:, 1:] if p.shape[1] == 2 else p

    def _map_input_formula(self) -> Formula:
        return self._probability_formulas()[1]

    def _fit_map(self, scores: np.ndarray, positive: np.ndarray, weights: np.ndarray | None) -> Histogram:
        distinct, hits, total = pool_equal_scores(scores, positive, weights)
        if self.bins == "uniform":
            edges = np.arange(1, self.n_bins) / self.n_bins
        else:
            share = _half_for_each_class(hits, total) if self.bins == "balanced" else total
            reached = np.cumsum(share) / share.sum()
            last = np.unique(np.searchsorted(reached, np.arange(1, self.n_bins) / self.n_bins - 1e-12))
            last = last[last + 1 < len(distinct)]
            # in the middle: the last digits of a score depend on how many rows are predicted at once
            middle = (distinct[last] + distinct[last + 1]) / 2
            edges = np.where(middle > distinct[last], middle, distinct[last + 1])  # neighbouring floats have no middle
        # summed in the order of the rows: the last digit of a mean decides where two classes have equal probabilities
        of_row = np.searchsorted(edges, scores, side="right")
        parts = (None, positive, scores) if weights is None else (weights, weights * positive, weights * scores)
        in_bin, hits, predicted = (np.bincount(of_row, part, len(edges) + 1) for part in parts)
        if self.smoothing == "laplace":
            return Histogram(edges, (hits + 1) / (in_bin + 2))
        middle = (np.append(edges, 1.0) + np.insert(edges, 0, 0.0)) / 2  # of a bin without rows
        mean = np.divide(predicted, in_bin, out=middle, where=in_bin > 0).clip(self.smallest_, 1 - self.smallest_)
        return Histogram(edges, (hits + _PRIOR_ROWS * mean) / (in_bin + _PRIOR_ROWS))


def _half_for_each_class(hits: np.ndarray, total: np.ndarray) -> np.ndarray:
    """Return the weight of each score, (n_scores,), if positive and other rows weigh 1 / 2 each in total."""
    others = total - hits
    return np.asarray(hits * (0.5 / hits.sum()) + others * (0.5 / others.sum()))


class HistogramBinningClassifier(CalibratedMethod):
    """Calibrate a learner with histogram binning (Zadrozny & Elkan 2001) on cross-validated probabilities.

    Parameters
    ----------
    estimator : classifier
        Has ``decision_function`` or ``predict_proba``. A ``FrozenEstimator`` is fitted already, so all rows calibrate
        it.
    n_bins : int, default=15
        Number of bins, as in HistogramBinningCalibrator.
    bins : {"balanced", "quantile", "uniform"}, default="balanced"
        Kind of bins, as in HistogramBinningCalibrator.
    smoothing : {"prediction", "laplace"}, default="prediction"
        Smoothing of the frequencies, as in HistogramBinningCalibrator.
    scores : {"auto", "decision_function", "log_odds", "probability"}, default="auto"
        ``"auto"`` is the predicted probability if the learner has one. Otherwise it is the decision function, read as
        log-odds. The other choices are those of SigmoidClassifier, all read as log-odds.
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
    calibrators_ : list of HistogramBinningCalibrator
        Fitted map of each classifier. The classifiers of several folds may share one map.
    estimator_ : classifier
        The fitted classifier, if there is only one.
    calibrator_ : HistogramBinningCalibrator
        The fitted map, if there is only one.

    See Also
    --------
    HistogramBinningCalibrator : The map alone, for given scores.
    IsotonicClassifier : Finds the bins itself, and its map never falls.
    SplineClassifier : Has a smooth map.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.metrics import log_loss
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from probcal import HistogramBinningClassifier
    >>> X, y = make_classification(2000, n_redundant=8, flip_y=0.1, random_state=0)
    >>> model = HistogramBinningClassifier(GaussianNB(), n_bins=10, random_state=0).fit(X[:1000], y[:1000])
    >>> [round(log_loss(y[1000:], p), 3) for p in model.staged_predict_proba(X[1000:])]  # before and after
    [1.105, 0.185]
    """

    prefers = "predict_proba"

    def __init__(
        self,
        estimator: Any,
        *,
        n_bins: int = 15,
        bins: Bins = "balanced",
        smoothing: Smoothing = "prediction",
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
        self.n_bins = n_bins
        self.bins = bins
        self.smoothing = smoothing

    def _calibrator(self, score_kind: Input) -> HistogramBinningCalibrator:
        return HistogramBinningCalibrator(score_kind, n_bins=self.n_bins, bins=self.bins, smoothing=self.smoothing)
