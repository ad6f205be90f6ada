"""A sweep over class weights: the posterior of a point from the weights at which it lies on the boundary."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np

from probcal.methods.minimax import Goal
from probcal.methods.parameters import refuse_other_choices
from probcal.methods.refinement import evenly
from probcal.methods.threshold_classifiers import ThresholdClassifiers
from probcal.methods.threshold_method import ThresholdMethod, Train
from probcal.methods.weighted_training import WeightedTraining, Weighting, refuse_weights_for_none

_CHOICES = {
    "answer": ("isotonic", "bounds", "first_crossing"),
    "weighting": ("auto", "weight", "rejection"),
}


class WeightSweepClassifier(ThresholdMethod):
    """Nalbantov & Ivanov (2019): the classifier built anew over a grid of class weights, their sum fixed.

    A point on the boundary between the classes when positive rows weigh w+ and negative ones w- has, by
    Bayes' rule, D(1|x) w+ = D(0|x) w-, so D(1|x) = w- / (w+ + w-). (Equation 5 as printed has the ratio
    upside down: it gives the other class.) The label at each level tells between which two levels the
    posterior lies; the estimate is their midpoint. Only labels are needed, never scores.

    Parameters
    ----------
    estimator : classifier with ``fit`` and ``predict``.
    levels : rising numbers within (0, 1); None stands for .05 to .95 by .05, as in the paper.
    answer : for points whose labels are not monotone in the level (section 4): ``"isotonic"`` takes the
        monotone labels that change the fewest, which is Probing's sort; ``"bounds"`` the lowest and the highest
        level at which the label changes; ``"first_crossing"`` the lowest.
    weighting : as in ``ProbingClassifier``; the weights sum to the number of rows at every level.
    n_jobs : processes.
    random_state : seed; each level has a random stream of its own.

    With more than two classes each is put against the rest, and each row divided by its sum.

    Attributes: ``classes_``; ``probings_`` the classifiers of each problem; with two classes ``thresholds_``,
    (n_levels,), and ``estimators_`` in that order; ``n_features_in_``, ``feature_names_in_`` where X has them.
    """

    hands_weights_on = False
    multiclass = "normalised"
    clip = (0.0, 1.0)

    def __init__(
        self,
        estimator: Any,
        levels: Any = None,
        *,
        answer: Literal["isotonic", "bounds", "first_crossing"] = "isotonic",
        weighting: Weighting = "auto",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.levels = levels
        self.answer = answer
        self.weighting = weighting
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """X: (n_rows, n_columns), passed on untouched; y: (n_rows,) labels; sample_weight: (n_rows,).

        Raises ValueError for a parameter that is not as documented, and for labels or weights that are none.
        """
        self._fit_thresholds(X, y, sample_weight)
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """(n_rows, n_classes) probabilities in the order of ``classes_``."""
        self._before_predicting(X)
        return self._joined([self._interval(one, X).mean(axis=1) for one in self.probings_])

    def predict_interval(self, X: Any) -> np.ndarray:
        """(n_rows, 2) lower and upper end of the probability of the second class; of two classes only.

        Raises ValueError with more classes.
        """
        self._before_predicting(X)
        if len(self.probings_) > 1:
            raise ValueError(f"there is an interval for two classes only, not for {len(self.classes_)}")
        return self._interval(self.probings_[0], X)

    def check_parameters(self) -> None:
        """Raises ValueError for a parameter that is not as documented."""
        refuse_other_choices(self, _CHOICES)
        if self.levels is not None:
            levels = np.asarray(self.levels)
            sound = levels.ndim == 1 and len(levels) and levels.dtype.kind in "iuf"
            if not (sound and (np.diff(levels) > 0).all() and levels[0] > 0 and levels[-1] < 1):
                raise ValueError(f"levels must be rising numbers within (0, 1), not {self.levels!r}")
        refuse_weights_for_none(self)

    def _goal(self) -> Goal:
        return Goal("squared_error")  # whose minimax estimate is the midpoint

    def _grid(self) -> np.ndarray:
        return evenly(19) if self.levels is None else np.asarray(self.levels, dtype=np.float64)

    def _training(
        self, X: Any, labels: np.ndarray, classes: np.ndarray, weights: np.ndarray | None, stream: tuple[int, ...]
    ) -> Train:
        return WeightedTraining(self.estimator, X, labels, classes, weights, self.weighting, "n", 1, stream)

    def _interval(self, classifiers: ThresholdClassifiers, X: Any) -> np.ndarray:
        """(n_rows, 2) the levels between which the probability lies."""
        edges = np.concatenate([[0.0], classifiers.thresholds, [1.0]])
        answers = classifiers.answers(X)
        if self.answer == "isotonic":
            below = above = answers.sum(axis=1)
        else:
            below = np.cumprod(answers, axis=1).sum(axis=1)
            above = below
            if self.answer == "bounds":
                above = answers.shape[1] - np.cumprod(~answers[:, ::-1], axis=1).sum(axis=1)
        return np.column_stack([edges[below], edges[above + 1]])
