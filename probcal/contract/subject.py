"""The component under test, the small data sets of the checks, and the outcomes of a check."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any
from unittest import SkipTest

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.validation import has_fit_parameter

_COLUMNS = 4


@dataclass
class Sample:
    """Hold training rows, (n_rows, 4), their labels 0, 1, ..., (n_rows,), and test rows, (n_test, 4)."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray


def sample(n_classes: int = 2, n_rows: int = 90, n_test: int = 40) -> Sample:
    """Return overlapping classes, so that no prediction must be 0 or 1, with unsorted labels.

    Each call returns an equal fresh copy.
    """
    random = np.random.default_rng(n_classes)
    X = random.normal(size=(n_rows, _COLUMNS))
    noise = random.logistic(scale=0.7, size=n_rows)
    score = X[:, 0] + 0.7 * X[:, 1] + noise
    y = np.searchsorted(np.quantile(score, np.arange(1, n_classes) / n_classes), score)
    return Sample(X, y, random.normal(size=(n_test, _COLUMNS)))


def integer_weights(n_rows: int) -> np.ndarray:
    """Return unsorted weights of 1, 2 and 3, (n_rows,)."""
    return np.random.default_rng(11).integers(1, 4, n_rows).astype(np.float64)


_FOLDS = 5


def seeded_copy(estimator: Any, seed: int) -> Any:
    """Return an unfitted copy with every ``random_state``, nested ones too, drawn from ``seed``.

    Folds that depend on the row order are random too, although no seed decides them. A component with a ``cv`` that is
    a number or None, and without a ``random_state`` next to it, gets shuffled folds.
    """
    copy, random = clone(estimator), np.random.default_rng(seed)
    params = copy.get_params(deep=True)
    new_params: dict[str, Any] = {}
    # sorted, so that the seeds do not depend on the order in which a class names its parameters
    for name, value in sorted(params.items()):
        prefix, _, key = name.rpartition("__")
        seed_name = f"{prefix}__random_state" if prefix else "random_state"
        if key == "random_state":
            new_params[name] = int(random.integers(2**31 - 1))
        elif key == "cv" and seed_name not in params and (value is None or type(value) is int):
            new_params[name] = StratifiedKFold(
                value or _FOLDS, shuffle=True, random_state=int(random.integers(2**31 - 1))
            )
    return copy.set_params(**new_params)


class Failed(AssertionError):
    """Report that a check failed. The message holds what was expected, what happened, and what to do.

    Parameters
    ----------
    expected : str
        What was expected.
    actual : str
        What happened.
    advice : str
        What to do.
    """

    def __init__(self, expected: str, actual: str, advice: str) -> None:
        super().__init__(f"expected {expected}; {actual}; {advice}")


class DoesNotApply(SkipTest):
    """Report that the check does not apply to the component, for the given reason. pytest shows it as skipped."""


ROUNDING = 1e-6
"""Largest difference between two ways to the same minimum, or two orders of a sum."""
_SEEDS = (1, 2, 3, 4)
_NOISE_FACTOR = 3


