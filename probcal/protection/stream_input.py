"""Checks of the inputs of a stream: probabilities, labels, parameters and saved states.

Every message begins with the name of the part.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from probcal._classes import column_names, places_among

SUM_TOLERANCE = 1e-5
"""Tolerance of the sum of a row of probabilities of several classes, which may be rounded."""


def as_number(value: Any) -> float:
    """Return ``value`` as a float, or NaN if it is no number, so that every comparison is False."""
    is_real = isinstance(value, Real) and not isinstance(value, bool)
    if not is_real:
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def is_whole(value: Any, least: float, most: float = math.inf) -> bool:
    """Return whether ``value`` is a whole number from ``least`` to ``most``."""
    return isinstance(value, Integral) and not isinstance(value, bool) and least <= int(value) <= most


def number(value: Any, name: str, least: float, most: float) -> float:
    """Return ``value`` as a float. Raises ValueError unless it is a finite number from ``least`` to ``most``."""
    real = as_number(value)
    if not (math.isfinite(real) and least <= real <= most):
        within = "" if least == -math.inf and most == math.inf else f" within [{least:g}, {most:g}]"
        raise ValueError(f"{name} must be a finite number{within}, not {value!r}")
    return real


def whole(value: Any, name: str, least: int) -> int:
    """Return ``value`` as an int. Raises ValueError unless it is a whole number of at least ``least``."""
    if not is_whole(value, least):
        raise ValueError(f"{name} must be a whole number of at least {least}, not {value!r}")
    return int(value)


def items(values: Any, name: str) -> tuple[Any, ...]:
    """Return the items of ``values`` in order. Raises ValueError for text and for anything without an order."""
    ordered = isinstance(values, Sequence) or (hasattr(values, "__array__") and getattr(values, "ndim", 1) != 0)
    if isinstance(values, str) or not ordered:
        raise ValueError(f"{name} must be a sequence, not {values!r}")
    return tuple(values)


def list_of(value: Any, name: str, length: int) -> list[Any]:
    """Return ``value``. Raises ValueError unless it is a list of that length."""
    if not isinstance(value, list) or len(value) != length:
        raise ValueError(f"{name} must be a list of {length}, not {value!r}")
    return value


def entries(value: Any, name: str, names: Sequence[str]) -> dict[str, Any]:
    """Return ``value``. Raises ValueError unless it is a dict of exactly these entries."""
    if not isinstance(value, dict) or set(value) != set(names):
        actual = f"those of {list(value)}" if isinstance(value, dict) else repr(value)
        raise ValueError(f"{name} must have the entries {', '.join(names)}, not {actual}")
    return value


_MOST_ROWS = 10**15
_LABEL_TYPES = (int, Real, np.bool_)


def stream(p: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return ``p``, (n,) or (n, n_classes), and ``y``, (n,), as numeric arrays. Raises ValueError for other shapes."""
    names = column_names(p)
    columns = places_among(names, range(len(names)))
    p, y = numbers(p, "p"), numbers(y, "y")
    if names and -1 not in columns:  # a frame whose columns are named after the classes
        p = p[:, columns]
    if y.ndim != 1 or p.ndim not in (1, 2) or len(p) != len(y):
        shapes = f"{p.shape} and {y.shape}"
        raise ValueError(f"p must be of shape (n,) or (n, n_classes), and y of shape (n,) with equal n, not {shapes}")
    if p.ndim == 2 and p.shape[1] < 3:
        raise ValueError("with two classes p must be of shape (n,), the probabilities P(y = 1); try p[:, 1]")
    return p, y


def one_row(p: Any) -> np.ndarray:
    """Return ``p``, () or (n_classes,), as an array of one row in the shape that ``stream`` returns."""
    return stream(numbers(p, "p")[None], [0])[0]


def numbers(values: Any, name: str) -> np.ndarray:
    """Return ``values`` as a numeric array. Raises ValueError for other values and for masked ones."""
    array = np.asarray(values)
    if array.dtype == object and all(isinstance(value, Real | np.bool_) for value in array.flat):
        array = array.astype(np.float64)
    if array.dtype.kind not in "biuf" or np.ma.is_masked(values):
        raise ValueError(f"{name} must hold numbers, and no missing values")
    return array


