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

from probcal._io import join_first, lines_of
from probcal.config.yaml_file import YamlFile
from probcal.errors import ProbcalError, StoreError
from probcal.runner.fingerprint import NUMERIC_PACKAGES, code_of, code_of_metrics
from probcal.store.cell_result import CellResult, key_digest
from probcal.store.folder import Store
from probcal.store.outline import Outline
from probcal.store.summary import Results, planned_ids

_ABOUT_FOLDER = ("keys", "config", "config_path")
"""Parts of ``experiment.json`` that differ between folders of one experiment, or are compared in another way."""
_NAMED = 4
"""Most modules or packages that a message names."""
_MEASURED = ("metrics", "stages", "curves", "n_train", "n_test")
"""Parts of a result that follow from its fingerprint, besides its predictions."""


class MergeError(ProbcalError):
    """Report results folders that do not fit together, or a place where they cannot be joined."""


@dataclass(frozen=True)
class MergeSummary:
    """Hold what was written: the ``folder``, its number of ``cells``, and where they come from."""

    folder: Path
    cells: int
    planned: int
    of_folder: dict[Path, int]
    """Folder -> number of its cells that count."""
    repeated: int
    """Number of cells that several folders have."""
    without_predictions: int

    def text(self) -> str:
        """Return the summary in lines, with the next command."""
        lines = [f"{n} cells of {folder}" for folder, n in self.of_folder.items()]
        if self.repeated:
            lines.append(f"{self.repeated} cells were in several folders, with the same result")
        if self.without_predictions:
            lines.append(f"{self.without_predictions} cells have no stored predictions, so nothing can verify them")
        lines.append(f"{self.cells} results for {self.planned} planned cells in {self.folder}")
        return "\n".join([*lines, f"probcal status {self.folder}"]) + "\n"


@dataclass(frozen=True, eq=False)
class _Side:
    """Hold what was read of one folder."""

    store: Store
    experiment: dict[str, Any]
    results: Results
    lines: dict[str, int]
    runs: dict[str, dict[str, Any]]

    @classmethod
    def read(cls, store: Store) -> _Side:
        Outline.of(store)  # refuses an experiment.json that cannot be shown
        experiment = store.experiment()
        results, lines = store.results_with_lines()
        for name in ("config", "config_path"):
            if not isinstance(experiment.get(name), str):
                raise StoreError(f'{store.folder / "experiment.json"} has no "{name}"; run the experiment again')
        if not isinstance(experiment.setdefault("keys", {}), dict):
            raise StoreError(f'{store.folder / "experiment.json"}: "keys" is no mapping; run the experiment again')
        return cls(store, experiment, results, lines, store.runs())

    @property
    def folder(self) -> Path:
        return self.store.folder

    @property
    def keys(self) -> dict[str, str]:
        keys: dict[str, str] = self.experiment["keys"]
        return keys

    @property
    def config(self) -> Path:
        return Path(self.folder, self.experiment["config_path"]).resolve()

    @cached_property
    def columns(self) -> set[tuple[str, str]]:
        """Return the pairs of learner and method that have a finished result."""
        return {(one.learner, one.method) for one in self.results.values() if one.status == "done"}

    @cached_property
    def last_run(self) -> dict[str, Any]:
        """Return the record of the latest run with a result here. It is empty where none was kept."""
        ran = {one.run for one in self.results.values()} & self.runs.keys()
        return self.runs[max(ran)] if ran else {}

    def place(self, cell: str) -> str:
        return f"{self.folder / 'cells.jsonl'}:{self.lines.get(cell, 0)}"

    def place_of_run(self) -> str:
        """Return the file and line of ``last_run``."""
        path, found = self.folder / "runs.jsonl", 0
        for number, line in lines_of(path):
            if f'"{self.last_run.get("run")}"' in (line or ""):
                found = number
        return f"{path}:{found}"

    def place_of(self, part: str) -> str:
        """Return the file and line of a part of the experiment."""
        path = self.folder / "experiment.json"
        numbers = [number for number, line in lines_of(path) if (line or "").startswith(f' "{part}":')]
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
    _refuse_used_place(out)
    unique = {store.folder.resolve(): store for store in stores}
    parts = [_Side.read(unique[path]) for path in sorted(unique)]
    if len(parts) < 2:
        raise MergeError("there is one results folder; give two or more that hold parts of one experiment")
    for other in parts[1:]:
        _refuse_other_experiment(parts[0], other)
    for pair in combinations(parts, 2):
        _refuse_other_code(*pair)
    chosen = {cell: _results_of_cell(cell, parts) for cell in _cells_in_order(parts)}
    return _write(parts, chosen, out)


def _refuse_used_place(out: Path) -> None:
    if os.path.lexists(out) and not (out.is_dir() and not any(out.iterdir())):
        raise MergeError(f"{out} exists and is not an empty folder; name a new folder for the joined results")


