"""Copies of a component that draw from a given seed."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

_FOLDS = 5


def seeded(estimator: Any, seed: int) -> Any:
    """An unfitted copy with every ``random_state``, nested ones too, drawn from ``seed``.

    Folds that are cut by the order of the rows are a draw as well, though not one that a seed decides. A
    component with a ``cv`` that is a number or None, and no ``random_state`` beside it, gets shuffled folds.
    """
    copy, random = clone(estimator), np.random.default_rng(seed)
    given = copy.get_params(deep=True)
    drawn: dict[str, Any] = {}
    for name, value in sorted(given.items()):
        owner, _, last = name.rpartition("__")
        beside = f"{owner}__random_state" if owner else "random_state"
        if last == "random_state":
            drawn[name] = int(random.integers(2**31 - 1))
        elif last == "cv" and beside not in given and (value is None or type(value) is int):
            drawn[name] = StratifiedKFold(value or _FOLDS, shuffle=True, random_state=int(random.integers(2**31 - 1)))
    return copy.set_params(**drawn)
