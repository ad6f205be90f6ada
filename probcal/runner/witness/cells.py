"""The cells that witnesses stand for, and their computation in new processes."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, partial
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from probcal.components.classes import import_class, parameter_names
from probcal.components.nested import canonical
from probcal.components.numerics import numerics
from probcal.config.experiment import Component, Experiment, read_experiment
from probcal.data.card import Card, card_names, find_card, read_card
from probcal.errors import DataError, ProbcalError
from probcal.runner.cell import Cell, list_cells
from probcal.runner.data_step import obtain_all
from probcal.runner.execute import execute
from probcal.runner.fit_predict import limit_blas_threads, seed_shared_generators
from probcal.runner.instruction_set import LEVEL, instructions
from probcal.runner.plan import refuse_unmet_requirements
from probcal.runner.witness.proof import PROOFS
from probcal.runner.witness.record import Failure, Witness, short_digest, witness_name
from probcal.store.folder import Store

FEW_FITS = {"n_probes": 10, "n_estimators": 10, "iterations": 20}
"""Parameter -> its largest value in the set ``embedded``. Settings that differ in a number only are one setting."""
MOST_SECONDS = 30.0
"""Largest time of a cell in the set ``files``."""
DATA = PROOFS.with_name("data")
"""Folder of the small data sets that exist for witnesses only."""
EMBEDDED_CARDS = {"binary": "wine-first", "multiclass": "wine"}
"""Task -> the small data set of a setting whose experiment has none that comes with the packages."""


@dataclass(frozen=True)
class WitnessCell:
    """Hold a cell and the experiment that it stands for."""

    experiment: str
    cell: Cell

    @property
    def name(self) -> str:
        return witness_name(self.experiment, self.cell.id, self.setting)

    @property
    def setting(self) -> str:
        """Return a digest of the setting. Overrides give columns of the same names several settings."""
        return short_digest(setting_text(self.cell).encode())


def witnessed_experiments(configs: Path, witnesses: Path) -> list[Experiment]:
    """Read the experiments in the folder ``configs``, and those beside the ``witnesses``, which exist for them only."""
    return [read_experiment(path) for folder in (configs, witnesses) for path in sorted(folder.glob("*.yaml"))]


def setting_text(cell: Cell) -> str:
    """Return the text of a cell's setting. Cells whose parameters differ in a number only have the same text."""
    learner, method = cell.column.learner, cell.column.method
    parts = (
        numerics().canonical(learner.path), _without_numbers(canonical(learner.params)), learner.encoding,
        learner.shared_seed, numerics().canonical(method.path), _without_numbers(canonical(method.params)),
        method.shared_seed, _data_label(cell.card),
    )  # fmt: skip
    return json.dumps(parts, sort_keys=True, default=str)


def _data_label(card: Card) -> str:
    """Return what a setting says of its data: the task, or the name of a data set that is there for this setting."""
    return card.task if card.name in _shipped_names() else card.name


@cache
def _shipped_names() -> frozenset[str]:
    return frozenset(card_names())