def rows(p: np.ndarray, y: np.ndarray, truncation: float | None, first: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the truncated base probabilities, and the labels as whole numbers.

    ``first`` is the number of the first row, for messages. Raises ValueError for invalid probabilities or labels, and
    for a label of base probability 0.
    """
    base, n_classes = base_probabilities(p, truncation, first), classes_of(p)
    possible = (y >= 0) & (y < n_classes)
    labels = np.where(possible, y, 0).astype(np.int64)
    _refuse(~possible | (labels != y), y, f"y must hold the whole numbers 0 to {n_classes - 1} only", first)
    _refuse(
        likelihood(base, labels, n_classes) == 0,
        y,
        "the base gives the label probability 0, so the likelihood ratio would be 0/0; give a truncation",
        first,
    )
    return base, labels


def classes_of(p: float | np.ndarray) -> int:
    """Return 2 for probabilities P(y = 1), a float or (n,), and otherwise the number of columns of ``p``."""
    return 2 if isinstance(p, float) or p.ndim == 1 else p.shape[1]


def check_label(y: Any, n_classes: int) -> None:
    """Raise ValueError unless ``y`` is a whole number from 0 to ``n_classes`` - 1."""
    if not isinstance(y, _LABEL_TYPES) or y not in range(n_classes):
        raise ValueError(f"y must be a whole number from 0 to {n_classes - 1}, not {y!r}")


def base_probabilities(p: np.ndarray, truncation: float | None, first: int) -> np.ndarray:
    """Return the base probabilities, checked, truncated and read-only."""
    p = p.astype(np.float64, copy=False)
    _refuse(~((p >= 0) & (p <= 1)), p, "p must lie within [0, 1], with no missing values", first)
    if p.ndim == 2:
        sums = p.sum(axis=1)
        _refuse(np.abs(sums - 1) > SUM_TOLERANCE, sums, "each row of p must sum to 1", first)
    base = p.view()
    if truncation is not None:
        base = np.clip(p, truncation, 1 - truncation)
        base = base if p.ndim == 1 else base / base.sum(axis=1, keepdims=True)
    # without truncation these are the numbers of the caller
    base.flags.writeable = False
    return base


def likelihood(p: np.ndarray, y: np.ndarray, n_classes: int) -> np.ndarray:
    """Return B_p({y}), (n,) or (n, n_calibrators).

    ``p`` has that shape, and a last axis of classes if there are more than two.
    """
    if n_classes == 2:
        likelihoods = p - (1.0 - y).reshape(-1, *[1] * (p.ndim - 1))
        return np.abs(likelihoods, out=likelihoods)  # p where y is 1, and 1 - p where it is 0
    return np.take_along_axis(p, y.reshape(-1, *[1] * (p.ndim - 1)), axis=-1)[..., 0]


def check_feedback(delay: int, every: int) -> None:
    """Raise ValueError unless ``delay`` is a whole number of at least 0 and ``every`` one of at least 1."""
    for value, name, least in ((delay, "delay", 0), (every, "every", 1)):
        if not is_whole(value, least, _MOST_ROWS):
            raise ValueError(f"{name} must be a whole number of at least {least} and at most 10^15, not {value!r}")


def check_capital(is_left: bool) -> None:
    """Raise ValueError if no capital is left after a label."""
    if not is_left:
        raise ValueError(
            "all capital is on calibrators that give a label probability 0; add the identity to the calibrators"
        )


def _refuse(bad: np.ndarray, values: np.ndarray, rule: str, first: int) -> None:
    if bad.any():
        where = np.unravel_index(int(np.argmax(bad)), bad.shape)
        column = "".join(f", column {column}" for column in where[1:])
        raise ValueError(f"{rule} (row {first + where[0]}{column}: {values[where].item()!r})")


LEAST_JUMP_RATE = 1e-12
"""A smaller rate would jump in no row of any stream, and finally could not be a float."""


class CheckedParameters(NamedTuple):
    """Hold the numeric parameters of a Jumper as floats."""

    jump_rates: tuple[float, ...]
    passive_weight: float
    truncation: float | None


def check_parameters(jump_rates: Any, passive_weight: Any, start: Any, truncation: Any) -> CheckedParameters:
    """Return the numeric parameters. Raises ValueError for an invalid parameter."""
    rates = items(jump_rates, "jump_rates")
    if not rates:
        raise ValueError("jump_rates must hold at least one jump rate")
    for rate in rates:
        if not LEAST_JUMP_RATE <= as_number(rate) <= 1:
            raise ValueError(f"a jump rate must be a number from {LEAST_JUMP_RATE:g} to 1, not {rate!r}")
    if start not in ("uniform", "first"):
        raise ValueError(f"start must be 'uniform' or 'first', not {start!r}")
    weight = as_number(passive_weight)
    if not 0 <= weight < 1:
        raise ValueError(f"passive_weight must be a number of at least 0 and below 1, not {passive_weight!r}")
    least = None
    if truncation is not None:
        least = as_number(truncation)
        if not 0.5 < 1 - least < 1:
            raise ValueError(
                "truncation must be None or a number between 0 and .5, large enough that 1 - truncation is not 1"
                f" (1e-15 is), not {truncation!r}"
            )
    return CheckedParameters(tuple(map(as_number, rates)), weight, least)
