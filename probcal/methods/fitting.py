"""How a method fits its base learner: copies with seeds of their own, weights, samples of one class."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.dummy import DummyClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.validation import has_fit_parameter

from probcal.methods.shared_fits import fit_or_shared
from probcal.seeds import open_seeds


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
    return partial(_safe_indexing, X) if sort_columns is None else sort_columns(X).take


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
