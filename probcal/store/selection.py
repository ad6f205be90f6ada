"""A selection of an experiment by data set, learner and method."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from probcal.errors import ProbcalError, did_you_mean
from probcal.store.folder import Store
from probcal.store.outline import Outline

_MOST_LISTED = 40


@dataclass(frozen=True)
class Selection:
    """Hold the selected names of each kind. No name selects all.

    The part of a name before the dot selects all variants.
    """

    datasets: tuple[str, ...] = ()
    learners: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()

    def of(self, outline: Outline) -> Outline:
        """Return the selected part of ``outline``, which may be empty. Exceptions of other cells are left out."""
        rows = [row for row in outline.datasets if self._has_dataset(row.name)]
        columns = [column for column in outline.columns if self._has_column(column.learner, column.method)]
        exceptions = [
            exception
            for exception in outline.exceptions
            if any(exception.is_about(row, column) for row in rows for column in columns)
        ]
        return outline.model_copy(update={"datasets": rows, "columns": columns, "exceptions": exceptions})

    def takes(self, dataset: str, learner: str, method: str) -> bool:
        """Return whether the cells of these names are selected."""
        return self._has_dataset(dataset) and self._has_column(learner, method)

    def stores(self, stores: Sequence[Store]) -> list[Store]:
        """Return ``stores`` restricted to the selection. Stores without any selected cell are remaining out.

        Raises ProbcalError for names that no store has.
        """
        if not (self.datasets or self.learners or self.methods):
            return [*stores]
        outlines = [Outline.of(store) for store in stores]
        self.refuse_unknown(outlines)
        remaining = [self.of(outline) for outline in outlines]
        return [
            Selected(store.folder, self)
            for store, outline in zip(stores, remaining, strict=True)
            if outline.datasets and outline.columns
        ]

    def _has_dataset(self, name: str) -> bool:
        return not self.datasets or name in self.datasets

    def _has_column(self, learner: str, method: str) -> bool:
        return (not self.learners or bool(set(self.learners) & _selecting_names(learner))) and (
            not self.methods or bool(set(self.methods) & _selecting_names(method))
        )

    def refuse_unknown(self, outlines: Sequence[Outline]) -> None:
        """Raise ProbcalError for all names that no outline has, or when no outline has a selected cell."""
        columns = [column for outline in outlines for column in outline.columns]
        known = {
            "data set": ([{row.name} for outline in outlines for row in outline.datasets], self.datasets),
            "learner": ([_selecting_names(column.learner) for column in columns], self.learners),
            "method": ([_selecting_names(column.method) for column in columns], self.methods),
        }
        wrong = []
        for kind, (names, wanted) in known.items():
            present = sorted(set().union(*names))
            listed = ", ".join(present[:_MOST_LISTED]) + (", ..." if len(present) > _MOST_LISTED else "")
            wrong += [
                f'there is no {kind} "{name}"{did_you_mean(name, present)} (there are: {listed})'
                for name in wanted
                if name not in present
            ]
        if wrong:
            raise ProbcalError("\n".join(wrong))
        if not any(remaining.datasets and remaining.columns for remaining in map(self.of, outlines)):
            named = [", ".join(names) for names in (self.datasets, self.learners, self.methods) if names]
            raise ProbcalError(f"no experiment here has {' with '.join(named)}")


class Selected(Store):
    """Read a results folder of which only a selection is shown."""

    whole = False

    def __init__(self, folder: Path, selection: Selection) -> None:
        super().__init__(folder)
        self._selection = selection

    def experiment(self) -> dict[str, Any]:
        """Return the experiment as it was last run, with only the selected data sets, columns and exceptions."""
        experiment, takes = super().experiment(), self._selection.takes
        remaining = self._selection.of(Outline.of(Store(self.folder)))
        rows = {row.name for row in remaining.datasets}
        columns = {(column.learner, column.method) for column in remaining.columns}
        return experiment | {
            "datasets": [one for one in experiment["datasets"] if one["name"] in rows],
            "columns": [one for one in experiment["columns"] if (one["learner"], one["method"]) in columns],
            "exceptions": [
                one
                for one in experiment.get("exceptions", [])
                if any(takes(dataset, *column) for dataset in one["datasets"] for column in one["columns"])
            ],
        }


def _selecting_names(name: str) -> set[str]:
    return {name, name.partition(".")[0]}
