"""Checks of parameters, and the private functions of scikit-learn that the package uses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from sklearn.utils import _safe_indexing, metaestimators
from sklearn.utils.validation import _num_samples

_Method = TypeVar("_Method", bound=Callable[..., Any])


def available_if(holds: Callable[[Any], bool]) -> Callable[[_Method], _Method]:
    """Return scikit-learn's decorator, with types, of a method that exists only where ``holds`` of its object does."""
    decorator: Callable[[_Method], _Method] = metaestimators.available_if(holds)
    return decorator


def take_rows(X: Any, rows: Any) -> Any:
    """Return the rows of an array, a sparse matrix or a frame. ``rows``: indices, a mask or a slice."""
    return _safe_indexing(X, rows)


def count_rows(X: Any) -> int:
    """Return the number of rows of ``X``. Raises TypeError if it has none."""
    return int(_num_samples(X))


def is_count(value: Any) -> bool:
    """Return whether ``value`` is a whole number from 1. True and False are not."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and int(value) >= 1


def is_range(clip: Any) -> bool:
    """Return whether ``clip`` is two rising numbers within [0, 1]."""
    try:
        low, high = clip
        return bool(0 <= low < high <= 1)
    except (TypeError, ValueError):
        return False


def check_choices(method: Any, choices: dict[str, tuple[Any, ...]]) -> None:
    """Raise ValueError if a parameter of ``method`` is not one of its ``choices``."""
    for name, allowed in choices.items():
        value = getattr(method, name)
        if not any(value is one or (isinstance(value, str) and value == one) for one in allowed):
            raise ValueError(f"{name} must be one of {allowed}, not {value!r}")


def check_clip(clip: Any, *, or_rows: bool = False) -> None:
    """Raise ValueError unless ``clip`` is two rising numbers within [0, 1], or with ``or_rows`` the text "rows"."""
    if not is_range(clip) and not (or_rows and isinstance(clip, str) and clip == "rows"):
        raise ValueError(f"clip must be two rising numbers within [0, 1], not {clip!r}")


def check_counts(method: Any, *names: str) -> None:
    """Raise ValueError unless the parameters ``names`` of ``method`` are whole numbers from 1."""
    for name in names:
        if not is_count(value := getattr(method, name)):
            raise ValueError(f"{name} must be a whole number from 1, not {value!r}")


def check_flag(method: Any, name: str) -> None:
    """Raise ValueError unless the parameter ``name`` of ``method`` is True or False."""
    if not isinstance(value := getattr(method, name), bool | np.bool_):
        raise ValueError(f"{name} must be True or False, not {value!r}")


_WEIGHT_DIGITS = 2.0**40
"""Rescaled weights keep 12 digits, so that weights of any scale become the same numbers: the last digits of a quotient
would decide ties.
"""
_ROUNDING = 1e-12


def fit_weights(weights: np.ndarray, frequency_weights: Any) -> np.ndarray:
    """Return the weights with which a fit counts, (n_rows,): the relative ones, or the given ones if they are counts.

    ``weights`` are finite, not negative and not all 0. Raises ValueError if ``frequency_weights`` is no bool, or if it
    is True and a weight is no whole number.
    """
    if not isinstance(frequency_weights, bool | np.bool_):
        raise ValueError(f"frequency_weights must be True or False, not {frequency_weights!r}")
    if not frequency_weights:
        return relative_weights(weights)
    if len(rows := np.flatnonzero(weights != np.floor(weights))):
        raise ValueError(
            f"frequency_weights=True needs whole weights, which say how often a row occurs, and row {rows[0]} (counted "
            f"from 0) has the weight {weights[rows[0]]:.4g}; leave frequency_weights out for weights of another kind"
        )
    return weights


def relative_weights(weights: np.ndarray) -> np.ndarray:
    """Return the weights, (n_rows,), times a factor that makes 1 the mean of those above 0.

    Only ratios of weights count. The number of rows with a positive weight says how much data there is, whether the
    weights are shares, costs or means of 1. So pseudo-counts, penalties and bounds keep their strength. Kish's
    effective number of rows would also do, but it would change fits with unequal weights of mean 1.

    Weights whose mean is 1 are returned unchanged. Weights w and c w give the same numbers to 12 digits, and to the
    last bit if they are equal or if c is a power of two.
    """
    counted = weights[weights > 0]
    if counted.min() == counted.max():
        return (weights > 0).astype(np.float64)
    scale = int(np.frexp(counted.max())[1])  # no sum of weights below 1 overflows
    mean = float(np.ldexp(counted, -scale).sum()) / len(counted)
    shift = round(float(np.log2(mean)))
    mean, scaled = mean / 2.0**shift, np.ldexp(weights, -scale - shift)
    if abs(mean - 1) <= _ROUNDING:
        return np.asarray(scaled)
    fraction, exponent = np.frexp(scaled / mean)
    return np.asarray(np.ldexp(np.round(fraction * _WEIGHT_DIGITS) / _WEIGHT_DIGITS, exponent))


def unset_seeds(estimator: Any) -> list[str]:
    """Return the parameters ``random_state`` that are None, nested ones too, in sorted order. Every fit draws them
    again.
    """
    return sorted(
        name
        for name, value in estimator.get_params(deep=True).items()
        if value is None and name.rpartition("__")[2] == "random_state"
    )
