"""How the classifier of a threshold is trained: under importance weights, given or sampled.

Importance weights, given to a learner directly or through rejection sampling.

Costing: classifiers of several rejection samples that vote (Zadrozny, Langford & Abe 2003, section 2.3.2).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from probcal.methods._fitting import fit_on_sample, fit_weighted, fresh_copy, sampler, takes_weights

TotalWeight = Literal["n"] | None


def importance_weights(
    positive: np.ndarray, p: float, total_weight: TotalWeight = None, row_weights: np.ndarray | None = None
) -> np.ndarray:
    """i_p(y) = (1-p)/p for positive rows and 1 for the others (Langford & Zadrozny 2005, Corollary 1).

    A classifier that is best under these weights says 1 exactly where D(1|x) > p.

    ``positive``: (n_rows,) bool. ``total_weight=None`` leaves the weights as printed; ``"n"`` rescales
    them to sum to the number of rows, so that a regularised learner sees the same amount of data at
    every p. Where the rows have weights of their own, (n_rows,), these are multiplied, and ``"n"`` means
    their sum. Returns (n_rows,) float64.
    """
    weights = np.where(positive, (1 - p) / p, 1.0)
    total: float = len(weights)
    if row_weights is not None:
        weights, total = weights * row_weights, row_weights.sum()
    return weights if total_weight is None else weights * (total / weights.sum())


def class_weights(positive: np.ndarray, p: float, total_weight: TotalWeight = None) -> tuple[float, float]:
    """What ``importance_weights`` gives the rows of the negative and of the positive class, to the last bit.

    Where rows have weights of their own these are multiplied, but under ``total_weight="n"``, where the order of the
    factors would tell in the last bit.
    """
    ratio = (1 - p) / p
    if total_weight is None:
        return 1.0, ratio
    scale = len(positive) / float(np.where(positive, ratio, 1.0).sum())
    return scale, ratio * scale


def rejection_sample(weights: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Row numbers of one rejection sample: row i is kept with probability w_i / Z.

    Z is the largest weight, the smallest that is valid, so that no row is thrown away needlessly
    (Zadrozny, Langford & Abe 2003, section 2.3). Rows keep their order and none is repeated.
    """
    return np.flatnonzero(random.random(len(weights)) * weights.max() < weights)


class MajorityVote:
    """Says the second of ``classes``, (2,), where more than half of ``classifiers`` do, and the first elsewhere."""

    def __init__(self, classifiers: list[Any], classes: np.ndarray) -> None:
        self.classifiers, self.classes_ = classifiers, classes

    def predict(self, X: Any) -> np.ndarray:
        """(n_rows,) labels."""
        votes = sum((one.predict(X) == self.classes_[1]).astype(np.int64) for one in self.classifiers)
        return self.classes_[(2 * votes > len(self.classifiers)).astype(np.int64)]


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
