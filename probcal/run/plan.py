"""Which cells an experiment has, and which of them still have to run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from probcal.config import Column, Experiment
from probcal.data.card import Card
from probcal.data.splits import repetitions_of
from probcal.run.keys import Fingerprints
from probcal.store import CellResult, Store, cell_id

State = Literal["done", "failed", "stale", "to run", "no data"]


@dataclass(frozen=True)
class Cell:
    """One data set, split, learner and method: the unit that is run, stored and reported."""

    card: Card
    repetition: int
    column: Column
    seed: int
    max_rows: int | None = None

    @property
    def id(self) -> str:
        return cell_id(self.card.name, self.repetition, self.column.learner.name, self.column.method.name)


@dataclass(frozen=True)
class Planned:
    """A cell, what is known of it, and why it has to run again if it is stale."""

    cell: Cell
    key: dict[str, str]
    state: State
    why: str = ""
    expected_seconds: float | None = None

    @property
    def runs(self) -> bool:
        return self.state in ("stale", "to run")


def cells_of(experiment: Experiment) -> list[Cell]:
    """Every cell, data set by data set and split by split, so that one split at a time is in memory."""
    return [
        Cell(card, repetition, column, experiment.seed, experiment.max_rows)
        for card in experiment.cards
        for repetition in range(repetitions_of(card, experiment.repeats))
        for column in experiment.columns
    ]


def make_plan(
    experiment: Experiment,
    store: Store,
    *,
    missing: Mapping[str, str] | None = None,
    retry_failed: bool = False,
) -> list[Planned]:
    """The state of every cell. ``missing``: data set -> why it is not to be had."""
    missing = missing or {}
    results, runs = store.results(), store.runs()
    fingerprints = Fingerprints()
    seconds = _seconds_by_kind(results)
    plan = []
    for cell in cells_of(experiment):
        key = fingerprints.key(cell)
        result = results.get(cell.id)
        state, why = _state(cell, key, result, retry_failed)
        if state == "stale" and result is not None and not why:
            why = fingerprints.why_stale(cell, key, result, runs.get(result.run, {}))
        if state in ("to run", "stale") and cell.card.name in missing:
            state, why = "no data", missing[cell.card.name]
        plan.append(Planned(cell, key, state, why, seconds.get(_kind(cell.id))))
    return plan


def count_states(plan: list[Planned]) -> Counter[str]:
    return Counter(planned.state for planned in plan)


def expected_seconds(plan: list[Planned]) -> tuple[float, int]:
    """(seconds that the cells to run took before, number of cells never timed)."""
    times = [planned.expected_seconds for planned in plan if planned.runs]
    return sum(time for time in times if time is not None), sum(time is None for time in times)


def _state(cell: Cell, key: dict[str, str], result: CellResult | None, retry_failed: bool) -> tuple[State, str]:
    if result is None:
        return "to run", ""
    if result.key != key:
        return "stale", ""
    if result.status == "done":
        return "done", ""
    if retry_failed:
        return "stale", f"{result.status} before and is tried again"
    return "failed", f"{result.error_type}: {result.message}"


def _kind(cell: str) -> tuple[str, ...]:
    dataset, _, learner, method = cell.split("/")
    return dataset, learner, method


def _seconds_by_kind(results: Mapping[str, CellResult]) -> dict[tuple[str, ...], float]:
    """The time the last result of each (data set, learner, method) took."""
    return {_kind(result.id): result.seconds for result in results.values() if result.status == "done"}
