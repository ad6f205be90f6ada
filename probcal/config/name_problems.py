"""The faults of the names in an experiment file: data sets, metrics, papers, learners and methods.

These checks work on the plain parsed file. They skip malformed parts, which pydantic reports. So every fault is
reported once, and all faults together.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from probcal.config.combinations import combination_problems
from probcal.config.component_problems import LEARNER, METHOD, Section
from probcal.config.components import entries, with_names
from probcal.config.overrides import exception_problems
from probcal.config.yaml_file import Place, YamlFile
from probcal.config.yaml_problems import MOST_REPORTED
from probcal.data.card import find_card, read_card
from probcal.errors import DataError, FileProblems, Problem, did_you_mean
from probcal.metrics import COST, METHOD_METRICS, NAMED, loss_parameter, nearest_cost
from probcal.papers.published import Published, paper_names

CURVES = ("iso_probability", "martingale", "roc", "scores", "training_rows")
"""Curves for figures. ``roc`` is drawn from any predictions, the others only from methods that provide them."""
_METHOD_CURVES = tuple(name for name in CURVES if name != "roc")


def name_problems(file: YamlFile) -> list[Problem]:
    """Return a problem for every name in ``file`` that does not exist or does not fit."""
    learners, methods = Section(file, LEARNER), Section(file, METHOD)
    problems = (
        _dataset_problems(file),
        _metric_problems(file, "metrics", NAMED),
        _metric_problems(file, "stages", tuple(name for name in NAMED if name not in METHOD_METRICS)),
        _curve_problems(file),
        _unprovided_problems(file, methods),
        _paper_problems(file),
        learners.problems,
        methods.problems,
        combination_problems(file, learners, methods),
        exception_problems(file, learners, methods),
    )
    return [one for kind in problems for one in islice(kind, MOST_REPORTED)]


def _texts(data: dict[str, Any], section: str) -> Iterator[tuple[int, str]]:
    value = data.get(section)
    yield from ((i, text) for i, text in enumerate(value if isinstance(value, list) else []) if isinstance(text, str))


def _dataset_problems(file: YamlFile) -> Iterator[Problem]:
    seen: dict[str, str] = {}
    for index, name in _texts(file.data, "datasets"):
        line = file.line(("datasets", index))
        try:
            card = read_card(find_card(name, beside=file.path.parent))
        except DataError as error:
            yield Problem(line, str(error))
        except FileProblems as error:
            yield Problem(line, f'the card of "{name}" is wrong:\n  ' + str(error).replace("\n", "\n  "))
        else:
            other = seen.setdefault(card.name, name)
            if other == name and list(file.data["datasets"]).index(name) < index:
                yield Problem(line, f'the data set "{name}" is listed twice')
            elif other != name:
                yield Problem(line, f'"{name}" and "{other}" are both called "{card.name}"; rename one')


def _metric_problems(file: YamlFile, section: str, metrics: tuple[str, ...]) -> Iterator[Problem]:
    seen: set[str] = set()
    for index, name in _texts(file.data, section):
        line = file.line((section, index))
        if name in seen:
            yield Problem(line, f'the metric "{name}" is listed twice')
        elif name not in metrics and loss_parameter(name) is None:
            yield Problem(line, _no_metric(name, metrics))
        seen.add(name)


def _curve_problems(file: YamlFile) -> Iterator[Problem]:
    for index, name in _texts(file.data, "curves"):
        if name not in CURVES:
            near, there = did_you_mean(name, CURVES), ", ".join(CURVES)
            yield Problem(file.line(("curves", index)), f'there is no curve "{name}"{near} (there are: {there})')
        elif file.data["curves"].index(name) < index:
            yield Problem(file.line(("curves", index)), f'the curve "{name}" is listed twice')


def _unprovided_problems(file: YamlFile, methods: Section) -> Iterator[Problem]:
    """Yield a problem for each metric or curve that only methods provide, and no method of the file does.

    Yield none while a method is unknown.
    """
    names = [name for family in methods.families.values() for name in family]
    if not names or any(name not in methods.components for name in names):
        return
    for section, word, provided in (("metrics", "metric", METHOD_METRICS), ("curves", "curve", _METHOD_CURVES)):
        attribute = "measures" if section == "metrics" else "curves"
        if any(hasattr(component, attribute) for component in methods.components.values()):
            continue
        for index, name in _texts(file.data, section):
            if name in provided:
                message = f'only some methods provide the {word} "{name}", and no method here does; remove it'
                yield Problem(file.line((section, index)), message)


def _no_metric(name: str, metrics: tuple[str, ...]) -> str:
    if cost := nearest_cost(name):
        return f'there is no metric "{name}"; did you mean "{cost}"?'
    if name.startswith("cost"):
        return f'there is no metric "{name}"; {COST} takes a p between 0 and 1, neither included: cost(0.05)'
    near, there = did_you_mean(name, metrics), ", ".join(metrics)
    return f'there is no metric "{name}"{near} (there are: {there}); write an expected cost as cost(0.05)'


def _paper_problems(file: YamlFile) -> Iterator[Problem]:
    papers = paper_names()
    paper = file.data.get("paper")
    if not isinstance(paper, str):
        return
    if paper not in papers:
        near, there = did_you_mean(paper, papers), ", ".join(papers)
        yield Problem(
            file.line(("paper",)), f'there are no published numbers called "{paper}"{near} (there are: {there})'
        )
        return
    learners, methods = (
        list(dict.fromkeys(part)) for part in zip(*Published.read(paper).columns.values(), strict=True)
    )
    for name, entry in entries(file.data, "learners").items():
        yield from _not_in_the_paper(file, ("learners", name, "paper"), "learner", entry.get("paper"), learners)
    for name, entry in entries(file.data, "methods").items():
        place, wanted = ("methods", name, "paper"), entry.get("paper")
        of_variants = with_names(wanted) or {"": wanted}
        for variant, one in of_variants.items():
            yield from _not_in_the_paper(file, (*place, variant) if variant else place, "method", one, methods)
    yield from _paper_variant_problems(file)


def _not_in_the_paper(file: YamlFile, place: Place, kind: str, wanted: Any, known: list[str]) -> Iterator[Problem]:
    if isinstance(wanted, str) and wanted not in known:
        near, there = did_you_mean(wanted, known), ", ".join(known)
        yield Problem(file.line(place), f'the paper has no {kind} "{wanted}"{near} (it has: {there})')


def _paper_variant_problems(file: YamlFile) -> Iterator[Problem]:
    for name, entry in entries(file.data, "methods").items():
        variants = list(with_names(entry.get("variants")))
        for variant in with_names(entry.get("paper")):
            if variant not in variants:
                near, there = did_you_mean(variant, variants), ", ".join(variants) or "none"
                yield Problem(
                    file.line(("methods", name, "paper", variant)),
                    f'{name} has no variant "{variant}"{near} (it has: {there})',
                )
