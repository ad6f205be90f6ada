"""Halck's relabelling: labels changed at random where Probing changes weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np

from probcal._validation import refuse_no_count, refuse_no_range, refuse_other_choices
from probcal.methods._fitting import fit_on_sample, fresh_copy
from probcal.methods._multiclass import Multiclass
from probcal.methods._probes import Train
from probcal.methods._threshold_method import ThresholdMethod
from probcal.methods.importance import random_stream
from probcal.methods.refinement import Goal, Loss, evenly

_CHOICES = {
    "loss": ("log_loss", "squared_error"),
    "discretisation": ("train", "uniform"),
    "multiclass": ("difference", "normalised"),
}


class RelabelingClassifier(ThresholdMethod):
    """Halck (2002), as Langford & Zadrozny (2005, section 2) describe it: Probing by changed labels.

    For threshold p < 1/2 each negative row becomes positive with the chance (1/2 - p) / (1 - p), for p > 1/2
    each positive row negative with the chance 1 - 1/(2p): a row of probability p is then as likely positive
    as negative, and a classifier without weights that is best on these labels says 1 where D(1|x) > p.
    Which thresholds are probed, the votes and the estimates are those of ``ProbingClassifier``, so that the
    two differ in nothing else; Halck's own choice of thresholds is not known to us.

    Parameters
    ----------
    estimator : classifier with ``fit`` and ``predict``; only its labels are used, and it needs no weights.
    n_probes, loss, discretisation, multiclass, clip, n_jobs : as in ``ProbingClassifier``.
    random_state : seed; each threshold has a random stream of its own.

    Attributes: those of ``ProbingClassifier``.
    """

    def __init__(
        self,
        estimator: Any,
        n_probes: int = 100,
        *,
        loss: Loss = "log_loss",
        discretisation: Literal["train", "uniform"] = "train",
        multiclass: Multiclass = "difference",
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
        """X: (n_rows, n_columns), passed on untouched; y: (n_rows,) labels; sample_weight: (n_rows,).

        Raises ValueError for a parameter that is not as documented, labels or weights that are none, and
        for weights with a learner that takes none.
        """
        self._fit_thresholds(X, y, sample_weight)
        return self

    def check_parameters(self) -> None:
        """Raises ValueError for a parameter that is not as documented."""
        refuse_other_choices(self, _CHOICES)
        refuse_no_count(self, "n_probes")
        refuse_no_range(self.clip)

    def _goal(self) -> Goal:
        return Goal(self.loss)

    def _grid(self) -> np.ndarray | None:
        return evenly(self.n_probes) if self.discretisation == "uniform" else None

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
    """(n_rows,) labels under which one half takes the place of ``p``; the second of ``classes`` is positive."""
    changed, chance = (classes[0], (0.5 - p) / (1 - p)) if p < 0.5 else (classes[1], 1 - 0.5 / p)
    other = classes[1] if p < 0.5 else classes[0]
    return np.where((labels == changed) & (random.random(len(labels)) < chance), other, labels)
