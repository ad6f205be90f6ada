"""The faults of an experiment's learners and methods, each entry by itself.

These checks work on the plain parsed file. They skip malformed parts, which pydantic reports. So every fault is
reported once, and all faults together.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from probcal.config.components import (
    Builtin,
    build,
    entries,
    import_class,
    is_trusted,
    no_learner,
    no_method,
    parameter_names,
    refusal,
    unknown_parameters,
    variants_of,
    with_names,
    wrong_value,
)
from probcal.config.yaml_file import Place, YamlFile
from probcal.config.yaml_problems import MOST_REPORTED
from probcal.errors import ProbcalError, Problem, did_you_mean
from probcal.learners.registry import LEARNERS
from probcal.methods.registry import METHODS

ENCODINGS = ("numeric", "ordinal", "native")
_LONGEST = 100
_ENTRY_NAME = re.compile(r"\w[\w.-]{0,99}")
"""Valid names. They become part of cell ids, where / separates learner and method."""


def resolve(name: str, type_: str | None, table: Mapping[str, Builtin]) -> Builtin:
    """Return the built-in component named by ``type_``, or by the entry's own name if there is no type.

    An import path gets a ``Builtin`` whose label is the name of the entry.
    """
    wanted = type_ or name
    return table.get(wanted) or Builtin(wanted, about="", label=name)


@dataclass(frozen=True)
class Kind:
    """Describe what differs between learners and methods. ``misfit`` returns why a class cannot be one."""

    word: str
    table: Mapping[str, Builtin]
    example: str
    misfit: Callable[[type], str | None]
    built: Callable[[type, Mapping[str, Any]], Any]


def _learner(component: type, params: Mapping[str, Any]) -> Any:
    return build(component, **params)


def _method(component: type, params: Mapping[str, Any]) -> Any:
    """Build the method with a learner that can do everything, so that any fault is the method's own."""
    from sklearn.tree import DecisionTreeClassifier

    return build(component, DecisionTreeClassifier(), **params)


LEARNER = Kind("learner", LEARNERS, "sklearn.ensemble.RandomForestClassifier", no_learner, _learner)
METHOD = Kind("method", METHODS, "sklearn.calibration.CalibratedClassifierCV", no_method, _method)


