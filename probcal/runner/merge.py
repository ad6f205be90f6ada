"""Join the results folders that several machines made of one experiment, after checks that they fit together."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any

from probcal._io import join_first, numbered_lines
from probcal.errors import ProbcalError, StoreError
from probcal.store.cell_result import CellResult, Results, key_digest
from probcal.store.first_keys import present_key
from probcal.store.folder import Store, by_run
from probcal.store.stored_experiment import StoredExperiment
from probcal.store.summary import planned_ids
from probcal.yaml_file import YamlFile

_FOLDER_PARTS = ("stale", "config", "config_path")
"""Parts of ``experiment.json`` that differ between folders of one experiment, or are compared in another way."""
_MOST_NAMES = 4
"""Most modules or packages that a message names."""
_MEASURED_PARTS = ("metrics", "stages", "curves", "n_train", "n_test")
"""Parts of a result that follow from its identity, besides its predictions."""


class MergeError(ProbcalError):
    """Report results folders that do not fit together, or a folder where they cannot be joined."""


@dataclass(frozen=True)
class MergeSummary:
    """Hold what was written: the ``folder``, its number of ``cells``, and where they come from."""

    folder: Path
    cells: int
    planned: int
    cells_by_folder: dict[Path, int]
    """Folder -> number of its cells that count."""
    n_repeated: int
    """Number of cells that several folders have."""
    without_predictions: int

    def text(self) -> str:
        """Return the summary in lines, with the next command."""
        lines = [f"{n} cells of {folder}" for folder, n in self.cells_by_folder.items()]
        if self.n_repeated:
            lines.append(f"{self.n_repeated} cells were in several folders, with the same result")
        if self.without_predictions:
            lines.append(f"{self.without_predictions} cells have no stored predictions, so nothing can verify them")
        lines.append(f"{self.cells} results for {self.planned} planned cells in {self.folder}")
        return "\n".join([*lines, f"probcal status {self.folder}"]) + "\n"


@dataclass(frozen=True, eq=False)
class MergeSource:
    """Hold what was read of one folder."""

    store: Store
    experiment: dict[str, Any]
    stored: StoredExperiment
    results: Results
    runs: dict[str, dict[str, Any]]

    @classmethod
    def read(cls, store: Store) -> MergeSource:
        stored, experiment = StoredExperiment.of(store), store.experiment()
        for name in ("config", "config_path"):
            if not isinstance(experiment.get(name), str):
                raise StoreError(f'{store.folder / "experiment.json"} has no "{name}"; run the experiment again')
        return cls(store, experiment, stored, store.results(), store.runs())

    @property
    def folder(self) -> Path:
        return self.store.folder

    @property
    def config(self) -> Path:
        return Path(self.folder, self.experiment["config_path"]).resolve()

    @cached_property
    def columns(self) -> set[tuple[str, str]]:
        """Return the pairs of learner and method that have a done result."""
        return {(result.learner, result.method) for result in self.results.values() if result.status == "done"}

    @cached_property
    def last_run(self) -> dict[str, Any]:
        """Return the record of the latest run with a result here. It is empty where none was kept."""
        runs = {result.run for result in self.results.values()} & self.runs.keys()
        # The name of a run begins with its time.
        return self.runs[max(runs)] if runs else {}

    def line_at(self, part: str) -> str:
        """Return the file and line of a part of the experiment."""
        path = self.folder / "experiment.json"
        numbers = [number for number, line in numbered_lines(path) if (line or "").startswith(f' "{part}":')]
        return f"{path}:{numbers[0] if numbers else 1}"


def merge(stores: Iterable[Store], out: Path) -> MergeSummary:
    """Write the results of ``stores``, all of one experiment, to the new folder ``out``.

    Everything is read and checked before anything is written. The order of ``stores`` changes nothing.

    Raises
    ------
    MergeError
        If ``out`` exists, or if the folders hold another experiment, other seeds, results of other code, versions or
        data, or two different results for one cell. The message names file and line.
    StoreError
        If a folder cannot be read, or ``out`` cannot be written.
    """
    if os.path.lexists(out) and not (out.is_dir() and not any(out.iterdir())):
        raise MergeError(f"{out} exists and is not an empty folder; name a new folder for the joined results")
    stores_by_path = {store.folder.resolve(): store for store in stores}
    parts = [MergeSource.read(stores_by_path[path]) for path in sorted(stores_by_path)]
    if len(parts) < 2:
        raise MergeError("there is only one results folder; give two or more, each with a part of one experiment")
    for part in parts[1:]:
        _refuse_other_experiment(parts[0], part)
    for first, second in combinations(parts, 2):
        if first.columns & second.columns and (reason := _differences(first.last_run, second.last_run)):
            raise MergeError(
                f"{second.folder}: its cells have another identity than in {first.folder}: {reason}; run the parts with"
                " the same data, code and version of probcal (probcal run makes stale cells again)"
            )
    results = {cell: _results_of_cell(cell, parts) for cell in _cells_in_order(parts)}
    return _write(parts, results, out)


def _refuse_other_experiment(first: MergeSource, second: MergeSource) -> None:
    for part, label in (("name", "the experiment"), ("seed", "the seed"), ("quick", "--quick")):
        first_value, second_value = first.experiment.get(part), second.experiment.get(part)
        if first_value != second_value:
            raise MergeError(
                f"{second.line_at(part)}: {label} is {json.dumps(second_value)}, and in {first.line_at(part)} it is"
                f" {json.dumps(first_value)}; only results of one experiment with one seed can be joined"
            )
    config, second_config = first.experiment["config"], second.experiment["config"]
    # Compared as data, because comments and layout change no number.
    if config != second_config and YamlFile(first.config, config).data != YamlFile(second.config, second_config).data:
        raise MergeError(
            f"{second.line_at('config')}: the experiment file is another one than in {first.line_at('config')}:"
            f" {_first_difference(config, second_config)}; run both with one file"
        )
    for part in sorted((first.experiment.keys() | second.experiment.keys()) - {*_FOLDER_PARTS}):
        if not _agree(first.experiment.get(part), second.experiment.get(part)):
            raise MergeError(
                f'{second.line_at(part)}: "{part}" differs from {first.line_at(part)}, since the cards or probcal'
                " differ; run both with the same ones"
            )


def _agree(first: Any, second: Any) -> bool:
    if isinstance(first, dict) and isinstance(second, dict):
        # An entry that only one of them has was added by a newer version.
        return all(_agree(first[name], second[name]) for name in first.keys() & second.keys())
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(map(_agree, first, second))
    return bool(first == second)


def _first_difference(text: str, second_text: str) -> str:
    """Return the first line in which two experiment files differ, apart from comments."""
    first, second = ([*_lines_without_comments(content), (0, "nothing more")] for content in (text, second_text))
    for (number, line), (second_number, second_line) in zip(first, second, strict=False):
        if line != second_line:
            return f'line {second_number} is "{second_line.strip()}", and line {number} there is "{line.strip()}"'
    return "they read differently"


def _lines_without_comments(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.splitlines(), 1):
        content = line.partition(" #")[0].rstrip()
        if content and not content.lstrip().startswith("#"):
            yield number, content


def _differences(first: Mapping[str, Any], second: Mapping[str, Any]) -> str:
    """Return how numerics versions, user's code and data of two runs differ. Each run records its own packages."""
    (versions, other_versions), (code, other_code), (data, other_data) = (
        (_mapping(first.get(part)), _mapping(second.get(part))) for part in ("numerics", "user_code", "data")
    )
    data, other_data = _data_identities(data), _data_identities(other_data)
    changes = {
        "numerics version ": [
            f"{name} {other_versions[name]}, not {versions[name]}" for name in _changed_names(versions, other_versions)
        ],
        "other code in ": _changed_names(code, other_code),
        "other data or another card of ": _changed_names(data, other_data),
    }
    return "; ".join(f"{label}{join_first(names, _MOST_NAMES)}" for label, names in changes.items() if names)


