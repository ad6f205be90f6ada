"""The results folder of one experiment.

``experiment.json``  the experiment as it was last run, with names and labels resolved
``runs.jsonl``       provenance: a line when a run starts and a line when it ends, the last one of a run counts
``cells.jsonl``      one line per cell that ended: the last line of a cell counts, but a failed result never replaces
                     a finished one
``predictions.bin``  the labels and probabilities behind the cells, may be deleted
``running.json``     the state of the current run, removed when it ends
``.lock``            locked while a run writes, and names its process
``.lock.held``       instead of that lock, on a drive without file locks
``input/``           the table, card and experiment of ``probcal try``, which nothing else reads or writes
``figures/``         the figures of ``probcal plot``, may be deleted
``report.html``      the page of ``probcal report``, may be deleted
``estimates.json``   a summary of the predictions for ``probcal plot``, may be deleted
``accepted.csv``     the numbers that ``probcal check --accept`` stored, which nothing else writes
"""

from __future__ import annotations

import errno
import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import IO, Any

import numpy as np

from probcal._io import appending, file_displacement, lines_of, refuse_links_out, refuse_other_kinds
from probcal._lock import FileLock, HeldError
from probcal.errors import StoreError
from probcal.store.cell_result import (
    CellResult,
    ImpossibleValueError,
    RowFaultError,
    cell_id,
    key_digest,
    refuse_impossible_values,
    version_message,
)
from probcal.store.predictions import Predictions

__all__ = ["ACCEPTED", "CellResult", "Store", "cell_id", "find_stores", "key_digest"]

ACCEPTED = "accepted.csv"
ESTIMATES = "estimates.json"
COMPARISON = "compare.json"
LOCK = ".lock"

_FILES = (
    *("experiment.json", "experiment.json.new", "runs.jsonl", "cells.jsonl", "predictions.bin", LOCK, f"{LOCK}.held"),
    *(ACCEPTED, f"{ACCEPTED}.new"),
    *("report.html", "report.html.new"),
    *(ESTIMATES, f"{ESTIMATES}.new"),
    *(COMPARISON, f"{COMPARISON}.new"),
)
_FOLDERS = ("figures", "input")
_RUN_FILES = ("running.json", "running.json.new")
"""Files of the current run. The run goes on when one of these cannot be read or written."""
_OWN_NAMES = (*_FILES, *_FOLDERS, *_RUN_FILES)

_MOST_LISTED = 10
"""Largest number of broken lines that a message lists."""
_SYNC_SHARE = 20
"""A sync can take milliseconds, longer than some fits. Syncs take at most a twentieth of the time."""


@dataclass(frozen=True)
class _Cells:
    """Hold the results of ``cells.jsonl``, and the messages about lines that are no results."""

    results: dict[str, CellResult] = field(default_factory=dict)
    places: dict[str, int] = field(default_factory=dict)
    """Cell -> number of its line."""
    broken_lines: list[str] = field(default_factory=list)
    impossible_values: dict[str, str] = field(default_factory=dict)
    """Cell -> message about a number that its metric cannot have."""
    version_lines: dict[str, list[int]] = field(default_factory=dict)

    def refuse_faults(self, folder: Path, impossible_values: Mapping[str, str]) -> None:
        """Raise one StoreError for all broken lines, lines of other versions and ``impossible_values``, if any."""
        path = folder / "cells.jsonl"
        broken_lines = [*self.broken_lines, *impossible_values.values()]
        if not (broken_lines or self.version_lines):
            return
        versions = [f"{path}:{_lines_text(lines)} {text}" for text, lines in self.version_lines.items()]
        remarks = [
            f"and {len(messages) - _MOST_LISTED} more {noun}"
            for messages, noun in ((versions, "versions or parts"), (broken_lines, "lines"))
            if len(messages) > _MOST_LISTED
        ]
        if impossible_values:
            remarks.append(
                f"probcal verify {folder} measures the stored predictions again; remove each line with an"
                " impossible number, then repeat probcal run to run its cell again"
            )
        raise StoreError("\n".join([*versions[:_MOST_LISTED], *broken_lines[:_MOST_LISTED], *remarks]))


