"""The learners and methods of an experiment file: the components that can be built, and the faults of the others."""

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
    takes_parameter,
    unknown_parameters,
    with_names,
    wrong_value,
)
from probcal.config.experiment_file import LearnerEntry, MethodEntry
from probcal.config.nested import faults as nested_faults
from probcal.config.nested import is_component, resolved
from probcal.config.plugins import find_component, known_learners, known_methods
from probcal.config.yaml_file import Place, YamlFile
from probcal.errors import OF_A_PLUGIN, ProbcalError, did_you_mean, unknown_name

_LONGEST = 100
_ENTRY_NAME = re.compile(r"\w[\w.-]{0,99}")
"""Valid names. They become part of cell ids, where / separates learner and method."""


@dataclass(frozen=True)
class Component:
    """Hold a learner or method as it will be built: its import path and all parameters that are not defaults."""

    name: str
    path: str
    params: dict[str, Any]
    label: str
    encoding: str = "numeric"
    paper: str | None = None
    shared_seed: bool = False
    entry: str = ""
    """The entry of the experiment that this is a variant of, or its own name where there are no variants."""
    variant: str = ""

    @property
    def selectable_names(self) -> tuple[str, str]:
        """Return the names that select it."""
        return self.name, self.entry


@dataclass(frozen=True)
class Kind:
    """Describe what differs between learners and methods. ``misfit`` returns why a class cannot be one."""

    word: str
    known: Callable[[], Mapping[str, Builtin]]
    example: str
    model: type[LearnerEntry] | type[MethodEntry]
    misfit: Callable[[type], str | None]
    built: Callable[[type, Mapping[str, Any]], Any]


def _learner(component: type, params: Mapping[str, Any]) -> Any:
    return build(component, **params)


def _method(component: type, params: Mapping[str, Any]) -> Any:
    """Build the method with a learner that can do everything, so that any fault is the method's own."""
    from sklearn.tree import DecisionTreeClassifier

    return build(component, DecisionTreeClassifier(), **params)


LEARNER = Kind("learner", known_learners, "sklearn.ensemble.RandomForestClassifier", LearnerEntry, no_learner, _learner)
METHOD = Kind("method", known_methods, "sklearn.calibration.CalibratedClassifierCV", MethodEntry, no_method, _method)


