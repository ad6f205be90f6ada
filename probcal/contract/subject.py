"""The component under test, and what the checks ask of it again and again."""

from __future__ import annotations

from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from sklearn.utils.validation import has_fit_parameter

from probcal.contract.samples import Sample, sample
from probcal.contract.seeds import seeded
from probcal.contract.verdict import DoesNotApply

ROUNDING = 1e-6
"""Two ways to the same minimum, or a sum in another order, may differ by as much."""
_SEEDS = (1, 2, 3)
_NOISES = 3


class Subject:
    """One learner or method: an unfitted estimator, of which every fit is a fresh copy."""

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    @property
    def is_method(self) -> bool:
        """Whether it is fitted around a learner, its parameter ``estimator``."""
        return hasattr(self.estimator.get_params(deep=False).get("estimator"), "fit")

    def fitted(self, data: Sample, weights: np.ndarray | None = None, *, seed: int = 0) -> Any:
        """A fresh copy, fitted."""
        return fit(seeded(self.estimator, seed), data.X, data.y, data.asked, weights)

    def estimates(self, data: Sample, weights: np.ndarray | None = None, *, seed: int = 0) -> np.ndarray:
        """(n_asked, n_classes) of a fresh fit, see :func:`estimates_of`."""
        return estimates_of(self.fitted(data, weights, seed=seed), data.asked)

    @cached_property
    def noise(self) -> float:
        """By how much the estimates differ, at most, between three seeds; 0 where nothing is drawn."""
        several = [self.estimates(sample(), seed=seed) for seed in _SEEDS]
        return max(float(np.abs(one - other).max()) for one, other in combinations(several, 2))

    @property
    def tolerance(self) -> float:
        """How far two fits may lie apart that ought to agree, though they may draw other numbers.

        Who draws, draws other rows when the rows come in another order or number, even under the same seed. So
        nobody can ask for equality; but what is drawn anew must not move an estimate by more than another
        seed does. Three times the largest difference between three seeds leaves room for an unlucky draw. A
        component that draws nothing has rounding alone.
        """
        return max(ROUNDING, _NOISES * self.noise)

    @cached_property
    def repeats_itself(self) -> bool:
        """Whether two fits under one seed give the same estimates to the last bit."""
        return np.array_equal(self.estimates(sample()), self.estimates(sample()))

    def needs_to_repeat_itself(self) -> None:
        """Keeps a check of exact equality from telling once more what the check of the seed tells."""
        if not self.repeats_itself:
            raise DoesNotApply("two fits under the same seed differ already, or give NaN")

    @cached_property
    def fault_of_three_classes(self) -> Exception | None:
        """What a fit to three classes raises; None where they are learned."""
        try:
            self.fitted(sample(3))
        except Exception as error:  # the check of three classes tells it
            return error
        return None

    def samples(self) -> list[Sample]:
        """Two classes, and three where the component takes them."""
        return [sample(2)] if self.fault_of_three_classes else [sample(2), sample(3)]

    def needs_weights(self) -> None:
        """Ends a check of weights where ``fit`` takes none, or where they are refused as such."""
        if not has_fit_parameter(self.estimator, "sample_weight"):
            raise DoesNotApply("fit takes no sample_weight")
        data = sample()
        try:
            self.fitted(data, np.ones(len(data.y)))
        except ValueError as error:
            if "weight" not in str(error).lower():
                raise
            raise DoesNotApply(f"weights are refused: {error}") from None


def fit(estimator: Any, X: Any, y: Any, asked: Any, weights: Any = None) -> Any:
    """``estimator``, fitted, whatever ``fit`` returns; with ``needs_test_rows`` it gets the rows asked about."""
    also = {} if weights is None else {"sample_weight": weights}
    if getattr(estimator, "needs_test_rows", False):
        also["X_test"] = asked
    estimator.fit(X, y, **also)
    return estimator


def estimates_of(fitted: Any, X: Any) -> np.ndarray:
    """(n_rows, n_classes): probabilities, or 1 for the predicted label where there are none; labels rising."""
    classes = np.asarray(fitted.classes_)
    if hasattr(fitted, "predict_proba"):
        return np.asarray(fitted.predict_proba(X))[:, np.argsort(classes)]
    return (np.ravel(fitted.predict(X))[:, None] == np.sort(classes)).astype(np.float64)


def needs_probabilities(fitted: Any) -> None:
    """Ends a check of probabilities where there are none."""
    if not hasattr(fitted, "predict_proba"):
        raise DoesNotApply("there is no predict_proba")


def largest_difference(one: np.ndarray, other: np.ndarray) -> float:
    """The largest absolute difference; infinite where shapes differ or a number is missing on one side only."""
    if one.shape != other.shape or (np.isnan(one) != np.isnan(other)).any():
        return float("inf")
    return float(np.nanmax(np.abs(one - other), initial=0.0))


def how_they_differ(one: np.ndarray, other: np.ndarray) -> str:
    """For messages about estimates that ought to be equal."""
    if one.shape != other.shape:
        return f"their shapes are {one.shape} and {other.shape}"
    missing = np.count_nonzero(np.isnan(one) | np.isnan(other))
    if missing:
        return f"{missing} of {one.size} estimates are NaN"
    return f"they differ by up to {largest_difference(one, other):.3g}"
