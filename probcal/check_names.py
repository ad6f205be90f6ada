"""The faults in an experiment file that need more than its form: names, parameters, combinations.

Works on the plain parsed file and skips over anything malformed, so that these faults are reported
together with those of form.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from probcal.components import Builtin, import_class, unknown_parameters, wrong_value
from probcal.data.card import find_card, read_card
from probcal.errors import DataError, FileProblems, ProbcalError, Problem, did_you_mean
from probcal.learners.registry import LEARNERS
from probcal.methods.registry import METHODS
from probcal.yaml_file import YamlFile

ENCODINGS = ("numeric", "native")


def name_problems(file: YamlFile, metrics: tuple[str, ...]) -> list[Problem]:
    """Everything in ``file`` that names something which is not there or does not fit."""
    return [
        *_dataset_problems(file),
        *_metric_problems(file, metrics),
        *_paper_problems(file),
        *_component_problems(file, "learners", LEARNERS),
        *_component_problems(file, "methods", METHODS),
        *_combination_problems(file),
    ]


def methods_of(file_data: Mapping[str, Any], learner: str) -> dict[str, dict[str, Any]]:
    """Method -> parameters that hold for ``learner`` only, as ``combinations`` says; all where it is silent."""
    combinations = file_data.get("combinations")
    listed = combinations.get(learner) if isinstance(combinations, dict) else None
    if listed is None:
        return {method: {} for method in _entries(file_data, "methods")}
    found: dict[str, dict[str, Any]] = {}
    for item in listed if isinstance(listed, list) else []:
        found.update({item: {}} if isinstance(item, str) else item if isinstance(item, dict) else {})
    return found


def resolve(name: str, type_: str | None, table: Mapping[str, Builtin]) -> Builtin:
    """The built-in that ``type_``, or else the entry's own name, stands for; or an import path as it is."""
    wanted = type_ or name
    return table.get(wanted) or Builtin(wanted, about="")


def _entries(data: Mapping[str, Any], section: str) -> dict[str, dict[str, Any]]:
    """Name -> entry of a section that may be a list of names or a mapping; malformed entries left out."""
    value = data.get(section)
    if isinstance(value, list):
        return {name: {} for name in value if isinstance(name, str)}
    if isinstance(value, dict):
        return {str(name): entry or {} for name, entry in value.items() if isinstance(entry, dict | None)}
    return {}


def _dataset_problems(file: YamlFile) -> Iterator[Problem]:
    names = file.data.get("datasets")
    seen: set[str] = set()
    for index, name in enumerate(names if isinstance(names, list) else []):
        if not isinstance(name, str):
            continue
        line = file.line(("datasets", index))
        if name in seen:
            yield Problem(line, f'the data set "{name}" is listed twice')
        seen.add(name)
        try:
            read_card(find_card(name, beside=file.path.parent))
        except DataError as error:
            yield Problem(line, str(error))
        except FileProblems as error:
            yield Problem(line, f'the card of "{name}" is wrong:\n  ' + str(error).replace("\n", "\n  "))


def _metric_problems(file: YamlFile, metrics: tuple[str, ...]) -> Iterator[Problem]:
    names = file.data.get("metrics")
    for index, name in enumerate(names if isinstance(names, list) else []):
        if name not in metrics:
            yield Problem(
                file.line(("metrics", index)),
                f'there is no metric "{name}"{did_you_mean(str(name), metrics)} (there are: {", ".join(metrics)})',
            )


def _paper_problems(file: YamlFile) -> Iterator[Problem]:
    papers = sorted(path.stem for path in (Path(__file__).parent / "paper").glob("*.yaml"))
    name = file.data.get("paper")
    if isinstance(name, str) and name not in papers:
        yield Problem(
            file.line(("paper",)),
            f'there are no published numbers called "{name}"{did_you_mean(name, papers)} (there are: {", ".join(papers)})',
        )


