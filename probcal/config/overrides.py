"""The exceptions of an experiment file: other cards or settings for single data sets, and the faults of exceptions.

The checks work on the plain parsed file. They skip malformed parts, which pydantic reports. So every fault is reported
once, and all faults together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from probcal.config.combinations import is_known_or_reported, methods_of, misfit
from probcal.config.component_problems import Section
from probcal.config.components import Builtin, build, import_class, unknown_parameters, with_names
from probcal.config.yaml_file import Place, YamlFile, one_or_more, texts
from probcal.data.card import Card, find_card, read_card
from probcal.errors import ProbcalError, Problem, did_you_mean
from probcal.learners.registry import LEARNERS

SETTINGS = ("card", "use", "params", "method_params", "skip")


Names = Annotated[list[str], BeforeValidator(one_or_more), Field(min_length=1)]


class OverrideEntry(BaseModel):
    """An exception: single data sets where some columns read another card, use other settings or are skipped."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    dataset: Names | None = None
    """The data set of the exception, or several."""
    datasets: Names | None = None
    """The same, for several."""
    learner: Names
    """The learner of the exception, or several. A name stands for all of its variants."""
    method: Names | None = None
    """The methods of the exception. The default is all methods of the learners."""
    card: str | None = None
    """Another card for these cells. Its split must be repeated as often as the data set's."""
    use: str | None = None
    """A learner with a short name that replaces the column's learner, with its own settings."""
    params: dict[str, Any] = {}
    """Parameters of the learner, merged over those of its entry."""
    method_params: dict[str, Any] = {}
    """Parameters of the method, merged over those of its entry."""
    skip: bool = False
    """Whether these cells are left out."""
    why: Annotated[str, Field(min_length=1)]
    """The reason, which is printed below every table."""


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

    def is_about(self, dataset: str, learner: str, method: str) -> bool:
        return dataset in self.datasets and (learner, method) in self.columns

    @property
    def what(self) -> str:
        """Describe the other card or settings in words."""
        words = [f"card {self.card.name}"] if self.card else []
        words += [self.use.path.rpartition(".")[2]] if self.use else []
        words += [f"{name} {value}" for params in (self.params, self.method_params) for name, value in params.items()]
        return "not run" if self.skip else ", ".join(words)


