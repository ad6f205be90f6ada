"""What a results folder says of its experiment, and a selection of its data sets, learners and methods."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from probcal._io import printable
from probcal.errors import ProbcalError, StoreError, did_you_mean
from probcal.store.cell_result import CellResult
from probcal.store.folder import Store

_NAME_PATTERN = re.compile(r"\w[\w.-]{0,99}")
_MOST_REPETITIONS = 10_000
"""Every planned cell is looked up, so no experiment may plan more."""
_LONGEST_TEXT = 500


def _check_name(name: str) -> str:
    if not _NAME_PATTERN.fullmatch(name):
        raise ValueError(f"{name[:40]!r} is not a valid name (letters, digits, _, . and -, at most 100)")
    return name


Name = Annotated[str, AfterValidator(_check_name)]
DisplayText = Annotated[str, AfterValidator(lambda text: printable(text, _LONGEST_TEXT))]
"""Text for a table or a figure. Characters that a terminal would obey are escaped."""


class _OutlinePart(BaseModel):
    model_config = ConfigDict(frozen=True)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy with other values, which computes its cached properties anew."""
        copy = super().model_copy(update=update, deep=deep)
        for name in vars(copy).keys() - type(self).model_fields.keys():
            del vars(copy)[name]
        return copy


class Row(_OutlinePart):
    name: Name
    title: DisplayText
    reading_of: str | None = None
    """The data set whose published numbers this one is compared with, if not its own."""
    split: str | None = None
    """The kind of split, such as ``holdout`` or ``k_fold``. None in folders of earlier versions."""
    folds: Annotated[int, Field(ge=2)] | None = None
    """Number of folds, where the split has folds. Split s is fold s % folds of repetition s // folds."""
    drawn: bool = False
    """Whether a generator draws new rows for each repetition."""
    inputs: list[DisplayText] = []
    """The column names of a data set with two columns."""
    positive: DisplayText | None = None
    """The label that makes y = 1, where there is one."""
    class_counts: list[Annotated[int, Field(ge=1)]] | None = None
    """Number of rows of each class, smallest first. None in folders of earlier versions, and where nobody counted."""

    @property
    def has_fixed_rows(self) -> bool:
        """Return whether every repetition has the same training and test rows."""
        return self.split in ("standard", "chronological", "same", "rows") and not self.drawn

    @property
    def has_random_rows(self) -> bool:
        """Return whether every repetition draws its split or its rows, or is one fold of several.

        It is False where an earlier version did not store it.
        """
        return self.drawn or self.split == "holdout" or self.folds is not None

    @property
    def paper_dataset(self) -> str:
        """Return the name of the data set with the published numbers."""
        return self.reading_of or self.name

    @property
    def split_noun(self) -> str:
        """Return what its several splits are, in words."""
        if self.drawn:
            return "draws"
        return "folds" if self.folds else "runs" if self.has_fixed_rows else "random splits"


class ResultColumn(_OutlinePart):
    """Describe one learner with one method. ``paper_learner`` and ``paper_method`` name the published column."""

    learner: Name
    method: Name
    label: DisplayText
    group: DisplayText
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


class ResultOverride(_OutlinePart):
    """Describe an exception: cells that read another card, use other settings, or are skipped.

    ``columns`` holds pairs of learner and method.
    """

    datasets: list[str]
    columns: list[tuple[str, str]]
    what: DisplayText
    why: DisplayText
    skip: bool = False

    @cached_property
    def _name_sets(self) -> tuple[frozenset[str], frozenset[tuple[str, str]]]:
        # Lists of a hundred names are slow to search.
        return frozenset(self.datasets), frozenset(self.columns)

    def applies_to(self, row: Row, column: ResultColumn) -> bool:
        datasets, columns = self._name_sets
        return row.name in datasets and (column.learner, column.method) in columns


