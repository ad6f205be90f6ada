"""What a stream is given, checked: base estimates and labels."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from probcal.protection.checks import SUM_TOLERANCE, is_whole

_MOST_ROWS = 10**15


def stream(p: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
    """``p`` (n,) or (n, n_classes) and ``y`` (n,) as arrays of numbers. Raises ValueError for other shapes."""
    p, y = numbers(p, "p"), numbers(y, "y")
    if y.ndim != 1 or p.ndim not in (1, 2) or len(p) != len(y):
        shapes = f"{p.shape} and {y.shape}"
        raise ValueError(f"p must be of shape (n,) or (n, n_classes), and y of shape (n,) with equal n, not {shapes}")
    if p.ndim == 2 and p.shape[1] < 3:
        raise ValueError("with two classes p must be of shape (n,), the estimates of P(y = 1); try p[:, 1]")
    return p, y


def one_row(p: Any) -> np.ndarray:
    """``p`` () or (n_classes,) as an array of one row, in the shape that ``stream`` returns."""
    return stream(numbers(p, "p")[None], [0])[0]


def numbers(values: Any, name: str) -> np.ndarray:
    """``values`` as an array of numbers. Raises ValueError for what is none, and for masked values."""
    array = np.asarray(values)
    if array.dtype == object and all(isinstance(one, Real | np.bool_) for one in array.flat):
        array = array.astype(np.float64)
    if array.dtype.kind not in "biuf" or np.ma.is_masked(values):
        raise ValueError(f"{name} must hold numbers, and no missing values")
    return array


def rows(p: np.ndarray, y: np.ndarray, truncation: float | None, first: int) -> tuple[np.ndarray, np.ndarray]:
    """Truncated base estimates and labels as whole numbers; ``first`` is the number of the first row, for messages.

    Raises ValueError for what is no probability or no label, and for a label that the base holds to be impossible.
    """
    base, n_classes = estimates(p, truncation, first), classes_of(p)
    possible = (y >= 0) & (y < n_classes)
    labels = np.where(possible, y, 0).astype(np.int64)
    _refuse(~possible | (labels != y), y, f"y must hold the whole numbers 0 to {n_classes - 1} only", first)
    _refuse(
        likelihood(base, labels, n_classes) == 0,
        y,
        "the base holds the label to be impossible, so that the likelihood ratio would be 0/0; give a truncation",
        first,
    )
    return base, labels


def classes_of(p: np.ndarray) -> int:
    """2 for estimates of P(y = 1), (n,); else the columns of ``p``."""
    return 2 if p.ndim == 1 else p.shape[1]


def estimates(p: np.ndarray, truncation: float | None, first: int) -> np.ndarray:
    """Base estimates, checked and truncated, as in ``rows``; read-only, for they may be the caller's own."""
    p = p.astype(np.float64, copy=False)
    _refuse(~((p >= 0) & (p <= 1)), p, "p must lie within [0, 1], with no missing values", first)
    if p.ndim == 2:
        sums = p.sum(axis=1)
        _refuse(np.abs(sums - 1) > SUM_TOLERANCE, sums, "each row of p must sum to 1", first)
    base = p.view()
    if truncation is not None:
        base = np.clip(p, truncation, 1 - truncation)
        base = base if p.ndim == 1 else base / base.sum(axis=1, keepdims=True)
    base.flags.writeable = False
    return base


def likelihood(p: np.ndarray, y: np.ndarray, n_classes: int) -> np.ndarray:
    """B_p({y}), (n,) or (n, n_calibrators): ``p`` of that shape for two classes, else with a last axis of classes."""
    if n_classes == 2:
        likelihoods = p - (1.0 - y).reshape(-1, *[1] * (p.ndim - 1))
        return np.abs(likelihoods, out=likelihoods)  # p where y is 1, 1 - p where it is 0
    return np.take_along_axis(p, y.reshape(-1, *[1] * (p.ndim - 1)), axis=-1)[..., 0]


def refuse_other_feedback(delay: int, every: int) -> None:
    """Raises ValueError unless ``delay`` is a whole number of at least 0 and ``every`` one of at least 1."""
    for value, name, least in ((delay, "delay", 0), (every, "every", 1)):
        if not is_whole(value, least, _MOST_ROWS):
            raise ValueError(f"{name} must be a whole number of at least {least} and at most 10^15, not {value!r}")


def refuse_no_capital(some: bool) -> None:
    """Raises ValueError unless ``some`` capital is left after a label."""
    if not some:
        raise ValueError(
            "all capital is on calibrators that hold a label to be impossible; let the identity be among them"
        )


def _refuse(bad: np.ndarray, values: np.ndarray, rule: str, first: int) -> None:
    if bad.any():
        where = np.unravel_index(int(np.argmax(bad)), bad.shape)
        column = "".join(f", column {one}" for one in where[1:])
        raise ValueError(f"{rule} (row {first + where[0]}{column}: {values[where].item()!r})")
