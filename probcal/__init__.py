"""Class probability estimation: scikit-learn estimators, and a runner of experiments.

``probcal.methods.registry`` names the classes that this module offers. ``run`` and ``load_results`` are for notebooks.
``__init__.pyi`` has all of them for type checkers. ``python -m probcal.config.schemas`` writes it.
"""

from __future__ import annotations

from importlib import import_module

__version__ = "0.2.0"


def __getattr__(name: str) -> object:
    # imported on first use: scikit-learn costs a second that `probcal --help` must not pay
    if name == "__all__":
        return sorted(_public_names())
    if not name.startswith("_") and name in _public_names():
        return getattr(import_module(_public_names()[name]), name)
    raise AttributeError(f"module 'probcal' has no attribute {name!r}")


def __dir__() -> list[str]:
    return ["__version__", *sorted(_public_names())]


def _public_names() -> dict[str, str]:
    """Return the module of each public class and function."""
    from probcal.methods.registry import PUBLIC_CLASSES
    from probcal.notebook import PUBLIC_FUNCTIONS

    return {**PUBLIC_CLASSES, **PUBLIC_FUNCTIONS}