def _refuse_other_experiment(first: _Side, other: _Side) -> None:
    for part, what in (("name", "the experiment"), ("seed", "the seed"), ("quick", "--quick")):
        first_value, other_value = first.experiment.get(part), other.experiment.get(part)
        if first_value != other_value:
            raise MergeError(
                f"{other.place_of(part)}: {what} is {json.dumps(other_value)}, and in {first.place_of(part)} it is"
                f" {json.dumps(first_value)}; only results of one experiment with one seed can be joined"
            )
    config, other_config = first.experiment["config"], other.experiment["config"]
    if config != other_config and YamlFile(first.config, config).data != YamlFile(other.config, other_config).data:
        raise MergeError(
            f"{other.place_of('config')}: the experiment file is another one than in {first.place_of('config')}:"
            f" {_first_difference(config, other_config)}; run both with one file"
        )
    for part in sorted((first.experiment.keys() | other.experiment.keys()) - {*_ABOUT_FOLDER}):
        if not _agree(first.experiment.get(part), other.experiment.get(part)):
            raise MergeError(
                f'{other.place_of(part)}: "{part}" differs from {first.place_of(part)}, since the cards or probcal'
                " differ; run both with the same ones"
            )


def _agree(first: Any, other: Any) -> bool:
    """Return whether two parts agree. An entry that only one of them has was added by a newer version."""
    if isinstance(first, dict) and isinstance(other, dict):
        return all(_agree(first[name], other[name]) for name in first.keys() & other.keys())
    if isinstance(first, list) and isinstance(other, list):
        return len(first) == len(other) and all(map(_agree, first, other))
    return bool(first == other)


def _first_difference(text: str, other_text: str) -> str:
    """Return the first line in which two experiment files differ, apart from comments."""
    first, other = ([*_lines_without_comments(each), (0, "nothing more")] for each in (text, other_text))
    for (number, line), (other_number, other_line) in zip(first, other, strict=False):
        if line != other_line:
            return f'line {other_number} is "{other_line.strip()}", and line {number} there is "{line.strip()}"'
    return "they read differently"


