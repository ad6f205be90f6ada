"""Train a classifier under importance weights: as sample weights, by rejection sampling, or by costing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from sklearn.linear_model._base import LinearClassifierMixin

from probcal._learner_output import last_step, predicted_classes
from probcal.methods._fitting import fit_on_sample, fit_weighted, fresh_copy, sampler, takes_weights

TotalWeight = Literal["n"] | None


def importance_weights(
    positive: np.ndarray, p: float, total_weight: TotalWeight = None, row_weights: np.ndarray | None = None
) -> np.ndarray:
    """Return the importance weights i_p(y): (1-p)/p for positive rows and 1 for the others.

    The best classifier under these weights predicts 1 exactly where D(1|x) > p (Langford & Zadrozny 2005, Corollary 1).

    Parameters
    ----------
    positive : ndarray of shape (n_rows,), dtype bool
        Whether each row is positive.
    p : float
        Threshold, within (0, 1).
    total_weight : {None, "n"}, default=None
        None leaves the weights as printed. ``"n"`` rescales them to sum to the number of rows, so that a regularised
        learner sees the same amount of data for every p. With ``row_weights`` they sum to the sum of ``row_weights``.
    row_weights : ndarray of shape (n_rows,), default=None
        Weights of the rows, multiplied with i_p. None means equal weights.

    Returns
    -------
    ndarray of shape (n_rows,), dtype float64
        The weights, in the order of the rows.
    """
    weights = np.where(positive, (1 - p) / p, 1.0)
    total: float = len(weights)
    if row_weights is not None:
        weights, total = weights * row_weights, row_weights.sum()
    return weights if total_weight is None else weights * (total / weights.sum())


def class_weights(positive: np.ndarray, p: float, total_weight: TotalWeight = None) -> tuple[float, float]:
    """Return the values of ``importance_weights`` for each class, exact to the last bit.

    Row weights multiply these values. With ``total_weight="n"`` the order of the factors would then change the last
    bit.

    Parameters
    ----------
    positive : ndarray of shape (n_rows,), dtype bool
        Whether each row is positive.
    p : float
        Threshold, within (0, 1).
    total_weight : {None, "n"}, default=None
        As in ``importance_weights``.

    Returns
    -------
    tuple of (float, float)
        Weights of a negative and of a positive row.
    """
    ratio = (1 - p) / p
    if total_weight is None:
        return 1.0, ratio
    scale = len(positive) / float(np.where(positive, ratio, 1.0).sum())
    return scale, ratio * scale


def rejection_sample(weights: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Draw one rejection sample, which keeps row i with probability w_i / Z.

    Z is the largest weight, the smallest valid value, so that no row is dropped without need (Zadrozny, Langford & Abe
    2003, section 2.3).

    Parameters
    ----------
    weights : ndarray of shape (n_rows,)
        Weights of the rows, not negative.
    random : Generator
        Source of the random numbers.

    Returns
    -------
    ndarray of shape (n_kept,), dtype int
        Row numbers, rising. No row is repeated.
    """
    return np.flatnonzero(random.random(len(weights)) * weights.max() < weights)


class MajorityVote:
    """Predict the majority label of classifiers (Zadrozny, Langford & Abe 2003, section 2.3.2).

    Parameters
    ----------
    classifiers : list of classifiers
        Fitted classifiers.
    classes : ndarray of shape (2,)
        The two labels. The second is predicted if more than half of the classifiers predict it, and the first
        otherwise.

    Attributes
    ----------
    classifiers : list of classifiers
        The classifiers given.
    classes_ : ndarray of shape (2,)
        The two labels.
    """

    def __init__(self, classifiers: list[Any], classes: np.ndarray) -> None:
        self.classifiers, self.classes_ = classifiers, classes

    def predict(self, X: Any) -> np.ndarray:
        """Predict the majority label of each row.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_rows, n_columns)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n_rows,)
            Labels.
        """
        votes = np.sum([predicted_classes(one, X, self.classes_) for one in self.classifiers], axis=0)
        labels: np.ndarray = self.classes_[(2 * votes > len(self.classifiers)).astype(np.int64)]
        return labels


