"""Which method goes with which learner, and the pairs that do not fit together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from probcal.check_components import Section, entries, with_names
from probcal.components import build, unknown_parameters, wrong_value
from probcal.errors import ProbcalError, Problem, did_you_mean
from probcal.yaml_file import Place, YamlFile


def methods_of(data: Mapping[str, Any], learner: str) -> dict[str, dict[str, Any]]:
    """Method -> parameters that hold for ``learner`` only, as ``combinations`` says; all where it is silent."""
    return {method: params for method, params, _ in _listed(data, learner)}


def combination_problems(file: YamlFile, learners: Section, methods: Section) -> Iterator[Problem]:
    """Names in ``combinations`` that are not in the sections, and pairs that do not fit together."""
    for learner in with_names(file.data.get("combinations")):
        if not _is_told(learner, learners):
            near = did_you_mean(learner, learners.places)
            yield Problem(file.line(("combinations", learner)), f'"{learner}" is not one of the learners{near}')
    for learner in learners.places:
        seen: set[str] = set()
        for method, params, where in _listed(file.data, learner):
            place = where or learners.places[learner]
            pair = f"{learner} with {method}"
            if not _is_told(method, methods):
                near = did_you_mean(method, methods.places)
                yield Problem(file.line(place), f'"{method}" is not one of the methods{near}')
            if method in seen:
                advice = "give one of them a name of its own under methods"
                yield Problem(file.line(place), f"{pair} is listed twice; {advice}")
            seen.add(method)
            unknown = unknown_parameters(methods.components[method], params) if method in methods.components else {}
            for parameter, message in unknown.items():
                yield Problem(file.line((*place, method, parameter)), f"{pair}: {message}")
            if learner in learners.sound and method in methods.sound and not unknown:
                base = build(learners.components[learner], **learners.sound[learner])
                fault = _misfit(base, method, methods.components[method], {**methods.sound[method], **params})
                if fault:
                    yield Problem(file.line((*place, method)), f"{pair}: {fault}")


def _is_told(name: str, section: Section) -> bool:
    """Whether ``name`` is in the section, or the section tells why not: it is malformed, or an entry is misspelt."""
    return not section.places or name in section.places or bool(did_you_mean(name, section.unknown))


def _misfit(base: Any, name: str, method: type, params: dict[str, Any]) -> str | None:
    """Why the learner ``base`` cannot go under this method; None where it can."""
    needed = getattr(method, "needs_one_of", ())
    if needed and not any(hasattr(base, one) for one in needed):
        lacking = f"{type(base).__name__} gives labels only and {name} needs {' or '.join(needed)}"
        return f"{lacking}; leave the pair out with combinations"
    try:
        return wrong_value(build(method, base, **params))
    except ProbcalError as error:
        return str(error)


def _listed(data: Mapping[str, Any], learner: str) -> Iterator[tuple[str, dict[str, Any], Place | None]]:
    """(method, its parameters for this learner, where ``combinations`` says so) of each method of ``learner``."""
    listed = with_names(data.get("combinations")).get(learner)
    if listed is None:
        yield from ((method, {}, None) for method in entries(data, "methods"))
    for index, item in enumerate(listed if isinstance(listed, list) else []):
        place = ("combinations", learner, index)
        if isinstance(item, str):
            yield item, {}, place
        else:
            yield from ((method, with_names(params), place) for method, params in with_names(item).items())
