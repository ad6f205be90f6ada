"""The pairs of learner and method of an experiment file, and the faults of pairs that do not fit together.

These checks work on the plain parsed file. They skip malformed parts, which pydantic reports.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from probcal.config.component_problems import Section
from probcal.config.components import build, families, unknown_parameters, unmet_need, with_names, wrong_value
from probcal.config.yaml_file import Place, YamlFile
from probcal.errors import ProbcalError, Problem, did_you_mean


def methods_of(data: Mapping[str, Any], entry: str, learner: str) -> dict[str, dict[str, Any]]:
    """Return method -> parameters for ``learner`` only, as ``combinations`` lists them.

    Unlisted learners get all methods.

    ``learner`` is a variant of ``entry``, or the entry itself. Methods are named as in cells.
    """
    return {method: params for method, params, *_ in _listed(data, entry, learner)}


def combination_problems(file: YamlFile, learners: Section, methods: Section) -> list[Problem]:
    """Return the names in ``combinations`` that are not in the sections, and the pairs that do not fit together."""
    found = list(_unknown_learners(file, learners))
    for entry, names in learners.families.items():
        for learner in names:
            found += _pair_problems(file, entry, learner, learners, methods)
    return list(dict.fromkeys(found))  # the same list can apply to several variants


def _unknown_learners(file: YamlFile, learners: Section) -> Iterator[Problem]:
    for learner in with_names(file.data.get("combinations")):
        if not is_known_or_reported(learner, learners):
            near = did_you_mean(learner, learners.places)
            yield Problem(file.line(("combinations", learner)), f'"{learner}" is not one of the learners{near}')


def _pair_problems(file: YamlFile, entry: str, learner: str, learners: Section, methods: Section) -> Iterator[Problem]:
    seen: set[str] = set()
    for method, params, where in _listed(file.data, entry, learner):
        place = where or learners.places[learner]
        written = str(place[-1]) if where else method
        listed_for = str(place[1]) if where else learner
        if not is_known_or_reported(method, methods):
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


def is_known_or_reported(name: str, section: Section) -> bool:
    """Return whether ``name`` is in the section, or whether the section reports its fault already.

    The section does so when it is malformed or an entry is misspelt.
    """
    return not section.places or name in section.places or bool(did_you_mean(name, section.unknown))


def misfit(base: Any, name: str, method: type, params: dict[str, Any]) -> str | None:
    """Return why the learner ``base`` cannot be combined with this method, or None."""
    if needed := unmet_need(method, base):
        lacking = f"{type(base).__name__} gives labels only and {name} needs {needed}"
        return f"{lacking}; leave the pair out with combinations"
    try:
        return wrong_value(build(method, base, **params))
    except ProbcalError as error:
        return str(error)


def _listed(data: Mapping[str, Any], entry: str, learner: str) -> Iterator[tuple[str, dict[str, Any], Place | None]]:
    """Yield each method of ``learner``, its parameters for this learner, and its place in ``combinations``.

    The place is None for methods that are not listed. The name of an entry stands for its variants. Variants that a
    list of ``combinations`` names themselves are left out.
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
