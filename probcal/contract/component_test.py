"""The command ``probcal test``: run every check on the named components, and print one line per check."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from probcal.components.classes import (
    import_class,
    learner_fault,
    method_fault,
    parameter_names,
    takes_a_learner,
    unknown_parameters,
    unmet_need,
    value_fault,
)
from probcal.components.nested import build
from probcal.components.registry import Builtin
from probcal.contract.suite import contract_checks
from probcal.errors import ProbcalError, unknown_name
from probcal.learners.registry import known_learners
from probcal.methods.registry import known_methods
from probcal.yaml_file import Loader

USUAL_LEARNER = "logistic"
_FEW_PARTS = {"n_probes": 15, "n_estimators": 10}
"""The guarantees hold for few parts as for many."""


@dataclass(frozen=True)
class NamedComponent:
    """Hold an unfitted estimator and the name that the user gave."""

    name: str
    estimator: Any
    is_method: bool

    def __str__(self) -> str:
        text = " ".join(repr(self.estimator).split())
        return f"{self.name}: {text}, a {'method' if self.is_method else 'learner'}"


def component(name: str, learner: str | None = None, params: Mapping[str, Any] | None = None) -> NamedComponent:
    """Return the learner or method ``name``: a short name, or the import path of a class.

    A class is a method if the first parameter of its constructor is ``estimator``. It is built around ``learner``,
    logistic regression if None. It gets few probes and bags unless ``params`` sets their number. Raises ProbcalError if
    the name is neither, does not exist, or accepts no such parameters.
    """
    builtin = _builtin(name, {**known_learners(), **known_methods()}, "learner or method", "my_module.MyMethod")
    cls = import_class(builtin.path)
    is_method = takes_a_learner(cls)
    if misfit := (method_fault if is_method else learner_fault)(cls):
        raise ProbcalError(f"{name} is neither a learner nor a method: {misfit}")
    if not is_method and learner is not None:
        raise ProbcalError(f"{name} is a learner; --learner sets the learner of a method only")
    small_params = {key: _FEW_PARTS[key] for key in _FEW_PARTS if key in parameter_names(cls)}
    learners = [_learner(learner or USUAL_LEARNER)] if is_method else []
    if learners and (need := unmet_need(cls, learners[0])):
        raise ProbcalError(f"{learner} has only predict and {name} needs {need}; choose another learner")
    return NamedComponent(name, _build(cls, {**small_params, **builtin.params, **(params or {})}, *learners), is_method)


def _learner(name: str) -> Any:
    builtin = _builtin(name, known_learners(), "learner", "sklearn.ensemble.RandomForestClassifier")
    cls = import_class(builtin.path)
    if misfit := learner_fault(cls):
        raise ProbcalError(misfit)
    return _build(cls, builtin.params)


def _builtin(name: str, table: Mapping[str, Builtin], kind: str, example: str) -> Builtin:
    if name not in table and "." not in name:
        raise ProbcalError(unknown_name(kind, name, table, f"; use the import path for any other: {example}"))
    return table.get(name) or Builtin(name, about="")


def _build(cls: type, params: Mapping[str, Any], *learners: Any) -> Any:
    if faults := unknown_parameters(cls, params):
        raise ProbcalError("\n".join(faults.values()))
    estimator = build(cls, *learners, **params)
    _check_parameters(estimator)
    if fault := value_fault(estimator):
        raise ProbcalError(f"{cls.__name__}: {fault}")
    return estimator


def _check_parameters(estimator: Any) -> None:
    cls = type(estimator).__name__
    names = [name for name in ("get_params", "set_params") if not hasattr(estimator, name)]
    if names:
        raise ProbcalError(
            f"{cls} has no {' and no '.join(names)}, so it cannot be copied; let it inherit from "
            "sklearn.base.BaseEstimator (a classifier from sklearn.base.ClassifierMixin too, named first)"
        )
    try:
        estimator.get_params()
    except Exception as error:  # a user's class may raise anything
        raise ProbcalError(
            f"get_params of {cls} fails: {error}; let __init__ name every parameter and store it under its own name"
        ) from None


def parameter(text: str) -> tuple[str, Any]:
    """Return name and value of ``n_probes=10``, the value read as YAML. Raises ProbcalError for anything else."""
    name, equals, value = text.partition("=")
    try:
        content = yaml.load(value, Loader)  # noqa: S506  # a safe loader: plain values only
    except (yaml.YAMLError, UnicodeError):
        raise ProbcalError(f"the value of {name}, {value!r}, cannot be read; write it as in YAML") from None
    if not (equals and name.isidentifier()):
        raise ProbcalError(f"{text!r} is not NAME=VALUE, such as n_probes=10")
    return name, content


def test_components(
    names: Sequence[str],
    learner: str | None,
    params: Sequence[str],
    print_line: Callable[[str], object],
    tracebacks: bool,
) -> bool:
    """Return whether no check failed. Raises ProbcalError for an invalid name, before any check."""
    settings = dict(map(parameter, params))
    success = True
    for subject in [component(name, learner, settings) for name in names]:
        print_line(str(subject))
        counts: Counter[str] = Counter()
        for check in contract_checks(subject.estimator):
            outcome = check.outcome()
            counts[outcome.status] += 1
            reason = f": {' '.join(outcome.reason.split())}" if outcome.reason else ""
            print_line(f"{outcome.status:<14}  {check}{reason}")
            if tracebacks and outcome.traceback:
                print_line(textwrap.indent(outcome.traceback.rstrip(), "    "))
        print_line(f"{counts['passed']} passed, {counts['failed']} failed, {counts['does not apply']} do not apply")
        success = success and not counts["failed"]
    return success