@lru_cache(maxsize=1)
def _read_cells(path: Path, folder: Path, state: tuple[int, ...]) -> _Cells:
    """Parse ``cells.jsonl`` in ``folder``. A command that reads the same ``state`` of a folder again parses once.

    ``path`` is absolute, so that two working folders are never mixed up.
    """
    cells_path = folder / "cells.jsonl"
    cells = _Cells()
    runs = cache(Store(folder).runs)
    for number, line in lines_of(cells_path):  # leaves out a torn last line, which ``appending`` removes
        if line == "":
            continue
        try:
            result = CellResult.from_json(line or "", any_values=True)
            cell_id = result.id
            cells.results[cell_id] = _latest_valid_result(cells.results.get(cell_id), result)
            if cells.results[cell_id] is not result:
                continue
            cells.places[cell_id] = number
            cells.impossible_values.pop(cell_id, None)
            refuse_impossible_values(result.metrics, result.stages)
        except ImpossibleValueError as error:
            cells.impossible_values[result.id] = f"{cells_path}:{number}: {result.id}: {error}"
        except (ValueError, TypeError, AttributeError, OverflowError, RecursionError) as error:
            if version := version_message(line or "", error, runs):
                cells.version_lines.setdefault(version, []).append(number)
                continue
            reason = f" ({error})" if isinstance(error, RowFaultError) else ""
            advice = "remove this line to run that cell again"
            cells.broken_lines.append(f"{cells_path}:{number}: is not the result of a cell{reason}; {advice}")
    return cells


