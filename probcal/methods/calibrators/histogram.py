"""Histogram binning: the observed frequency of each bin of predicted probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from probcal._validation import check_choices, check_counts
from probcal.methods.calibrators._calibrated_classifier import CalibratedMethod, Calibration
from probcal.methods.calibrators._calibrator import Input, OneAgainstRestCalibrator

Bins = Literal["quantile", "uniform"]


@dataclass(frozen=True, eq=False)
class Histogram:
    """Map (n,) probabilities to ``frequencies``, (n_bins,), of the bins between ``edges``, (n_bins - 1,)."""

    edges: np.ndarray
    frequencies: np.ndarray

    def __call__(self, scores: np.ndarray) -> np.ndarray:
        return self.frequencies[np.searchsorted(self.edges, scores, side="right")]


class HistogramBinningCalibrator(OneAgainstRestCalibrator):
    """Map p to the observed frequency of its bin, (positive rows + 1) / (rows + 2) (Zadrozny & Elkan 2001).

    Their section 3.1 takes ten bins of equal size and no smoothing. Laplace's 1 and 2 keep probabilities from 0 and 1.
    This is a reference for other calibrators. Few rows, or few distinct predictions, make it coarse.

    Parameters
    ----------
    input : what ``fit`` gets: ``"probability"``, or any real ``"score"``, read as log-odds.
    n_bins : number of bins. Equal predictions fall into one bin, so there may be fewer.
    bins : ``"quantile"``: bins of equally many rows. ``"uniform"``: bins of equal width.

    Attributes
    ----------
    classes_ : (n_classes,) labels in sorted order.
    maps_ : the fitted maps with ``edges`` and ``frequencies``: one for the second of two classes, or one for each of
        several.
    """

    def __init__(self, input: Input = "probability", *, n_bins: int = 10, bins: Bins = "quantile") -> None:
        self.input = input
        self.n_bins = n_bins
        self.bins = bins

    def check_parameters(self) -> None:
        """Raise ValueError for an invalid parameter."""
        super().check_parameters()
        check_counts(self, "n_bins")
        check_choices(self, {"bins": ("quantile", "uniform")})

    def _columns(self, matrix: np.ndarray) -> np.ndarray:
        p = self._probabilities(matrix)
        return p[:, 1:] if p.shape[1] == 2 else p

    def _fit_map(self, scores: np.ndarray, positive: np.ndarray, weights: np.ndarray | None) -> Histogram:
        weights = np.ones(len(scores)) if weights is None else weights
        if self.bins == "uniform":
            edges = np.arange(1, self.n_bins) / self.n_bins
        else:
            distinct, place = np.unique(scores, return_inverse=True)
            reached = np.cumsum(np.bincount(place, weights)) / weights.sum()
            last = np.unique(np.searchsorted(reached, np.arange(1, self.n_bins) / self.n_bins - 1e-12))
            edges = distinct[last[last + 1 < len(distinct)] + 1]  # of each bin but the last, the next higher score
        of_row = np.searchsorted(edges, scores, side="right")
        total = np.bincount(of_row, weights, len(edges) + 1)
        return Histogram(edges, (np.bincount(of_row, weights * positive, len(edges) + 1) + 1) / (total + 2))


class HistogramBinningClassifier(CalibratedMethod):
    """Calibrate a learner with histogram binning (Zadrozny & Elkan 2001) on cross-validated probabilities.

    Parameters
    ----------
    estimator, calibration, ensemble, cv, holdout_size, random_state : as in SigmoidClassifier.
    n_bins, bins : as in HistogramBinningCalibrator.
    scores : ``"auto"`` is the predicted probability if the learner has one. Otherwise it is the decision function, read
        as log-odds. The other choices are those of SigmoidClassifier, all read as log-odds.

    Attributes
    ----------
    classes_ : (n_classes,) labels in sorted order.
    estimators_, calibrators_ : the fitted classifiers, and the HistogramBinningCalibrator of each: one per fold, or
        only one.
    estimator_, calibrator_ : the only ones, if there is one of each.
    """

    prefers = "predict_proba"

    def __init__(
        self,
        estimator: Any,
        *,
        n_bins: int = 10,
        bins: Bins = "quantile",
        scores: Any = "auto",
        calibration: Calibration = "cross_val",
        ensemble: bool = True,
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

    def _calibrator(self, read_as: Input) -> HistogramBinningCalibrator:
        return HistogramBinningCalibrator(read_as, n_bins=self.n_bins, bins=self.bins)
