"""A component is an import path with parameters: how learners and methods are named and built."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from probcal.errors import ProbcalError, did_you_mean


@dataclass(frozen=True)
class Builtin:
    """A component with a short name: one entry in a table, nothing else to register."""

    path: str
    about: str
    params: Mapping[str, Any] = field(default_factory=dict)
    label: str = ""
    encoding: str = "numeric"


def import_class(path: str) -> type:
    """The class at ``package.module.Class``. Raises ProbcalError saying what is not there."""
    module_path, _, name = path.rpartition(".")
    try:
        module = import_module(module_path)
    except ImportError as error:
        raise ProbcalError(f'"{path}" cannot be imported: {error}') from None
    found = getattr(module, name, None)
    if not inspect.isclass(found):
        raise ProbcalError(f'there is no class "{name}" in {module_path}{did_you_mean(name, vars(module))}')
    return found


def parameter_names(component: type) -> list[str]:
    """The names that the component's constructor takes, without ``estimator``."""
    return [name for name in inspect.signature(component).parameters if name != "estimator"]


def unknown_parameters(component: type, params: Mapping[str, Any]) -> dict[str, str]:
    """Parameter -> what is wrong with it, for every name in ``params`` the constructor does not take."""
    known = parameter_names(component)
    return {
        name: f'{component.__name__} takes no parameter "{name}"{did_you_mean(name, known)}'
        f" (it takes: {', '.join(known)})"
        for name in params
        if name not in known
    }


def wrong_value(estimator: Any) -> str | None:
    """What the estimator's own check says of its parameters before it is fitted; None when all is well.

    Ours have ``check_parameters``; scikit-learn's declare constraints, which their base class checks.
    """
    check = getattr(estimator, "check_parameters", None)
    if check is None and hasattr(estimator, "_parameter_constraints"):
        check = estimator._validate_params
    try:
        return check() if check else None
    except (ValueError, TypeError) as error:
        return str(error)
