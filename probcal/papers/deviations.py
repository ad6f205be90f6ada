"""Our known deviations from a paper's numbers and claims, with their reasons, and the numbers that are misprints."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, model_validator

from probcal.errors import FileProblems, Problem, did_you_mean
from probcal.papers.published import DEVIATIONS_SUFFIX, PublishedPaper, folder_of
from probcal.yaml_file import YamlFile, as_list
from probcal.yaml_validation import validate_file

Kind = Literal["number", "difference", "digits", "claim", "misprint"]
Names = Annotated[tuple[str, ...], BeforeValidator(as_list)]


class Deviation(BaseModel):
    """Describe one reason and all that it explains.

    Except for ``kind`` and ``reason``, a field that is not given means all. A ``number`` stands for each data set,
    learner, method and metric named. ``digits`` are those of such a number of an exact column on the paper's own split.
    A ``difference`` is between one of the columns named and another of the same learner. A ``claim`` is named by its
    label. A ``misprint`` is a number that no predictions can have: it is not compared at all.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Annotated[tuple[Kind, ...], BeforeValidator(as_list)]
    reason: str
    datasets: Names = ()
    learner: Names = ()
    """Name of the learner in the paper."""
    method: Names = ()
    metrics: Names = ()
    claims: Names = ()
    experiments: Names = ()
    """Names of the experiments that it applies to, where several experiments follow the paper."""

    @model_validator(mode="after")
    def _check_scope(self) -> Deviation:
        is_claim = "claim" in self.kind
        if is_claim != bool(self.claims):
            raise ValueError("claims: give labels of claims if kind is claim, and only then")
        if self.kind != ("claim",) and not (self.datasets and self.learner):
            raise ValueError("all but a claim need datasets and learner, or they would explain everything")
        return self

    def explains(self, experiment: str, kind: Kind, dataset: str, column: tuple[str, str], metric: str) -> bool:
        """Return whether it explains this number or a difference to it. ``column`` is the paper's (learner, method)."""
        return (
            kind in self.kind
            and (not self.experiments or experiment in self.experiments)
            and dataset in self.datasets
            and column[0] in self.learner
            and (not self.method or column[1] in self.method)
            and (not self.metrics or metric in self.metrics)
        )

    def explains_claim(self, experiment: str, label: str) -> bool:
        return label in self.claims and (not self.experiments or experiment in self.experiments)


class _DeviationsFile(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    deviations: list[Deviation]


def known_deviations(paper: str, folder: Path | None = None) -> list[Deviation]:
    """Return the deviations of a paper, in the order of ``<paper>-deviations.yaml``, or none without that file.

    Raises UnknownPaper, and FileProblems with the faults of the file, such as unknown names.
    """
    path = (folder or folder_of(paper)) / f"{paper}{DEVIATIONS_SUFFIX}"
    if not path.is_file():
        return []
    file = YamlFile.read(path)
    deviations = validate_file(_DeviationsFile, file).deviations
    if problems := list(_unknown_names(file, deviations, PublishedPaper.read(paper))):
        raise FileProblems(path, problems)
    return deviations


@functools.cache
def misprints(paper: str) -> frozenset[tuple[str, str, str, str]]:
    """Return (data set, learner, method, metric) of the paper's misprints, by its own names.

    Raises UnknownPaper, and FileProblems as ``known_deviations`` does.
    """
    return misprint_keys(PublishedPaper.read(paper), known_deviations(paper))


def misprint_keys(paper: PublishedPaper, deviations: Sequence[Deviation]) -> frozenset[tuple[str, str, str, str]]:
    """Return (data set, learner, method, metric) of the numbers that ``deviations`` call misprints."""
    return frozenset(
        (dataset, learner, method, metric)
        for metric, table in paper.tables.items()
        for dataset, learner, method in table.numbers
        if any(deviation.explains("", "misprint", dataset, (learner, method), metric) for deviation in deviations)
    )


def _unknown_names(file: YamlFile, deviations: Sequence[Deviation], paper: PublishedPaper) -> Iterator[Problem]:
    for index, deviation in enumerate(deviations):
        methods = [method for learner, method in paper.columns.values() if learner in deviation.learner]
        choices: dict[str, tuple[str, Sequence[str]]] = {
            "datasets": ("data set", [*paper.titles]),
            "learner": ("learner", [learner for learner, _ in paper.columns.values()]),
            "method": (f"method of {' or '.join(deviation.learner)}", methods),
            "metrics": ("metric", [*paper.tables]),
            "claims": ("claim", [claim.label for claim in paper.claims]),
        }
        for key, (noun, names) in choices.items():
            for number, name in enumerate(getattr(deviation, key)):
                if name not in names:
                    hint = f"{did_you_mean(name, names)} (it has: {', '.join(dict.fromkeys(names))})"
                    line = file.line(("deviations", index, key, number))
                    yield Problem(line, f'the paper has no {noun} "{name}"{hint}')
