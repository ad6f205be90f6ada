"""The learner's own probabilities, as the mean of one classifier per fold: what calibration by folds starts from."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np

from probcal._validation import Constraint
from probcal.methods.calibrators._calibrated_classifier import CalibratedMethod, Calibration, Ensemble
from probcal.methods.calibrators._calibrator import Calibrator, Input


class _Unchanged(Calibrator):
    """Return probabilities as they are, and the logistic function of scores."""

    def __init__(self, input: Input = "probability") -> None:
        self.input = input

    def _fit_maps(self, matrix: np.ndarray, labels: np.ndarray, weights: np.ndarray | None) -> None:
        pass

    def _calibrated(self, matrix: np.ndarray) -> np.ndarray:
        return self._probabilities(matrix)


class FoldMeanClassifier(CalibratedMethod):
    """Predict the mean of the probabilities of one classifier per fold, each trained on the other folds.

    These classifiers are those that the calibrators fit with ``calibration="cross_val"`` and ``ensemble=True``. So the
    predictions are what calibration changes, without the gain of a single classifier from more training rows. Kull,
    Silva Filho & Flach (2017) compare calibrated probabilities with them.

    Parameters
    ----------
    estimator : classifier
        Has ``predict_proba`` or ``decision_function``. The latter is read as log-odds. A ``FrozenEstimator`` is fitted
        already, so its own probabilities are predicted.
    scores : {"auto", "decision_function", "log_odds"}, default="auto"
        ``"auto"`` is the predicted probability if the learner has one, and the decision function otherwise. The other
        choices are those of SigmoidClassifier, all read as log-odds.
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

    See Also
    --------
    DirectClassifier : Takes one classifier of all rows.
    BaggedVoteClassifier : Takes the mean, or the votes, of classifiers of bootstrap samples.
    SigmoidClassifier : Fits the same classifiers with ``ensemble=True``, and calibrates them.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.metrics import log_loss
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from probcal import DirectClassifier, FoldMeanClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> tree = DecisionTreeClassifier(max_depth=4, random_state=0)
    >>> for method in (DirectClassifier(tree), FoldMeanClassifier(tree, cv=10, random_state=0)):
    ...     print(round(log_loss(y[300:], method.fit(X[:300], y[:300]).predict_proba(X[300:])), 2))
    2.07
    0.26
    """

    constraints: ClassVar[dict[str, Constraint]] = {"scores": ("auto", "decision_function", "log_odds")}
    prefers = "predict_proba"
    before_and_after = False
    calibration: Calibration = "cross_val"
    ensemble: Ensemble = True
    holdout_size = 0.25

    def __init__(
        self,
        estimator: Any,
        *,
        scores: Literal["auto", "decision_function", "log_odds"] = "auto",
        cv: Any = 5,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.scores = scores
        self.cv = cv
        self.random_state = random_state

    def _calibrator(self, score_kind: Input) -> Calibrator:
        return _Unchanged(score_kind)
