"""How a method fits its base learner: copies with seeds of their own, weights, samples of one class.

One fit of a learner for all methods that would fit it alike on the same rows.

Weights of classes that a learner brings along, which defeat methods that choose them.
"""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.dummy import DummyClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.validation import has_fit_parameter

from probcal._validation import open_seeds, take_rows

_MOST = 2
"""Fits that are kept: cells come learner by learner, and a forest is large."""


class SharedFits:
    """The fits on one set of training rows, without weights, each by the class and the parameters of its learner.

    Rows are known by being the same object, so that a sample of them is never taken for all. What the fit warned of is
    warned of anew each time it is used: no method can tell whether it was the first.
    """

    def __init__(self) -> None:
        self._kept: dict[tuple[bytes, bytes], _Fit] = {}
        self._X: Any = None
        self._y: np.ndarray | None = None

    @contextmanager
    def of_rows(self, X: Any, y: np.ndarray) -> Iterator[None]:
        """Within it, ``fit_or_shared`` uses these fits, for the learner's fit on all rows of ``X``."""
        self._X, self._y = X, y
        token = _ACTIVE.set(self)
        try:
            yield
        finally:
            _ACTIVE.reset(token)
            self._X = self._y = None

    def fitted(self, estimator: BaseEstimator, X: Any, labels: np.ndarray) -> BaseEstimator:
        """``estimator`` fitted on X and ``labels``, or another one that was fitted alike."""
        learner = _known_by(estimator) if X is self._X and np.array_equal(labels, self._y) else None  # type: ignore[arg-type]  # None is equal to no array
        if learner is None:
            return estimator.fit(X, labels)
        key = labels.tobytes(), learner
        if key not in self._kept:
            given: list[warnings.WarningMessage] = []
            try:
                with warnings.catch_warnings(record=True) as given:
                    warnings.simplefilter("always")
                    estimator.fit(X, labels)
            except Exception:
                _warn(given)
                raise
            self._kept[key] = _Fit(estimator, given)
            for old in list(self._kept)[:-_MOST]:
                del self._kept[old]
        found = self._kept[key]
        _warn(found.warned)
        return found.estimator


class _Fit(NamedTuple):
    estimator: BaseEstimator
    warned: list[warnings.WarningMessage]


def _warn(of: list[warnings.WarningMessage]) -> None:
    for one in of:
        warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)


_ACTIVE: ContextVar[SharedFits | None] = ContextVar("shared fits", default=None)


def fit_or_shared(estimator: BaseEstimator, X: Any, labels: np.ndarray) -> BaseEstimator:
    """``estimator.fit(X, labels)``, or a fit that nothing would tell from it, where one is at hand."""
    shared = _ACTIVE.get()
    return estimator.fit(X, labels) if shared is None else shared.fitted(estimator, X, labels)


def _known_by(estimator: BaseEstimator) -> bytes | None:
    """The class and the parameters as they would be stored; None where these cannot tell one fit from another."""
    if open_seeds(estimator):
        return None
    kind, parameters = type(estimator), sorted(estimator.get_params(deep=True).items(), key=lambda one: one[0])
    try:
        return pickle.dumps((kind.__module__, kind.__qualname__, parameters))
    except (pickle.PicklingError, AttributeError, TypeError):  # such as a function without a name
        return None


def drawn_seed(random_state: int | np.random.RandomState | np.random.Generator | None) -> int:
    """A seed to derive streams from: the number itself, or one drawn from a generator. ValueError for anything else."""
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    if not isinstance(random_state, np.random.RandomState | np.random.Generator | None):
        raise ValueError(f"random_state must be a whole number, a generator or None, not {random_state!r}")
    source = random_state if random_state is not None else np.random.default_rng()
    draw = source.randint if isinstance(source, np.random.RandomState) else source.integers
    return int(draw(2**31 - 1))


def fresh_copy(estimator: BaseEstimator, random: np.random.Generator) -> BaseEstimator:
    """An unfitted copy; every ``random_state`` left None, nested ones too, is drawn from ``random``."""
    copy = clone(estimator)
    seeds = {name: int(random.integers(2**31 - 1)) for name in open_seeds(copy)}
    return copy.set_params(**seeds) if seeds else copy