def _lines_without_comments(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.partition(" #")[0].rstrip()
        if stripped and not stripped.lstrip().startswith("#"):
            yield number, stripped


def _refuse_other_code(first: _Side, other: _Side) -> None:
    """Raise MergeError where the folders would not give the same fingerprint to a cell.

    Packages and modules that only the learners of one folder use may differ.
    """
    common = first.columns & other.columns
    for cell in first.keys.keys() & other.keys.keys() if common else ():
        if first.keys[cell] == other.keys[cell]:
            continue
        for part, against in ((other, first), (first, other)):
            result = part.results.get(cell)
            if result and result.status == "done" and (result.learner, result.method) in common:
                why = _differences(against, part, None) or "the data, the split or the settings differ"
                raise MergeError(
                    f"{part.place(cell)}: {cell} would have another fingerprint in {against.folder}: {why}; run the"
                    " parts with the same data, code and versions (probcal run makes stale cells again)"
                )
    shared = {"python", *NUMERIC_PACKAGES, *code_of(), *code_of_metrics()}
    if why := _differences(first, other, shared):
        raise MergeError(
            f"{other.place_of_run()}: the folders were not made alike: {why}, compared with {first.place_of_run()};"
            " run the parts with the same code and versions (probcal run makes stale cells again)"
        )


def _differences(first: _Side, other: _Side, names: set[str] | None) -> str:
    """Return how versions, code and data of the latest runs differ. ``names`` restricts packages and modules."""
    found = []
    versions, other_versions = (_mapping(part.last_run.get("versions")) for part in (first, other))
    changed = [
        f"{name} {other_versions[name]}, not {versions[name]}" for name in _changed(versions, other_versions, names)
    ]
    found += [join_first(changed, _NAMED)] if changed else []
    code, other_code = (_mapping(part.last_run.get("code")) for part in (first, other))
    changed = _changed(code, other_code, names)
    found += [f"other code in {join_first(changed, _NAMED)}"] if changed else []
    if names is None:
        data, other_data = (_mapping(part.last_run.get("data")) for part in (first, other))
        changed = [
            name
            for name in sorted(data.keys() & other_data.keys())
            if any(
                _mapping(data[name]).get(part) != _mapping(other_data[name]).get(part)
                for part in ("fingerprint", "card")
            )
        ]
        found += [f"other data or another card of {join_first(changed, _NAMED)}"] if changed else []
    return "; ".join(found)


def _changed(first: Mapping[str, Any], other: Mapping[str, Any], names: set[str] | None) -> list[str]:
    both = first.keys() & other.keys() if names is None else first.keys() & other.keys() & names
    return [name for name in sorted(both) if first[name] != other[name]]


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _cells_in_order(parts: Sequence[_Side]) -> list[str]:
    """Return the cells that have a result: data set by data set and split by split, then those no longer planned."""
    outline = Outline.of(parts[0].store)
    planned = [
        cell
        for row in outline.datasets
        for of_split in zip(*(planned_ids(outline, row, column) for column in _columns(outline, row)), strict=True)
        for cell in of_split
    ]
    present = {cell for part in parts for cell in part.results}
    return [cell for cell in planned if cell in present] + sorted(present - {*planned})


def _columns(outline: Outline, row: Any) -> list[Any]:
    return [column for column in outline.columns if not outline.skips(row, column)]


def _results_of_cell(cell: str, parts: Sequence[_Side]) -> list[tuple[_Side, CellResult]]:
    """Return the result of a cell that counts, first, and then its equals in other folders.

    Raises MergeError for two different results, unless all but one fingerprint are stale.
    """
    found = [(part, part.results[cell]) for part in parts if cell in part.results]
    done = [one for one in found if one[1].status == "done"]
    if not done:
        return sorted(found, key=lambda one: one[1].run, reverse=True)[:1]
    if len({key_digest(result.key) for _, result in done}) > 1:
        current = {part.keys[cell] for part in parts if cell in part.keys}
        done = [one for one in done if key_digest(one[1].key) in current] or done
    done.sort(key=lambda one: (not one[0].store.has_predictions(one[1]), one[1].run))
    (part, result), *others = done
    for other, another in others:
        where = f"{other.place(cell)}: {cell} has another result than in {part.place(cell)}"
        if key_digest(another.key) != key_digest(result.key):
            changed = sorted(
                name for name in {*result.key, *another.key} if result.key.get(name) != another.key.get(name)
            )
            raise MergeError(
                f"{where}, with another fingerprint ({', '.join(changed)}); remove the line that is stale"
            )
        if differing := _differing_parts(result, another):
            raise MergeError(
                f"{where} for the same fingerprint: {differing}; one of the machines computes otherwise. Remove one of"
                " the lines, or run the cell again"
            )
    return done


def _differing_parts(first: CellResult, other: CellResult) -> str:
    """Return the parts in which two results differ, apart from time, run, warnings and what only one of them has."""
    both = ((name, getattr(first, name), getattr(other, name)) for name in _MEASURED)
    differing = [name for name, one, another in both if None not in (one, another) and one != another]
    digests = [(result.predictions or {}).get("digest") for result in (first, other)]
    differing += ["predictions"] if None not in digests and digests[0] != digests[1] else []
    return ", ".join(differing)


def _write(parts: Sequence[_Side], chosen: dict[str, list[tuple[_Side, CellResult]]], out: Path) -> MergeSummary:
    """Write the joined folder beside ``out`` and move it there when it is complete."""
    unfinished = out.with_name(f".{out.name}.merging")
    if os.path.lexists(unfinished):
        raise MergeError(f"{unfinished} was left by an interrupted probcal merge; remove it")
    missing = 0
    try:
        store = Store(unfinished)
        with store.writing(parts[0].experiment["name"]):
            store.write_experiment(_experiment(parts, chosen, out))
            for run in _runs(parts):
                store.add_run(run)
            for several in chosen.values():
                missing += _add(store, several)
        if out.is_dir():
            out.rmdir()
        unfinished.rename(out)
    except OSError as error:
        raise StoreError(f"cannot write {out}: {error.strerror or error}; choose another folder") from None
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    outline = Outline.of(Store(out))
    return MergeSummary(
        out,
        len(chosen),
        sum(len(planned_ids(outline, row, column)) for row in outline.datasets for column in outline.columns),
        {part.folder: sum(any(one[0] is part for one in several) for several in chosen.values()) for part in parts},
        sum(len(several) > 1 for several in chosen.values()),
        missing,
    )


def _add(store: Store, several: list[tuple[_Side, CellResult]]) -> bool:
    """Add a result with its predictions. Return whether it should have predictions and no folder holds them."""
    result = several[0][1]
    labels = probabilities = None
    for part, one in several:
        if part.store.has_predictions(one):
            try:
                labels, probabilities = part.store.predictions(one)
                break
            except StoreError:
                continue
    store.add(result, labels, probabilities)
    if result.failed_since is not None:
        store.add(result.failed_since)
    return result.predictions is not None and labels is None


def _experiment(parts: Sequence[_Side], chosen: dict[str, list[tuple[_Side, CellResult]]], out: Path) -> dict[str, Any]:
    """Return the description of the joined folder, with the fingerprints that all parts know."""
    first = next((part for part in parts if part.config.is_file()), parts[0])
    keys: dict[str, str] = {}
    for part in reversed(parts):
        keys.update(part.keys)
    keys.update({cell: several[0][0].keys[cell] for cell, several in chosen.items() if cell in several[0][0].keys})
    described = first.experiment | {"keys": keys, "config_path": os.path.relpath(first.config, out.resolve())}
    return described


def _runs(parts: Sequence[_Side]) -> list[dict[str, Any]]:
    """Return every run once, in the order of their names. Of two records that of the ended run counts."""
    found: dict[str, dict[str, Any]] = {}
    for part in parts:
        for name, run in part.runs.items():
            found[name] = max(found.get(name, run), run, key=lambda record: ("ended" in record, len(record)))
    return [found[name] for name in sorted(found, key=str)]
