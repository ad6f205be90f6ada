"""Class probability estimation: scikit-learn estimators, and a runner of experiments.

``probcal.methods.registry`` names the classes that this module offers. ``__init__.pyi`` has them for type checkers;
``python -m probcal.config.schemas`` writes it.
"""

from __future__ import annotations

from importlib import import_module

__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    # imported on first use: scikit-learn costs a second that `probcal --help` must not pay
    if name == "__all__":
        return sorted(_public_classes())
    if not name.startswith("_") and name in _public_classes():
        return getattr(import_module(_public_classes()[name]), name)
    raise AttributeError(f"module 'probcal' has no attribute {name!r}")


def __dir__() -> list[str]:
    return ["__version__", *sorted(_public_classes())]


def _public_classes() -> dict[str, str]:
    """Return the module of each public class."""
    from probcal.methods.registry import PUBLIC_CLASSES

    return PUBLIC_CLASSES