class Store:
    """Read and write one results folder.

    Reading needs no lock. Write only inside ``writing()``.
    """

    is_whole = True
    """Whether the whole experiment is shown, not a selection of it."""

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)
        self._cells: IO[str] | None = None
        self._is_writing = False
        self._next_sync = 0.0
        self._predictions = Predictions(self.folder / "predictions.bin")

    # --- reading -------------------------------------------------------------------------------

    def exists(self) -> bool:
        return (self.folder / "experiment.json").is_file()

    def experiment(self) -> dict[str, Any]:
        """Return the experiment as it was last run. Raise StoreError when the folder holds none."""
        self._refuse_other_kinds()
        path = self.folder / "experiment.json"
        try:
            experiment = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise StoreError(f"{self.folder} is not a results folder of probcal (it has no experiment.json)") from None
        except (OSError, ValueError, RecursionError) as error:
            raise StoreError(
                f"{path} cannot be read: {error}; mend it, or remove it and run the experiment again, which keeps"
                " the results"
            ) from None
        if not isinstance(experiment, dict) or not isinstance(experiment.get("name"), str):
            raise StoreError(f"{path} does not describe an experiment")
        return experiment

    def results(self) -> dict[str, CellResult]:
        """Return the last finished result of every cell, or its last failed one if the cell never finished.

        ``failed_since`` of a finished result holds a later failed attempt. A torn last line is ignored. Raises one
        StoreError for all broken lines elsewhere, for all lines of a newer version, and for all numbers that their
        metric cannot have.
        """
        return self.results_with_lines()[0]

    def results_with_lines(self) -> tuple[dict[str, CellResult], dict[str, int]]:
        """Return ``results``, and cell -> number of its line in ``cells.jsonl``. Raises the same."""
        cells = self._read()
        cells.refuse_faults(self.folder, cells.impossible_values)
        return dict(cells.results), dict(cells.places)

    def results_with_any_values(self) -> dict[str, CellResult]:
        """Return the same as ``results``, but accept any number. Use it to find out what the numbers should be."""
        cells = self._read()
        cells.refuse_faults(self.folder, {})
        return dict(cells.results)

    def _read(self) -> _Cells:
        self._refuse_other_kinds()
        return _read_cells(self.folder.absolute(), self.folder, self.state())

    def runs(self) -> dict[str, dict[str, Any]]:
        """Return the provenance of every run, by run id."""
        path = self.folder / "runs.jsonl"
        runs = {}
        for _, line in lines_of(path):
            try:
                run = json.loads(line or "")
                if all(isinstance(run.get(part, {}), dict) for part in ("code", "versions")):
                    runs[run["run"]] = run
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
                continue  # an empty or broken line tells nothing about its run
        return runs

    def state(self) -> tuple[int, ...]:
        """Return the size, times and number of ``cells.jsonl``, which change with every added result or edit.

        Without a file, return an empty tuple.
        """
        try:
            stat = (self.folder / "cells.jsonl").stat()
        except OSError:
            return ()
        return stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino

    def has_predictions(self, result: CellResult) -> bool:
        """Return whether ``predictions`` will probably find them. Only ``predictions`` reads the file."""
        return result.predictions is not None and self._predictions.path.is_file()

    def predictions(self, result: CellResult) -> tuple[np.ndarray, np.ndarray]:
        """Return (y, p) of a result as they were added. Raise StoreError when they are no longer stored."""
        predictions = self._predictions.read(result.predictions) if result.predictions else None
        if predictions is None:
            raise StoreError(f"{self._predictions.path} does not hold the predictions behind {result.id}")
        return predictions

    def refuse_other_results(self, name: str) -> None:
        """Raise StoreError when the folder holds another experiment's results, or other files."""
        if self.exists():
            owner = self.experiment()["name"]
            if owner != name:
                raise StoreError(
                    f'{self.folder} holds the results of experiment "{owner}", not of "{name}"; choose another with -o'
                )
        elif self.folder.exists():
            if not self.folder.is_dir():
                raise StoreError(f"{self.folder} is a file; choose a folder with -o")
            foreign_names = sorted(path.name for path in self.folder.iterdir() if path.name not in _OWN_NAMES)
            if foreign_names and not (self.folder / "cells.jsonl").exists():
                raise StoreError(
                    f"{self.folder} is not empty and is not a results folder (it holds {foreign_names[0]!r});"
                    " choose another with -o"
                )
            self._refuse_other_kinds()

    def _refuse_other_kinds(self) -> None:
        """Raise StoreError for a pipe or the like in place of one of our files: reading it could wait for ever."""
        refuse_other_kinds(self.folder, _FILES, _FOLDERS)

    # --- writing -------------------------------------------------------------------------------

    def writing(self, name: str) -> _WriteLock:
        """Return a context in which only this process may write results of experiment ``name``.

        Raises StoreError when the folder belongs to something else, another process writes to it, or it cannot be
        written.
        """
        return _WriteLock(self, name)

    def write_experiment(self, experiment: dict[str, Any]) -> None:
        path = self.folder / "experiment.json"
        text = json.dumps(experiment, indent=1, ensure_ascii=False) + "\n"
        if path.is_file() and path.read_text(encoding="utf-8") == text:
            return
        new_path = path.with_suffix(".json.new")
        with self._store_errors():
            with new_path.open("w", encoding="utf-8") as file:
                file.write(text)
                _sync(file)
            os.replace(new_path, path)

    def add_run(self, run: dict[str, Any]) -> None:
        """Store the provenance of a run. A later line about the same run replaces an earlier one."""
        with self._store_errors(), appending(self.folder / "runs.jsonl") as file:
            file.write(json.dumps(run, ensure_ascii=False) + "\n")
            _sync(file)

    def add(self, result: CellResult, y: np.ndarray | None = None, p: np.ndarray | None = None) -> None:
        """Store one result and its predictions, so that a later kill loses nothing.

        A power cut loses what was stored since the last sync, which is at most the time of 20 syncs. ``y`` has shape
        (n_test,) and holds labels. ``p`` has shape (n_test,), or (n_test, n_classes) for more than two classes. Raises
        StoreError when the folder can no longer be written to.
        """
        if not self._is_writing:
            raise RuntimeError("call Store.add only inside Store.writing")
        with self._store_errors():
            if self._cells is None:  # opened late, so that a run that is interrupted before changes nothing
                self._cells = appending(self.folder / "cells.jsonl")
            place = None if y is None or p is None else self._predictions.add(y, p)
            self._cells.write(result.to_json(place) + "\n")
            self._cells.flush()
            self._refuse_moved_file()
            if time.monotonic() >= self._next_sync:
                self._sync()

    @contextmanager
    def _store_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            self._refuse_moved_file()
            raise StoreError(
                f"cannot write to {self.folder} any more: {error.strerror or error};"
                " what was finished before is kept, the same command goes on from there"
            ) from None

    def _refuse_moved_file(self) -> None:
        if self._cells is not None and (change := file_displacement(self._cells)):
            advice = "run again to make them anew" if change == "removed" else "move it back and run again to go on"
            raise StoreError(f"{self._cells.name} was {change} while results were written to it; {advice}")

    def _open(self) -> None:
        """Begin to write. Raise PermissionError now for a file that could not be written to later."""
        path = self.folder / "cells.jsonl"
        if path.exists() and not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        _read_cells.cache_clear()  # a run needs its memory
        self._is_writing = True

    def _sync(self) -> None:
        """Sync predictions first: every line on the disk must find what it refers to."""
        start = time.monotonic()
        self._predictions.sync()
        if self._cells is not None:
            _sync(self._cells)
        end = time.monotonic()
        self._next_sync = end + _SYNC_SHARE * (end - start)

    def _close(self) -> None:
        """Close the files. Raise StoreError if the system reports only now that something could not be written."""
        cells, self._cells, self._is_writing = self._cells, None, False
        with self._store_errors(), cells or nullcontext(), closing(self._predictions):
            self._predictions.sync()
            if cells is not None:
                _sync(cells)


