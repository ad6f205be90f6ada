"""A part of an experiment: the data sets, learners and methods that were asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from probcal.errors import ProbcalError, did_you_mean
from probcal.store.folder import Store
from probcal.store.outline import Outline

_MOST_TOLD = 40


@dataclass(frozen=True)
class Selection:
    """Names; all of a kind where none is given. A name before the dot of a variant stands for all variants."""

    datasets: tuple[str, ...] = ()
    learners: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()

    def of(self, outline: Outline) -> Outline:
        """Return what is left of it, which may be nothing; exceptions only about what is left."""
        rows = [row for row in outline.datasets if self._has_dataset(row.name)]
        columns = [column for column in outline.columns if self._has_column(column.learner, column.method)]
        exceptions = [
            one for one in outline.exceptions if any(one.is_about(row, column) for row in rows for column in columns)
        ]
        return outline.model_copy(update={"datasets": rows, "columns": columns, "exceptions": exceptions})

    def takes(self, dataset: str, learner: str, method: str) -> bool:
        """Return whether the cells of these names were asked for."""
        return self._has_dataset(dataset) and self._has_column(learner, method)

    def stores(self, stores: Sequence[Store]) -> list[Store]:
        """Return ``stores`` as if only what was asked for had been planned; those without any of it are left out.

        Raises ProbcalError for names that none of them has.
        """
        if not (self.datasets or self.learners or self.methods):
            return [*stores]
        outlines = [Outline.of(store) for store in stores]
        self.refuse_unknown(outlines)
        left = [self.of(outline) for outline in outlines]
        return [
            Selected(store.folder, self)
            for store, one in zip(stores, left, strict=True)
            if one.datasets and one.columns
        ]

    def _has_dataset(self, name: str) -> bool:
        return not self.datasets or name in self.datasets

    def _has_column(self, learner: str, method: str) -> bool:
        return (not self.learners or bool(set(self.learners) & _called(learner))) and (
            not self.methods or bool(set(self.methods) & _called(method))
        )

    def refuse_unknown(self, outlines: Sequence[Outline]) -> None:
        """Raises ProbcalError for names that none of them has, all at once, and where nothing is left of any."""
        columns = [column for outline in outlines for column in outline.columns]
        known = {
            "data set": ([{row.name} for outline in outlines for row in outline.datasets], self.datasets),
            "learner": ([_called(column.learner) for column in columns], self.learners),
            "method": ([_called(column.method) for column in columns], self.methods),
        }
        wrong = []
        for kind, (names, wanted) in known.items():
            there = sorted(set().union(*names))
            told = ", ".join(there[:_MOST_TOLD]) + (", ..." if len(there) > _MOST_TOLD else "")
            wrong += [
                f'there is no {kind} "{name}"{did_you_mean(name, there)} (there are: {told})'
                for name in wanted
                if name not in there
            ]
        if wrong:
            raise ProbcalError("\n".join(wrong))
        if not any(left.datasets and left.columns for left in map(self.of, outlines)):
            asked = [", ".join(names) for names in (self.datasets, self.learners, self.methods) if names]
            raise ProbcalError(f"no experiment here has {' with '.join(asked)}")


class Selected(Store):
    """A results folder to read, of which only a selection is to be seen."""

    whole = False

    def __init__(self, folder: Path, selection: Selection) -> None:
        super().__init__(folder)
        self._selection = selection

    def experiment(self) -> dict[str, Any]:
        """Return the experiment as it was last run, with the data sets, columns and exceptions asked for alone."""
        experiment, takes = super().experiment(), self._selection.takes
        left = self._selection.of(Outline.of(Store(self.folder)))
        rows = {row.name for row in left.datasets}
        columns = {(column.learner, column.method) for column in left.columns}
        return experiment | {
            "datasets": [one for one in experiment["datasets"] if one["name"] in rows],
            "columns": [one for one in experiment["columns"] if (one["learner"], one["method"]) in columns],
            "exceptions": [
                one
                for one in experiment.get("exceptions", [])
                if any(takes(dataset, *column) for dataset in one["datasets"] for column in one["columns"])
            ],
        }


def _called(name: str) -> set[str]:
    return {name, name.partition(".")[0]}