def takes_weights(estimator: BaseEstimator) -> bool:
    """Whether ``fit_weighted`` can hand weights to ``estimator``."""
    return weights_parameter(estimator) is not None


def fit_weighted(estimator: BaseEstimator, X: Any, labels: np.ndarray, weights: np.ndarray | None) -> BaseEstimator:
    """Fit with ``weights``, (n_rows,), or without where None.

    A Pipeline hands them to its last step. Returns ``estimator``, or one that was fitted alike where a run shares fits
    between its methods. Raises ValueError where the estimator takes none.
    """
    if weights is None:
        return fit_or_shared(estimator, X, labels)
    name = weights_parameter(estimator)
    if name is None:
        raise ValueError(f"{type(estimator).__name__} cannot be fitted with weights: its fit takes no sample_weight")
    return estimator.fit(X, labels, **{name: weights})


def refuse_frozen(estimator: BaseEstimator) -> None:
    """Raises ValueError for an estimator that a method would fit many times and that is never fitted anew."""
    if isinstance(estimator, FrozenEstimator):
        raise ValueError("a FrozenEstimator is never fitted again, and this method fits its learner many times")


def fit_on_sample(
    estimator: BaseEstimator, X: Any, labels: np.ndarray, weights: np.ndarray | None = None
) -> BaseEstimator:
    """``fit_weighted``, where a sample that holds one class only gives the constant classifier of that class."""
    if (labels == labels[0]).all():
        return DummyClassifier(strategy="most_frequent").fit(np.zeros((len(labels), 1)), labels)
    return fit_weighted(estimator, X, labels, weights)


def sampler(estimator: BaseEstimator, X: Any) -> Callable[[np.ndarray], Any]:
    """A function of row numbers to what ``estimator`` is fitted on for the sample of these rows of ``X``.

    An estimator with a method ``sort_columns`` gets what that makes of ``X`` once, cut down by its ``take``.
    """
    sort_columns = getattr(estimator, "sort_columns", None)
    return partial(take_rows, X) if sort_columns is None else sort_columns(X).take


def weights_parameter(estimator: BaseEstimator) -> str | None:
    """The parameter of ``estimator.fit`` that brings weights to the classifier; None where there is none."""
    if getattr(estimator, "hands_weights_on", False) and not takes_weights(estimator.estimator):
        return None  # a method of ours takes them in its fit, and has nobody to give them to
    if has_fit_parameter(estimator, "sample_weight") or isinstance(estimator, FrozenEstimator):
        return "sample_weight"  # a frozen estimator is not fitted, with weights or without
    # empty unless metadata routing is switched on, when whoever asked for weights gets them by that name
    if get_routing_for_object(estimator).consumes(method="fit", params=["sample_weight"]):
        return "sample_weight"
    if isinstance(estimator, Pipeline) and estimator.steps[-1][1] not in (None, "passthrough"):
        step, last = estimator.steps[-1]
        inner = weights_parameter(last)
        return f"{step}__{inner}" if inner else None
    return None


def warn_of_class_weight(method: Any) -> None:
    """UserWarning where the learner of ``method``, or one within it, has a ``class_weight`` that is not None.

    Of a Pipeline the last step is asked, for steps before it give no labels.
    """
    learner = method.estimator
    while isinstance(learner, Pipeline):
        learner = learner.steps[-1][1]
    parameters = learner.get_params(deep=True) if hasattr(learner, "get_params") else {}
    for name, value in sorted(parameters.items()):
        if name.rpartition("__")[2] == "class_weight" and value is not None:
            warnings.warn(
                f"{type(learner).__name__} has {name}={value!r}: {type(method).__name__} weights or relabels the rows "
                "for a threshold, and weights of the learner's own move it elsewhere, so that the probabilities are "
                f"wrong; set {name}=None",
                UserWarning,
                stacklevel=4,  # of whoever called fit
            )