def _without_numbers(value: Any) -> Any:
    # Python counts booleans among the numbers, but each of the two may run other code.
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

    A setting whose experiment reads files only runs on one of ``EMBEDDED_CARDS``. Each data set beside the witnesses
    has a cell of each setting that runs on it.
    """
    seen: set[str] = set()
    for experiment in experiments:
        for cell in _column_cells(experiment):
            setting = setting_text(cell)
            if setting not in seen:
                seen.add(setting)
                yield WitnessCell(experiment.name, cell)


def file_cells(experiments: Iterable[Experiment], results: Path) -> Iterator[WitnessCell]:
    """Yield the cheapest cell of each setting on data files, and the cheapest of each other data set.

    The seconds of stored results say which is cheap. Cells that took more than ``MOST_SECONDS`` are left out. So are
    experiments of another Weka, because a process can load only one.
    """
    cheapest: dict[str, tuple[float, WitnessCell]] = {}
    for experiment in experiments:
        if experiment.weka or not (results / experiment.name).is_dir():
            continue
        stored = Store(results / experiment.name).results()
        settings: dict[tuple[int, str], str] = {}
        for cell in list_cells(experiment):
            result = stored.get(cell.id)
            if cell.card.bundled or cell.card.generator or result is None or result.status != "done":
                continue
            item, seconds = WitnessCell(experiment.name, cell), result.seconds + result.shared_seconds
            key = (id(cell.column), cell.card.task)
            setting = settings[key] if key in settings else settings.setdefault(key, setting_text(cell))
            for group in (setting, f"data set {cell.card.name}"):
                # Where a group has no cell yet, the limit stands for it, so that slower cells are left out.
                if seconds < cheapest.get(group, (MOST_SECONDS,))[0]:
                    cheapest[group] = seconds, item
    of_settings = {item.name: item for group, (_, item) in cheapest.items() if not group.startswith("data set ")}
    cards = {item.cell.card.name for item in of_settings.values()}
    others = (item for group, (_, item) in cheapest.items() if group.startswith("data set "))
    yield from of_settings.values()
    yield from (item for item in others if item.cell.card.name not in cards)


def _column_cells(experiment: Experiment) -> list[Cell]:
    """Return an embedded cell for each column and task of an experiment."""
    cells = list_cells(experiment)
    own_cells = [cell for cell in cells if _is_embedded(cell.card)]
    first: dict[tuple[str, str, str], Cell] = {}
    settings: dict[tuple[int, str], str] = {}  # an override makes a column object for each data set
    for cell in sorted(own_cells, key=lambda cell: cell.card.expect.rows) + cells:
        key = (id(cell.column), _data_label(cell.card))
        setting = settings[key] if key in settings else settings.setdefault(key, setting_text(cell))
        first.setdefault((cell.column.learner.name, cell.column.method.name, setting), cell)
    return [_on_embedded_data(cell) for cell in first.values()]


def _on_embedded_data(cell: Cell) -> Cell:
    """Return the cell with few fits, with data that need no file, and with the first split."""
    column = cell.column
    cheap = replace(column, learner=_with_few_fits(column.learner), method=_with_few_fits(column.method))
    cell = replace(cell, repetition=0, column=cheap)
    if _is_embedded(cell.card):
        return cell
    card = _embedded_card(cell.card.task)
    return replace(cell, dataset=card.name, card=card, split=None)


def _is_embedded(card: Card) -> bool:
    return bool(card.bundled or card.generator) or card.name not in _shipped_names()


def _with_few_fits(component: Component) -> Component:
    names = FEW_FITS.keys() & parameter_names(import_class(component.path))
    fewer = {name: min(FEW_FITS[name], component.params.get(name, FEW_FITS[name])) for name in names}
    return replace(component, params={**component.params, **fewer}) if fewer else component


@cache
def _embedded_card(task: str) -> Card:
    return read_card(find_card(EMBEDDED_CARDS[task]))


def find_cells(
    witnesses: Sequence[Witness], experiments: Iterable[Experiment], *, on_files: bool = False
) -> dict[str, WitnessCell]:
    """Return witness name -> its cell. A witness that no experiment plans any more has none."""
    names, ids = {witness.name for witness in witnesses}, {(one.experiment, one.cell) for one in witnesses}
    by_experiment = {experiment.name: experiment for experiment in experiments}
    cells = (
        WitnessCell(name, cell)
        for name in sorted({witness.experiment for witness in witnesses} & by_experiment.keys())
        for cell in (list_cells if on_files else _column_cells)(by_experiment[name])
        if (name, cell.id) in ids
    )
    return {item.name: item for item in cells if item.name in names}


def compute(
    witness_cells: Sequence[WitnessCell],
    jobs: int,
    seconds: Mapping[str, float],
    data_folder: Path | None = None,
    say: Callable[[str], None] = print,
) -> dict[str, Witness | str]:
    """Return cell name -> its witness, or the reason why it has none.

    New processes compute, with the declared instruction set. A process gets the cells of one learner and data set
    together, which share their fits. Groups that took the most ``seconds`` (cell name -> seconds) begin.
    ``data_folder`` is the folder of original data files.
    """
    groups: dict[tuple[str, str, int, str], list[WitnessCell]] = defaultdict(list)
    for item in witness_cells:
        cell = item.cell
        groups[item.experiment, cell.dataset, cell.repetition, cell.column.learner.name].append(item)
    results: dict[str, Witness | str] = {}
    with (
        instructions(LEVEL),
        # Not forked: libraries that are loaded already have chosen the code of this processor.
        ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=limit_blas_threads) as pool,
    ):
        # The longest first, so that no process works alone at the end.
        ordered = sorted(groups.values(), key=lambda group: -sum(seconds.get(item.name, 0.0) for item in group))
        futures = [pool.submit(partial(compute_group, data_folder=data_folder), group) for group in ordered]
        for done, future in enumerate(as_completed(futures), 1):
            results |= future.result()
            if done % 20 == 0 or done == len(futures):
                say(f"{len(results)}/{len(witness_cells)} witnesses")
    return results


def compute_group(group: Sequence[WitnessCell], data_folder: Path | None) -> dict[str, Witness | str]:
    """Return what ``compute`` does, in this process."""
    if data_folder:
        return _compute_group(group, data_folder, str)
    with _empty_cache():  # all data are there, so that the code is to blame if some cannot be read
        return _compute_group(group, DATA, Failure)


@contextmanager
def _empty_cache() -> Iterator[None]:
    name = "PROBCAL_CACHE_DIR"
    before = os.environ.get(name)
    # An edit may have changed how the data beside the witnesses are read.
    with TemporaryDirectory(prefix="probcal-witness-") as folder:
        os.environ[name] = folder
        try:
            yield
        finally:
            os.environ.pop(name)
            if before is not None:
                os.environ[name] = before


def _compute_group(
    group: Sequence[WitnessCell], data_folder: Path, reason: Callable[[str], str]
) -> dict[str, Witness | str]:
    cards = list({item.cell.card.name: item.cell.card for item in group}.values())
    try:
        data = obtain_all(cards, data_folder, lambda line: None)
    except DataError as error:
        return {item.name: reason(str(error)) for item in group}
    results: dict[str, Witness | str] = {}
    for item in group:
        try:
            refuse_unmet_requirements([item.cell])
        except ProbcalError as error:
            results[item.name] = str(error)
            continue
        seed_shared_generators(item.cell)
        outcome = execute(replace(item.cell, card=data.bind_card(item.cell.card)), {}, "witness")
        if outcome.p is None:
            results[item.name] = Failure(f"{outcome.result.error_type}: {outcome.result.message}")
        else:
            results[item.name] = Witness.of(item.experiment, item.setting, outcome)
    return results
