"""Known deviations of our results from a paper's, each with its reason, read from ``<paper>-deviations.yaml``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, model_validator

from probcal.config.validation import validated
from probcal.config.yaml_file import YamlFile, one_or_more, texts
from probcal.errors import Problem, did_you_mean
from probcal.papers.published import DEVIATIONS, Published

Kind = Literal["number", "difference", "claim"]
Names = Annotated[tuple[str, ...], BeforeValidator(one_or_more)]


class Deviation(BaseModel):
    """Describe one reason and all that it explains. Except for ``kind`` and ``reason``, a field that is not given
    means all.

    A ``number`` stands for each data set, learner, method and metric named. A ``difference`` is between one of the
    columns named and another of the same learner. A ``claim`` is named by its label.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Annotated[tuple[Kind, ...], BeforeValidator(one_or_more)]
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
        of_a_claim = "claim" in self.kind
        if of_a_claim != bool(self.claims):
            raise ValueError("claims: give labels of claims if kind is claim, and only then")
        if self.kind != ("claim",) and not (self.datasets and self.learner):
            raise ValueError("a number or a difference needs datasets and learner, or it would explain everything")
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


class _File(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    deviations: list[Deviation]


def known_deviations(paper: str, folder: Path = Path(__file__).parent) -> list[Deviation]:
    """Return the deviations of a paper, in the order of its file in ``folder``, or none without a file.

    Raises UnknownPaper, and FileProblems with every fault of the file, such as unknown names.
    """
    path = folder / f"{paper}{DEVIATIONS}"
    if not path.is_file():
        return []
    file = YamlFile.read(path)
    file.problems += _unknown_names(file, Published.read(paper))
    return validated(_File, file).deviations


def _unknown_names(file: YamlFile, paper: Published) -> Iterator[Problem]:
    entries = file.data.get("deviations")
    for index, entry in enumerate(entries if isinstance(entries, list) else []):
        if isinstance(entry, dict):
            yield from _unknown_names_in(file, index, entry, paper)


def _unknown_names_in(file: YamlFile, index: int, entry: dict[str, Any], paper: Published) -> Iterator[Problem]:
    columns = paper.columns.values()
    learners = texts(entry.get("learner"))
    known = {
        "datasets": ("data set", list(paper.titles)),
        "learner": ("learner", list(dict.fromkeys(learner for learner, _ in columns))),
        "method": (
            f"method of {' or '.join(learners)}",
            list(dict.fromkeys(method for learner, method in columns if learner in learners)),
        ),
        "metrics": ("metric", list(paper.tables)),
        "claims": ("claim", [claim.label for claim in paper.claims]),
    }
    for key, (what, names) in known.items():
        for place, name in enumerate(texts(entry.get(key))):
            if name not in names and names:
                there = f" (it has: {', '.join(names)})"
                yield Problem(
                    file.line(("deviations", index, key, place)),
                    f'the paper has no {what} "{name}"{did_you_mean(name, names)}{there}',
                )
