"""Where our results are known to differ from a paper's, each with its reason: ``<paper>-deviations.yaml``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, model_validator

from probcal.config.yaml_file import YamlFile, one_or_more, texts, validated
from probcal.errors import Problem, did_you_mean
from probcal.papers.published import DEVIATIONS, Published

Kind = Literal["number", "difference", "claim"]
Names = Annotated[tuple[str, ...], BeforeValidator(one_or_more)]


class Deviation(BaseModel):
    """One reason and all that it explains; what is not given means all there are, but ``kind`` and ``reason``.

    A ``number`` is that of each data set, learner, method and metric named; a ``difference`` is one of the
    columns named to another of the same learner; a ``claim`` is named by its label.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Annotated[tuple[Kind, ...], BeforeValidator(one_or_more)]
    reason: str
    datasets: Names = ()
    learner: Names = ()
    """The paper's name of it."""
    method: Names = ()
    metrics: Names = ()
    claims: Names = ()
    experiments: Names = ()
    """Only in results of experiments of these names, as where two experiments follow the paper."""

    @model_validator(mode="after")
    def _says_what_it_explains(self) -> Deviation:
        of_a_claim = "claim" in self.kind
        if of_a_claim != bool(self.claims):
            raise ValueError("claims: the labels of claims go with kind: claim, and it with them")
        if self.kind != ("claim",) and not (self.datasets and self.learner):
            raise ValueError("a number or a difference needs datasets and learner, or it would explain everything")
        return self

    def explains(self, experiment: str, kind: Kind, dataset: str, column: tuple[str, str], metric: str) -> bool:
        """Whether it speaks of this number, or of a difference to it. ``column``: (learner, method) of the paper."""
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
    """Those of this paper, in the order of the file in ``folder``; none where there is no such file.

    Raises FileProblems with every fault of the file, unknown names among them, and UnknownPaper.
    """
    path = folder / f"{paper}{DEVIATIONS}"
    if not path.is_file():
        return []
    file = YamlFile.read(path)
    return validated(_File, file, more=list(_unknown_names(file, Published.read(paper)))).deviations


def _unknown_names(file: YamlFile, paper: Published) -> Iterator[Problem]:
    entries = file.data.get("deviations")
    for index, entry in enumerate(entries if isinstance(entries, list) else []):
        if isinstance(entry, dict):
            yield from _unknown_names_of(file, index, entry, paper)


def _unknown_names_of(file: YamlFile, index: int, entry: dict[str, Any], paper: Published) -> Iterator[Problem]:
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