class StoredExperiment(_OutlinePart):
    """Describe an experiment, with data sets and columns in the order of the tables."""

    name: DisplayText
    title: DisplayText
    metrics: list[DisplayText]
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
    stale: dict[str, list[str]] = {}
    """Run -> the cells of which the last run found its results stale."""

    @model_validator(mode="after")
    def _require_repetitions(self) -> StoredExperiment:
        names = [row.name for row in self.datasets if row.name not in self.repetitions]
        if names:
            raise ValueError(f"no number of repetitions is given for {', '.join(names)}")
        return self

    @cached_property
    def _stale_results(self) -> frozenset[tuple[str, str]]:
        return frozenset((run, cell) for run, cells in self.stale.items() for cell in cells)

    def is_stale(self, result: CellResult) -> bool:
        """Return whether the last run found this result stale. A result that replaced it is not."""
        return (result.run, result.id) in self._stale_results

    @cached_property
    def _planned_columns(self) -> frozenset[tuple[str, str]]:
        return frozenset((column.learner, column.method) for column in self.columns)

    @cached_property
    def _planned_datasets(self) -> frozenset[str]:
        return frozenset(row.name for row in self.datasets)

    def plans(self, result: CellResult) -> bool:
        """Return whether the experiment still has the cell of this result."""
        return (
            result.dataset in self._planned_datasets
            and (result.learner, result.method) in self._planned_columns
            and result.repetition < self.repetitions[result.dataset]
        )

    @cached_property
    def _skipped_columns(self) -> dict[str, set[tuple[str, str]]]:
        """Map a data set to the columns that exceptions skip. A table of many columns asks a million times."""
        skipped: dict[str, set[tuple[str, str]]] = {}
        for override in self.exceptions:
            for dataset in override.datasets if override.skip else ():
                skipped.setdefault(dataset, set()).update(override.columns)
        return skipped

    def skips(self, row: Row, column: ResultColumn) -> bool:
        """Return whether an exception skips these cells."""
        return (column.learner, column.method) in self._skipped_columns.get(row.name, ())

    def with_titles(self, titles: Mapping[str, str]) -> StoredExperiment:
        """Return a copy with a paper's row ``titles`` for the data sets that have one."""
        rows = [row.model_copy(update={"title": titles.get(row.name, row.title)}) for row in self.datasets]
        return self.model_copy(update={"datasets": rows})

    @classmethod
    def of(cls, store: Store) -> StoredExperiment:
        """Return the experiment of a store. Raise StoreError when the folder holds no experiment that can be shown."""
        experiment = store.experiment()
        try:
            return cls.model_validate(experiment)
        except ValidationError as error:
            first = error.errors()[0]
            field = ".".join(str(part) for part in first["loc"])
            raise StoreError(
                f"{store.folder / 'experiment.json'}: {field + ': ' if field else ''}{first['msg']}; "
                "run the experiment again to have this file written anew"
            ) from None


_MOST_LISTED = 40