class Section:
    """Check the entries of ``learners`` or ``methods``: their places, the valid ones, and the faults of the others."""

    def __init__(self, file: YamlFile, kind: Kind) -> None:
        self._file, self._kind = file, kind
        self.places: dict[str, Place] = {}
        """Name -> place of every named entry, even a malformed one, and of its variants."""
        self.families: dict[str, list[str]] = {}
        """Entry -> the names of its variants, or its own name where it has none."""
        self.problems: list[Problem] = []
        self.components: dict[str, type] = {}
        self.sound: dict[str, dict[str, Any]] = {}
        """Variant -> all its parameters, for variants without a fault of their own."""
        self.unknown: list[str] = []
        """Entries that name no known component. Messages about them are not repeated elsewhere."""
        section = f"{kind.word}s"
        given = file.data.get(section)
        for index, name in enumerate(given if isinstance(given, list) else []):
            if isinstance(name, str):
                if name in self.places:
                    self._report((section, index), f'the {kind.word} "{name}" is listed twice')
                self.places.setdefault(name, (section, index))
        self.places.update({name: (section, name) for name in with_names(given)})
        self.families = {name: [name] for name in self.places}
        for name, entry in entries(file.data, section).items():
            if len(self.problems) >= MOST_REPORTED:
                break
            self._check(self.places[name], name, entry)

    def _report(self, place: Place, message: str) -> None:
        problem = Problem(self._file.line(place), message)
        if problem not in self.problems:  # a fault of an entry is found again in each of its variants
            self.problems.append(problem)

    def _check(self, place: Place, name: str, entry: dict[str, Any]) -> None:
        word, table = self._kind.word, self._kind.table
        self._check_names(place, name, entry)
        wanted = name if entry.get("type") in (None, "") else entry["type"]
        if not isinstance(wanted, str):
            return
        if wanted not in table and "." not in wanted:
            self.unknown.append(name)
            if "type" not in entry and any(did_you_mean(key, ["type"]) for key in entry):
                return  # that key is reported as unknown
            near, there, example = did_you_mean(wanted, table), ", ".join(table), self._kind.example
            also = f"(there are: {there}; any other by its import path, such as {example})"
            self._report((*place, "type"), f'there is no {word} "{wanted}"{near} {also}')
            return
        encoding = entry.get("encoding")
        if isinstance(encoding, str) and encoding not in ENCODINGS:
            near, there = did_you_mean(encoding, ENCODINGS), ", ".join(ENCODINGS)
            self._report((*place, "encoding"), f'there is no encoding "{encoding}"{near} (there are: {there})')
        builtin = resolve(name, wanted, table)
        self._check_parameters(place, name, builtin, entry)
        if entry.get("shared_seed") is True:
            self._check_seed(place, name)

    def _check_names(self, place: Place, name: str, entry: dict[str, Any]) -> None:
        word, variants = self._kind.word, variants_of(name, entry)
        if not _ENTRY_NAME.fullmatch(name):
            self._report(place, f'"{name}" cannot name a {word}: only letters, digits, . _ and -, at most {_LONGEST}')
        self.families[name] = [one.name for one in variants]
        for one in variants if with_names(entry.get("variants")) else []:
            there = (*place, "variants", one.variant)
            if not _ENTRY_NAME.fullmatch(one.variant) or len(one.name) > _LONGEST:
                self._report(
                    there,
                    f'"{one.variant}" cannot name a variant of {name}: only letters, digits, . _ and -, '
                    f"at most {_LONGEST} together",
                )
            elif one.name in self.places:
                line = self._file.line(self.places[one.name])
                self._report(
                    there,
                    f'the variant "{one.variant}" of {name} is called as the {word} "{one.name}" on line {line}; '
                    "rename one",
                )
            self.places.setdefault(one.name, there)

    def _check_parameters(self, place: Place, name: str, builtin: Builtin, entry: dict[str, Any]) -> None:
        if not is_trusted(builtin.path):
            self._report((*place, "type"), refusal(builtin.path))
            return
        try:
            component = import_class(builtin.path)
        except ProbcalError as error:
            self._report((*place, "type"), str(error))
            return
        if misfit := self._kind.misfit(component):
            self._report((*place, "type"), misfit)
            return
        params_place, params = (*place, "params"), with_names(entry.get("params"))
        unknown = self._report_unknown(component, params, params_place)
        for one in variants_of(name, entry):
            self.components[one.name] = component
            here = (*place, "variants", one.variant) if one.variant else params_place
            if self._report_unknown(component, one.params, here) or unknown:
                continue
            places = {**dict.fromkeys(params, params_place), **dict.fromkeys(one.params, here)}
            if self._values_are_sound(component, builtin, {**params, **one.params}, places, here):
                self.sound[one.name] = {**builtin.params, **params, **one.params}

    def _check_seed(self, place: Place, name: str) -> None:
        """Check that the parameter ``random_state``, which gets a shared seed, exists and is not set."""
        here = (*place, "shared_seed")
        for one in self.families[name]:
            if one not in self.sound:
                continue
            if "random_state" not in parameter_names(self.components[one]):
                called = self.components[one].__name__
                self._report(here, f"{called} has no random_state to share; remove shared_seed")
            elif self.sound[one].get("random_state") is not None:
                self._report(here, f"{name} has a random_state of its own; remove one of the two")

    def _report_unknown(self, component: type, params: dict[str, Any], place: Place) -> bool:
        unknown = unknown_parameters(component, params)
        for parameter, message in unknown.items():
            self._report((*place, parameter), message)
        return bool(unknown)

    def _values_are_sound(
        self, component: type, builtin: Builtin, params: dict[str, Any], places: dict[str, Place], whole: Place
    ) -> bool:
        """Report each faulty parameter at its place in ``places``, or a fault of all together at ``whole``.

        Return whether there is no fault.
        """
        fault = self.fault(component, {**builtin.params, **params})
        if fault is None:
            return True
        # the check of an estimator reports only the first fault, so each parameter is checked by itself
        read_with = getattr(component, "read_with", {})
        reported: set[str] = set()
        for parameter, value in params.items():
            related = {name: params[name] for name in read_with.get(parameter, ()) if name in params}
            message = self.fault(component, {**builtin.params, **related, parameter: value}, True)
            if message is not None and message not in reported:
                reported.add(message)
                self._report((*places[parameter], parameter), message)
        if not reported:
            self._report(whole, fault)
        return False

    def fault(self, component: type, params: Mapping[str, Any], in_part: bool = False) -> str | None:
        """Return the fault of ``component`` with ``params``, or None.

        With ``in_part``, some parameters were left out. Then it is no fault if the component cannot be built.
        """
        try:
            return wrong_value(self._kind.built(component, params))
        except ProbcalError as error:
            return None if in_part else str(error)