class Subject:
    """Hold one unfitted learner or method. Every fit is a fit of a fresh copy."""

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    @property
    def is_method(self) -> bool:
        """Return whether it is a method: fitted around a learner, its parameter ``estimator``."""
        return hasattr(self.estimator.get_params(deep=False).get("estimator"), "fit")

    def fitted_copy(
        self, data: Sample, weights: np.ndarray | None = None, *, seed: int = 0, counts: bool = False
    ) -> Any:
        """Return a fresh fitted copy. With ``counts`` the weights say how often each row occurs."""
        return fit(seeded_copy(self.estimator, seed), data.X, data.y, data.X_test, weights, counts=counts)

    def predictions(
        self, data: Sample, weights: np.ndarray | None = None, *, seed: int = 0, counts: bool = False
    ) -> np.ndarray:
        """Return the predictions of a fresh fit, (n_test, n_classes), see :func:`predictions_of`."""
        return predictions_of(self.fitted_copy(data, weights, seed=seed, counts=counts), data.X_test)

    @cached_property
    def noise(self) -> float:
        """Return the largest difference between the predictions of four seeds. It is 0 if nothing is drawn."""
        predictions = [self.predictions(sample(), seed=seed) for seed in _SEEDS]
        return max(float(np.abs(first - second).max()) for first, second in combinations(predictions, 2))

    @property
    def tolerance(self) -> float:
        """Return the largest accepted difference between two fits that should agree, but may draw other numbers.

        A component that draws rows draws others if the rows have another order or number, even with the same seed. So
        equality cannot be required. But new draws must not change a prediction by more than another seed does. Three
        times the largest difference between four seeds leaves room for an unlucky draw. For a component that draws
        nothing only rounding is left.
        """
        return max(ROUNDING, _NOISE_FACTOR * self.noise)

    @cached_property
    def is_repeatable(self) -> bool:
        """Return whether two fits with one seed give the same predictions to the last bit."""
        return np.array_equal(self.predictions(sample()), self.predictions(sample()))

    def require_repeatable(self) -> None:
        """Raise DoesNotApply unless the component is repeatable. The check of the seed already reports that."""
        if not self.is_repeatable:
            raise DoesNotApply("two fits with the same seed differ, or give NaN")

    @cached_property
    def three_class_error(self) -> Exception | None:
        """Return what a fit to three classes raises, or None."""
        try:
            self.fitted_copy(sample(3))
        except Exception as error:  # the check of three classes reports it
            return error
        return None

    def samples(self) -> list[Sample]:
        """Return two classes, and three if the component supports them."""
        return [sample(2)] if self.three_class_error else [sample(2), sample(3)]

    def require_weights(self) -> None:
        """Raise DoesNotApply if ``fit`` takes no weights, or rejects them as such."""
        if not has_fit_parameter(self.estimator, "sample_weight"):
            raise DoesNotApply("fit takes no sample_weight")
        data = sample()
        try:
            self.fitted_copy(data, np.ones(len(data.y)))
        except ValueError as error:
            if "weight" not in str(error).lower():
                raise
            raise DoesNotApply(f"weights are refused: {error}") from None


def fit(estimator: Any, X: Any, y: Any, X_test: Any, weights: Any = None, *, counts: bool = False) -> Any:
    """Return ``estimator``, fitted, whatever ``fit`` returns. With ``needs_test_rows`` it also gets the test rows.

    ``counts``: the weights say how often each row occurs. An estimator with ``frequency_weights`` is told so.
    """
    fit_params = {} if weights is None else {"sample_weight": weights}
    if counts and has_fit_parameter(estimator, "frequency_weights"):
        fit_params["frequency_weights"] = True
    if getattr(estimator, "needs_test_rows", False):
        fit_params["X_test"] = X_test
    estimator.fit(X, y, **fit_params)
    return estimator


def predictions_of(model: Any, X: Any) -> np.ndarray:
    """Return probabilities, (n_rows, n_classes), or 1 for the predicted label if there are none.

    Columns have sorted labels.
    """
    classes = np.asarray(model.classes_)
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(X))[:, np.argsort(classes)]
    indicators: np.ndarray = (np.ravel(model.predict(X))[:, None] == np.sort(classes)).astype(np.float64)
    return indicators


def require_probabilities(model: Any) -> None:
    """Raise DoesNotApply if there are no probabilities."""
    if not hasattr(model, "predict_proba"):
        raise DoesNotApply("it has no predict_proba")


def largest_difference(first: np.ndarray, second: np.ndarray) -> float:
    """Return the largest absolute difference. It is infinite if shapes differ or a NaN is on one side only."""
    if first.shape != second.shape or (np.isnan(first) != np.isnan(second)).any():
        return float("inf")
    # ``initial`` serves empty arrays, of which there is no maximum.
    return float(np.nanmax(np.abs(first - second), initial=0.0))


def require_equal(
    first: np.ndarray, second: np.ndarray, expectation: str, advice: str, *, tolerance: float = 0.0, prefix: str = ""
) -> None:
    """Raise Failed if two arrays of predictions differ by more than ``tolerance``. ``prefix`` begins the message.

    Without a tolerance a NaN is equal to nothing.
    """
    if largest_difference(first, second) > tolerance if tolerance else not np.array_equal(first, second):
        raise Failed(expectation, prefix + _difference_text(first, second), advice)


def _difference_text(first: np.ndarray, second: np.ndarray) -> str:
    if first.shape != second.shape:
        return f"their shapes are {first.shape} and {second.shape}"
    n_missing = np.count_nonzero(np.isnan(first) | np.isnan(second))
    if n_missing:
        return f"{n_missing} of {first.size} predictions are NaN"
    return f"they differ by up to {largest_difference(first, second):.3g}"
