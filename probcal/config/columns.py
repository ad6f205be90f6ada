"""The columns of an experiment, each a learner with a method, its exceptions, and the faults of both."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from pydantic import TypeAdapter

from probcal.components.classes import import_class, unmet_need, value_fault
from probcal.components.nested import build, paths, resolve_names
from probcal.components.registry import Builtin
from probcal.config.entries import LEARNER, METHOD, Component, Section, parameter_faults
from probcal.config.experiment_file import CURVES, SETTINGS, MethodEntries, OverrideEntry, card_name
from probcal.data.card import Card
from probcal.errors import ProbcalError, did_you_mean
from probcal.learners.registry import find_learner
from probcal.metrics import METHOD_METRICS
from probcal.papers.published import PublishedPaper
from probcal.yaml_file import KeyPath, YamlFile, named_items, texts

_METHOD_CURVES = tuple(name for name in CURVES if name != "roc")
_METHOD_LISTS: TypeAdapter[list[dict[str, dict[str, Any]]]] = TypeAdapter(list[MethodEntries])


@dataclass(frozen=True)
class ExperimentColumn:
    """Hold a learner with a method: one column of the tables."""

    learner: Component
    method: Component
    label: str

    @property
    def group(self) -> str:
        """Return the group of the column.

        Columns of one group are compared: the methods of one learner with the same settings.
        """
        return " ".join([self.learner.label, *_named_variants(self.learner)])

    @cached_property
    def class_paths(self) -> tuple[str, ...]:
        """Return the import paths of the learner, the method and their nested components."""
        components = (self.learner, self.method)
        return (
            *(component.path for component in components),
            *(path for component in components for path in paths(component.params)),
        )


@dataclass(frozen=True)
class Override:
    """Hold an exception with its names resolved. ``columns`` holds (learner, method) of each column."""

    datasets: tuple[str, ...]
    columns: tuple[tuple[str, str], ...]
    why: str
    card: Card | None = None
    use: Builtin | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    method_params: Mapping[str, Any] = field(default_factory=dict)
    skip: bool = False

    def applies_to(self, dataset: str, learner: str, method: str) -> bool:
        return dataset in self.datasets and (learner, method) in self.columns

    @property
    def description(self) -> str:
        """Describe the other card or settings in words."""
        words = [f"card {self.card.name}"] if self.card else []
        words += [self.use.path.rpartition(".")[2]] if self.use else []
        words += [f"{name} {value}" for params in (self.params, self.method_params) for name, value in params.items()]
        return "not run" if self.skip else ", ".join(words)


def _split_settings(card: Card) -> tuple[bool, int | None]:
    """Return what the number of splits depends on, besides the experiment."""
    return card.split.is_random, card.split.folds


def _named_variants(*components: Component) -> list[str]:
    return [component.variant for component in components if component.variant]


class Resolution:
    """Resolve the columns and exceptions of ``file``, and report to it what does not exist or does not fit.

    Parts at ``faulty_paths`` are skipped, because pydantic reports them. So every fault is reported once, and all
    together. ``card_of`` reads a card. ``check_classes`` is as for ``Section``.
    """

    def __init__(
        self,
        file: YamlFile,
        faulty_paths: list[KeyPath],
        card_of: Callable[[str], Card],
        *,
        check_classes: bool = True,
    ) -> None:
        self._file = file
        self._card_of = card_of
        self._malformed = {key_path[:2] for key_path in faulty_paths}
        self._learners, self._methods = (
            Section(file, kind, faulty_paths, check_classes=check_classes) for kind in (LEARNER, METHOD)
        )
        self._combinations = {
            learner: [] if ("combinations", learner) in self._malformed else _METHOD_LISTS.validate_python(methods)
            for learner, methods in named_items(file.data.get("combinations")).items()
        }
        self._pairs: dict[tuple[str, str], dict[str, Any]] = {}
        """(learner, method) -> parameters that ``combinations`` gives this pair."""
        self.columns: list[ExperimentColumn] = []
        self.overrides: list[Override] = []
        # in this order, because exceptions name pairs of the combinations
        self._read_combinations()
        self._check_labels()
        self._read_exceptions()
        self._check_method_metrics()
        self._check_paper()

    def _read_combinations(self) -> None:
        for learner in self._combinations:
            self._learners.check_known(learner, ("combinations", learner))
        for entry, names in self._learners.families.items():
            for learner in names:
                earlier_methods: set[str] = set()
                for method, params, key_path in self._method_entries(entry, learner):
                    if method in earlier_methods and key_path:
                        advice = "give one of them a name of its own under methods"
                        self._file.report(key_path, f"{key_path[1]} with {key_path[-1]} is listed twice; {advice}")
                    earlier_methods.add(method)
                    self._read_pair(learner, method, params, key_path)

    def _method_entries(self, entry: str, learner: str) -> Iterator[tuple[str, dict[str, Any], KeyPath | None]]:
        """Yield each method of ``learner``, its parameters for this learner, and its key path in ``combinations``.

        Unlisted learners get all methods, and the key path is None. The name of an entry stands for its variants.
        Variants that a list of ``combinations`` names themselves are left out.
        """
        families = self._methods.families
        key = learner if learner in self._combinations else entry
        if key not in self._combinations:
            yield from ((method, {}, None) for names in families.values() for method in names)
            return
        items = self._combinations[key]
        # a variant that is listed itself has its own parameters, which those of the whole entry must not replace
        explicit_names = {method for item in items for method in item}
        for index, item in enumerate(items):
            for name, params in item.items():
                for method in families.get(name, [name]):
                    if method == name or method not in explicit_names:
                        yield method, params, ("combinations", key, index, name)

    def _read_pair(self, learner: str, method: str, params: dict[str, Any], pair_path: KeyPath | None) -> None:
        key_path = pair_path or self._learners.key_paths[learner]
        pair = f"{pair_path[1]} with {pair_path[-1]}" if pair_path else f"{learner} with {method}"
        self._methods.check_known(method, key_path)
        self._pairs[learner, method] = params
        component = self._methods.classes.get(method)
        faults = parameter_faults(component, params, key_path) if component else []
        for fault_path, message in faults:
            self._file.report(fault_path, f"{pair}: {message}")
        base, wrapper = self._learners.valid_components.get(learner), self._methods.valid_components.get(method)
        if faults or base is None or wrapper is None:
            return
        # A published column is a learner with a method, so a method around a learner that the paper lacks has none.
        wrapper = replace(
            wrapper, params={**wrapper.params, **resolve_names(params)}, paper=wrapper.paper if base.paper else None
        )
        has_classes = learner in self._learners.classes and method in self._methods.classes
        if has_classes and (fault := self._misfit(self._learners.classes[learner], base.params, wrapper)):
            self._file.report(key_path, f"{learner} with {method}: {fault}")
        label = " ".join([f"{wrapper.label}{base.label}", *_named_variants(base, wrapper)])
        self.columns.append(ExperimentColumn(base, wrapper, label))

    def _misfit(self, learner: type, params: Mapping[str, Any], method: Component) -> str | None:
        base, wrapper = build(learner, **params), self._methods.classes[method.name]
        if need := unmet_need(wrapper, base):
            message = f"{method.name} needs {need}, which {learner.__name__} does not have"
            return f"{message}; leave the pair out with combinations"
        try:
            return value_fault(build(wrapper, base, **method.params))
        except ProbcalError as error:
            return str(error)

    def _check_labels(self) -> None:
        """Give columns of one heading their names beside it. Report two labels of the file that are the same."""
        first: dict[str, ExperimentColumn] = {}
        reported = set()
        for index, column in enumerate(self.columns):
            earlier = first.setdefault(column.label, column)
            is_learner = column.learner.name != earlier.learner.name
            section = self._learners if is_learner else self._methods
            name, other = (one.learner.name if is_learner else one.method.name for one in (column, earlier))
            entries = self._file.data.get("learners" if is_learner else "methods")
            entry = entries.get(name.partition(".")[0]) if isinstance(entries, Mapping) else None
            if name != other and not (isinstance(entry, Mapping) and "label" in entry):
                self.columns[index] = replace(column, label=f"{column.label} ({name})")
            elif name != other and name not in reported:
                reported.add(name)
                message = f'{other} and {name} have the same heading in tables, "{column.label}"'
                self._file.report(section.key_paths[name], f"{message}; give one of them another label")

    def _read_exceptions(self) -> None:
        section = self._file.data.get("exceptions")
        indices: dict[tuple[str, ...], int] = {}
        for index, item in enumerate(section if isinstance(section, list) else []):
            if ("exceptions", index) not in self._malformed:
                entry = OverrideEntry.model_validate(item, context=self._card_of)
                self._read_exception(("exceptions", index), entry, indices)

    def _read_exception(self, path: KeyPath, entry: OverrideEntry, indices: dict[tuple[str, ...], int]) -> None:
        learners, methods = (
            {variant for name in names or () for variant in section.families.get(name, [name])}
            for names, section in ((entry.learner, self._learners), (entry.method, self._methods))
        )
        columns = [
            (learner, method)
            for learner, method in self._pairs
            if learner in learners and (entry.method is None or method in methods)
        ]
        self._check_names_of_exception(path, entry, columns)
        card = self._card_of(entry.card) if entry.card else None
        if card:
            self._check_card(path, entry, card)
        for learner, method in columns:
            self._check_settings(path, entry, learner, method)
        self._check_repeats(path, entry, columns, indices)
        self.overrides.append(
            Override(
                datasets=tuple(name for _, name in entry.named_datasets),
                columns=tuple(columns),
                why=entry.why,
                card=card,
                use=find_learner(entry.use) if entry.use else None,
                params=resolve_names(entry.params),
                method_params=resolve_names(entry.method_params),
                skip=entry.skip,
            )
        )

    def _check_names_of_exception(self, path: KeyPath, entry: OverrideEntry, columns: list[tuple[str, str]]) -> None:
        datasets = [card_name(text) for text in texts(self._file.data.get("datasets"))]
        for key, name in entry.named_datasets:
            if datasets and name not in datasets:
                self._file.report((*path, key), f'"{name}" is not one of the data sets{did_you_mean(name, datasets)}')
        checks = [
            section.check_known(name, (*path, key))
            for key, names, section in (
                ("learner", entry.learner, self._learners),
                ("method", entry.method or [], self._methods),
            )
            for name in names
        ]
        if all(checks) and not columns and not self._learners.reported_names and not self._methods.reported_names:
            learners, methods = " and ".join(entry.learner), " and ".join(entry.method or [])
            self._file.report((*path, "method"), f"{learners} is not combined with {methods}")

    def _check_settings(self, path: KeyPath, entry: OverrideEntry, learner: str, method: str) -> None:
        base, wrapper = self._learners.valid_components.get(learner), self._methods.valid_components.get(method)
        has_classes = learner in self._learners.classes and method in self._methods.classes
        if base is None or wrapper is None or not has_classes:
            return
        component, params = self._learners.classes[learner], base.params
        if use := find_learner(entry.use or ""):
            component, params = import_class(use.path), dict(use.params)
        faults = [
            fault
            for key, owner, values in (
                ("params", component, entry.params),
                ("method_params", self._methods.classes[method], entry.method_params),
            )
            for fault in parameter_faults(owner, values, (*path, key))
        ]
        if not faults and (entry.params or entry.method_params or use):
            params = {**params, **entry.params}
            all_method_params = {**wrapper.params, **self._pairs[learner, method], **entry.method_params}
            if fault := self._learners.fault(component, params):
                faults = [((*path, "params"), fault)]
            elif fault := self._misfit(component, params, replace(wrapper, params=all_method_params)):
                key = next(key for key in ("method_params", "params", "use") if getattr(entry, key))
                faults = [((*path, key), f"{learner} with {method}: {fault}")]
        for fault_path, message in faults:
            self._file.report(fault_path, message)

    def _check_card(self, path: KeyPath, entry: OverrideEntry, card: Card) -> None:
        names = {name for _, name in entry.named_datasets}
        for text in texts(self._file.data.get("datasets")):
            try:
                old_card = self._card_of(text)
            except ProbcalError:
                continue  # reported at the data set's own line
            if old_card.name == card.name and old_card.digest != card.digest:
                message = f'"{entry.card}" and "{text}" are both called "{card.name}"; rename one'
                self._file.report((*path, "card"), message)
            if (
                old_card.name in names
                and not self._file.data.get("split")
                and _split_settings(card) != _split_settings(old_card)
            ):
                message = (
                    f"{card.name} has a {card.split.kind} split and {old_card.name} a {old_card.split.kind} one, so "
                    "their numbers of splits differ; list it under datasets instead"
                )
                self._file.report((*path, "card"), message)

    def _check_repeats(
        self, path: KeyPath, entry: OverrideEntry, columns: list[tuple[str, str]], indices: dict[tuple[str, ...], int]
    ) -> None:
        """Report what an earlier exception already sets for the same cell. ``indices`` holds the exception of each."""
        index = int(path[-1])
        settings = [key for key in ("card", "use", "skip") if getattr(entry, key)]
        settings += [f"{key}: {name}" for key in SETTINGS[2:4] for name in getattr(entry, key)]
        for _, dataset in entry.named_datasets:
            for learner, method in columns:
                cell_settings = [(dataset, learner, method, setting) for setting in settings]
                skip = (dataset, learner, method, "skip")  # a skipped cell has no settings, so it conflicts with all
                if conflicts := [key for key in (*cell_settings, skip) if indices.get(key, index) != index]:
                    line = self._file.line(("exceptions", indices[conflicts[0]]))
                    cell = f"{dataset} with {learner} and {method}"
                    message = f'the exception on line {line} sets "{conflicts[0][-1]}" of {cell} already'
                    self._file.report(path, message)
                    return
                indices.update(dict.fromkeys(cell_settings, index))

    def _check_method_metrics(self) -> None:
        """Report metrics and curves that only methods provide, if no method of the file does and all are known."""
        classes = self._methods.classes
        names = [name for family in self._methods.families.values() for name in family]
        if not names or any(name not in classes for name in names):
            return
        for section, word, attribute, choices in (
            ("metrics", "metric", "measures", METHOD_METRICS),
            ("curves", "curve", "curves", _METHOD_CURVES),
        ):
            if not any(hasattr(component, attribute) for component in classes.values()):
                for name in set(texts(self._file.data.get(section))) & set(choices):
                    message = f'only some methods provide the {word} "{name}", and no method here does; remove it'
                    self._file.report((section, name), message)

    def _check_paper(self) -> None:
        """Report learners, methods and variants that the paper of the experiment does not have."""
        paper = self._file.data.get("paper")
        if not isinstance(paper, str) or ("paper",) in self._malformed:
            return
        try:
            columns = PublishedPaper.read(paper).columns.values()
        except ProbcalError as error:  # a plugin's file
            self._file.report(("paper",), str(error))
            return
        learners, methods = (list(dict.fromkeys(names)) for names in zip(*columns, strict=True))
        for name, entry in self._learners.entries.items():
            self._check_name_in("the paper", "learner", entry.paper, learners, ("learners", name, "paper"))
        for name, entry in self._methods.entries.items():
            key_path: KeyPath = ("methods", name, "paper")
            if not isinstance(entry.paper, dict):
                self._check_name_in("the paper", "method", entry.paper, methods, key_path)
                continue
            for variant, method in entry.paper.items():
                self._check_name_in(name, "variant", variant, list(entry.variants or ()), (*key_path, variant))
                self._check_name_in("the paper", "method", method, methods, (*key_path, variant))

    def _check_name_in(self, owner: str, kind: str, name: str | None, names: list[str], key_path: KeyPath) -> None:
        if name is not None and name not in names:
            hint = f"{did_you_mean(name, names)} (it has: {', '.join(names) or 'none'})"
            self._file.report(key_path, f'{owner} has no {kind} "{name}"{hint}')
