"""Cells: what an experiment runs, one by one, and how each of them is planned."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

from probcal.config.experiment import Experiment, ExperimentColumn
from probcal.data.card import Card
from probcal.data.splits import Split
from probcal.metrics.registry import METRICS
from probcal.store.cell_result import CellResult, cell_id


@dataclass(frozen=True)
class Cell:
    """Hold one data set, split, learner and method: the unit that is run, stored and reported.

    ``dataset`` is the row of the tables. ``card`` is what the cell reads, which differs only by an exception. The card
    of a planned cell is bound to the fingerprint of its data set, which goes with it to the worker.
    """

    dataset: str
    card: Card
    repetition: int
    column: ExperimentColumn
    seed: int
    max_rows: int | None = None
    stages: tuple[str, ...] = ()
    extra_metrics: tuple[str, ...] = ()
    """Metrics that are measured only where an experiment asks for them."""
    curves: tuple[str, ...] = ()
    split: Split | None = None
    """The split of the experiment, which replaces that of the card."""
    processor: str | None = None
    """The level of instructions that computes it. None means all that the processor has."""

    @property
    def used_split(self) -> Split:
        """Return the split of the experiment, or else that of the card."""
        return self.split or self.card.split

    @property
    def has_fold_rows(self) -> bool:
        """Return whether its rows are those of folds: it has folds, or the split of the experiment."""
        return self.split is not None or self.card.split.folds is not None

    @property
    def names(self) -> dict[str, Any]:
        """Return the parts of a result by which it belongs to this cell."""
        learner, method = self.column.learner.name, self.column.method.name
        return {"dataset": self.dataset, "repetition": self.repetition, "learner": learner, "method": method}

    @property
    def row_and_column(self) -> tuple[str, str, str]:
        """Return data set, learner and method, which name its place in a table."""
        return self.dataset, self.column.learner.name, self.column.method.name

    @property
    def id(self) -> str:
        return cell_id(self.dataset, self.repetition, self.column.learner.name, self.column.method.name)

    def as_seeded(self) -> Cell:
        """Return the cell under the name that seeds its split and fits, which its card may give."""
        if self.card.seed_name is None:
            return self
        return replace(self, dataset=self.card.seed_name, card=self.card.as_seeded())


def list_cells(experiment: Experiment) -> list[Cell]:
    """Return every cell in the order of data sets and splits, so that one split at a time is in memory.

    Within a split, cells that read another card by an exception come last.
    """
    metrics = tuple(metric for metric in experiment.metrics if metric not in METRICS)
    return [
        Cell(
            dataset=card.name,
            card=cell_card,
            repetition=repetition,
            column=column,
            seed=experiment.seed,
            max_rows=experiment.max_rows,
            stages=experiment.stages,
            extra_metrics=metrics,
            curves=() if repetition else experiment.curves,
            split=experiment.split,
            processor=experiment.processor,
        )
        for card in experiment.cards
        for pairs in [_with_overrides(experiment, card)]
        for repetition in range(experiment.repetitions_of(card))
        for cell_card, column in pairs
    ]


def _with_overrides(experiment: Experiment, card: Card) -> list[tuple[Card, ExperimentColumn]]:
    pairs = [experiment.with_overrides(card, column) for column in experiment.columns]
    return sorted((pair for pair in pairs if pair is not None), key=lambda pair: (pair[0] != card, pair[0].name))


# "failed" is also the state of a cell whose stored status is "timeout".
State = Literal["done", "failed", "stale", "to run", "no data"]


@dataclass(frozen=True)
class PlannedCell:
    """Hold a cell, its state, and the reason if it is stale or failed."""

    cell: Cell
    key: dict[str, str]
    state: State
    reason: str = ""
    expected_seconds: float | None = None
    old_result: CellResult | None = None
    """Its result, where only metrics changed since. Its stored predictions are measured again."""
    missing_metrics: frozenset[str] = frozenset()
    """The metrics that the experiment asks for and its result lacks."""

    @property
    def needs_run(self) -> bool:
        return self.state in ("stale", "to run")

    @property
    def needs_fit(self) -> bool:
        """Return whether it will be fitted, and not only measured again."""
        return self.needs_run and self.old_result is None
