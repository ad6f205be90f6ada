"""Halck's relabelling, which changes labels at random where Probing changes weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np

from probcal._validation import check_choices, check_clip, check_counts
from probcal.methods._fitting import fit_on_sample, fresh_copy
from probcal.methods._multiclass import Multiclass
from probcal.methods._probes import Train
from probcal.methods._threshold_method import ThresholdMethod
from probcal.methods.importance import random_stream
from probcal.methods.refinement import Goal, Loss, even_thresholds

_CHOICES = {
    "loss": ("log_loss", "squared_error"),
    "discretisation": ("train", "uniform"),
    "multiclass": ("difference", "normalised"),
}


class RelabelingClassifier(ThresholdMethod):
    """Probe with changed labels: the method of Halck (2002), as described by Langford & Zadrozny (2005, section 2).

    For a threshold p < 1/2 each negative row becomes positive with probability (1/2 - p) / (1 - p). For p > 1/2 each
    positive row becomes negative with probability 1 - 1/(2p). A row of probability p is then equally likely to be
    positive or negative. The best classifier for these labels, without weights, predicts 1 where D(1|x) > p.

    Votes and predictions are those of ``ProbingClassifier``, so with ``discretisation="train"`` the two methods differ
    in nothing else. Halck's own choice of thresholds is not known to us.

    Parameters
    ----------
    estimator : classifier with ``fit`` and ``predict``. Only its labels are used, and it needs no weights.
    n_probes, loss, multiclass, clip, n_jobs : as in ``ProbingClassifier``.
    discretisation : ``"uniform"`` takes the thresholds t / (n_probes + 1). ``"train"`` is as in ``ProbingClassifier``.
        It puts most thresholds near 0 and 1. There nearly half of a class is relabelled: the labels are mostly noise.
    random_state : seed. Each threshold has its own random stream.

    The attributes are those of ``ProbingClassifier``.
    """

    def __init__(
        self,
        estimator: Any,
        n_probes: int = 100,
        *,
        loss: Loss = "log_loss",
        discretisation: Literal["train", "uniform"] = "uniform",
        multiclass: Multiclass = "normalised",
        clip: tuple[float, float] = (0.001, 0.999),
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_probes = n_probes
        self.loss = loss
        self.discretisation = discretisation
        self.multiclass = multiclass
        self.clip = clip
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit one classifier per threshold.

        Parameters
        ----------
        X : rows, (n_rows, n_columns), passed to the learner unchanged.
        y : labels, (n_rows,).
        sample_weight : weights, (n_rows,), not negative, or None.

        Raises
        ------
        ValueError
            For an invalid parameter, invalid labels or weights, and weights for a learner that takes none.
        """
        self._fit_thresholds(X, y, sample_weight)
        return self

    def check_parameters(self) -> None:
        """Raise ValueError for an invalid parameter."""
        check_choices(self, _CHOICES)
        check_counts(self, "n_probes")
        check_clip(self.clip)

    def _goal(self) -> Goal:
        return Goal(self.loss)

    def _grid(self) -> np.ndarray | None:
        return even_thresholds(self.n_probes) if self.discretisation == "uniform" else None

    def _training(
        self, X: Any, labels: np.ndarray, classes: np.ndarray, weights: np.ndarray | None, stream: tuple[int, ...]
    ) -> Train:
        return _RelabelledTraining(self.estimator, X, labels, classes, self._weights_for_learner(weights), stream)


@dataclass(frozen=True, eq=False)
class _RelabelledTraining:
    estimator: Any
    X: Any
    labels: np.ndarray
    classes: np.ndarray
    row_weights: np.ndarray | None
    stream: tuple[int, ...]

    def __call__(self, p: float) -> Any:
        random = random_stream(self.stream, p)
        classifier = fresh_copy(self.estimator, random)
        return fit_on_sample(classifier, self.X, relabelled(self.labels, self.classes, p, random), self.row_weights)


def relabelled(labels: np.ndarray, classes: np.ndarray, p: float, random: np.random.Generator) -> np.ndarray:
    """Return (n_rows,) labels for which 1/2 replaces the threshold ``p``. The second of ``classes`` is positive."""
    changed, chance = (classes[0], (0.5 - p) / (1 - p)) if p < 0.5 else (classes[1], 1 - 0.5 / p)
    other = classes[1] if p < 0.5 else classes[0]
    return np.where((labels == changed) & (random.random(len(labels)) < chance), other, labels)
