"""Witnesses: cheap cells with stored predictions, which show whether an edit of the code changed a number.

A witness stands for one setting: a learner and a method with their parameters, on two classes or on several. Settings
that differ in a number only share a witness. The set ``embedded`` runs on data that come with the packages, so that
everybody can compute it. The set ``files`` has the cheapest stored cell of each setting, and needs the original files.

    python -m probcal.runner.witness build SET    write the file of a set anew
    python -m probcal.runner.witness check        compute the sets again, and say what changed

All cells are computed in new processes with the instruction set of ``probcal.runner.processor``.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from probcal.config.experiment import Experiment, read_experiment
from probcal.data.card import Card, find_card, read_card
from probcal.errors import ProbcalError
from probcal.runner.data_step import current_data
from probcal.runner.execute import Outcome, execute
from probcal.runner.fit_predict import one_thread_each, seed_shared_generators
from probcal.runner.plan import Cell, cells_of, refuse_unmet_requirements
from probcal.runner.processor import level_environment

Floats = np.ndarray
STORED_ROWS = 64
"""Number of test rows whose predictions a witness stores. They are spread evenly over the test rows."""
ROUNDING = 1e-9
"""Largest difference of a probability, or relative difference of a metric, that counts as rounding."""
EMBEDDED_CARDS = {"binary": "wine-first", "multiclass": "wine"}
"""Task -> the small data set of a setting whose experiment has none that comes with the packages."""
SETS = ("embedded", "files")
State = Literal["equal", "rounding", "changed", "not computed"]


@dataclass(frozen=True)
class Witness:
    """Hold what a cell predicted.

    ``predictions`` has shape (rows, columns): at most ``STORED_ROWS`` test rows. The digests are of all test rows.
    """

    experiment: str
    dataset: str
    repetition: int
    learner: str
    method: str
    predictions: Floats
    digest: str
    """First 16 hexadecimal digits of the SHA-256 of all predictions."""
    label_digest: str
    """The same of the most probable label of each row."""
    metrics: dict[str, float]

    @property
    def name(self) -> str:
        return f"{self.experiment}: {self.dataset}/{self.repetition}/{self.learner}/{self.method}"

    @classmethod
    def of(cls, experiment: str, outcome: Outcome) -> Witness:
        """Return the witness of a finished cell."""
        assert outcome.p is not None
        result, p = outcome.result, np.ascontiguousarray(outcome.p, dtype="<f8")
        table = p.reshape(len(p), -1)
        places = np.unique(np.linspace(0, len(p) - 1, min(STORED_ROWS, len(p))).round().astype(int))
        return cls(
            experiment, result.dataset, result.repetition, result.learner, result.method, table[places],
            _digest(p.tobytes()), _digest(p.argmax(axis=-1).astype("<i4").tobytes()),
            {name: float(value) for name, value in result.metrics.items()},
        )  # fmt: skip

    def compare(self, new: Witness) -> tuple[State, float]:
        """Return whether ``new`` is equal, differs by rounding or is changed, and the largest difference."""
        if self.digest == new.digest and _same_metrics(self.metrics, new.metrics, 0.0):
            return "equal", 0.0
        if self.predictions.shape != new.predictions.shape:
            return "changed", math.inf
        gap = float(np.max(np.abs(self.predictions - new.predictions), initial=0.0))
        same_labels = self.label_digest == new.label_digest
        is_rounding = gap <= ROUNDING and same_labels and _same_metrics(self.metrics, new.metrics, ROUNDING)
        return ("rounding" if is_rounding else "changed"), gap


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def _same_metrics(old: Mapping[str, float], new: Mapping[str, float], tolerance: float) -> bool:
    """Return whether the metrics of both are equal. A metric that only one of them has is no difference."""
    return all(
        old[name] == new[name]
        or (math.isnan(old[name]) and math.isnan(new[name]))
        or abs(old[name] - new[name]) <= tolerance * max(1.0, abs(old[name]))
        for name in old.keys() & new.keys()
    )


# Files


def witness_file(folder: Path, set_name: str) -> Path:
    return folder / f"{set_name}.parquet"


def save(witnesses: Iterable[Witness], path: Path) -> None:
    """Write witnesses as a Parquet file, sorted by name. One row is one witness."""
    rows = [
        {
            **{name: getattr(witness, name) for name in ("experiment", "dataset", "repetition", "learner", "method")},
            "columns": witness.predictions.shape[1],
            "predictions": witness.predictions.ravel(),
            "digest": witness.digest,
            "label_digest": witness.label_digest,
            "metrics": json.dumps(witness.metrics, sort_keys=True),
        }
        for witness in sorted(witnesses, key=lambda witness: witness.name)
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    pd.DataFrame(rows).to_parquet(path, compression="zstd", index=False)


def load(path: Path) -> list[Witness]:
    """Read the witnesses of a file that ``save`` wrote."""
    rows = pd.read_parquet(path).itertuples(index=False)
    return [
        Witness(
            row.experiment,
            row.dataset,
            int(row.repetition),
            row.learner,
            row.method,
            np.asarray(row.predictions, dtype=float).reshape(-1, int(row.columns)),
            row.digest,
            row.label_digest,
            json.loads(row.metrics),
        )
        for row in rows
    ]


# Cells


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


# Computing


def compute(
    witness_cells: Sequence[WitnessCell], data_folder: Path | None, jobs: int, say: Any = print
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


# The command


def main(words: Sequence[str] | None = None) -> int:
    """Build or check witnesses. Return 1 if a number changed or a witness could not be built."""
    parser = argparse.ArgumentParser(prog="python -m probcal.runner.witness", description=_summary(__doc__))
    parser.add_argument("action", choices=("build", "check"))
    parser.add_argument("sets", nargs="*", choices=SETS, default=["embedded"], help="(%(default)s)")
    parser.add_argument("--configs", type=Path, default=Path("configs"), help="folder of experiments (%(default)s)")
    parser.add_argument("--results", type=Path, default=Path("results"), help="folder of their results (%(default)s)")
    parser.add_argument("--witnesses", type=Path, default=Path("tests/witnesses"), help="(%(default)s)")
    parser.add_argument("--data-dir", type=Path, help="folder of original files, for the set files")
    parser.add_argument("-j", "--jobs", type=int, default=2, help="processes (%(default)s)")
    args = parser.parse_args(words)
    experiments = {path.stem: read_experiment(path) for path in sorted(args.configs.glob("*.yaml"))}
    act = _build if args.action == "build" else _check
    return max(act(set_name, experiments, args) for set_name in args.sets)


def _summary(text: str | None) -> str:
    return (text or "").partition("\n\n")[0]


def _build(set_name: str, experiments: Mapping[str, Experiment], args: argparse.Namespace) -> int:
    cells = list(
        embedded_cells(experiments.values())
        if set_name == "embedded"
        else file_cells(experiments.values(), args.results)
    )
    results = compute(cells, args.data_dir, args.jobs)
    witnesses = [result for result in results.values() if isinstance(result, Witness)]
    path = witness_file(args.witnesses, set_name)
    save(witnesses, path)
    print(f"{path}: {len(witnesses)} witnesses")
    _print_reasons(results)
    return 0


def _check(set_name: str, experiments: Mapping[str, Experiment], args: argparse.Namespace) -> int:
    stored = load(witness_file(args.witnesses, set_name))
    cells = find_cells(stored, experiments)
    results = compute(list(cells.values()), args.data_dir, args.jobs)
    counts: Counter[State] = Counter()
    for witness in stored:
        result = results.get(witness.name, "no experiment plans this cell any more")
        state, gap = witness.compare(result) if isinstance(result, Witness) else ("not computed", 0.0)
        counts[state] += 1
        if state == "rounding" or state == "changed":
            print(f"{state}: {witness.name} (largest difference {gap:.2g})")
    _print_reasons(results)
    print(f"{set_name}: {', '.join(f'{n} {state}' for state, n in sorted(counts.items()))}")
    return 1 if counts["changed"] else 0


def _print_reasons(results: Mapping[str, Witness | str]) -> None:
    reasons = Counter(result for result in results.values() if isinstance(result, str))
    for reason, n in reasons.most_common():
        print(f"not computed, {n} cells: {reason}")


if __name__ == "__main__":
    raise SystemExit(main())
