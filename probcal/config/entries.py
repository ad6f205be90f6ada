"""The learners and methods of an experiment file: the components that can be built, and the faults of the others."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from probcal.components.classes import (
    comes_with_probcal,
    learner_fault,
    method_fault,
    parameter_names,
    takes_parameter,
    unknown_parameters,
    value_fault,
)
from probcal.components.nested import build, is_component, paths, resolve_names
from probcal.components.nested import faults as nested_faults
from probcal.components.registry import LEARNER_NAMES, METHOD_NAMES, Builtin, Registry
from probcal.components.trust import text_faults, trusted_class
from probcal.config.experiment_file import LearnerEntry, MethodEntry
from probcal.errors import OF_A_PLUGIN, ProbcalError, did_you_mean, unknown_name
from probcal.yaml_file import KeyPath, YamlFile, entries, named_items

_LONGEST_NAME = 100
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
    """Describe what differs between learners and methods. ``fault`` returns why a class cannot be one."""

    word: str
    names: Registry
    example: str
    model: type[LearnerEntry | MethodEntry]
    fault: Callable[[type], str | None]


LEARNER = Kind("learner", LEARNER_NAMES, "sklearn.ensemble.RandomForestClassifier", LearnerEntry, learner_fault)
METHOD = Kind("method", METHOD_NAMES, "sklearn.calibration.CalibratedClassifierCV", MethodEntry, method_fault)


class Section:
    """Read ``learners`` or ``methods``. Entries at ``faulty_paths`` are skipped, because pydantic reports them.

    Without ``check_classes``, classes of probcal and scikit-learn are not imported, and parameters are as given.
    """

    def __init__(self, file: YamlFile, kind: Kind, faulty_paths: list[KeyPath], *, check_classes: bool = True) -> None:
        self._file, self._kind, self._check_classes = file, kind, check_classes
        self.key_paths: dict[str, KeyPath] = {}
        """Name -> key path of every named entry, even a malformed one, and of its variants."""
        self.families: dict[str, list[str]] = {}
        """Entry -> the names of its variants, or its own name where it has none."""
        self.entries: dict[str, Any] = {}
        self.classes: dict[str, type] = {}
        """Variant -> class, for those that are checked."""
        self.valid_components: dict[str, Component] = {}
        """Variant -> component, for variants without a fault of their own."""
        self.reported_names: list[str] = []
        """Malformed entries, and those that name no known component. Messages about them are not repeated."""
        section = f"{kind.word}s"
        value = file.data.get(section)
        for index, name in enumerate(value if isinstance(value, list) else []):
            if isinstance(name, str):
                if name in self.key_paths:
                    file.report((section, index), f'the {kind.word} "{name}" is listed twice')
                self.key_paths.setdefault(name, (section, index))
        self.key_paths.update({name: (section, name) for name in named_items(value)})
        self.families = {name: [name] for name in self.key_paths}
        faulty_entries = {key_path[:2] for key_path in faulty_paths}
        raw_entries = {} if (section,) in faulty_entries else entries(file.data, section)
        for name, key_path in self.key_paths.items():
            if key_path in faulty_entries or name not in raw_entries:
                self.reported_names.append(name)
            else:
                self.entries[name] = kind.model.model_validate(raw_entries[name])
        for name, entry in self.entries.items():
            self._check(self.key_paths[name], name, entry)

    def check_known(self, name: str, key_path: KeyPath) -> bool:
        """Return whether ``name`` is in the section, and report it at ``key_path`` if it is not.

        A name that is wrong because of a fault that is reported already counts as known.
        """
        is_variant = any(name.startswith(f"{entry}.") for entry in self.reported_names)
        is_known = not self.key_paths or name in self.key_paths or is_variant
        if is_known or did_you_mean(name, self.reported_names):
            return True
        suggestion = did_you_mean(name, self.key_paths)
        self._file.report(key_path, f'"{name}" is not one of the {self._kind.word}s{suggestion}')
        return False

    def _check(self, key_path: KeyPath, name: str, entry: Any) -> None:
        word = self._kind.word
        self._check_names(key_path, name, entry.variants or {})
        type_name = entry.type or name
        try:
            builtin = self._kind.names.find(type_name)
            if builtin is None and "." not in type_name:
                self.reported_names.append(name)
                hint = f"; any other by its import path, such as {self._kind.example}"
                raise ProbcalError(unknown_name(word, type_name, self._kind.names.known(), hint) + OF_A_PLUGIN)
            # any other class is named by its import path
            builtin = builtin or Builtin(type_name, about="", label=name)
            if not self._check_classes and _names_own_classes(builtin.path, entry):
                for variant, params in (entry.variants or {"": {}}).items():
                    variant_component = _component(name, variant, builtin, entry, {**entry.params, **params})
                    self.valid_components[variant_component.name] = variant_component
                return
            component = trusted_class(builtin.path)
            if misfit := self._kind.fault(component):
                raise ProbcalError(misfit)
        except ProbcalError as error:
            self._file.report((*key_path, "type"), str(error))
            return
        # a fault of the entry counts for all variants, and is reported only here
        has_faults = self._report_faults(component, entry.params, (*key_path, "params"))
        for variant, params in (entry.variants or {"": {}}).items():
            variant_component = _component(name, variant, builtin, entry, {**entry.params, **params})
            self.classes[variant_component.name] = component
            params_path = (*key_path, "variants", variant) if variant else (*key_path, "params")
            if self._report_faults(component, params, params_path) or has_faults:
                continue
            key_paths = {**dict.fromkeys(entry.params, (*key_path, "params")), **dict.fromkeys(params, params_path)}
            if self._check_values(component, builtin, {**entry.params, **params}, key_paths, params_path):
                self.valid_components[variant_component.name] = variant_component
                if variant_component.shared_seed:
                    self._check_seed((*key_path, "shared_seed"), variant_component)

    def _check_names(self, key_path: KeyPath, name: str, variants: Mapping[str, Any]) -> None:
        word, report = self._kind.word, self._file.report
        rule = f"only letters, digits, . _ and -, at most {_LONGEST_NAME}"
        if not _ENTRY_NAME.fullmatch(name):
            report(key_path, f'"{name}" cannot name a {word}: {rule}')
        if variants:
            self.families[name] = [f"{name}.{variant}" for variant in variants]
        for variant in variants:
            full_name, variant_path = f"{name}.{variant}", (*key_path, "variants", variant)
            if not _ENTRY_NAME.fullmatch(variant) or len(full_name) > _LONGEST_NAME:
                report(variant_path, f'"{variant}" cannot name a variant of {name}: {rule} together')
            elif full_name in self.key_paths:
                owner = f'the {word} "{full_name}" on line {self._file.line(self.key_paths[full_name])}'
                report(variant_path, f'the variant "{variant}" of {name} is called as {owner}; rename one')
            self.key_paths.setdefault(full_name, variant_path)

    def _check_seed(self, path: KeyPath, variant_component: Component) -> None:
        """Check that the parameter ``random_state``, which gets a shared seed, exists and is not set."""
        component = self.classes[variant_component.name]
        if "random_state" not in parameter_names(component):
            self._file.report(path, f"{component.__name__} has no random_state to share; remove shared_seed")
        elif variant_component.params.get("random_state") is not None:
            self._file.report(path, f"{variant_component.entry} has a random_state of its own; remove one of the two")

    def _report_faults(self, component: type, params: Mapping[str, Any], key_path: KeyPath) -> bool:
        """Report unknown parameters, and faults of nested components. Return whether there are any."""
        faults = parameter_faults(component, params, key_path)
        for fault_path, message in faults:
            self._file.report(fault_path, message)
        return bool(faults)

    def _check_values(
        self,
        component: type,
        builtin: Builtin,
        params: dict[str, Any],
        key_paths: dict[str, KeyPath],
        shared_path: KeyPath,
    ) -> bool:
        """Report each faulty parameter at its path in ``key_paths``, or a fault of all together at ``shared_path``.

        Return whether there is no fault.
        """
        fault = self.fault(component, {**builtin.params, **params})
        if fault is None:
            return True
        # the check of an estimator reports only the first fault, so each parameter is checked by itself
        companions = getattr(component, "read_with", {})
        messages: set[str] = set()
        for parameter, value in params.items():
            companion_params = {name: params[name] for name in companions.get(parameter, ()) if name in params}
            message = self.fault(component, {**builtin.params, **companion_params, parameter: value}, True)
            # Several parameters can have one fault, such as that two of them do not go together.
            if message is not None and message not in messages:
                messages.add(message)
                self._file.report((*key_paths[parameter], parameter), message)
        if not messages:
            self._file.report(shared_path, fault)
        return False

    def fault(self, component: type, params: Mapping[str, Any], partial: bool = False) -> str | None:
        """Return the fault of ``component`` with ``params``, or None.

        With ``partial``, some parameters were left out. Then it is no fault if the component cannot be built.
        """
        from sklearn.tree import DecisionTreeClassifier

        # This learner can do everything, so that any fault is the method's own.
        learners = [DecisionTreeClassifier()] if self._kind is METHOD else []
        try:
            return value_fault(build(component, *learners, **params))
        except ProbcalError as error:
            return None if partial else str(error)


def parameter_faults(component: type, params: Mapping[str, Any], key_path: KeyPath) -> list[tuple[KeyPath, str]]:
    """Return the key path and message of each unknown parameter, untrusted text and fault of a nested component.

    ``params`` stand at ``key_path``. Values are not checked. A learner such as BaggingClassifier may get another
    learner as its ``estimator``.
    """
    is_nested = takes_parameter(component, "estimator") and is_component(params.get("estimator"))
    own_params = {name: value for name, value in params.items() if not (is_nested and name == "estimator")}
    messages = [*unknown_parameters(component, own_params).items(), *text_faults(component, params)]
    return [*(((*key_path, name), message) for name, message in messages), *nested_faults(params, key_path)]


def _names_own_classes(path: str, entry: Any) -> bool:
    """Return whether an entry and its variants name only classes of probcal and scikit-learn."""
    nested = paths(resolve_names([entry.params, *(entry.variants or {}).values()]))
    return all(map(comes_with_probcal, (path, *nested)))


def _component(name: str, variant: str, builtin: Builtin, entry: Any, params: dict[str, Any]) -> Component:
    if isinstance(entry, LearnerEntry):
        label, encoding = entry.label or builtin.label or name, entry.encoding or builtin.encoding
        paper = entry.paper
    else:
        label, encoding = builtin.label if entry.label is None else entry.label, "numeric"
        papers = entry.paper if isinstance(entry.paper, dict) else {variant: entry.paper or entry.type or name}
        paper = papers.get(variant)
    return Component(
        name=f"{name}.{variant}" if variant else name,
        path=builtin.path,
        params={**builtin.params, **resolve_names(params)},
        label=label,
        encoding=encoding,
        paper=paper,
        shared_seed=entry.shared_seed,
        entry=name,
        variant=variant,
    )
