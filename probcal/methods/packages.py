"""Optional packages, imported when they are needed and kept from changing what is not theirs."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import numpy as np

from probcal.errors import ProbcalError

INSTALL = "pip install 'probcal[calibrators]'"


class CalibratorMissing(ProbcalError, ImportError):
    """A package that a method is built on is not installed."""


@contextmanager
def contained() -> Iterator[None]:
    """Within it no warning shows and no number raises; after it numpy's error state and the filters are as before."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def unmet_class(module: str, name: str) -> str | None:
    """Return why ``optional_class`` would raise; None when it would not."""
    try:
        optional_class(module, name)
    except CalibratorMissing as error:
        return str(error)
    return None


def optional_class(module: str, name: str) -> Any:
    """The class ``name`` of an optional ``module``. Raises CalibratorMissing with the line that installs it."""
    try:
        with contained():
            return getattr(import_module(module), name)
    except ImportError as error:
        raise CalibratorMissing(f"this method needs {module} ({error}); install it with: {INSTALL}") from None
