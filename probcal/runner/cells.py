"""The cells of an experiment: one data set, split, learner and method each."""

from __future__ import annotations

from dataclasses import dataclass

from probcal.config.experiment import Column, Experiment
from probcal.data.card import Card
from probcal.metrics.registry import METRICS
from probcal.store.cell_result import cell_id


@dataclass(frozen=True)
class Cell:
    """Hold one data set, split, learner and method: the unit that is run, stored and reported.

    ``dataset`` is the row of the tables. ``card`` is what the cell reads, which differs only by an exception. The card
    of a planned cell is bound to the fingerprint of its data set, which goes with it to the worker.
    """

    dataset: str
    card: Card
    repetition: int
    column: Column
    seed: int
    max_rows: int | None = None
    stages: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()
    """Metrics that are measured only where an experiment asks for them."""
    curves: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        return cell_id(self.dataset, self.repetition, self.column.learner.name, self.column.method.name)


def cells_of(experiment: Experiment) -> list[Cell]:
    """Return every cell in the order of data sets and splits, so that one split at a time is in memory.

    Within a split, cells that read another card by an exception come last.
    """
    asked = tuple(metric for metric in experiment.metrics if metric not in METRICS)
    return [
        Cell(
            dataset=card.name,
            card=read,
            repetition=repetition,
            column=column,
            seed=experiment.seed,
            max_rows=experiment.max_rows,
            stages=experiment.stages,
            asked=asked,
            curves=() if repetition else experiment.curves,
        )
        for card in experiment.cards
        for departed in [_departed(experiment, card)]
        for repetition in range(experiment.repetitions_of(card))
        for read, column in departed
    ]


def _departed(experiment: Experiment, card: Card) -> list[tuple[Card, Column]]:
    found = [experiment.departed(card, column) for column in experiment.columns]
    return sorted((one for one in found if one is not None), key=lambda one: (one[0] != card, one[0].name))
