"""The faults of an experiment's learners and methods, each entry by itself.

Works on the plain parsed file and passes over what is malformed, of which pydantic speaks, so that every
fault is reported once and all of them together.
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
from probcal.config.yaml_problems import MOST_TOLD
from probcal.errors import ProbcalError, Problem, did_you_mean
from probcal.learners.registry import LEARNERS
from probcal.methods.registry import METHODS

ENCODINGS = ("numeric", "ordinal", "native")
_LONGEST = 100
_ENTRY_NAME = re.compile(r"\w[\w.-]{0,99}")
"""Part of the ids of cells, where / stands between learner and method."""


def resolve(name: str, type_: str | None, table: Mapping[str, Builtin]) -> Builtin:
    """The built-in that ``type_``, or else the entry's own name, stands for; or an import path as it is.

    Of an import path nobody has said how tables are to call it: they call it as the experiment does.
    """
    wanted = type_ or name
    return table.get(wanted) or Builtin(wanted, about="", label=name)


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
        """Of every entry that has a name, be it malformed, and of its variants. Empty where the section itself is."""
        self.families: dict[str, list[str]] = {}
        """Entry -> the names of its variants; its own where it has none."""
        self.problems: list[Problem] = []
        self.components: dict[str, type] = {}
        self.sound: dict[str, dict[str, Any]] = {}
        """All parameters of each variant that is without a fault of its own."""
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
        self.families = {name: [name] for name in self.places}
        for name, entry in entries(file.data, section).items():
            if len(self.problems) >= MOST_TOLD:
                break
            self._check(self.places[name], name, entry)

    def _report(self, place: Place, message: str) -> None:
        problem = Problem(self._file.line(place), message)
        if problem not in self.problems:  # what an entry gives may be a fault of each of its variants
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
                return  # that key is told as unknown
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
        in_entry, params = (*place, "params"), with_names(entry.get("params"))
        unknown = self._tell_unknown(component, params, in_entry)
        for one in variants_of(name, entry):
            self.components[one.name] = component
            here = (*place, "variants", one.variant) if one.variant else in_entry
            if self._tell_unknown(component, one.params, here) or unknown:
                continue
            places = {**dict.fromkeys(params, in_entry), **dict.fromkeys(one.params, here)}
            if self._values_are_sound(component, builtin, {**params, **one.params}, places, here):
                self.sound[one.name] = {**builtin.params, **params, **one.params}

    def _check_seed(self, place: Place, name: str) -> None:
        """A shared seed goes to the parameter ``random_state``, which must be there and not be taken."""
        here = (*place, "shared_seed")
        for one in self.families[name]:
            if one not in self.sound:
                continue
            if "random_state" not in parameter_names(self.components[one]):
                called = self.components[one].__name__
                self._report(here, f"{called} has no random_state to share; remove shared_seed")
            elif self.sound[one].get("random_state") is not None:
                self._report(here, f"{name} has a random_state of its own; remove one of the two")

    def _tell_unknown(self, component: type, params: dict[str, Any], place: Place) -> bool:
        unknown = unknown_parameters(component, params)
        for parameter, message in unknown.items():
            self._report((*place, parameter), message)
        return bool(unknown)

    def _values_are_sound(
        self, component: type, builtin: Builtin, params: dict[str, Any], places: dict[str, Place], whole: Place
    ) -> bool:
        """Tells of each faulty one of ``params`` at its place in ``places``, of all together at ``whole``."""
        fault = self.fault(component, {**builtin.params, **params})
        if fault is None:
            return True
        # an estimator's check tells of the first fault only: each parameter is asked about by itself
        read_with = getattr(component, "read_with", {})
        told: set[str] = set()
        for one, given in params.items():
            company = {name: params[name] for name in read_with.get(one, ()) if name in params}
            message = self.fault(component, {**builtin.params, **company, one: given}, True)
            if message is not None and message not in told:
                told.add(message)
                self._report((*places[one], one), message)
        if not told:
            self._report(whole, fault)
        return False

    def fault(self, component: type, params: Mapping[str, Any], in_part: bool = False) -> str | None:
        """What is wrong with ``component`` under ``params``.

        ``in_part``: others were left out, so that it is no fault when it cannot be made without them.
        """
        try:
            return wrong_value(self._kind.built(component, params))
        except ProbcalError as error:
            return None if in_part else str(error)
