"""The faults of an experiment's learners, methods and combinations that need more than its form.

Works on the plain parsed file and passes over what is malformed, of which pydantic speaks, so that every
fault is reported once and all of them together.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from probcal.components import (
    Builtin,
    build,
    import_class,
    no_learner,
    no_method,
    unknown_parameters,
    wrong_value,
)
from probcal.errors import ProbcalError, Problem, did_you_mean
from probcal.learners.registry import LEARNERS
from probcal.methods.registry import METHODS
from probcal.yaml_file import YamlFile

ENCODINGS = ("numeric", "native")
_ENTRY_NAME = re.compile(r"\w[\w.-]{0,99}")
"""Part of the ids of cells and of the names of files, where + stands between learner and method."""


def component_problems(file: YamlFile) -> Iterator[Problem]:
    """Every learner, method, parameter and pair in ``file`` that is not there or does not fit."""
    forest, calibrated = "sklearn.ensemble.RandomForestClassifier", "sklearn.calibration.CalibratedClassifierCV"
    learners = _Section(file, "learners", LEARNERS, forest, no_learner, _built_learner)
    methods = _Section(file, "methods", METHODS, calibrated, no_method, _built_method)
    yield from learners.problems
    yield from methods.problems
    yield from _combination_problems(file, learners, methods)


def methods_of(file_data: Mapping[str, Any], learner: str) -> dict[str, dict[str, Any]]:
    """Method -> parameters that hold for ``learner`` only, as ``combinations`` says; all where it is silent."""
    return {method: params for method, params, _ in _listed_methods(file_data, learner)}


def resolve(name: str, type_: str | None, table: Mapping[str, Builtin]) -> Builtin:
    """The built-in that ``type_``, or else the entry's own name, stands for; or an import path as it is."""
    wanted = type_ or name
    return table.get(wanted) or Builtin(wanted, about="")


def entries(data: Mapping[str, Any], section: str) -> dict[str, dict[str, Any]]:
    """Name -> entry of a section that may be a list of names or a mapping; malformed entries left out."""
    value = data.get(section)
    if isinstance(value, list):
        return {name: {} for name in value if isinstance(name, str)}
    if isinstance(value, dict):
        return {
            name: entry or {}
            for name, entry in value.items()
            if isinstance(name, str) and isinstance(entry, dict | None)
        }
    return {}


@dataclass(frozen=True)
class _Sound:
    """An entry without a fault of its own."""

    component: type
    params: dict[str, Any]


class _Section:
    """The entries of ``learners`` or ``methods``: all their names, which are sound, what is wrong with the others."""

    def __init__(
        self,
        file: YamlFile,
        section: str,
        table: Mapping[str, Builtin],
        example: str,
        misfit: Callable[[type], str | None],
        built: Callable[[type, dict[str, Any]], Any],
    ) -> None:
        self._file, self._table, self._misfit, self._built = file, table, misfit, built
        self._kind, self._example = section.rstrip("s"), example
        self.names = entries(file.data, section)
        self.problems: list[Problem] = []
        self.sound: dict[str, _Sound] = {}
        self.unknown: list[str] = []
        listed = file.data.get(section) if isinstance(file.data.get(section), list) else []
        for index, name in enumerate(listed):
            if name in listed[:index]:
                self._report((section, index), f'the {self._kind} "{name}" is listed twice')
        for name, entry in self.names.items():
            self._check((section, listed.index(name) if listed else name), name, entry)

    def _report(self, where: tuple[str | int, ...], message: str) -> None:
        self.problems.append(Problem(self._file.line(where), message))

    def _check(self, where: tuple[str | int, ...], name: str, entry: dict[str, Any]) -> None:
        wanted = entry.get("type") or name
        if not _ENTRY_NAME.fullmatch(name):
            self._report(
                where, f'"{name}" cannot be the name of a {self._kind}: only letters, digits, . _ and -, at most 100'
            )
        if not isinstance(wanted, str):
            return
        if wanted not in self._table and "." not in wanted:
            near, there = did_you_mean(wanted, self._table), ", ".join(self._table)
            self._report(
                (*where, "type"),
                f'there is no {self._kind} "{wanted}"{near} (there are: {there};'
                f" any other by its import path, such as {self._example})",
            )
            self.unknown.append(name)
            return
        encoding = entry.get("encoding")
        if isinstance(encoding, str) and encoding not in ENCODINGS:
            near, there = did_you_mean(encoding, ENCODINGS), ", ".join(ENCODINGS)
            self._report((*where, "encoding"), f'there is no encoding "{encoding}"{near} (there are: {there})')
        self._check_parameters(where, name, resolve(name, wanted, self._table), _parameters(entry.get("params")))

    def _check_parameters(
        self, where: tuple[str | int, ...], name: str, builtin: Builtin, params: dict[str, Any]
    ) -> None:
        try:
            component = import_class(builtin.path)
        except ProbcalError as error:
            self._report((*where, "type"), str(error))
            return
        if misfit := self._misfit(component):
            self._report((*where, "type"), misfit)
            return
        unknown = unknown_parameters(component, params)
        for parameter, message in unknown.items():
            self._report((*where, "params", parameter), message)
        if unknown:
            return
        together = {**builtin.params, **params}
        try:
            estimator = self._built(component, together)
        except ProbcalError as error:
            self._report((*where, "params"), str(error))
            return
        if (fault := wrong_value(estimator)) is None:
            self.sound[name] = _Sound(component, together)
            return
        alone = self._faults_one_by_one(component, builtin.params, params)
        for parameter, fault_alone in alone.items():
            self._report((*where, "params", parameter), fault_alone)
        if not alone:
            self._report((*where, "params"), fault)

    def _faults_one_by_one(
        self, component: type, defaults: Mapping[str, Any], params: dict[str, Any]
    ) -> dict[str, str]:
        """Parameter -> its fault when no other is given: an estimator's check tells only of the first."""
        found = {}
        for name, value in params.items():
            try:
                fault = wrong_value(self._built(component, {**defaults, name: value}))
            except ProbcalError:
                continue  # it needs the others
            if fault is not None:
                found[name] = fault
        return found


