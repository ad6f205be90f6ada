"""The faults of an experiment's learners and methods, each entry by itself.

Works on the plain parsed file and passes over what is malformed, of which pydantic speaks, so that every
fault is reported once and all of them together.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from probcal.components import Builtin, build, import_class, no_learner, no_method, unknown_parameters, wrong_value
from probcal.errors import ProbcalError, Problem, did_you_mean
from probcal.learners.registry import LEARNERS
from probcal.methods.registry import METHODS
from probcal.yaml_file import Place, YamlFile

ENCODINGS = ("numeric", "native")
_ENTRY_NAME = re.compile(r"\w[\w.-]{0,99}")
"""Part of the ids of cells, where / stands between learner and method."""


def resolve(name: str, type_: str | None, table: Mapping[str, Builtin]) -> Builtin:
    """The built-in that ``type_``, or else the entry's own name, stands for; or an import path as it is."""
    wanted = type_ or name
    return table.get(wanted) or Builtin(wanted, about="")


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


@dataclass(frozen=True)
class Kind:
    """What differs between learners and methods. ``misfit`` says why a class cannot be one."""

    word: str
    table: Mapping[str, Builtin]
    example: str
    misfit: Callable[[type], str | None]
    built: Callable[[type, Mapping[str, Any]], Any]


def _learner(component: type, params: Mapping[str, Any]) -> Any:
    return build(component, **params)


def _method(component: type, params: Mapping[str, Any]) -> Any:
    """The method with a learner that can do everything, so that what is wrong is a fault of its own."""
    from sklearn.tree import DecisionTreeClassifier

    return build(component, DecisionTreeClassifier(), **params)


LEARNER = Kind("learner", LEARNERS, "sklearn.ensemble.RandomForestClassifier", no_learner, _learner)
METHOD = Kind("method", METHODS, "sklearn.calibration.CalibratedClassifierCV", no_method, _method)


class Section:
    """The entries of ``learners`` or ``methods``: where each stands, which are sound, what is wrong with the others."""

    def __init__(self, file: YamlFile, kind: Kind) -> None:
        self._file, self._kind = file, kind
        self.places: dict[str, Place] = {}
        """Of every entry that has a name, be it malformed. Empty where the section itself is."""
        self.problems: list[Problem] = []
        self.components: dict[str, type] = {}
        self.sound: dict[str, dict[str, Any]] = {}
        """All parameters of each entry that is without a fault of its own."""
        self.unknown: list[str] = []
        """Entries that stand for nothing; whoever names one of them repeats its fault."""
        section = f"{kind.word}s"
        given = file.data.get(section)
        for index, name in enumerate(given if isinstance(given, list) else []):
            if isinstance(name, str):
                if name in self.places:
                    self._report((section, index), f'the {kind.word} "{name}" is listed twice')
                self.places.setdefault(name, (section, index))
        self.places.update({name: (section, name) for name in with_names(given)})
        for name, entry in entries(file.data, section).items():
            self._check(self.places[name], name, entry)

    def _report(self, place: Place, message: str) -> None:
        self.problems.append(Problem(self._file.line(place), message))

    def _check(self, place: Place, name: str, entry: dict[str, Any]) -> None:
        word, table = self._kind.word, self._kind.table
        if not _ENTRY_NAME.fullmatch(name):
            self._report(place, f'"{name}" cannot name a {word}: only letters, digits, . _ and -, at most 100')
        wanted = name if entry.get("type") in (None, "") else entry["type"]
        if not isinstance(wanted, str):
            return
        if wanted not in table and "." not in wanted:
            self.unknown.append(name)
            if "type" not in entry and any(did_you_mean(key, ["type"]) for key in entry):
                return  # that key is told as unknown
            near, there, example = did_you_mean(wanted, table), ", ".join(table), self._kind.example
            also = f"(there are: {there}; any other by its import path, such as {example})"
            self._report((*place, "type"), f'there is no {word} "{wanted}"{near} {also}')
            return
        encoding = entry.get("encoding")
        if isinstance(encoding, str) and encoding not in ENCODINGS:
            near, there = did_you_mean(encoding, ENCODINGS), ", ".join(ENCODINGS)
            self._report((*place, "encoding"), f'there is no encoding "{encoding}"{near} (there are: {there})')
        self._check_parameters(place, name, resolve(name, wanted, table), with_names(entry.get("params")))

    def _check_parameters(self, place: Place, name: str, builtin: Builtin, params: dict[str, Any]) -> None:
        try:
            component = import_class(builtin.path)
        except ProbcalError as error:
            self._report((*place, "type"), str(error))
            return
        if misfit := self._kind.misfit(component):
            self._report((*place, "type"), misfit)
            return
        self.components[name] = component
        if unknown := unknown_parameters(component, params):
            for parameter, message in unknown.items():
                self._report((*place, "params", parameter), message)
            return
        together = {**builtin.params, **params}
        fault = self._fault(component, together)
        if fault is None:
            self.sound[name] = together
            return
        # an estimator's check tells of the first fault only: each parameter is asked about by itself
        alone = {one: self._fault(component, {**builtin.params, one: given}, True) for one, given in params.items()}
        for parameter, message in alone.items():
            if message is not None:
                self._report((*place, "params", parameter), message)
        if not any(alone.values()):
            self._report((*place, "params"), fault)

    def _fault(self, component: type, params: Mapping[str, Any], in_part: bool = False) -> str | None:
        """``in_part``: others were left out, so that it is no fault when it cannot be made without them."""
        try:
            return wrong_value(self._kind.built(component, params))
        except ProbcalError as error:
            return None if in_part else str(error)
