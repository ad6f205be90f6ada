"""How the classifier of a threshold is trained: under importance weights, given or sampled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from probcal.methods.costing import MajorityVote
from probcal.methods.fitting import fit_on_sample, fit_weighted, fresh_copy, sampler, takes_weights
from probcal.methods.importance import TotalWeight, class_weights, importance_weights, rejection_sample

Weighting = Literal["auto", "weight", "rejection", "costing"]


@dataclass(frozen=True, eq=False)
class WeightedTraining:
    """Steps 2(d) and 2(e) of Algorithm 1: the learner on the rows weighted by i_p.

    ``labels``: (n_rows,) of the two ``classes``, the second positive; ``row_weights``: (n_rows,) or None,
    multiplied with i_p; ``stream``: the numbers that the random stream of every threshold starts from.
    """

    estimator: Any
    X: Any
    labels: np.ndarray
    classes: np.ndarray
    row_weights: np.ndarray | None
    weighting: Weighting
    total_weight: TotalWeight
    n_samples: int
    stream: tuple[int, ...]

    def __call__(self, p: float) -> Any:
        """The classifier of threshold ``p``."""
        random = random_stream(self.stream, p)
        weights = importance_weights(self.labels == self.classes[1], p, self.total_weight, self.row_weights)
        if self.gives_weights:
            return fit_weighted(fresh_copy(self.estimator, random), self.X, self.labels, weights)
        if self.weighting == "costing":
            return MajorityVote([self._on_sample(weights, random) for _ in range(self.n_samples)], self.classes)
        return self._on_sample(weights, random)

    @property
    def gives_weights(self) -> bool:
        """Whether the learner is given the weights, and not samples."""
        return self.weighting == "weight" or (self.weighting == "auto" and takes_weights(self.estimator))

    @property
    def weighs_classes(self) -> bool:
        """Whether the learner's weights are those of ``class_weights`` times ``row_weights``, to the last bit."""
        return self.gives_weights and (self.row_weights is None or self.total_weight is None)

    def class_weights(self, p: float) -> tuple[float, float]:
        """What threshold ``p`` multiplies the weights of the rows of each of ``classes`` by."""
        return class_weights(self.labels == self.classes[1], p, self.total_weight)

    @cached_property
    def _sample(self) -> Callable[[np.ndarray], Any]:
        return sampler(self.estimator, self.X)

    def _on_sample(self, weights: np.ndarray, random: np.random.Generator) -> Any:
        classifier = fresh_copy(self.estimator, random)
        rows = rejection_sample(weights, random)
        return fit_on_sample(classifier, self._sample(rows), self.labels[rows])


def random_stream(stream: tuple[int, ...], p: float) -> np.random.Generator:
    """The generator of threshold ``p``, the same whenever and wherever it is fitted."""
    # of p's leading digits: the last may differ between machines, and the stream must not
    return np.random.default_rng([*stream, *f"{p:.12g}".encode()])


def refuse_weights_for_none(method: Any) -> None:
    """Raises ValueError where ``method`` is told to give weights to an estimator that takes none."""
    if method.weighting == "weight" and not takes_weights(method.estimator):
        raise ValueError(
            f"{type(method.estimator).__name__}.fit takes no sample_weight; use weighting='rejection' or 'auto'"
        )