def _built_learner(component: type, params: dict[str, Any]) -> Any:
    return build(component, **params)


def _built_method(component: type, params: dict[str, Any]) -> Any:
    """The method with a learner that can do everything, so that what is wrong is a fault of its own."""
    from sklearn.tree import DecisionTreeClassifier

    return build(component, DecisionTreeClassifier(), **params)


def _combination_problems(file: YamlFile, learners: _Section, methods: _Section) -> Iterator[Problem]:
    combinations = file.data.get("combinations")
    for learner in combinations if isinstance(combinations, dict) else []:
        if isinstance(learner, str) and not _is_told(learner, learners):
            yield Problem(
                file.line(("combinations", learner)),
                f'"{learner}" is not one of the learners{did_you_mean(learner, learners.names)}',
            )
    for learner in learners.names:
        seen: set[str] = set()
        for method, params, where in _listed_methods(file.data, learner):
            line = file.line(where)
            if not _is_told(method, methods):
                yield Problem(line, f'"{method}" is not one of the methods{did_you_mean(method, methods.names)}')
            pair = f"{learner} with {method}"
            if method in seen:
                yield Problem(line, f"{pair} is listed twice; give one of them a name of its own under methods")
            seen.add(method)
            if learner in learners.sound and method in methods.sound:
                for place, message in _misfits(learners.sound[learner], method, methods.sound[method], params):
                    yield Problem(file.line((*where, method, *place)), f"{pair}: {message}")


def _is_told(name: str, section: _Section) -> bool:
    """Whether ``name`` is in the section, or is a slip away from an entry whose own fault is told there."""
    return name in section.names or bool(did_you_mean(name, section.unknown))


def _misfits(learner: _Sound, name: str, method: _Sound, params: dict[str, Any]) -> Iterator[tuple[tuple, str]]:
    """Why this learner cannot go under this method, with ``params`` that hold for the two together."""
    unknown = unknown_parameters(method.component, params)
    if unknown:
        yield from (((parameter,), message) for parameter, message in unknown.items())
        return
    base = build(learner.component, **learner.params)
    needed = getattr(method.component, "needs_one_of", ())
    if needed and not any(hasattr(base, one) for one in needed):
        yield (
            (),
            f"{learner.component.__name__} gives labels only and {name} needs {' or '.join(needed)};"
            " leave the pair out with combinations",
        )
        return
    try:
        fault = wrong_value(build(method.component, base, **{**method.params, **params}))
    except ProbcalError as error:
        fault = str(error)
    if fault:
        yield (), fault


def _listed_methods(
    data: Mapping[str, Any], learner: str
) -> Iterator[tuple[str, dict[str, Any], tuple[str | int, ...]]]:
    """(method, its parameters for this learner, place in the file) of each method of ``learner``."""
    combinations = data.get("combinations")
    listed = combinations.get(learner) if isinstance(combinations, dict) else None
    if listed is None:
        yield from ((method, {}, ("learners", learner)) for method in entries(data, "methods"))
    for index, item in enumerate(listed if isinstance(listed, list) else []):
        where = ("combinations", learner, index)
        if isinstance(item, str):
            yield item, {}, where
        elif isinstance(item, dict):
            yield from (
                (method, _parameters(params), where) for method, params in item.items() if isinstance(method, str)
            )


def _parameters(value: Any) -> dict[str, Any]:
    """What is well-formed of a mapping of parameters."""
    return {name: given for name, given in value.items() if isinstance(name, str)} if isinstance(value, dict) else {}
