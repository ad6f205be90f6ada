"""Which method goes with which learner, and the pairs that do not fit together.

Variants: one entry of an experiment under several settings, each a component with its own cells.

Works on the plain parsed file and passes over what is malformed, of which pydantic speaks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from probcal.config.component_problems import Section
from probcal.config.components import build, families, unknown_parameters, unmet_need, with_names, wrong_value
from probcal.config.yaml_file import Place, YamlFile
from probcal.errors import ProbcalError, Problem, did_you_mean


def methods_of(data: Mapping[str, Any], entry: str, learner: str) -> dict[str, dict[str, Any]]:
    """Method -> parameters that hold for ``learner`` only, as ``combinations`` says; all where it is silent.

    ``learner`` is a variant of ``entry``, or the entry itself; methods are named as cells are.
    """
    return {method: params for method, params, *_ in _listed(data, entry, learner)}


def combination_problems(file: YamlFile, learners: Section, methods: Section) -> list[Problem]:
    """Names in ``combinations`` that are not in the sections, and pairs that do not fit together."""
    found = list(_unknown_learners(file, learners))
    for entry, names in learners.families.items():
        for learner in names:
            found += _of_learner(file, entry, learner, learners, methods)
    return list(dict.fromkeys(found))  # a list may hold for several variants


def _unknown_learners(file: YamlFile, learners: Section) -> Iterator[Problem]:
    for learner in with_names(file.data.get("combinations")):
        if not is_told(learner, learners):
            near = did_you_mean(learner, learners.places)
            yield Problem(file.line(("combinations", learner)), f'"{learner}" is not one of the learners{near}')


def _of_learner(file: YamlFile, entry: str, learner: str, learners: Section, methods: Section) -> Iterator[Problem]:
    seen: set[str] = set()
    for method, params, where in _listed(file.data, entry, learner):
        place = where or learners.places[learner]
        written = str(place[-1]) if where else method
        listed_for = str(place[1]) if where else learner
        if not is_told(method, methods):
            near = did_you_mean(method, methods.places)
            yield Problem(file.line(place), f'"{method}" is not one of the methods{near}')
        if method in seen:
            advice = "give one of them a name of its own under methods"
            yield Problem(file.line(place), f"{listed_for} with {written} is listed twice; {advice}")
        seen.add(method)
        unknown = unknown_parameters(methods.components[method], params) if method in methods.components else {}
        for parameter, message in unknown.items():
            yield Problem(file.line((*place, parameter)), f"{listed_for} with {written}: {message}")
        if learner in learners.sound and method in methods.sound and not unknown:
            base = build(learners.components[learner], **learners.sound[learner])
            fault = misfit(base, method, methods.components[method], {**methods.sound[method], **params})
            if fault:
                yield Problem(file.line(place), f"{learner} with {method}: {fault}")


def is_told(name: str, section: Section) -> bool:
    """Whether ``name`` is in the section, or the section tells why not: it is malformed, or an entry is misspelt."""
    return not section.places or name in section.places or bool(did_you_mean(name, section.unknown))


def misfit(base: Any, name: str, method: type, params: dict[str, Any]) -> str | None:
    """Why the learner ``base`` cannot go under this method; None where it can."""
    if needed := unmet_need(method, base):
        lacking = f"{type(base).__name__} gives labels only and {name} needs {needed}"
        return f"{lacking}; leave the pair out with combinations"
    try:
        return wrong_value(build(method, base, **params))
    except ProbcalError as error:
        return str(error)


def _listed(data: Mapping[str, Any], entry: str, learner: str) -> Iterator[tuple[str, dict[str, Any], Place | None]]:
    """(method, its parameters for this learner, where ``combinations`` says so) of each method of ``learner``.

    An entry's name stands for all of its variants but those that the same list, or another list of
    ``combinations``, names for themselves.
    """
    variants, combinations = families(data, "methods"), with_names(data.get("combinations"))
    key = learner if learner in combinations else entry
    if combinations.get(key) is None:
        yield from ((method, {}, None) for names in variants.values() for method in names)
        return
    listed = list(_items(combinations[key], ("combinations", key)))
    alone = {method for method, _, _ in listed}
    for written, params, place in listed:
        for method in variants.get(written, [written]):
            if method == written or method not in alone:
                yield method, params, place


def _items(listed: Any, place: Place) -> Iterator[tuple[str, dict[str, Any], Place]]:
    for index, item in enumerate(listed if isinstance(listed, list) else []):
        if isinstance(item, str):
            yield item, {}, (*place, index, item)
        else:
            for method, params in with_names(item).items():
                yield method, with_names(params), (*place, index, method)
