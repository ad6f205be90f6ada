"""The cells that witnesses stand for, and their computation in new processes."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from probcal.config.experiment import Experiment
from probcal.data.card import Card, find_card, read_card
from probcal.errors import ProbcalError
from probcal.runner.data_step import current_data
from probcal.runner.execute import execute
from probcal.runner.fit_predict import one_thread_each, seed_shared_generators
from probcal.runner.plan import Cell, cells_of, refuse_unmet_requirements
from probcal.runner.processor import level_environment
from probcal.runner.witness.record import Witness

EMBEDDED_CARDS = {"binary": "wine-first", "multiclass": "wine"}
"""Task -> the small data set of a setting whose experiment has none that comes with the packages."""


@dataclass(frozen=True)
class WitnessCell:
    """Hold a cell and the experiment that it stands for."""

    experiment: str
    cell: Cell


def setting_of(cell: Cell) -> str:
    """Return the text of a cell's setting. Cells whose parameters differ in a number only have the same text."""
    learner, method = cell.column.learner, cell.column.method
    parts = (
        learner.path, _without_numbers(learner.params), learner.encoding, learner.shared_seed,
        method.path, _without_numbers(method.params), method.shared_seed, cell.card.task,
    )  # fmt: skip
    return json.dumps(parts, sort_keys=True, default=str)


def _without_numbers(value: Any) -> Any:
    if isinstance(value, bool):
        return value
    if isinstance(value, (int, float)):
        return "number"
    if isinstance(value, Mapping):
        return {name: _without_numbers(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_numbers(item) for item in value]
    return value


def embedded_cells(experiments: Iterable[Experiment]) -> Iterator[WitnessCell]:
    """Yield a cell for each setting, on data that come with the packages or are generated.

    A setting whose experiment reads files only runs on one of ``EMBEDDED_CARDS``.
    """
    seen: set[str] = set()
    for experiment in experiments:
        cells = cells_of(experiment)
        own_cells = [cell for cell in cells if cell.card.bundled or cell.card.generator]
        for cell in _first_of_each_column(sorted(own_cells, key=lambda cell: cell.card.expect.rows) + cells):
            setting = setting_of(cell)
            if setting not in seen:
                seen.add(setting)
                yield WitnessCell(experiment.name, _on_embedded_data(cell))


def _first_of_each_column(cells: Iterable[Cell]) -> list[Cell]:
    """Return one cell for each column and task, because an experiment can plan 100,000 cells."""
    first: dict[tuple[int, str], Cell] = {}
    for cell in cells:
        first.setdefault((id(cell.column), cell.card.task), cell)
    return list(first.values())


def _on_embedded_data(cell: Cell) -> Cell:
    """Return the cell with data that need no file, and with the first split."""
    if cell.card.bundled or cell.card.generator:
        return replace(cell, repetition=0)
    card = _embedded_card(cell.card.task)
    return replace(cell, repetition=0, dataset=card.name, card=card, split=None)


@cache
def _embedded_card(task: str) -> Card:
    return read_card(find_card(EMBEDDED_CARDS[task]))


def file_cells(experiments: Iterable[Experiment], results: Path) -> Iterator[WitnessCell]:
    """Yield the cell of each setting that took the fewest seconds, of those that read files and have a result."""
    cheapest: dict[str, tuple[float, WitnessCell]] = {}
    for experiment in experiments:
        seconds = _stored_seconds(results / experiment.name / "cells.jsonl")
        settings: dict[tuple[int, str], str] = {}
        for cell in cells_of(experiment):
            cost = seconds.get((cell.dataset, cell.repetition, cell.column.learner.name, cell.column.method.name))
            if cost is None or cell.card.bundled or cell.card.generator:
                continue
            key = (id(cell.column), cell.card.task)
            setting = settings[key] if key in settings else settings.setdefault(key, setting_of(cell))
            if setting not in cheapest or cost < cheapest[setting][0]:
                cheapest[setting] = cost, WitnessCell(experiment.name, cell)
    yield from (witness_cell for _, witness_cell in cheapest.values())


def _stored_seconds(path: Path) -> dict[tuple[str, int, str, str], float]:
    if not path.is_file():
        return {}
    with path.open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines if line.strip()]
    return {
        (row["dataset"], row["repetition"], row["learner"], row["method"]): float(row["seconds"])
        for row in rows
        if row.get("status") == "done"
    }


def find_cells(witnesses: Iterable[Witness], experiments: Mapping[str, Experiment]) -> dict[str, WitnessCell]:
    """Return witness name -> its cell. A witness whose experiment no longer plans such a cell has none."""
    found = {}
    grouped: dict[str, list[Witness]] = defaultdict(list)
    for witness in witnesses:
        grouped[witness.experiment].append(witness)
    for name, group in grouped.items():
        if name not in experiments:
            continue
        cells = cells_of(experiments[name])
        by_names = {tuple(cell.names.values()): cell for cell in cells}
        by_column: dict[tuple[str, str, str], Cell] = {}
        for cell in cells:
            key = (cell.column.learner.name, cell.column.method.name, cell.card.task)
            by_column.setdefault(key, cell)
        for witness in group:
            cell_or_none = by_names.get((witness.dataset, witness.repetition, witness.learner, witness.method))
            if cell_or_none is None and witness.dataset in EMBEDDED_CARDS.values():
                task = next(task for task, name in EMBEDDED_CARDS.items() if name == witness.dataset)
                column_cell = by_column.get((witness.learner, witness.method, task))
                cell_or_none = None if column_cell is None else _on_embedded_data(column_cell)
            if cell_or_none is not None:
                found[witness.name] = WitnessCell(name, cell_or_none)
    return found


def compute(
    witness_cells: Sequence[WitnessCell], data_folder: Path | None, jobs: int, say: Callable[[str], None] = print
) -> dict[str, Witness | str]:
    """Return cell name -> its witness, or the reason why it has none.

    New processes compute, with the declared instruction set. A process gets the cells of one data set together, which
    share their fits.
    """
    os.environ.update(level_environment())
    groups: dict[tuple[str, str, int, str], list[WitnessCell]] = defaultdict(list)
    for item in witness_cells:
        cell = item.cell
        groups[item.experiment, cell.dataset, cell.repetition, cell.column.learner.name].append(item)
    results: dict[str, Witness | str] = {}
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=one_thread_each) as pool:
        futures = [pool.submit(_compute_group, group, data_folder) for group in groups.values()]
        for done, future in enumerate(as_completed(futures), 1):
            results |= future.result()
            if done % 20 == 0 or done == len(futures):
                say(f"{len(results)}/{len(witness_cells)} witnesses")
    return results


def _compute_group(group: Sequence[WitnessCell], data_folder: Path | None) -> dict[str, Witness | str]:
    cards = list({item.cell.card.name: item.cell.card for item in group}.values())
    data = current_data(cards, data_folder)
    missing = dict(data.missing)
    if not missing:
        data.obtain(cards, data_folder, lambda line: None)
        missing = dict(data.missing)
    results: dict[str, Witness | str] = {}
    for item in group:
        cell = item.cell
        name = f"{item.experiment}: {cell.id}"
        if cell.card.name in missing:
            results[name] = f"no data: {cell.card.name}"
            continue
        try:
            refuse_unmet_requirements([cell])
        except ProbcalError as error:
            results[name] = str(error)
            continue
        seed_shared_generators(cell)
        outcome = execute(replace(cell, card=data._bind_card(cell.card)), {}, "witness")
        if outcome.p is None:
            results[name] = f"{outcome.result.error_type}: {outcome.result.message}"
        else:
            results[name] = Witness.of(item.experiment, outcome)
    return results
