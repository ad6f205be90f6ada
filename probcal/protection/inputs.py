"""What a stream is given, checked: base estimates and labels."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np

_SUM_TOLERANCE = 1e-6


def stream(p: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
    """``p`` (n,) or (n, n_classes) and ``y`` (n,) as arrays of numbers. Raises ValueError for other shapes."""
    p, y = np.asarray(p), np.asarray(y)
    for values, name in ((p, "p"), (y, "y")):
        if values.dtype.kind not in "biuf":
            raise ValueError(f"{name} must hold numbers, and no missing values")
    if y.ndim != 1 or p.ndim not in (1, 2) or len(p) != len(y):
        shapes = f"{p.shape} and {y.shape}"
        raise ValueError(f"p must be of shape (n,) or (n, n_classes), and y of shape (n,) with equal n, not {shapes}")
    if p.ndim == 2 and p.shape[1] < 3:
        raise ValueError("with two classes p must be of shape (n,), the estimates of P(y = 1); try p[:, 1]")
    return p, y


def rows(p: np.ndarray, y: np.ndarray, truncation: float | None, first: int) -> tuple[np.ndarray, np.ndarray]:
    """Truncated base estimates and labels as whole numbers; ``first`` is the number of the first row, for messages.

    Raises ValueError for what is no probability or no label, and for a label that the base holds to be impossible.
    """
    base, labels = estimates(p, truncation, first), y.astype(np.int64)
    n_classes = classes_of(p)
    sound = (labels == y) & (labels >= 0) & (labels < n_classes)
    _refuse(~sound, y, f"y must hold the whole numbers 0 to {n_classes - 1} only", first)
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
    """Base estimates, checked and truncated, as in ``rows``."""
    p = p.astype(np.float64, copy=False)
    _refuse(~((p >= 0) & (p <= 1)), p, "p must lie within [0, 1], with no missing values", first)
    if p.ndim == 2:
        sums = p.sum(axis=1)
        _refuse(np.abs(sums - 1) > _SUM_TOLERANCE, sums, "each row of p must sum to 1", first)
    if truncation is None:
        return p
    base = np.clip(p, truncation, 1 - truncation)
    return base if p.ndim == 1 else base / base.sum(axis=1, keepdims=True)


def likelihood(p: np.ndarray, y: np.ndarray, n_classes: int) -> np.ndarray:
    """B_p({y}), (n,) or (n, n_calibrators): ``p`` of that shape for two classes, else with a last axis of classes."""
    if n_classes == 2:
        likelihoods = p - (1.0 - y).reshape(-1, *[1] * (p.ndim - 1))
        return np.abs(likelihoods, out=likelihoods)  # p where y is 1, 1 - p where it is 0
    return np.take_along_axis(p, y.reshape(-1, *[1] * (p.ndim - 1)), axis=-1)[..., 0]


def refuse_other_parameters(
    jump_rates: tuple[float, ...], start: str, truncation: float | None, passive_weight: float
) -> None:
    """Raises ValueError for a parameter that is not as documented."""
    if not jump_rates or not all(_is_number(rate) and 0 < rate <= 1 for rate in jump_rates):
        raise ValueError(f"a jump rate must be a number above 0 and at most 1, not {jump_rates!r}")
    if start not in ("uniform", "first"):
        raise ValueError(f"start must be 'uniform' or 'first', not {start!r}")
    if truncation is not None and not (_is_number(truncation) and 0 < truncation < 0.5):
        raise ValueError(f"truncation must be None or a number between 0 and .5, not {truncation!r}")
    if not (_is_number(passive_weight) and 0 <= passive_weight < 1):
        raise ValueError(f"passive_weight must be a number of at least 0 and below 1, not {passive_weight!r}")


def refuse_other_feedback(delay: int, every: int) -> None:
    """Raises ValueError unless ``delay`` is a whole number of at least 0 and ``every`` one of at least 1."""
    for value, name, least in ((delay, "delay", 0), (every, "every", 1)):
        if not (isinstance(value, Integral) and not isinstance(value, bool) and value >= least):
            raise ValueError(f"{name} must be a whole number of at least {least}, not {value!r}")


def refuse_no_capital(some: bool) -> None:
    """Raises ValueError unless ``some`` capital is left after a label."""
    if not some:
        raise ValueError(
            "all capital is on calibrators that hold a label to be impossible; let the identity be among them"
        )


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _refuse(bad: np.ndarray, values: np.ndarray, rule: str, first: int) -> None:
    if bad.any():
        where = np.unravel_index(int(np.argmax(bad)), bad.shape)
        column = "".join(f", column {one}" for one in where[1:])
        raise ValueError(f"{rule} (row {first + where[0]}{column}: {values[where].item()!r})")