def _component_problems(file: YamlFile, section: str, table: Mapping[str, Builtin]) -> Iterator[Problem]:
    kind = section.rstrip("s")
    for index, (name, entry) in enumerate(_entries(file.data, section).items()):
        listed = isinstance(file.data[section], list)
        where = (section, index) if listed else (section, name)
        wanted = str(entry.get("type") or name)
        at_type = file.line((*where, "type"))
        if wanted not in table and "." not in wanted:
            yield Problem(
                at_type,
                f'there is no {kind} "{wanted}"{did_you_mean(wanted, table)} (there are: {", ".join(table)};'
                " any other by its import path, such as sklearn.ensemble.RandomForestClassifier)",
            )
            continue
        if entry.get("encoding") not in (None, *ENCODINGS):
            yield Problem(
                file.line((*where, "encoding")),
                f'there is no encoding "{entry["encoding"]}"{did_you_mean(str(entry["encoding"]), ENCODINGS)}'
                f" (there are: {', '.join(ENCODINGS)})",
            )
        here = (*where, "params")
        yield from _parameter_problems(file, here, resolve(name, wanted, table), _mapping(entry.get("params")), at_type)


def _parameter_problems(
    file: YamlFile, where: tuple[str | int, ...], builtin: Builtin, params: dict[str, Any], at_type: int
) -> Iterator[Problem]:
    try:
        component = import_class(builtin.path)
    except ProbcalError as error:
        yield Problem(at_type, str(error))
        return
    wrong = unknown_parameters(component, params)
    for name, message in wrong.items():
        yield Problem(file.line((*where, name)), message)
    if not wrong and "estimator" not in inspect.signature(component).parameters:
        fault = wrong_value(component(**{**builtin.params, **params}))
        if fault:
            yield Problem(file.line(where), fault)


def _combination_problems(file: YamlFile) -> Iterator[Problem]:
    learners, methods = _entries(file.data, "learners"), _entries(file.data, "methods")
    combinations = file.data.get("combinations") or {}
    for learner in combinations if isinstance(combinations, dict) else []:
        line = file.line(("combinations", learner))
        if learner not in learners:
            yield Problem(line, f'"{learner}" is not one of the learners{did_you_mean(learner, learners)}')
    for learner, entry in learners.items():
        where = file.line(("combinations", learner) if learner in combinations else ("learners", learner))
        for method, params in methods_of(file.data, learner).items():
            if method not in methods:
                yield Problem(where, f'"{method}" is not one of the methods{did_you_mean(method, methods)}')
                continue
            yield from (
                Problem(where, f"{learner} with {method}: {message}")
                for message in _misfits(learner, entry, method, methods[method], params)
            )


def _misfits(learner: str, entry: dict, method: str, method_entry: dict, params: Any) -> Iterator[str]:
    """Why this learner cannot go under this method, with the parameters of both."""
    learner_is, method_is = (
        resolve(name, given.get("type"), table)
        for name, given, table in ((learner, entry, LEARNERS), (method, method_entry, METHODS))
    )
    try:
        learner_class, method_class = import_class(learner_is.path), import_class(method_is.path)
    except ProbcalError:
        return  # said already, at the learner or the method itself
    learner_params = {**learner_is.params, **_mapping(entry.get("params"))}
    here = _mapping(params)
    wrong_here = unknown_parameters(method_class, here)
    yield from wrong_here.values()
    method_params = {**method_is.params, **_mapping(method_entry.get("params")), **here}
    if unknown_parameters(learner_class, learner_params) or unknown_parameters(method_class, method_params):
        return
    base = learner_class(**learner_params)
    needed = getattr(method_class, "needs_one_of", ())
    if needed and not any(hasattr(base, name) for name in needed):
        yield (
            f"{learner_class.__name__} gives labels only and {method} needs {' or '.join(needed)};"
            " leave the pair out with combinations"
        )
    fault = wrong_value(method_class(base, **method_params))
    if fault:
        yield fault


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
