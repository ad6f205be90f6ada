"""One map of the mean score of one classifier per fold, fitted on the scores of all folds: as CalArena calibrates."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, get_args

import numpy as np

from probcal._validation import Constraint
from probcal.methods.calibrators._calibrated_classifier import CalibratedMethod, Calibration, Ensemble
from probcal.methods.calibrators._calibration_rows import FoldScores
from probcal.methods.calibrators._calibrator import Calibrator, Input
from probcal.methods.calibrators.beta import BetaCalibrator, QuadraticCalibrator
from probcal.methods.calibrators.histogram import HistogramBinningCalibrator
from probcal.methods.calibrators.isotonic import IsotonicCalibrator
from probcal.methods.calibrators.logistic_calibration import LogisticCalibrator
from probcal.methods.calibrators.scaling import (
    DirichletCalibrator,
    MatrixScalingCalibrator,
    TemperatureCalibrator,
    VectorScalingCalibrator,
)
from probcal.methods.calibrators.sigmoid import SigmoidCalibrator
from probcal.methods.calibrators.spline import SplineCalibrator
from probcal.methods.calibrators.venn_abers import VennAbersCalibrator

MapName = Literal[
    "platt_logits", "platt_probs", "temperature", "beta", "quadratic", "spline", "isotonic", "centered", "venn_abers",
    "histogram", "vector_scaling", "matrix_scaling", "dirichlet",
]  # fmt: skip
_OPEN = (0.0, 1.0)
_TINY = float(np.finfo(np.float32).tiny)
"""Where the authors cut a probability of 0, which they store in single precision."""


class _LogitsCalibrator(LogisticCalibrator):
    """Map log-odds by a logistic regression on the labels 0 and 1."""

    def _map_inputs(self, matrix: np.ndarray) -> np.ndarray:
        return self._log_odds(matrix, _TINY)


class MapOfMeanClassifier(CalibratedMethod):
    """Map the mean prediction of one classifier per fold (Berta, Holzmueller, Bach & Jordan 2026, CalArena).

    Each classifier is trained on the other folds and scores its own. One map is fitted on the scores of all rows. A new
    row gets the mean of the classifiers' scores, and the map of this mean. ``ensemble="auto"`` of the other calibrators
    maps first and takes the mean then. The maps are those of the study, without the bounds that ours have.

    Parameters
    ----------
    estimator : classifier
        Has ``predict_proba``, or ``decision_function``, which is read as log-odds. A ``FrozenEstimator`` is fitted
        already, so all rows calibrate it.
    map : str, default="temperature"
        Name of the map. ``"platt_logits"`` is a logistic regression on the log-odds. ``"platt_probs"`` is Platt's
        sigmoid of the probability itself. ``"isotonic"`` and ``"centered"`` may predict 0 and 1. ``"beta"`` and
        ``"quadratic"`` are fitted to the labels 0 and 1. ``"histogram"`` has ten bins of equally many rows.
        ``"vector_scaling"`` and ``"matrix_scaling"`` have no penalty. ``"temperature"``, ``"spline"``, ``"venn_abers"``
        and ``"dirichlet"`` are those of this package.
    cv : int, cross-validation generator or list of pairs, default=5
        Folds, as in SigmoidClassifier.
    random_state : int, RandomState or None, default=None
        Seed of the classifiers and of the folds. None draws a new seed at each ``fit``.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels in sorted order.
    estimators_ : list of classifiers
        Fitted classifiers, one per fold.
    calibrator_ : Calibrator
        The fitted map.

    See Also
    --------
    MeanMapClassifier : Takes one classifier of all rows, and the mean of one map per fold.
    TemperatureClassifier : Maps first, and takes the mean then.
    FoldMeanClassifier : Takes the mean of one classifier per fold, without a map.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.metrics import log_loss
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from probcal import MapOfMeanClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> model = MapOfMeanClassifier(DecisionTreeClassifier(), map="temperature", random_state=0).fit(X[::2], y[::2])
    >>> [round(log_loss(y[1::2], p), 2) for p in model.staged_predict_proba(X[1::2])]  # before and after
    [0.55, 0.29]
    """

    prefers = "predict_proba"
    scores: Any = "auto"
    calibration: Calibration = "cross_val"
    ensemble: Ensemble = "auto"
    holdout_size = 0.25

    constraints: ClassVar[dict[str, Constraint]] = {"map": get_args(MapName)}

    def __init__(
        self,
        estimator: Any,
        *,
        map: MapName = "temperature",
        cv: Any = 5,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.map = map
        self.cv = cv
        self.random_state = random_state

    def predict_proba(self, X: Any) -> np.ndarray:
        self._before_predicting(X)
        scores = np.mean([self._scores(learner, X)[0] for learner in self.estimators_], axis=0)
        return np.asarray(self.calibrator_.predict_proba(scores))

    def _has_map_for_each_fold(self, parts: list[FoldScores], score_kind: Input, seed: int) -> bool:
        return False

    def _calibrator(self, score_kind: Input) -> Calibrator:
        # a map that reads probabilities as scores measures distances in them
        maps: dict[str, Calibrator] = {
            "platt_logits": _LogitsCalibrator(score_kind, clip=_OPEN),
            "platt_probs": SigmoidCalibrator("score", clip=_OPEN),
            "temperature": TemperatureCalibrator(score_kind),
            "beta": BetaCalibrator(score_kind, targets="labels"),
            "quadratic": QuadraticCalibrator(score_kind, targets="labels"),
            "spline": SplineCalibrator(score_kind),
            "isotonic": IsotonicCalibrator("score", clip=_OPEN),
            "centered": IsotonicCalibrator("score", clip=_OPEN, centered=True),
            "venn_abers": VennAbersCalibrator("score"),
            "histogram": HistogramBinningCalibrator(score_kind, n_bins=10, bins="quantile", smoothing="laplace"),
            "vector_scaling": VectorScalingCalibrator(score_kind, penalty="none"),
            "matrix_scaling": MatrixScalingCalibrator(score_kind, penalty="none"),
            "dirichlet": DirichletCalibrator(score_kind),
        }
        return maps[self.map]
