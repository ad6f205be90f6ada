"""The component under test, and what the checks ask of it again and again.

The small data sets that the checks use, the same in every call and a fresh copy each time.

Copies of a component that draw from a given seed.

What a check can say besides "passed".

A learner that knows how its frames ought to look.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any
from unittest import SkipTest

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import StratifiedKFold
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.validation import has_fit_parameter

_COLUMNS = 4


@dataclass
class Sample:
    """Rows to learn from, (n_rows, 4) numbers and (n_rows,) labels 0, 1, ..., and rows to ask about."""

    X: np.ndarray
    y: np.ndarray
    asked: np.ndarray


def sample(n_classes: int = 2, n_rows: int = 90, n_asked: int = 40) -> Sample:
    """Classes that overlap, so that no estimate is 0 or 1 by itself, with labels in no order."""
    random = np.random.default_rng(n_classes)
    X = random.normal(size=(n_rows, _COLUMNS))
    noise = random.logistic(scale=0.7, size=n_rows)
    score = X[:, 0] + 0.7 * X[:, 1] + noise
    y = np.searchsorted(np.quantile(score, np.arange(1, n_classes) / n_classes), score)
    return Sample(X, y, random.normal(size=(n_asked, _COLUMNS)))


def contradictory() -> Sample:
    """Every row comes twice, most often under both labels: what a learner says of it is for the weights to decide."""
    half = sample(n_rows=45)
    return Sample(np.vstack([half.X, half.X]), np.concatenate([half.y, np.resize([0, 0, 1], 45)]), half.X)


def frames() -> tuple[pd.DataFrame, np.ndarray, pd.DataFrame]:
    """(X, y, asked) with numbers, categories (one never seen), and an index that does not count from 0."""
    random = np.random.default_rng(5)
    size = random.normal(size=100).round(2)
    colours = pd.Categorical.from_codes(random.integers(0, 3, 100), ["red", "blue", "green", "never seen"])
    frame = pd.DataFrame({"size": size, "colour": colours}, index=np.arange(100)[::-1] * 3 + 1000)
    y = (size + (colours == "red") + random.logistic(size=100) > 0.3).astype(int)
    return frame.iloc[:80], y[:80], frame.iloc[80:]


def integer_weights(n_rows: int) -> np.ndarray:
    """(n_rows,) weights of 1, 2 and 3, in no order."""
    return np.random.default_rng(11).integers(1, 4, n_rows).astype(np.float64)


_FOLDS = 5


def seeded(estimator: Any, seed: int) -> Any:
    """An unfitted copy with every ``random_state``, nested ones too, drawn from ``seed``.

    Folds that are cut by the order of the rows are a draw as well, though not one that a seed decides. A
    component with a ``cv`` that is a number or None, and no ``random_state`` beside it, gets shuffled folds.
    """
    copy, random = clone(estimator), np.random.default_rng(seed)
    given = copy.get_params(deep=True)
    drawn: dict[str, Any] = {}
    for name, value in sorted(given.items()):
        owner, _, last = name.rpartition("__")
        beside = f"{owner}__random_state" if owner else "random_state"
        if last == "random_state":
            drawn[name] = int(random.integers(2**31 - 1))
        elif last == "cv" and beside not in given and (value is None or type(value) is int):
            drawn[name] = StratifiedKFold(value or _FOLDS, shuffle=True, random_state=int(random.integers(2**31 - 1)))
    return copy.set_params(**drawn)


class Failed(AssertionError):
    """A promise is not kept: what was expected, what came, and what to do."""

    def __init__(self, expected: str, came: str, do: str) -> None:
        super().__init__(f"expected {expected}; {came}; {do}")


class DoesNotApply(SkipTest):
    """The component does not make this promise, and why. pytest shows such a check as skipped."""


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


class FrameSpy(ClassifierMixin, BaseEstimator):
    """A small tree on the codes of the categories; raises Failed for a frame that is not some rows of ``known``."""

    def __init__(self, known: pd.DataFrame) -> None:
        self.known = known

    def fit(self, X: pd.DataFrame, y: np.ndarray, sample_weight: np.ndarray | None = None) -> FrameSpy:
        """X: some rows of ``known``, in any order; y: (n_rows,); sample_weight: (n_rows,)."""
        self.tree_ = DecisionTreeClassifier(max_depth=3, random_state=0)
        self.tree_.fit(self._codes(X, "fit"), y, sample_weight)
        self.classes_ = self.tree_.classes_
        return self

    def predict_proba(self, X: pd.DataFrame) -> np.ndarray:
        """(n_rows, n_classes)"""
        return self.tree_.predict_proba(self._codes(X, "predict_proba"))

    def predict(self, X: pd.DataFrame) -> np.ndarray:
        """(n_rows,)"""
        return self.tree_.predict(self._codes(X, "predict"))

    def _codes(self, X: Any, where: str) -> np.ndarray:
        came = _difference(X, self.known)
        if came:
            raise Failed(
                f"the learner's {where} to get rows of the frame that was given",
                came,
                "hand X on as it is; take rows with sklearn.utils._safe_indexing or X.iloc",
            )
        return np.column_stack([X["size"], X["colour"].cat.codes])


def _difference(X: Any, known: pd.DataFrame) -> str:
    """What is not as in ``known``; empty when ``X`` is some of its rows."""
    if not isinstance(X, pd.DataFrame):
        return f"a {type(X).__name__} came"
    if list(X.columns) != list(known.columns):
        return f"the columns {list(X.columns)} came instead of {list(known.columns)}"
    for name in known.columns:
        came, given = X[name].dtype, known[name].dtype
        if came != given:
            return f"the column {name!r} came as {came} instead of {given}, or with other categories"
    if not X.index.isin(known.index).all():
        return "an index came that was not given"
    return "" if X.equals(known.loc[X.index]) else "other values came under the same index"
