"""The seeds that an estimator leaves open."""

from __future__ import annotations

from typing import Any


def open_seeds(estimator: Any) -> list[str]:
    """The parameters ``random_state``, nested ones too, that are None, in sorted order: every fit draws them anew."""
    return sorted(
        name
        for name, value in estimator.get_params(deep=True).items()
        if value is None and name.rpartition("__")[2] == "random_state"
    )