@dataclass(frozen=True)
class Selection:
    """Hold the selected names of each kind. No name selects all.

    The part of a name before the dot selects all variants.
    """

    datasets: tuple[str, ...] = ()
    learners: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()

    def select(self, stored: StoredExperiment) -> StoredExperiment:
        """Return the selected part of ``stored``, which may be empty. Exceptions of other cells are left out."""
        rows = [row for row in stored.datasets if self._has_dataset(row.name)]
        columns = [column for column in stored.columns if self._has_column(column.learner, column.method)]
        exceptions = [
            exception
            for exception in stored.exceptions
            if any(exception.applies_to(row, column) for row in rows for column in columns)
        ]
        return stored.model_copy(update={"datasets": rows, "columns": columns, "exceptions": exceptions})

    def includes(self, dataset: str, learner: str, method: str) -> bool:
        """Return whether the cells of these names are selected."""
        return self._has_dataset(dataset) and self._has_column(learner, method)

    def select_stores(self, stores: Sequence[Store]) -> list[Store]:
        """Return ``stores`` restricted to the selection. Stores without any selected cell are left out.

        Raises ProbcalError for names that no store has.
        """
        if not (self.datasets or self.learners or self.methods):
            return [*stores]
        stored_experiments = [StoredExperiment.of(store) for store in stores]
        self.refuse_unknown_names(stored_experiments)
        selected_experiments = [self.select(stored) for stored in stored_experiments]
        return [
            SelectedResults(store.folder, self)
            for store, stored in zip(stores, selected_experiments, strict=True)
            if stored.datasets and stored.columns
        ]

    def omission(self, store: Store) -> str:
        """Return why ``select_stores`` left a store out, and what it calls the selected data sets."""
        forms = [row for row in StoredExperiment.of(store).datasets if row.reading_of in self.datasets]
        hints = [f"-d {row.name} selects its form of {row.reading_of}" for row in forms]
        return f"{store.folder} is left out, as it has none of these cells{'; ' if hints else ''}{', '.join(hints)}"

    def _has_dataset(self, name: str) -> bool:
        return not self.datasets or name in self.datasets

    def _has_column(self, learner: str, method: str) -> bool:
        return (not self.learners or bool(set(self.learners) & _entry_names(learner))) and (
            not self.methods or bool(set(self.methods) & _entry_names(method))
        )

    def refuse_unknown_names(self, stored_experiments: Sequence[StoredExperiment]) -> None:
        """Raise ProbcalError for all names that no experiment has, or when none has a selected cell."""
        columns = [column for stored in stored_experiments for column in stored.columns]
        kinds = {
            "data set": ([{row.name} for stored in stored_experiments for row in stored.datasets], self.datasets),
            "learner": ([_entry_names(column.learner) for column in columns], self.learners),
            "method": ([_entry_names(column.method) for column in columns], self.methods),
        }
        messages = []
        for kind, (name_sets, requests) in kinds.items():
            known_names = sorted(set().union(*name_sets))
            list_text = ", ".join(known_names[:_MOST_LISTED]) + (", ..." if len(known_names) > _MOST_LISTED else "")
            messages += [
                f'there is no {kind} "{name}"{did_you_mean(name, known_names)} (there are: {list_text})'
                for name in requests
                if name not in known_names
            ]
        if messages:
            raise ProbcalError("\n".join(messages))
        if not any(stored.datasets and stored.columns for stored in map(self.select, stored_experiments)):
            texts = [", ".join(names) for names in (self.datasets, self.learners, self.methods) if names]
            raise ProbcalError(f"no experiment here has {' with '.join(texts)}")


class SelectedResults(Store):
    """Read a results folder of which only a selection is shown."""

    is_whole = False

    def __init__(self, folder: Path, selection: Selection) -> None:
        super().__init__(folder)
        self._selection = selection

    def experiment(self) -> dict[str, Any]:
        """Return the experiment as it was last run, with only the selected data sets, columns and exceptions."""
        experiment, takes = super().experiment(), self._selection.includes
        selected_experiment = self._selection.select(StoredExperiment.of(Store(self.folder)))
        rows = {row.name for row in selected_experiment.datasets}
        columns = {(column.learner, column.method) for column in selected_experiment.columns}
        return experiment | {
            "datasets": [entry for entry in experiment["datasets"] if entry["name"] in rows],
            "columns": [entry for entry in experiment["columns"] if (entry["learner"], entry["method"]) in columns],
            "exceptions": [
                entry
                for entry in experiment.get("exceptions", [])
                if any(takes(dataset, *column) for dataset in entry["datasets"] for column in entry["columns"])
            ],
        }


class UnpublishedResults(Store):
    """Read a results folder as if its experiment followed no paper."""

    def __init__(self, store: Store) -> None:
        super().__init__(store.folder)
        self._store, self.is_whole = store, store.is_whole

    def experiment(self) -> dict[str, Any]:
        return self._store.experiment() | {"paper": None}


def _entry_names(name: str) -> set[str]:
    return {name, name.partition(".")[0]}
