"""Fit a base learner: copies with their own seeds, weights, and samples of one class."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.dummy import DummyClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.validation import has_fit_parameter

from probcal._learner_output import last_step, learns_nothing
from probcal._validation import take_rows, unset_seeds
from probcal.methods._shared_fits import fit_or_shared


def drawn_seed(random_state: int | np.random.RandomState | np.random.Generator | None) -> int:
    """Return a seed for random streams: the number itself, or one drawn from a generator.

    Raises ValueError for anything else.
    """
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    if not isinstance(random_state, np.random.RandomState | np.random.Generator | None):
        raise ValueError(f"random_state must be a whole number, a generator or None, not {random_state!r}")
    source = random_state if random_state is not None else np.random.default_rng()
    draw = source.randint if isinstance(source, np.random.RandomState) else source.integers
    return int(draw(2**31 - 1))


def fresh_copy(estimator: BaseEstimator, random: np.random.Generator) -> BaseEstimator:
    """Return an unfitted copy. Every ``random_state`` that is None, nested ones too, is drawn from ``random``."""
    copy = clone(estimator)
    seeds = {name: int(random.integers(2**31 - 1)) for name in unset_seeds(copy)}
    return copy.set_params(**seeds) if seeds else copy


def takes_weights(estimator: BaseEstimator) -> bool:
    """Return whether ``fit_weighted`` can pass weights to ``estimator``."""
    return weights_parameter(estimator) is not None


def fit_weighted(
    estimator: BaseEstimator, X: Any, labels: np.ndarray, weights: np.ndarray | None, rows: np.ndarray | None = None
) -> BaseEstimator:
    """Fit ``estimator`` with ``weights``, (n_rows,), or without if None, on the numbered ``rows`` or on all if None.

    A Pipeline passes them to its last step. Returns ``estimator``, or an equal fit if a run shares fits between
    methods. Raises ValueError if the estimator takes no weights.
    """
    if weights is None:
        return fit_or_shared(estimator, X, labels, rows)
    name = weights_parameter(estimator)
    if name is None:
        raise ValueError(f"{type(estimator).__name__} cannot be fitted with weights: its fit takes no sample_weight")
    if rows is not None:
        X, labels, weights = take_rows(X, rows), labels[rows], weights[rows]
    return estimator.fit(X, labels, **{name: weights})


def refuse_frozen(estimator: BaseEstimator) -> None:
    """Raise ValueError for a FrozenEstimator or a PrefitClassifier, because the method would fit it many times."""
    if learns_nothing(estimator):
        instead = "the unfrozen learner" if isinstance(estimator, FrozenEstimator) else "a learner that can be fitted"
        raise ValueError(
            f"a {type(estimator).__name__} cannot be fitted, and this method fits its learner many times; give "
            f"{instead}"
        )


def fit_on_sample(
    estimator: BaseEstimator, X: Any, labels: np.ndarray, weights: np.ndarray | None = None
) -> BaseEstimator:
    """Fit as ``fit_weighted`` does. A sample of one class gives the constant classifier of that class."""
    if (labels == labels[0]).all():
        # a constant needs no columns, and X may be of any kind
        return DummyClassifier(strategy="most_frequent").fit(np.zeros((len(labels), 1)), labels)
    return fit_weighted(estimator, X, labels, weights)


def sampler(estimator: BaseEstimator, X: Any) -> Callable[[np.ndarray], Any]:
    """Return a function that maps row numbers to the training data of ``estimator`` for these rows of ``X``.

    If the estimator has a method ``sort_columns``, it is called once on ``X``, and the function is ``take`` of its
    result.
    """
    sort_columns = getattr(estimator, "sort_columns", None)
    return partial(take_rows, X) if sort_columns is None else sort_columns(X).take


def weights_parameter(estimator: BaseEstimator) -> str | None:
    """Return the parameter of ``estimator.fit`` that passes weights to the classifier, or None."""
    if getattr(estimator, "forwards_sample_weight", False) and not takes_weights(estimator.estimator):
        return None  # this method accepts weights in fit, but cannot pass them on
    if has_fit_parameter(estimator, "sample_weight") or isinstance(estimator, FrozenEstimator):
        return "sample_weight"  # a frozen estimator is not fitted, with or without weights
    # empty unless metadata routing is on. A learner that requested weights then gets them by that name.
    if get_routing_for_object(estimator).consumes(method="fit", params=["sample_weight"]):
        return "sample_weight"
    if isinstance(estimator, Pipeline) and estimator.steps[-1][1] not in (None, "passthrough"):
        step, last = estimator.steps[-1]
        inner = weights_parameter(last)
        return f"{step}__{inner}" if inner else None
    return None


def warn_of_class_weight(method: Any) -> None:
    """Warn with a UserWarning if the learner of ``method``, or a learner inside it, has a ``class_weight``."""
    # the other steps of a Pipeline predict no labels
    learner = last_step(method.estimator)
    parameters = learner.get_params(deep=True) if hasattr(learner, "get_params") else {}
    for name, value in sorted(parameters.items()):
        if name.rpartition("__")[2] == "class_weight" and value is not None:
            warnings.warn(
                f"{type(learner).__name__} has {name}={value!r}: {type(method).__name__} weights or relabels the rows "
                "for each threshold, and the learner's own class weights move that threshold, so the probabilities are "
                f"wrong; set {name}=None",
                UserWarning,
                stacklevel=4,  # the caller of fit
            )
