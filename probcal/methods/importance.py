"""Train a classifier under importance weights: as sample weights, by rejection sampling, or by costing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from sklearn.linear_model._base import LinearClassifierMixin

from probcal.methods._fitting import fit_on_sample, fit_weighted, fresh_copy, last_step, sampler, takes_weights

TotalWeight = Literal["n"] | None


def importance_weights(
    positive: np.ndarray, p: float, total_weight: TotalWeight = None, row_weights: np.ndarray | None = None
) -> np.ndarray:
    """Return the importance weights i_p(y): (1-p)/p for positive rows, 1 for the others, (n_rows,) float64.

    The best classifier under these weights predicts 1 exactly where D(1|x) > p (Langford & Zadrozny 2005, Corollary 1).

    ``positive`` is (n_rows,) bool. ``total_weight=None`` leaves the weights as printed. ``"n"`` rescales them to sum to
    the number of rows, so that a regularised learner sees the same amount of data for every p. ``row_weights``,
    (n_rows,), are multiplied with them, and ``"n"`` then means their sum.
    """
    weights = np.where(positive, (1 - p) / p, 1.0)
    total: float = len(weights)
    if row_weights is not None:
        weights, total = weights * row_weights, row_weights.sum()
    return weights if total_weight is None else weights * (total / weights.sum())


def class_weights(positive: np.ndarray, p: float, total_weight: TotalWeight = None) -> tuple[float, float]:
    """Return the values of ``importance_weights`` for the negative and the positive class, exact to the last bit.

    Row weights multiply these values. With ``total_weight="n"`` the order of the factors would then change the last
    bit.
    """
    ratio = (1 - p) / p
    if total_weight is None:
        return 1.0, ratio
    scale = len(positive) / float(np.where(positive, ratio, 1.0).sum())
    return scale, ratio * scale


def rejection_sample(weights: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Return the row numbers of one rejection sample. Row i is kept with probability w_i / Z.

    Z is the largest weight, the smallest valid value, so that no row is dropped without need (Zadrozny, Langford & Abe
    2003, section 2.3). Rows keep their order, and no row is repeated.
    """
    return np.flatnonzero(random.random(len(weights)) * weights.max() < weights)


class MajorityVote:
    """Predict the majority label of ``classifiers`` (Zadrozny, Langford & Abe 2003, section 2.3.2).

    It is the second of ``classes``, (2,), if more than half predict it, and the first otherwise.
    """

    def __init__(self, classifiers: list[Any], classes: np.ndarray) -> None:
        self.classifiers, self.classes_ = classifiers, classes

    def predict(self, X: Any) -> np.ndarray:
        """Return the predicted labels, (n_rows,)."""
        votes = sum((one.predict(X) == self.classes_[1]).astype(np.int64) for one in self.classifiers)
        labels: np.ndarray = self.classes_[(2 * votes > len(self.classifiers)).astype(np.int64)]
        return labels


Weighting = Literal["auto", "weight", "rejection", "costing"]


@dataclass(frozen=True, eq=False)
class WeightedTraining:
    """Train on the rows weighted by i_p: steps 2(d) and 2(e) of Algorithm 1.

    ``weighting`` is not ``"auto"``.
    ``labels``: (n_rows,) of the two ``classes``, the second positive. ``row_weights``: (n_rows,) or None, multiplied
    with i_p. ``stream``: the numbers that seed the random stream of every threshold.
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
        """Return the classifier of threshold ``p``."""
        random = random_stream(self.stream, p)
        weights = importance_weights(self.labels == self.classes[1], p, self.total_weight, self.row_weights)
        if self.weighting == "weight":
            return fit_weighted(fresh_copy(self.estimator, random), self.X, self.labels, weights)
        if self.weighting == "costing":
            return MajorityVote([self._on_sample(weights, random) for _ in range(self.n_samples)], self.classes)
        return self._on_sample(weights, random)

    @property
    def weighs_classes(self) -> bool:
        """Return whether the learner's weights are exactly those of ``class_weights`` times ``row_weights``."""
        return self.weighting == "weight" and (self.row_weights is None or self.total_weight is None)

    def class_weights(self, p: float) -> tuple[float, float]:
        """Return the factors by which threshold ``p`` multiplies the row weights of each of ``classes``."""
        return class_weights(self.labels == self.classes[1], p, self.total_weight)

    @cached_property
    def _sample(self) -> Callable[[np.ndarray], Any]:
        return sampler(self.estimator, self.X)

    def _on_sample(self, weights: np.ndarray, random: np.random.Generator) -> Any:
        classifier = fresh_copy(self.estimator, random)
        rows = rejection_sample(weights, random)
        return fit_on_sample(classifier, self._sample(rows), self.labels[rows])


def is_linear(estimator: Any) -> bool:
    """Return whether the boundary of ``estimator``, or of the last step of a Pipeline, is known to be a plane."""
    learner = last_step(estimator)
    return isinstance(learner, LinearClassifierMixin) or getattr(learner, "kernel", None) == "linear"


def random_stream(stream: tuple[int, ...], p: float) -> np.random.Generator:
    """Return the random generator of threshold ``p``. It does not depend on the order or place of fitting."""
    # only leading digits of p: the last may differ between machines, and the stream must not
    return np.random.default_rng([*stream, *f"{p:.12g}".encode()])


def check_weights_accepted(method: Any) -> None:
    """Raise ValueError if ``method`` should give weights to an estimator that takes none."""
    if method.weighting == "weight" and not takes_weights(method.estimator):
        raise ValueError(
            f"{type(method.estimator).__name__}.fit takes no sample_weight; use weighting='rejection' or 'auto'"
        )
