"""The outline of an experiment that a results folder stores: its data sets, columns, metrics and exceptions."""

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
"""Every planned cell is looked up, so no experiment may plan more."""
_LONGEST = 500


def _name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name[:40]!r} is not a valid name (letters, digits, _, . and -, at most 100)")
    return name


Name = Annotated[str, AfterValidator(_name)]
Shown = Annotated[str, AfterValidator(lambda text: visible(text, _LONGEST))]
"""Text for a table or a figure. Characters that a terminal would obey are escaped."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True)


class Row(_Part):
    name: Name
    title: Shown
    reading_of: str | None = None
    """The data set whose published numbers this one is compared with, if not its own."""
    split: str | None = None
    """``holdout``, ``standard``, ``chronological`` or ``same``. None in folders of earlier versions."""
    drawn: bool = False
    """Whether a generator draws new rows for each repetition."""
    inputs: list[Shown] = []
    """The column names of a data set with two columns."""
    positive: Shown | None = None
    """The label that makes y = 1, where there is one."""

    @property
    def fixed(self) -> bool:
        """Return whether every repetition has the same training and test rows."""
        return self.split in ("standard", "chronological", "same") and not self.drawn

    @property
    def random(self) -> bool:
        """Return whether every repetition draws its split or its rows.

        It is False where an earlier version did not store it.
        """
        return self.drawn or self.split == "holdout"

    @property
    def published(self) -> str:
        """Return the name of the data set with the published numbers."""
        return self.reading_of or self.name


class ResultColumn(_Part):
    """Describe one learner with one method. ``paper_learner`` and ``paper_method`` name the published column."""

    learner: Name
    method: Name
    label: Shown
    group: Shown
    paper_learner: str | None = None
    paper_method: str | None = None
    before_and_after: bool = False
    """Whether its cells have two stages: before and after calibration."""
    encoding: str | None = None
    """The encoding of the learner's input columns. None in folders of earlier versions."""
    settings: dict[str, Any] = {}
    """``type`` and ``params`` of the method, without exceptions. Empty in folders of earlier versions."""

    def __hash__(self) -> int:
        return hash((self.learner, self.method))  # settings cannot be hashed

    @property
    def entry(self) -> str:
        """Return the method without its variant."""
        return self.method.partition(".")[0]

    @property
    def variant(self) -> str:
        """Return the variant, empty where the method has none."""
        return self.method.partition(".")[2]


class ResultOverride(_Part):
    """Describe an exception: cells that read another card, use other settings, or are skipped.

    ``columns`` holds pairs of learner and method.
    """

    datasets: list[str]
    columns: list[tuple[str, str]]
    what: Shown
    why: Shown
    skip: bool = False

    def is_about(self, row: Row, column: ResultColumn) -> bool:
        return row.name in self.datasets and (column.learner, column.method) in self.columns


class Outline(_Part):
    """Describe an experiment, with data sets and columns in the order of the tables."""

    name: Shown
    title: Shown
    metrics: list[Shown]
    seed: int | None = None
    """Seed of the experiment. A learner with a shared seed adds the number of the repetition, from 0."""
    paper: str | None = None
    datasets: list[Row]
    columns: list[ResultColumn]
    repetitions: dict[str, Annotated[int, Field(ge=0, le=_MOST_REPETITIONS)]]
    """Number of splits per data set. They are numbered from 0."""
    exceptions: list[ResultOverride] = []
    curves: list[str] = []
    """Curves for figures that the experiment asks for."""
    config: str = ""
    """The text of the experiment file."""
    keys: dict[str, str] = {}
    """Cell -> digest of its fingerprint in the last run. A result with another digest is stale."""

    @model_validator(mode="after")
    def _require_repetitions(self) -> Outline:
        missing = [row.name for row in self.datasets if row.name not in self.repetitions]
        if missing:
            raise ValueError(f"no number of repetitions is given for {', '.join(missing)}")
        return self

    def skips(self, row: Row, column: ResultColumn) -> bool:
        """Return whether an exception skips these cells."""
        return any(one.skip and one.is_about(row, column) for one in self.exceptions)

    def titled(self, titles: Mapping[str, str]) -> Outline:
        """Return a copy with a paper's row ``titles`` for the data sets that have one."""
        rows = [row.model_copy(update={"title": titles.get(row.name, row.title)}) for row in self.datasets]
        return self.model_copy(update={"datasets": rows})

    @classmethod
    def of(cls, store: Store) -> Outline:
        """Return the outline of a store. Raise StoreError when the folder holds no experiment that can be shown."""
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
