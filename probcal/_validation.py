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


def unset_seeds(estimator: Any) -> list[str]:
    """Return the parameters ``random_state`` that are None, nested ones too, in sorted order. Every fit draws them
    again.
    """
    return sorted(
        name
        for name, value in estimator.get_params(deep=True).items()
        if value is None and name.rpartition("__")[2] == "random_state"
    )
