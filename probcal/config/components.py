"""A component is an import path with parameters: how learners and methods are named and built.

Which import paths of an experiment file may be imported: an import runs the code of a module.

Those of probcal and scikit-learn may, and what the user names: by ``--trust`` and ``--allow-imports`` on the command
line, by ``trusting`` in Python, or by the environment variable PROBCAL_TRUSTED, names with ``:`` or ``,`` between them.
The name ``weka`` also stands for options of Weka that read or write files (``probcal.learners.weka.allowed``).
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
    if not module_path.strip(".") or module_path.startswith("."):
        raise ProbcalError(f'"{path}" is not an import path, such as sklearn.ensemble.RandomForestClassifier')
    try:
        module = import_module(module_path)
    except (Exception, SystemExit) as error:  # a module of the user's may raise anything
        own = "; a module of your own must be in this folder or on PYTHONPATH"
        hint = own if isinstance(error, ModuleNotFoundError) else f" ({type(error).__name__})"
        raise ProbcalError(f'"{path}" cannot be imported: {error}{hint}') from None
    found = getattr(module, name, None)
    if not inspect.isclass(found):
        classes = [known for known, value in vars(module).items() if inspect.isclass(value)]
        raise ProbcalError(f'there is no class "{name}" in {module_path}{did_you_mean(name, classes)}')
    return found


def build(component: type, *arguments: Any, **params: Any) -> Any:
    """An instance, not fitted. Raises ProbcalError when the constructor does not take what it is given."""
    try:
        return component(*arguments, **params)
    except Exception as error:  # a class of the user's may raise anything
        raise ProbcalError(f"{component.__name__} cannot be made: {error}") from None


def parameter_names(component: type) -> list[str]:
    """The names that the component's constructor takes, without ``estimator``."""
    return [name for name in _signature(component) if name != "estimator"]


def takes_a_learner(component: type) -> bool:
    """Whether the first parameter of the constructor is ``estimator``, as a meta-estimator's is."""
    return next(iter(_signature(component)), "") == "estimator"


def unmet_need(method: type, learner: Any) -> str | None:
    """What ``method`` needs of a learner and this one lacks, such as "predict_proba"; None where it has it."""
    needed = getattr(method, "needs_one_of", ())
    return " or ".join(needed) if needed and not any(hasattr(learner, one) for one in needed) else None


def unmet_requirement(component: type) -> str | None:
    """Return what ``component`` needs of this environment and does not find, with the line that installs it.

    None when all is there. A class declares it in a static method of this name, which starts and changes nothing.
    """
    check = getattr(component, "unmet_requirement", None)
    try:
        return None if check is None else check()
    except Exception as error:  # a class of the user's may raise anything
        return str(error) or type(error).__name__