def named_datasets(item: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return (key, name) of each data set that an exception lists."""
    return [(key, name) for key in ("dataset", "datasets") for name in named(item, key)]


def named(item: Mapping[str, Any], key: str) -> list[str]:
    """Return the names under ``key``, which holds one or a list. Anything but text is left out."""
    return texts(item.get(key))


def card_name(dataset: str) -> str:
    """Return the name of a data set, which an experiment may also give as the path of its card."""
    return Path(dataset).stem if dataset.endswith((".yaml", ".yml")) else dataset


Pairs = dict[tuple[str, str], dict[str, Any]]
"""(learner, method) -> parameters that ``combinations`` gives this pair."""


def exception_problems(file: YamlFile, learners: Section, methods: Section) -> list[Problem]:
    """Return unknown names in ``exceptions``, settings that do not fit, and cells that are set twice."""
    given = file.data.get("exceptions")
    found: list[Problem] = []
    seen: dict[tuple[str, ...], int] = {}
    for index, item in enumerate(given if isinstance(given, list) else []):
        if isinstance(item, dict):
            check = _ExceptionCheck(file, ("exceptions", index), item, learners, methods)
            found += [*check.names(), *check.learner(), *check.settings(), *check.card(), *check.repeats(seen, index)]
    return list(dict.fromkeys(found))


def pairs_of(data: Mapping[str, Any], families: Mapping[str, list[str]]) -> Pairs:
    """Return every column of the experiment. ``families`` maps a learner to its variants."""
    return {
        (learner, method): params
        for entry, variants in families.items()
        for learner in variants
        for method, params in methods_of(data, entry, learner).items()
    }


def columns_of(
    item: Mapping[str, Any], pairs: Pairs, learners: Mapping[str, list[str]], methods: Mapping[str, list[str]]
) -> Pairs:
    """Return the columns of an exception. A name stands for all of its variants."""
    of_learners = {one for name in named(item, "learner") for one in learners.get(name, [name])}
    of_methods = {one for name in named(item, "method") for one in methods.get(name, [name])}
    return {
        (learner, method): params
        for (learner, method), params in pairs.items()
        if learner in of_learners and (method in of_methods or item.get("method") is None)
    }


class _ExceptionCheck:
    def __init__(self, file: YamlFile, place: Place, item: dict[str, Any], learners: Section, methods: Section) -> None:
        self._file, self._place, self._item = file, place, item
        self._learners, self._methods = learners, methods
        self._columns = columns_of(item, pairs_of(file.data, learners.families), learners.families, methods.families)

    def _problem(self, message: str, *place: str | int) -> Problem:
        return Problem(self._file.line((*self._place, *place)), message)

    def names(self) -> Iterator[Problem]:
        datasets = self._file.data.get("datasets")
        there = [card_name(one) for one in (datasets if isinstance(datasets, list) else []) if isinstance(one, str)]
        asked = named_datasets(self._item)
        if "dataset" not in self._item and "datasets" not in self._item:
            yield self._problem('an exception has no data set; give its "dataset", or several "datasets"')
        for key, name in asked:
            if there and name not in there:
                near = did_you_mean(name, there)
                yield self._problem(f'"{name}" is not one of the data sets{near}', key)
        unknown = False
        for key, section in (("learner", self._learners), ("method", self._methods)):
            for name in named(self._item, key):
                if not is_known_or_reported(name, section):
                    unknown = True
                    near = did_you_mean(name, section.places)
                    yield self._problem(f'"{name}" is not one of the {key}s{near}', key)
        if not unknown and not self._columns and named(self._item, "learner") and self._sections_are_sound():
            learners, methods = (" and ".join(named(self._item, key)) for key in ("learner", "method"))
            yield self._problem(f"{learners} is not combined with {methods}", "method")

    def _sections_are_sound(self) -> bool:
        return not self._learners.unknown and not self._methods.unknown

    def learner(self) -> Iterator[Problem]:
        name = self._item.get("use")
        if isinstance(name, str) and name not in LEARNERS:
            near = did_you_mean(name, LEARNERS) or f" (there are: {', '.join(LEARNERS)})"
            yield self._problem(f'there is no learner "{name}"{near}', "use")

    def settings(self) -> Iterator[Problem]:
        given = [key for key in SETTINGS if self._item.get(key)]
        if not given:
            yield self._problem(f"an exception changes nothing; give {', '.join(SETTINGS[:-1])} or skip: true")
        if "skip" in given and len(given) > 1:
            yield self._problem("skipped cells take no settings; remove the settings or skip", "skip")
        params, method_params = (with_names(self._item.get(key)) for key in ("params", "method_params"))
        for (learner, method), params_here in self._columns.items():
            if learner not in self._learners.sound or method not in self._methods.sound:
                continue
            component, sound = self._learners.components[learner], self._learners.sound[learner]
            if use := LEARNERS.get(str(self._item.get("use"))):
                component, sound = import_class(use.path), dict(use.params)
            faults = [
                self._problem(message, key, parameter)
                for key, taking, given_params in (
                    ("params", component, params),
                    ("method_params", self._methods.components[method], method_params),
                )
                for parameter, message in unknown_parameters(taking, given_params).items()
            ]
            yield from faults
            if faults or not (params or method_params or use):
                continue
            learner_params = {**sound, **params}
            method_params_here = {**self._methods.sound[method], **params_here, **method_params}
            if fault := self._learners.fault(component, learner_params):
                yield self._problem(fault, "params")
            elif fault := misfit(
                build(component, **learner_params),
                method,
                self._methods.components[method],
                method_params_here,
            ):
                key = next(key for key in ("method_params", "params", "use") if self._item.get(key))
                yield self._problem(f"{learner} with {method}: {fault}", key)

    def card(self) -> Iterator[Problem]:
        name = self._item.get("card")
        if not isinstance(name, str):
            return
        try:
            card = self._read(name)
        except ProbcalError as error:
            yield self._problem(str(error), "card")
            return
        for text in self._file.data.get("datasets") or []:
            try:
                other = self._read(text) if isinstance(text, str) else None
            except ProbcalError:
                continue  # reported at the data set's own line
            if other is None:
                continue
            if other.name == card.name and other.digest != card.digest:
                yield self._problem(f'"{name}" and "{text}" are both called "{card.name}"; rename one', "card")
            asked = {one for _, one in named_datasets(self._item)}
            if other.name in asked and (card.split.kind == "holdout") != (other.split.kind == "holdout"):
                yield self._problem(
                    f"{card.name} has a {card.split.kind} split and {other.name} a {other.split.kind} one, so "
                    "their numbers of splits differ; list it under datasets instead",
                    "card",
                )

    def _read(self, name: str) -> Card:
        return read_card(find_card(name, beside=self._file.path.parent))

    def repeats(self, seen: dict[tuple[str, ...], int], index: int) -> Iterator[Problem]:
        """Yield what an earlier exception already sets for the same cell. ``seen`` holds what each exception sets."""
        things = [key for key in ("card", "use") if self._item.get(key)]
        things += [f"{key}: {one}" for key in ("params", "method_params") for one in with_names(self._item.get(key))]
        things += ["skip"] if self._item.get("skip") else []
        for _, dataset in named_datasets(self._item):
            for learner, method in self._columns:
                of_cell = [(dataset, learner, method, thing) for thing in things]
                skipped = (dataset, learner, method, "skip")
                if earlier := [one for one in (*of_cell, skipped) if seen.get(one, index) != index]:
                    line = self._file.line(("exceptions", seen[earlier[0]]))
                    cell = f"{dataset} with {learner} and {method}"
                    yield self._problem(f'the exception on line {line} sets "{earlier[0][-1]}" of {cell} already')
                    return
                seen.update(dict.fromkeys(of_cell, index))