class _WriteLock:
    def __init__(self, store: Store, name: str) -> None:
        self._store, self._name = store, name
        self._lock = FileLock(store.folder / LOCK)

    def __enter__(self) -> Store:
        folder = self._store.folder
        try:
            self._store.refuse_other_results(self._name)
            refuse_links_out(folder, _OWN_NAMES)
            folder.mkdir(parents=True, exist_ok=True)
            self._lock.acquire()
            self._store.refuse_other_results(self._name)  # again: another run may have begun and ended meanwhile
            self._store._open()
        except HeldError as error:
            raise StoreError(_held_text(folder, error)) from None
        except StoreError:
            self._lock.release()
            raise
        except OSError as error:
            self._lock.release()
            name = f"{Path(error.filename).name}: " if error.filename and Path(error.filename) != folder else ""
            raise StoreError(
                f"cannot write to {folder}: {name}{error.strerror or error}; choose another with -o"
            ) from None
        return self._store

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            self._store._close()
        except StoreError:
            if kind is None:
                raise  # otherwise another error already reports that writing failed
        finally:
            self._lock.release()


def _held_text(folder: Path, error: HeldError) -> str:
    if error.marker is None:
        return f"another probcal run is writing to {folder} ({error.holder}); wait for it, or choose -o"
    return (
        f"another probcal run is writing to {folder}, as {error.marker} says ({error.holder}); this drive has no file"
        " locks, so if that process has ended, remove this file; otherwise wait for it, or choose -o"
    )


def _sync(file: IO[Any]) -> None:
    file.flush()
    os.fsync(file.fileno())


def _lines_text(lines: list[int]) -> str:
    return f"{lines[0]}: {f'this and {len(lines) - 1} more lines were' if len(lines) > 1 else 'this line was'}"


def _latest_valid_result(previous: CellResult | None, result: CellResult) -> CellResult:
    """Return the result of a cell that counts: only a finished result replaces a finished one.

    A failed attempt after a finished result is kept in its ``failed_since``.
    """
    if previous is None or result.status == "done" or previous.status != "done":
        return result
    return replace(previous, failed_since=result)


def find_stores(folder: Path | str) -> Iterator[Store]:
    """Yield the results folders at or below ``folder``, in order of their names."""
    for path in sorted(Path(folder).rglob("experiment.json")):
        yield Store(path.parent)