Weighting = Literal["auto", "weight", "rejection", "costing"]


@dataclass(frozen=True, eq=False)
class WeightedTraining:
    """Train on the rows weighted by i_p: steps 2(d) and 2(e) of Algorithm 1.

    Parameters
    ----------
    estimator : classifier
        Unfitted. A copy is fitted for each threshold.
    X : array-like or DataFrame of shape (n_rows, n_columns)
        Training rows.
    labels : ndarray of shape (n_rows,)
        Labels, each one of ``classes``.
    classes : ndarray of shape (2,)
        The two labels. The second is positive.
    row_weights : ndarray of shape (n_rows,) or None
        Weights of the rows, multiplied with i_p.
    weighting : {"weight", "rejection", "costing"}
        As in ``ProbingClassifier``, but not ``"auto"``.
    total_weight : {None, "n"}
        As in ``ProbingClassifier``.
    n_samples : int
        Rejection samples per threshold with ``weighting="costing"``.
    stream : tuple of int
        Numbers that seed the random stream of every threshold.
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
        """Return whether the learner's weights are exactly those of ``class_weights`` times ``row_weights``.

        Returns
        -------
        bool
            True with ``weighting="weight"``, unless both ``row_weights`` and ``total_weight`` are given.
        """
        return self.weighting == "weight" and (self.row_weights is None or self.total_weight is None)

    def class_weights(self, p: float) -> tuple[float, float]:
        """Return the factors by which a threshold multiplies the row weights of each class.

        Parameters
        ----------
        p : float
            Threshold, within (0, 1).

        Returns
        -------
        tuple of (float, float)
            Factors in the order of ``classes``.
        """
        return class_weights(self.labels == self.classes[1], p, self.total_weight)

    @cached_property
    def _sample(self) -> Callable[[np.ndarray], Any]:
        return sampler(self.estimator, self.X)

    def _on_sample(self, weights: np.ndarray, random: np.random.Generator) -> Any:
        classifier = fresh_copy(self.estimator, random)
        rows = rejection_sample(weights, random)
        return fit_on_sample(classifier, self._sample(rows), self.labels[rows])


def is_linear(estimator: Any) -> bool:
    """Return whether the boundary of a classifier is known to be a plane.

    Parameters
    ----------
    estimator : classifier
        For a Pipeline, its last step decides.

    Returns
    -------
    bool
        True for scikit-learn's linear classifiers, and for a learner with ``kernel="linear"``.
    """
    learner = last_step(estimator)
    return isinstance(learner, LinearClassifierMixin) or getattr(learner, "kernel", None) == "linear"


def random_stream(stream: tuple[int, ...], p: float) -> np.random.Generator:
    """Return the random generator of a threshold.

    It does not depend on the order or place of fitting.

    Parameters
    ----------
    stream : tuple of int
        Numbers that seed the generators of all thresholds.
    p : float
        Threshold. Only its first 12 digits count, because the last ones may differ between machines.

    Returns
    -------
    Generator
        The generator of NumPy.
    """
    # only leading digits of p: the last may differ between machines, and the stream must not
    return np.random.default_rng([*stream, *f"{p:.12g}".encode()])


def check_weights_accepted(method: Any) -> None:
    """Check that a method gives weights only to an estimator that takes them.

    Parameters
    ----------
    method : ProbabilityMethod
        Has ``weighting`` and ``estimator``.

    Raises
    ------
    ValueError
        If ``weighting`` is ``"weight"`` and the estimator takes no weights.
    """
    if method.weighting == "weight" and not takes_weights(method.estimator):
        raise ValueError(
            f"{type(method.estimator).__name__}.fit takes no sample_weight; use weighting='rejection' or 'auto'"
        )
