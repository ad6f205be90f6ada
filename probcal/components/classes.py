"""Classes that an import path names: what their constructors take, and why one cannot be a learner or a method."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any

from probcal.components.numerics import numerics
from probcal.components.registry import class_fault, plugin_package
from probcal.errors import ProbcalError, did_you_mean


def to_import_path(path: str) -> str:
    """Return the import path of a class that is named by its file, as in ``./own.py:Flaky``. Others are unchanged.

    Of a file outside the current folder, only the name of the module counts, because the folder is no package.
    """
    if not re.search(r"[/\\:]", path):
        return path
    parts = [part for part in re.split(r"[/\\:.]+", path.replace(".py:", ":")) if part]
    return ".".join(parts[-2:] if re.match(r"[/\\~]|\.\.|\w:[/\\]", path) else parts)


def comes_with_probcal(path: str) -> bool:
    """Return whether a class or module is one of probcal or scikit-learn, and no user's, which may change in a run."""
    return path.partition(".")[0] in ("probcal", "sklearn")


def import_class(path: str) -> type:
    """Return the class at ``package.module.Class``, or where it was moved to.

    Raises ProbcalError that says what is missing.
    """
    if (import_path := to_import_path(path)) != path:
        raise ProbcalError(f'"{path}" is not an import path; write  {import_path}')
    # Experiment files and stored results may name the path that a class had before.
    module_path, _, name = numerics().moved.get(path, path).rpartition(".")
    if not module_path.strip(".") or module_path.startswith("."):
        raise ProbcalError(f'"{path}" is not an import path, such as sklearn.ensemble.RandomForestClassifier')
    try:
        module = import_module(module_path)
        component = getattr(module, name, None)
    except (Exception, SystemExit) as error:  # a user's module may raise anything
        kind = f" ({type(error).__name__})"
        if plugin_package(path) is not None:
            raise ProbcalError(class_fault(path, f"{error}{kind}")) from None
        advice = "; a module of your own must be in this folder or on PYTHONPATH"
        hint = advice if isinstance(error, ModuleNotFoundError) else kind
        raise ProbcalError(f'"{path}" cannot be imported: {error}{hint}') from None
    if not inspect.isclass(component):
        classes = [attribute for attribute, value in vars(module).items() if inspect.isclass(value)]
        fault = f'there is no class "{name}" in {module_path}{did_you_mean(name, classes)}'
        raise ProbcalError(class_fault(path, fault))
    return component


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


def refuse_unmet_need(method: type, learner: Any) -> None:
    """Raise ValueError if ``method`` needs what this learner lacks."""
    if needed := unmet_need(method, learner):
        raise ValueError(f"{type(learner).__name__} has no {needed}, and {method.__name__} needs it")


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
