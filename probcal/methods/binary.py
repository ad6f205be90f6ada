"""What every method here needs from a two-class training set and a base learner."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.dummy import DummyClassifier
from sklearn.utils.validation import check_consistent_length, column_or_1d


def is_count(value: Any) -> bool:
    """Whether ``value`` is a whole number from 1; True and False are not."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and value >= 1


def is_range(clip: Any) -> bool:
    """Whether ``clip`` is two rising numbers within [0, 1]."""
    try:
        low, high = clip
        return bool(0 <= low < high <= 1)
    except (TypeError, ValueError):
        return False


def two_classes(X: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
    """(labels, classes): y as (n_rows,) array and its two labels in sorted order.

    Raises ValueError when X and y differ in length, a label is missing, or there are not two classes.
    """
    check_consistent_length(X, y)
    labels = column_or_1d(y)
    missing = pd.isna(labels)
    if missing.any():
        raise ValueError(f"{int(missing.sum())} of {len(labels)} labels are missing; remove those rows first")
    classes = np.unique(labels)
    if len(classes) != 2:
        raise ValueError(f"two classes are needed, y holds {len(classes)}: {classes[:5].tolist()}")
    return labels, classes


def likelier_class(method: ClassifierMixin, X: Any) -> np.ndarray:
    """(n_rows,) labels: the second class where its estimated probability is above one half."""
    p = method.predict_proba(X)[:, 1]
    return method.classes_[(p > 0.5).astype(int)]


def fresh_copy(estimator: BaseEstimator, random: np.random.Generator) -> BaseEstimator:
    """An unfitted copy; every ``random_state`` left None, nested ones too, is drawn from ``random``."""
    copy = clone(estimator)
    seeds = {
        name: int(random.integers(2**31 - 1))
        for name, value in sorted(copy.get_params(deep=True).items())
        if value is None and (name == "random_state" or name.endswith("__random_state"))
    }
    return copy.set_params(**seeds) if seeds else copy


def fit_on_sample(estimator: BaseEstimator, X: Any, labels: np.ndarray) -> BaseEstimator:
    """Fit, where a sample that holds one class only gives the constant classifier of that class."""
    if (labels == labels[0]).all():
        return DummyClassifier(strategy="most_frequent").fit(np.zeros((len(labels), 1)), labels)
    return estimator.fit(X, labels)


def two_columns(p: np.ndarray) -> np.ndarray:
    """(n_rows, 2) probabilities from the (n_rows,) probabilities of the second class."""
    return np.column_stack([1 - p, p])


def drawn_seed(random_state: int | np.random.RandomState | None) -> int:
    """A seed to derive streams from: the number itself, or one drawn from a generator."""
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    source = random_state if random_state is not None else np.random.default_rng()
    draw = source.randint if isinstance(source, np.random.RandomState) else source.integers
    return int(draw(2**31 - 1))