class Section:
    """Read ``learners`` or ``methods``. Entries at ``malformed`` places are skipped, because pydantic reports them."""

    def __init__(self, file: YamlFile, kind: Kind, malformed: list[Place]) -> None:
        self._file, self._kind = file, kind
        self.places: dict[str, Place] = {}
        """Name -> place of every named entry, even a malformed one, and of its variants."""
        self.families: dict[str, list[str]] = {}
        """Entry -> the names of its variants, or its own name where it has none."""
        self.entries: dict[str, Any] = {}
        self.classes: dict[str, type] = {}
        self.sound: dict[str, Component] = {}
        """Variant -> component, for variants without a fault of their own."""
        self.reported: list[str] = []
        """Malformed entries, and those that name no known component. Messages about them are not repeated."""
        section = f"{kind.word}s"
        given = file.data.get(section)
        for index, name in enumerate(given if isinstance(given, list) else []):
            if isinstance(name, str):
                if name in self.places:
                    file.report((section, index), f'the {kind.word} "{name}" is listed twice')
                self.places.setdefault(name, (section, index))
        self.places.update({name: (section, name) for name in with_names(given)})
        self.families = {name: [name] for name in self.places}
        faulty = {place[:2] for place in malformed}
        raw = {} if (section,) in faulty else entries(file.data, section)
        for name, place in self.places.items():
            if place in faulty or name not in raw:
                self.reported.append(name)
            else:
                self.entries[name] = kind.model.model_validate(raw[name])
        for name, entry in self.entries.items():
            self._check(self.places[name], name, entry)

    def knows(self, name: str) -> bool:
        """Return whether ``name`` is in the section, or is wrong because of a fault that is reported already."""
        variant_of_reported = any(name.startswith(f"{one}.") for one in self.reported)
        known = not self.places or name in self.places or variant_of_reported
        return known or bool(did_you_mean(name, self.reported))

    def _check(self, place: Place, name: str, entry: Any) -> None:
        word = self._kind.word
        self._check_names(place, name, entry.variants or {})
        wanted = entry.type or name
        try:
            builtin = find_component(f"{word}s", wanted)
            if builtin is None and "." not in wanted:
                self.reported.append(name)
                more = f"; any other by its import path, such as {self._kind.example}"
                raise ProbcalError(unknown_name(word, wanted, self._kind.known(), more) + OF_A_PLUGIN)
            builtin = builtin or Builtin(wanted, about="", label=name)
            component = self._imported(builtin.path)
        except ProbcalError as error:
            self._file.report((*place, "type"), str(error))
            return
        unknown = self._report_faulty(component, entry.params, (*place, "params"))
        for variant, params in (entry.variants or {"": {}}).items():
            made = _component(name, variant, builtin, entry, {**entry.params, **params})
            self.classes[made.name] = component
            here = (*place, "variants", variant) if variant else (*place, "params")
            if self._report_faulty(component, params, here) or unknown:
                continue
            places = {**dict.fromkeys(entry.params, (*place, "params")), **dict.fromkeys(params, here)}
            if self._values_are_sound(component, builtin, {**entry.params, **params}, places, here):
                self.sound[made.name] = made
                if made.shared_seed:
                    self._check_seed((*place, "shared_seed"), made)

    def _imported(self, path: str) -> type:
        if not is_trusted(path):
            raise ProbcalError(refusal(path))
        component = import_class(path)
        if misfit := self._kind.misfit(component):
            raise ProbcalError(misfit)
        return component

    def _check_names(self, place: Place, name: str, variants: Mapping[str, Any]) -> None:
        word, report = self._kind.word, self._file.report
        allowed = f"only letters, digits, . _ and -, at most {_LONGEST}"
        if not _ENTRY_NAME.fullmatch(name):
            report(place, f'"{name}" cannot name a {word}: {allowed}')
        if variants:
            self.families[name] = [f"{name}.{one}" for one in variants]
        for variant in variants:
            full, there = f"{name}.{variant}", (*place, "variants", variant)
            if not _ENTRY_NAME.fullmatch(variant) or len(full) > _LONGEST:
                report(there, f'"{variant}" cannot name a variant of {name}: {allowed} together')
            elif full in self.places:
                other = f'the {word} "{full}" on line {self._file.line(self.places[full])}'
                report(there, f'the variant "{variant}" of {name} is called as {other}; rename one')
            self.places.setdefault(full, there)

    def _check_seed(self, place: Place, made: Component) -> None:
        """Check that the parameter ``random_state``, which gets a shared seed, exists and is not set."""
        component = self.classes[made.name]
        if "random_state" not in parameter_names(component):
            self._file.report(place, f"{component.__name__} has no random_state to share; remove shared_seed")
        elif made.params.get("random_state") is not None:
            self._file.report(place, f"{made.entry} has a random_state of its own; remove one of the two")

    def _report_faulty(self, component: type, params: Mapping[str, Any], place: Place) -> bool:
        """Report unknown parameters, and faults of nested components. Return whether there are any."""
        found = parameter_faults(component, params, place)
        for there, message in found:
            self._file.report(there, message)
        return bool(found)

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
                self._file.report((*places[parameter], parameter), message)
        if not reported:
            self._file.report(whole, fault)
        return False

    def fault(self, component: type, params: Mapping[str, Any], in_part: bool = False) -> str | None:
        """Return the fault of ``component`` with ``params``, or None.

        With ``in_part``, some parameters were left out. Then it is no fault if the component cannot be built.
        """
        try:
            return wrong_value(self._kind.built(component, params))
        except ProbcalError as error:
            return None if in_part else str(error)


def parameter_faults(component: type, params: Mapping[str, Any], place: Place) -> list[tuple[Place, str]]:
    """Return the place and message of each unknown parameter, and of each fault of a nested component.

    ``params`` stand at ``place``. Values are not checked. A learner such as BaggingClassifier may get another learner
    as its ``estimator``.
    """
    nested = takes_parameter(component, "estimator") and is_component(params.get("estimator"))
    given = {name: value for name, value in params.items() if not (nested and name == "estimator")}
    unknown = [((*place, name), message) for name, message in unknown_parameters(component, given).items()]
    return [*unknown, *nested_faults(params, place)]


def _component(name: str, variant: str, builtin: Builtin, entry: Any, params: dict[str, Any]) -> Component:
    if isinstance(entry, LearnerEntry):
        label, encoding = entry.label or builtin.label or name, entry.encoding or builtin.encoding
        paper = entry.paper
    else:
        label, encoding = builtin.label if entry.label is None else entry.label, "numeric"
        of_variants = entry.paper if isinstance(entry.paper, dict) else {variant: entry.paper or entry.type or name}
        paper = of_variants.get(variant)
    return Component(
        name=f"{name}.{variant}" if variant else name,
        path=builtin.path,
        params={**builtin.params, **resolved(params)},
        label=label,
        encoding=encoding,
        paper=paper,
        shared_seed=entry.shared_seed,
        entry=name,
        variant=variant,
    )
