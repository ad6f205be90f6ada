"""Numbers and lists as a user or a saved state gives them, checked: every message begins with the name of the part."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

SUM_TOLERANCE = 1e-5
"""Of the sum of a row of probabilities of several classes, which may have been rounded."""


def as_number(value: Any) -> float:
    """``value`` as a float; nan for what is no number, so that no comparison with it holds."""
    if not isinstance(value, Real) or isinstance(value, bool):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf  # type: ignore[operator]


def is_whole(value: Any, least: float, most: float = math.inf) -> bool:
    """Whether ``value`` is a whole number from ``least`` to ``most``."""
    return isinstance(value, Integral) and not isinstance(value, bool) and least <= value <= most  # type: ignore[operator]


def number(value: Any, name: str, least: float, most: float) -> float:
    """``value`` as a float. Raises ValueError unless it is a finite number from ``least`` to ``most``."""
    found = as_number(value)
    if not (math.isfinite(found) and least <= found <= most):
        within = "" if least == -math.inf and most == math.inf else f" within [{least:g}, {most:g}]"
        raise ValueError(f"{name} must be a finite number{within}, not {value!r}")
    return found


def whole(value: Any, name: str, least: int) -> int:
    """``value`` as an int. Raises ValueError unless it is a whole number of at least ``least``."""
    if not is_whole(value, least):
        raise ValueError(f"{name} must be a whole number of at least {least}, not {value!r}")
    return int(value)


def items(values: Any, name: str) -> tuple[Any, ...]:
    """What ``values`` holds, in order. Raises ValueError for what holds nothing in order, and for text."""
    ordered = isinstance(values, Sequence) or (hasattr(values, "__array__") and getattr(values, "ndim", 1))  # type: ignore[arg-type]
    if isinstance(values, str) or not ordered:
        raise ValueError(f"{name} must be a sequence, not {values!r}")
    return tuple(values)


def listed(value: Any, name: str, length: int) -> list[Any]:
    """``value``. Raises ValueError unless it is a list of that length."""
    if not isinstance(value, list) or len(value) != length:
        raise ValueError(f"{name} must be a list of {length}, not {value!r}")
    return value


def entries(value: Any, name: str, names: Sequence[str]) -> dict[str, Any]:
    """``value``. Raises ValueError unless it is a dict of exactly these entries."""
    if not isinstance(value, dict) or set(value) != set(names):
        found = f"those of {list(value)}" if isinstance(value, dict) else repr(value)
        raise ValueError(f"{name} must have the entries {', '.join(names)}, not {found}")
    return value