def unknown_parameters(component: type, params: Mapping[str, Any]) -> dict[str, str]:
    """Parameter -> what is wrong with it, for every name in ``params`` the constructor does not take."""
    if any(one.kind is one.VAR_KEYWORD for one in _signature(component).values()):
        return {}
    known = parameter_names(component)
    all_known = f" (it takes: {', '.join(known) or 'none'})"
    return {
        name: f'{component.__name__} takes no parameter "{name}"{did_you_mean(name, known) or all_known}'
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
        if check is not None:
            check()
    except Exception as error:  # a class of the user's may raise anything
        return str(error) or type(error).__name__
    return None


def no_learner(component: type) -> str | None:
    """Why the class cannot be a learner; None when it has all that a classifier needs."""
    from sklearn.base import ClassifierMixin, ClusterMixin, OutlierMixin, RegressorMixin

    if issubclass(component, RegressorMixin | ClusterMixin | OutlierMixin) and not issubclass(
        component, ClassifierMixin
    ):
        return f"{component.__name__} is not a classifier"
    return _lacks(component, "fit", "predict")


def no_method(component: type) -> str | None:
    """Why the class cannot be a method; None when it is a meta-estimator with probabilities."""
    if "estimator" not in _signature(component):
        return f'{component.__name__} takes no "estimator", so it cannot be a method'
    return _lacks(component, "fit", "predict_proba")


def _lacks(component: type, *wanted: str) -> str | None:
    lacking = [name for name in wanted if not hasattr(component, name)]
    return f"{component.__name__} is not a classifier: it has no {' and no '.join(lacking)}" if lacking else None


@cache
def _signature(component: type) -> Mapping[str, inspect.Parameter]:
    try:
        return inspect.signature(component).parameters
    except (ValueError, TypeError):  # of a class written in C
        return {}


EVERYTHING = "*"
"""In place of a name: any import path."""
_ALWAYS = ("probcal", "sklearn")
_VARIABLE = "PROBCAL_TRUSTED"


def is_trusted(path: str) -> bool:
    """Whether ``path`` is, or lies below, a name that is trusted: ``mine`` trusts mine.trees, not mine2."""
    names = {*_ALWAYS, *_from_the_environment()}
    return EVERYTHING in names or any(path == name or path.startswith(f"{name}.") for name in names)


def refusal(path: str) -> str:
    """Why ``path`` is not imported, and what to write to have it imported."""
    name = path.partition(".")[0]
    return (
        f'"{path}" is not imported: an import runs code, and only that of probcal and scikit-learn is trusted unasked; '
        f"if you trust {name} too, add  --trust {name}  (or  --allow-imports  for any import path, or set "
        "PROBCAL_TRUSTED)"
    )


@contextmanager
def trusting(*names: str) -> Iterator[None]:
    """Within it, import paths below each of ``names`` may be imported; ``*`` stands for all.

    Modules may then lie in the current folder, which is searched last. It is not searched without such a name: a
    package that looks for an optional one would run whatever file of that name lies beside a config.
    """
    before = os.environ.get(_VARIABLE)
    if names:  # in the environment: threads and processes that are started meanwhile trust the same
        os.environ[_VARIABLE] = ":".join((*_from_the_environment(), *names))
    try:
        if _from_the_environment():
            with suppress(FileNotFoundError):  # of a folder that was removed: nothing can be imported from it
                if os.getcwd() not in sys.path:
                    sys.path.append(os.getcwd())
        yield
    finally:
        if before is not None:
            os.environ[_VARIABLE] = before
        elif names:
            os.environ.pop(_VARIABLE, None)


def _from_the_environment() -> list[str]:
    return [name for name in re.split(r"[:,\s]+", os.environ.get(_VARIABLE, "")) if name]


@dataclass(frozen=True)
class Variant:
    """An entry under one of its settings, or as it is: then ``variant`` and ``params`` are empty."""

    entry: str
    variant: str
    params: dict[str, Any]
    """What is merged over the entry's parameters."""

    @property
    def name(self) -> str:
        """As cell ids have it: ``j48.pruned``."""
        return f"{self.entry}.{self.variant}" if self.variant else self.entry


def variants_of(name: str, entry: Mapping[str, Any]) -> list[Variant]:
    """The variants of the entry ``name`` in their order; an entry without any is its own only one."""
    listed = with_names(entry.get("variants"))
    return [Variant(name, one, with_names(params)) for one, params in listed.items()] or [Variant(name, "", {})]


def families(data: Mapping[str, Any], section: str) -> dict[str, list[str]]:
    """Entry -> the names that its variants have in cell ids."""
    return {name: [one.name for one in variants_of(name, entry)] for name, entry in entries(data, section).items()}


def entries(data: Mapping[str, Any], section: str) -> dict[str, dict[str, Any]]:
    """Name -> entry of a section that may be a list of names or a mapping; malformed entries left out."""
    value = data.get(section)
    if isinstance(value, list):
        return {name: {} for name in value if isinstance(name, str)}
    named = with_names(value)
    return {name: entry or {} for name, entry in named.items() if isinstance(entry, dict | None)}


def with_names(value: Any) -> dict[str, Any]:
    """What is well-formed of a mapping with names as keys."""
    return {name: item for name, item in value.items() if isinstance(name, str)} if isinstance(value, dict) else {}
