"""What an experiment was asked to measure, as its results folder tells it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from probcal._io import visible
from probcal.errors import StoreError
from probcal.store.folder import Store

_NAME = re.compile(r"\w[\w.-]{0,99}")
_MOST_REPETITIONS = 10_000
"""Every cell that is planned is looked for; no experiment may ask for more."""
_LONGEST = 500


def _name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name[:40]!r} is no name of probcal's, and names go into the names of figures")
    return name


Name = Annotated[str, AfterValidator(_name)]
Shown = Annotated[str, AfterValidator(lambda text: visible(text, _LONGEST))]
"""Text for a table or a figure, with what a terminal would obey spelt out."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True)


class Row(_Part):
    name: Name
    title: Shown
    reading_of: str | None = None
    """The data set whose published numbers are this one's, unless they are its own."""
    split: str | None = None
    """``holdout``, ``standard``, ``chronological`` or ``same``; None in folders of earlier versions."""
    drawn: bool = False
    """Each repetition has rows of its own, drawn by a generator."""
    inputs: list[Shown] = []
    """The names of the columns of a set that has two."""
    positive: Shown | None = None
    """The label that makes y = 1, where it is one."""

    @property
    def fixed(self) -> bool:
        """Whether every repetition has the same training and test rows."""
        return self.split in ("standard", "chronological", "same") and not self.drawn

    @property
    def random(self) -> bool:
        """Whether every repetition draws its split or its rows; unknown, and so not, in folders of earlier versions."""
        return self.drawn or self.split == "holdout"

    @property
    def published(self) -> str:
        """What published numbers call it."""
        return self.reading_of or self.name


class Column(_Part):
    """One learner with one method. ``paper_learner`` and ``paper_method`` name the published column."""

    learner: Name
    method: Name
    label: Shown
    group: Shown
    paper_learner: str | None = None
    paper_method: str | None = None
    before_and_after: bool = False
    """Whether the stages of its cells are two: before and after calibration."""
    encoding: str | None = None
    """How the learner has its columns; None in folders of earlier versions."""
    settings: dict[str, Any] = {}
    """``type`` and ``params`` of the method, but for exceptions; empty in folders of earlier versions."""

    def __hash__(self) -> int:
        return hash((self.learner, self.method))  # settings have none

    @property
    def entry(self) -> str:
        """The method that its own is a variant of."""
        return self.method.partition(".")[0]

    @property
    def variant(self) -> str:
        """Empty where the method has no variants."""
        return self.method.partition(".")[2]


class Departure(_Part):
    """An exception: cells that read another card, take other settings, or are skipped. ``columns``: learner, method."""

    datasets: list[str]
    columns: list[tuple[str, str]]
    what: Shown
    why: Shown
    skip: bool = False

    def is_about(self, row: Row, column: Column) -> bool:
        return row.name in self.datasets and (column.learner, column.method) in self.columns


class Outline(_Part):
    """Data sets and columns in the order in which they are shown."""

    name: Shown
    title: Shown
    metrics: list[Shown]
    seed: int | None = None
    """That of the experiment; a learner with a shared seed adds the number of the repetition, from 0."""
    paper: str | None = None
    datasets: list[Row]
    columns: list[Column]
    repetitions: dict[str, Annotated[int, Field(ge=0, le=_MOST_REPETITIONS)]]
    """Splits per data set; they are numbered from 0."""
    exceptions: list[Departure] = []
    curves: list[str] = []
    """Lines for figures that the experiment asks for."""
    config: str = ""
    """The text that the experiment was read from."""
    keys: dict[str, str] = {}
    """Cell -> digest of its key when the experiment was last run; a result under another one is stale."""

    @model_validator(mode="after")
    def _every_dataset_says_how_often(self) -> Outline:
        unsaid = [row.name for row in self.datasets if row.name not in self.repetitions]
        if unsaid:
            raise ValueError(f"no number of repetitions is given for {', '.join(unsaid)}")
        return self

    def skips(self, row: Row, column: Column) -> bool:
        """Whether an exception leaves these cells out."""
        return any(one.skip and one.is_about(row, column) for one in self.exceptions)

    def titled(self, titles: Mapping[str, str]) -> Outline:
        """The same with a paper's row ``titles`` for the data sets that it has."""
        rows = [row.model_copy(update={"title": titles.get(row.name, row.title)}) for row in self.datasets]
        return self.model_copy(update={"datasets": rows})

    @classmethod
    def of(cls, store: Store) -> Outline:
        """Raises StoreError when the folder holds no experiment, or not one that can be shown."""
        experiment = store.experiment()
        try:
            return cls.model_validate(experiment)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(str(part) for part in first["loc"])
            raise StoreError(
                f"{store.folder / 'experiment.json'}: {place + ': ' if place else ''}{first['msg']}; "
                "run the experiment again to have this file written anew"
            ) from None