def _data_identities(data: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Return data set -> fingerprint and card."""
    return {name: (_mapping(entry).get("fingerprint"), _mapping(entry).get("card")) for name, entry in data.items()}


def _changed_names(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[str]:
    return [name for name in sorted(first.keys() & second.keys()) if first[name] != second[name]]


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _cells_in_order(parts: Sequence[MergeSource]) -> list[str]:
    """Return the cells that have a result: data set by data set and split by split, then those no longer planned."""
    stored = parts[0].stored
    cells = [
        cell
        for row in stored.datasets
        for split_cells in zip(*filter(None, (planned_ids(stored, row, one) for one in stored.columns)), strict=True)
        for cell in split_cells
    ]
    result_cells = {cell for part in parts for cell in part.results}
    return [cell for cell in cells if cell in result_cells] + sorted(result_cells - {*cells})


def _results_of_cell(cell: str, parts: Sequence[MergeSource]) -> list[tuple[MergeSource, CellResult]]:
    """Return the result of a cell that counts, first, and then its equals in other folders.

    Raises MergeError for two different results, unless all but one identity are stale.
    """
    pairs = [(part, part.results[cell]) for part in parts if cell in part.results]
    done_pairs = [pair for pair in pairs if pair[1].status == "done"]
    if not done_pairs:
        return sorted(pairs, key=lambda pair: pair[1].run, reverse=True)[:1]
    if len({key_digest(result.key) for _, result in done_pairs}) > 1:
        current = [pair for pair in done_pairs if not pair[0].stored.is_stale(pair[1])]
        done_pairs = current or done_pairs
    # Predictions first, because only with them a result can be verified and measured again.
    done_pairs.sort(key=lambda pair: (not pair[0].store.has_predictions(pair[1]), pair[1].run))
    (part, result), *copies = done_pairs
    for second_part, second_result in copies:
        message = f"{second_part.folder}: {cell} has another result than in {part.folder}"
        if key_digest(second_result.key) != key_digest(result.key):
            key, second_key = present_key(result.key), present_key(second_result.key)
            names = sorted(name for name in {*key, *second_key} if key.get(name) != second_key.get(name))
            raise MergeError(f"{message}, with another identity ({', '.join(names)}); run the stale one again")
        if faults := _differing_parts(result, second_result):
            raise MergeError(
                f"{message} for the same identity: {faults}; one of the machines computes otherwise, or a"
                " table was edited (probcal verify finds that); run the cell again on one machine"
            )
    return done_pairs


def _differing_parts(first: CellResult, second: CellResult) -> str:
    """Return the parts in which two results differ, apart from time, run, warnings and what only one of them has."""
    values = ((name, getattr(first, name), getattr(second, name)) for name in _MEASURED_PARTS)
    names = [
        name for name, value, second_value in values if None not in (value, second_value) and value != second_value
    ]
    digests = [(result.predictions or {}).get("digest") for result in (first, second)]
    names += ["predictions"] if None not in digests and digests[0] != digests[1] else []
    return ", ".join(names)


def _write(
    parts: Sequence[MergeSource], results: dict[str, list[tuple[MergeSource, CellResult]]], out: Path
) -> MergeSummary:
    """Write the joined folder beside ``out`` and move it there when it is complete."""
    temp_folder = out.with_name(f".{out.name}.merging")
    if os.path.lexists(temp_folder):
        raise MergeError(f"{temp_folder} was left by an interrupted probcal merge; remove it")
    n_missing = 0
    try:
        store = Store(temp_folder)
        with store.writing(parts[0].experiment["name"]):
            store.write_experiment(_experiment(parts, results, out))
            for name in sorted({name for part in parts for name in part.runs}):
                records = [part.runs[name] for part in parts if name in part.runs]
                # A folder that was copied during a run has the record of its start only.
                store.add_run(max(records, key=lambda record: ("ended" in record, len(record))))
            for pairs in results.values():
                n_missing += _add(store, pairs)
        if out.is_dir():
            out.rmdir()
        temp_folder.rename(out)
    except (OSError, StoreError) as error:
        # the store tells a run to go on from there, but merge removes what it wrote
        cause = error if isinstance(error, OSError) else error.__context__
        if not isinstance(cause, OSError):
            raise
        raise StoreError(
            f"cannot write {out}: {cause.strerror or cause}; nothing was joined, and the given folders are unchanged;"
            " free some space or choose another folder"
        ) from None
    finally:
        shutil.rmtree(temp_folder, ignore_errors=True)
    stored = StoredExperiment.of(Store(out))
    return MergeSummary(
        out,
        len(results),
        sum(len(planned_ids(stored, row, column)) for row in stored.datasets for column in stored.columns),
        {part.folder: sum(any(pair[0] is part for pair in pairs) for pairs in results.values()) for part in parts},
        sum(len(pairs) > 1 for pairs in results.values()),
        n_missing,
    )


def _add(store: Store, pairs: list[tuple[MergeSource, CellResult]]) -> bool:
    """Add a result with its predictions. Return whether it should have predictions and no folder holds them."""
    result = pairs[0][1]
    labels = probabilities = weight = None
    for part, copy in pairs:
        if part.store.has_predictions(copy):
            try:
                labels, probabilities = part.store.predictions(copy)
                weight = part.store.weights(copy)
                break
            except StoreError:
                continue
    store.add(result, labels, probabilities, weight)
    return result.predictions is not None and labels is None


def _experiment(
    parts: Sequence[MergeSource], results: dict[str, list[tuple[MergeSource, CellResult]]], out: Path
) -> dict[str, Any]:
    """Return the description of the joined folder, with the marks of its stale results."""
    first = next((part for part in parts if part.config.is_file()), parts[0])
    stale = by_run(pairs[0][1] for pairs in results.values() if pairs[0][0].stored.is_stale(pairs[0][1]))
    return first.experiment | {"stale": stale, "config_path": os.path.relpath(first.config, out.resolve())}
