"""Components: learners and methods named by an import path with parameters, and which import paths are trusted.

Importing a module runs its code. So an experiment file may import only from probcal, scikit-learn and what the user
trusts. Users trust names by ``--trust`` and ``--allow-imports``, by ``trusting`` in Python, or by the environment
variable PROBCAL_TRUSTED, with ``:`` or ``,`` between names. The name ``weka`` also allows options of Weka that read or
write files (``probcal.learners.weka.allowed``).
"""

from __future__ import annotations

import inspect
import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import Any

from probcal.config.numerics import numerics
from probcal.errors import ProbcalError, did_you_mean


@dataclass(frozen=True)
class Builtin:
    """Describe a component with a short name. One entry in a registry is all it needs."""

    path: str
    about: str
    params: Mapping[str, Any] = field(default_factory=dict)
    label: str = ""
    encoding: str = "numeric"
    family: str = ""
    """What a method takes from its learner: ``labels``, ``scores`` or a ``stream``."""


def import_class(path: str) -> type:
    """Return the class at ``package.module.Class``, or where it was moved to.

    Raises ProbcalError that says what is missing.
    """
    module_path, _, name = numerics().moved.get(path, path).rpartition(".")
    if not module_path.strip(".") or module_path.startswith("."):
        raise ProbcalError(f'"{path}" is not an import path, such as sklearn.ensemble.RandomForestClassifier')
    try:
        module = import_module(module_path)
        component = getattr(module, name, None)
    except (Exception, SystemExit) as error:  # a user's module may raise anything
        advice = "; a module of your own must be in this folder or on PYTHONPATH"
        kind = f" ({type(error).__name__})"
        hint = advice if isinstance(error, ModuleNotFoundError) else kind
        fault = _fault_of_plugin(path, f"{error}{kind}") or f'"{path}" cannot be imported: {error}{hint}'
        raise ProbcalError(fault) from None
    if not inspect.isclass(component):
        classes = [attribute for attribute, value in vars(module).items() if inspect.isclass(value)]
        fault = f'there is no class "{name}" in {module_path}{did_you_mean(name, classes)}'
        raise ProbcalError(_fault_of_plugin(path, fault) or fault)
    return component


def _fault_of_plugin(path: str, fault: str) -> str | None:
    """Return the message that also names the package which declares this path as an entry point, or None."""
    from probcal.config.plugins import fault_of_plugin

    return fault_of_plugin(path, fault)


def build(component: type, *arguments: Any, **params: Any) -> Any:
    """Return an unfitted instance, with its nested components (``probcal.config.nested``).

    Raises ProbcalError when a constructor rejects its arguments.
    """
    from probcal.config.nested import instances

    values = instances(params)
    try:
        return component(*arguments, **values)
    except Exception as error:  # a user's class may raise anything
        raise ProbcalError(f"{component.__name__} cannot be made: {error}") from None


def parameter_names(component: type) -> list[str]:
    """Return the names that the component's constructor takes, without ``estimator``."""
    return [name for name in _signature(component) if name != "estimator"]


def takes_parameter(component: type, name: str) -> bool:
    """Return whether the component's constructor takes a parameter of this ``name``, ``estimator`` included."""
    return name in _signature(component)


def takes_a_learner(component: type) -> bool:
    """Return whether the first parameter of the constructor is ``estimator``, as in a meta-estimator."""
    return next(iter(_signature(component)), "") == "estimator"


def unmet_need(method: type, learner: Any) -> str | None:
    """Return what ``method`` needs and this learner lacks, such as "predict_proba", or None."""
    names = getattr(method, "needs_one_of", ())
    return " or ".join(names) if names and not any(hasattr(learner, name) for name in names) else None


def unmet_requirement(component: type) -> str | None:
    """Return what ``component`` needs and this environment lacks, with the command that installs it, or None.

    A class declares this in a static method of the same name, which starts and changes nothing.
    """
    check = getattr(component, "unmet_requirement", None)
    try:
        return None if check is None else check() or None
    except Exception as error:  # a user's class may raise anything
        return str(error) or type(error).__name__


def unknown_parameters(component: type, params: Mapping[str, Any]) -> dict[str, str]:
    """Return parameter -> message for every name in ``params`` that the constructor does not take."""
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in _signature(component).values()):
        return {}
    names = parameter_names(component)
    choices = f" (it takes: {', '.join(names) or 'none'})"
    return {
        name: f'{component.__name__} takes no parameter "{name}"{did_you_mean(name, names) or choices}'
        for name in params
        if name not in names
    }


def value_fault(estimator: Any) -> str | None:
    """Return the first fault that the estimator finds in its parameters before fitting, or None.

    Our estimators have ``check_parameters``. Those of scikit-learn declare constraints that their base class checks.
    """
    check = getattr(estimator, "check_parameters", None)
    if check is None and hasattr(estimator, "_parameter_constraints"):
        check = estimator._validate_params
    try:
        if check is not None:
            check()
    except Exception as error:  # a user's class may raise anything
        return str(error) or type(error).__name__
    return None


def learner_fault(component: type) -> str | None:
    """Return why the class cannot be a learner, or None when it has all that a classifier needs."""
    from sklearn.base import ClassifierMixin, ClusterMixin, OutlierMixin, RegressorMixin

    if issubclass(component, RegressorMixin | ClusterMixin | OutlierMixin) and not issubclass(
        component, ClassifierMixin
    ):
        return f"{component.__name__} is not a classifier"
    return _missing_attributes(component, "fit", "predict")


def method_fault(component: type) -> str | None:
    """Return why the class cannot be a method, or None when it is a meta-estimator with probabilities."""
    if "estimator" not in _signature(component):
        return f'{component.__name__} takes no "estimator", so it cannot be a method'
    return _missing_attributes(component, "fit", "predict_proba")


def _missing_attributes(component: type, *attributes: str) -> str | None:
    names = [name for name in attributes if not hasattr(component, name)]
    return f"{component.__name__} is not a classifier: it has no {' and no '.join(names)}" if names else None


@cache
def _signature(component: type) -> Mapping[str, inspect.Parameter]:
    try:
        return inspect.signature(component).parameters
    except (ValueError, TypeError):  # classes written in C have no signature
        return {}


ANY_PATH = "*"
"""In place of a name, this trusts any import path."""
_TRUSTED_PACKAGES = ("probcal", "sklearn")
_VARIABLE = "PROBCAL_TRUSTED"


def is_trusted(path: str) -> bool:
    """Return whether ``path`` is, or lies below, a trusted name: ``mine`` trusts mine.trees, not mine2.

    A class that an installed package declares for probcal is trusted, too (``probcal.config.plugins``).
    """
    return any(path.startswith(f"{name}.") for name in _TRUSTED_PACKAGES) or is_trusted_by_user(path)


def is_trusted_by_user(path: str) -> bool:
    """Return whether the user trusts ``path``: by name, or by installing the package that declares it for probcal."""
    names = _names_from_environment()
    if ANY_PATH in names or any(path == name or path.startswith(f"{name}.") for name in names):
        return True
    from probcal.config.plugins import is_declared

    return is_declared(path)


def refusal(path: str) -> str:
    """Return why ``path`` is not imported, and what to write to have it imported."""
    name = path.partition(".")[0]
    return (
        f'"{path}" is not imported: an import runs code, and only that of probcal and scikit-learn is trusted unasked; '
        f"if you trust {name} too, add  --trust {name}  (or  --allow-imports  for any import path, or set "
        "PROBCAL_TRUSTED)"
    )


@contextmanager
def trusting(*names: str) -> Iterator[None]:
    """Allow imports below each of ``names`` inside the context. ``*`` allows all.

    With any trusted name, modules may also lie in the current folder, which is searched last. Without one it is not
    searched. Otherwise a package that looks for an optional module would run a file of that name beside a config.
    """
    old_value = os.environ.get(_VARIABLE)
    if names:  # in the environment, so that new threads and processes trust the same names
        os.environ[_VARIABLE] = ":".join((*_names_from_environment(), *names))
    try:
        if _names_from_environment():
            with suppress(FileNotFoundError):  # the current folder was removed, so nothing can be imported from it
                if os.getcwd() not in sys.path:
                    sys.path.append(os.getcwd())
        yield
    finally:
        if old_value is not None:
            os.environ[_VARIABLE] = old_value
        elif names:
            os.environ.pop(_VARIABLE, None)


def _names_from_environment() -> list[str]:
    return [name for name in re.split(r"[:,\s]+", os.environ.get(_VARIABLE, "")) if name]


def families(data: Mapping[str, Any], section: str) -> dict[str, list[str]]:
    """Return entry -> the names of its variants in cells (``j48.pruned``), or its own name where it has none."""
    return {
        name: [f"{name}.{variant}" for variant in named_items(entry.get("variants"))] or [name]
        for name, entry in entries(data, section).items()
    }


def entries(data: Mapping[str, Any], section: str) -> dict[str, dict[str, Any]]:
    """Return name -> entry of a section that is a list of names or a mapping. Malformed entries are left out."""
    value = data.get(section)
    if isinstance(value, list):
        return {name: {} for name in value if isinstance(name, str)}
    items = named_items(value)
    return {name: entry or {} for name, entry in items.items() if isinstance(entry, dict | None)}


def named_items(value: Any) -> dict[str, Any]:
    """Return the items of a mapping whose keys are text. Anything but a mapping gives an empty one."""
    return {name: item for name, item in value.items() if isinstance(name, str)} if isinstance(value, dict) else {}
