"""The results folder of one experiment.

``experiment.json``  the experiment as it was last run, with names and labels resolved
``runs.jsonl``       provenance: a line when a run starts and a line when it ends, the last one of a run counts, and a
                     line for each ``probcal check --accept``
``cells.parquet``    the results, a row for each cell
``cells.jsonl``      the results of a run that goes on or was killed, one line per cell that ended. The last line of a
                     cell counts, but a failed result never replaces a done one. A run that ends moves them to the
                     table.
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
from collections.abc import Container, Iterable, Iterator
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import IO, Any

import numpy as np

from probcal._io import (
    appending,
    file_displacement,
    numbered_lines,
    refuse_links_out,
    refuse_other_kinds,
    sync_file,
    sync_folder,
)
from probcal._lock import FileLock, HeldError
from probcal.errors import StoreError
from probcal.store.cell_result import CellResult, Results, cell_id, has_digest, key_digest
from probcal.store.log_file import Log, announce_table, empty_log, open_log, read_log, table_digest
from probcal.store.predictions import Predictions

__all__ = ["ACCEPTED", "CellResult", "Store", "cell_id", "find_stores", "key_digest"]

TABLE, LOG = "cells.parquet", "cells.jsonl"

ACCEPTED = "accepted.csv"
ESTIMATES = "estimates.json"
COMPARISON = "compare.json"
LOCK = ".lock"

_FILES = (
    *("experiment.json", "experiment.json.new", "runs.jsonl", LOG, f"{LOG}.new", TABLE, f"{TABLE}.new"),
    *("predictions.bin", LOCK, f"{LOCK}.held"),
    *(ACCEPTED, f"{ACCEPTED}.new"),
    *("report.html", "report.html.new"),
    *(ESTIMATES, f"{ESTIMATES}.new"),
    *(COMPARISON, f"{COMPARISON}.new"),
)
_FOLDERS = ("figures", "input")
_RUN_FILES = ("running.json", "running.json.new")
"""Files of the current run. The run goes on when one of these cannot be read or written."""
_OWN_NAMES = (*_FILES, *_FOLDERS, *_RUN_FILES)

_ATTEMPTS = 3
"""A run may end between the reading of the log and of the table. Then both are read again."""
_SYNC_SHARE = 20
"""A sync can take milliseconds, longer than some fits. Syncs take at most a twentieth of the time."""


@dataclass(frozen=True)
class _Cells:
    """Hold the results of a folder, and the log with the messages about its broken lines."""

    log: Log
    results: dict[str, CellResult] = field(default_factory=dict)
    impossible_values: dict[str, str] = field(default_factory=dict)
    """Cell -> message about a number that its metric cannot have."""

    def add(self, result: CellResult, origin: str, fault: str) -> None:
        """Add a later result from the file or line ``origin``. ``fault`` is about an impossible number, or empty."""
        cell = result.id
        self.results[cell] = _latest_valid_result(self.results.get(cell), result)
        if self.results[cell] is result:
            self.impossible_values.pop(cell, None)
            if fault:
                self.impossible_values[cell] = f"{origin}: {cell}: {fault}"


@lru_cache(maxsize=1)
def _read_cells(path: Path, folder: Path, state: tuple[int, ...]) -> _Cells:
    """Read the table and the log in ``folder``. The same ``state`` of a folder is read only once by a command."""
    from probcal.store.table_file import read_table  # imports pyarrow, which a folder without a table does not need

    # ``path`` is absolute, so that two working folders are never mixed up by the cache.
    table, rows = folder / TABLE, []
    for _ in range(_ATTEMPTS):
        # first the log, because a run that ends writes the table before it empties the log
        log = read_log(folder / LOG, Store(folder).runs)
        rows = read_table(table) if table.is_file() else []
        if not log.tables or table_digest(table) in log.tables:
            break
    else:
        fault = "is not the table that belongs to it" if table.is_file() else "is missing"
        raise StoreError(
            f"{table} {fault}: {folder / LOG} has the digest of another one; get both files again from one place. To go"
            f' on with what is there, remove the lines of {LOG} that begin with {{"probcal"'
        )
    cells = _Cells(log)
    for result, fault in rows:
        cells.add(result, str(table), fault)
    # After the table, because the last result of a cell counts.
    for result, origin, fault in cells.log.rows:
        cells.add(result, origin, fault)
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
        self._next_sync, self._has_synced_names = 0.0, False
        self._predictions = Predictions(self.folder / "predictions.bin")

    # --- reading -------------------------------------------------------------------------------

    def exists(self) -> bool:
        return (self.folder / "experiment.json").is_file()

    @property
    def name(self) -> str:
        """Return the name of the experiment. Raise StoreError as ``experiment`` does."""
        return str(self._description()["name"])

    def experiment(self) -> dict[str, Any]:
        """Return the experiment as it was last run. Raise StoreError when the folder holds none.

        ``stale`` maps a run to its results that the last run found stale.
        """
        experiment = self._description()
        if isinstance(keys := experiment.pop("keys", None), dict):  # of a version before the table
            with suppress(StoreError):
                results = self.results_with_any_values().values()
                outdated = (one for one in results if one.id in keys and not has_digest(one.key, keys[one.id]))
                experiment["stale"] = by_run(outdated)
        return experiment

    def _description(self) -> dict[str, Any]:
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

    def results(self) -> Results:
        """Return the last done result of every cell, or its last failed one if the cell was never done.

        ``later_failure`` of a done result holds a later failed attempt. A torn last line is ignored. Raises one
        StoreError for all broken lines elsewhere, for all lines of a newer version, and for all numbers that their
        metric cannot have.
        """
        cells = self._read()
        advice = (
            f"probcal verify {self.folder} --discard removes these results; then repeat probcal run to run their cells"
            " again"
        )
        cells.log.refuse_faults([*cells.impossible_values.values()], advice)
        return Results(cells.results)

    def results_with_any_values(self) -> Results:
        """Return the same as ``results``, but accept any number. Use it to find out what the numbers should be."""
        cells = self._read()
        cells.log.refuse_faults()
        return Results(cells.results)

    def impossible_results(self) -> dict[str, CellResult]:
        """Return the results with a number that its metric cannot have."""
        cells = self._read()
        return {cell: cells.results[cell] for cell in cells.impossible_values}

    def table_fault(self) -> str:
        """Return the fault of a table whose digest is lost. The text is empty if the digest is there, or no table is.

        Reading the results refuses a table that has another digest.
        """
        table = self.folder / TABLE
        if not table.is_file() or self._read().log.tables:
            return ""
        return (
            f"{self.folder / LOG} has lost the digest of {TABLE}, so nothing shows whether this is the table that the"
            " last run wrote; get both files again from one place, or accept the table with: probcal convert"
            f" {self.folder}"
        )

    def _read(self) -> _Cells:
        self._refuse_other_kinds()
        return _read_cells(self.folder.absolute(), self.folder, self.state())

    def runs(self) -> dict[str, dict[str, Any]]:
        """Return the provenance of every run, by run id."""
        path = self.folder / "runs.jsonl"
        runs = {}
        for _, line in numbered_lines(path):
            try:
                run = json.loads(line or "")
                if all(isinstance(run.get(part, {}), dict) for part in ("code", "versions")):
                    runs[run["run"]] = run
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
                continue  # an empty or broken line tells nothing about its run
        return runs

    def accepted_count(self) -> int:
        """Return how many numbers the last ``probcal check --accept`` stored, 0 if there was none."""
        counts = [0]
        for _, line in numbered_lines(self.folder / "runs.jsonl"):
            with suppress(ArithmeticError, ValueError, KeyError, TypeError, RecursionError):
                counts.append(int(json.loads(line or "")["accepted"]))
        return counts[-1]

    def state(self) -> tuple[int, ...]:
        """Return the size, times and number of the log and the table, which change with every added result or edit.

        A missing file adds nothing to the tuple.
        """
        state: list[int] = []
        for name in (LOG, TABLE):
            with suppress(OSError):
                stat = (self.folder / name).stat()
                # An edit can keep the size and the time of the content, but not all four of these.
                state += stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino
        return tuple(state)

    def has_predictions(self, result: CellResult) -> bool:
        """Return whether ``predictions`` will probably find them. Only ``predictions`` reads the file."""
        return result.predictions is not None and self._predictions.path.is_file()

    def predictions(self, result: CellResult) -> tuple[np.ndarray, np.ndarray]:
        """Return (y, p) of a result as they were added. Raise StoreError when they are no longer stored."""
        predictions = self._predictions.read(result.predictions) if result.predictions else None
        if predictions is None:
            raise StoreError(f"{self._predictions.path} does not hold the predictions behind {result.id}")
        return predictions[:2]

    def weights(self, result: CellResult) -> np.ndarray | None:
        """Return the weights of the test rows, (n_test,), or None if there are none. Raise as ``predictions``."""
        if "weights" not in (result.predictions or {}):
            return None
        stored = self._predictions.read(result.predictions or {})
        if stored is None:
            raise StoreError(f"{self._predictions.path} does not hold the predictions behind {result.id}")
        return stored[2]

    def refuse_other_results(self, name: str) -> None:
        """Raise StoreError when the folder holds another experiment's results, or other files."""
        if self.exists():
            if self.name != name:
                raise StoreError(
                    f'{self.folder} holds the results of experiment "{self.name}", not of "{name}"; choose another'
                    " with -o"
                )
        elif self.folder.exists():
            if not self.folder.is_dir():
                raise StoreError(f"{self.folder} is a file; choose a folder with -o")
            foreign_names = sorted(path.name for path in self.folder.iterdir() if path.name not in _OWN_NAMES)
            if foreign_names and not self.state():
                raise StoreError(
                    f"{self.folder} is not empty and is not a results folder (it holds {foreign_names[0]!r});"
                    " choose another with -o"
                )
            self._refuse_other_kinds()

    def _refuse_other_kinds(self) -> None:
        # Reading a pipe in place of one of our files could wait for ever.
        refuse_other_kinds(self.folder, _FILES, _FOLDERS)

    # --- writing -------------------------------------------------------------------------------

    @contextmanager
    def writing(self, name: str) -> Iterator[Store]:
        """Let only this process write results of experiment ``name`` inside the context.

        Raises StoreError when the folder belongs to something else, another process writes to it, or it cannot be
        written.
        """
        lock = FileLock(self.folder / LOCK)
        self._open(name, lock)
        try:
            yield self
        except BaseException:
            with suppress(StoreError):  # another error already reports that writing failed
                self._close()
            raise
        else:
            self._close()
        finally:
            lock.release()

    def write_experiment(self, experiment: dict[str, Any]) -> None:
        path = self.folder / "experiment.json"
        text = json.dumps(experiment, indent=1, ensure_ascii=False) + "\n"
        if path.is_file() and path.read_text(encoding="utf-8") == text:
            return
        new_path = path.with_suffix(".json.new")
        with self._store_errors():
            with new_path.open("w", encoding="utf-8") as file:
                # Synced before the rename: after a power cut the name could otherwise stand for an empty file.
                file.write(text)
                sync_file(file)
            os.replace(new_path, path)

    def add_run(self, run: dict[str, Any]) -> None:
        """Store the provenance of a run. A later line about the same run replaces an earlier one."""
        with self._store_errors(), appending(self.folder / "runs.jsonl") as file:
            file.write(json.dumps(run, ensure_ascii=False) + "\n")
            sync_file(file)

    def add_acceptance(self, count: int) -> None:
        """Store that ``count`` numbers were accepted, so that a later loss of them is noticed."""
        # without the key "run", so that earlier versions leave the line out
        self.add_run({"accepted": count})

    def add(
        self,
        result: CellResult,
        y: np.ndarray | None = None,
        p: np.ndarray | None = None,
        weight: np.ndarray | None = None,
    ) -> None:
        """Store one result with its later failure and its predictions, so that a later kill loses nothing.

        It appends. ``_latest_valid_result`` decides on reading which result of a cell counts.

        A power cut loses what was stored since the last sync, which is at most the time of 20 syncs. ``y`` has shape
        (n_test,) and holds labels. ``p`` has shape (n_test,), or (n_test, n_classes) for more than two classes.
        ``weight`` has shape (n_test,). Raises StoreError when the folder can no longer be written to.
        """
        if not self._is_writing:
            raise RuntimeError("call Store.add only inside Store.writing")
        with self._store_errors():
            # Opened late, so that a run that is interrupted before changes nothing.
            if self._cells is None:
                self._cells = open_log(self.folder / LOG, self.folder / TABLE)
            location = None if y is None or p is None else self._predictions.add(y, p, weight)
            failure = f"{result.later_failure.to_json()}\n" if result.later_failure else ""
            self._cells.write(f"{result.to_json(location)}\n{failure}")
            self._cells.flush()
            # A write into a file that was removed or moved succeeds, and its results would be lost.
            self._refuse_moved_file()
            if time.monotonic() >= self._next_sync:
                self._sync()

    def discard(self, cells: Container[str]) -> None:
        """Remove the results of ``cells``, so that the next run makes them again. Raise StoreError if it cannot."""
        stored = self._read()
        stored.log.refuse_faults()
        with self._store_errors():
            self._write_table(result for name, result in stored.results.items() if name not in cells)

    def convert(self) -> int:
        """Write a folder of an earlier version in the present form, and return its number of results.

        Raises StoreError for lines that are no results, and if the folder cannot be written.
        """
        experiment, stored = self.experiment(), self._read()
        stored.log.refuse_faults()
        with self._store_errors():
            # The old marks only fit the old identities, so they are written in the present form before the table is.
            self.write_experiment(experiment)
            self._write_table(stored.results.values())
        return len(stored.results)

    def move_left_results(self, name: str) -> None:
        """Move the results of experiment ``name`` that a killed run, or one on a full disk, left in the log.

        They stay there, where every command reads them, if the folder cannot be written now.
        """
        log = self._read().log
        if log.tables and log.rows:  # a log of an earlier version knows no table
            with suppress(OSError, StoreError), self.writing(name):
                self._move_to_table()

    def _move_to_table(self) -> None:
        """Move the results of the log to the table. Faulty lines stay where they are, and so do all others then."""
        stored = self._read()
        if not stored.log.has_faults:
            self._write_table(stored.results.values())

    def _write_table(self, results: Iterable[CellResult]) -> None:
        """Replace the table, and then empty the log. A kill between the two leaves a log of results that are known."""
        from probcal.store.table_file import write_table

        log, table, new = self.folder / LOG, self.folder / TABLE, self.folder / f"{TABLE}.new"
        attempts = ([result, result.later_failure] for result in results)
        try:
            write_table(new, (attempt for pair in attempts for attempt in pair if attempt is not None))
            digest = table_digest(new)
            # The log then knows both tables, so that it fits the folder after a kill before or after the rename.
            announce_table(log, table, digest)
            os.replace(new, table)
        except OSError:
            with suppress(OSError):
                new.unlink()  # on a full disk, so that the next run has its room
            raise
        # The new name must be on the disk before the log, which has the only other copy, is emptied.
        sync_folder(self.folder)
        empty_log(log, digest)

    @contextmanager
    def _store_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            self._refuse_moved_file()
            raise StoreError(
                f"cannot write to {self.folder} any more: {error.strerror or error};"
                " what was stored before is kept, the same command goes on from there"
            ) from None

    def _refuse_moved_file(self) -> None:
        if self._cells is not None and (change := file_displacement(self._cells)):
            advice = "run again to make them anew" if change == "removed" else "move it back and run again to go on"
            raise StoreError(f"{self._cells.name} was {change} while results were written to it; {advice}")

    def _open(self, name: str, lock: FileLock) -> None:
        """Take the lock and begin to write. A file that could not be written to later is refused now."""
        folder = self.folder
        try:
            self.refuse_other_results(name)
            refuse_links_out(folder, _OWN_NAMES)
            folder.mkdir(parents=True, exist_ok=True)
            lock.acquire()
            self.refuse_other_results(name)  # again: another run may have begun and ended meanwhile
            for path in (folder / LOG, folder / TABLE):
                if path.exists() and not os.access(path, os.W_OK):
                    raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        except HeldError as error:
            raise StoreError(_held_text(folder, error)) from None
        except StoreError:
            lock.release()
            raise
        except OSError as error:
            lock.release()
            file = f"{Path(error.filename).name}: " if error.filename and Path(error.filename) != folder else ""
            raise StoreError(
                f"cannot write to {folder}: {file}{error.strerror or error}; choose another with -o"
            ) from None
        _read_cells.cache_clear()  # a run needs its memory
        self._is_writing = True

    def _sync(self) -> None:
        start = time.monotonic()
        # Predictions first, because every line on the disk must find what it refers to.
        self._predictions.sync()
        if self._cells is not None:
            sync_file(self._cells)
        if not self._has_synced_names:
            sync_folder(self.folder)
            self._has_synced_names = True
        end = time.monotonic()
        self._next_sync = end + _SYNC_SHARE * (end - start)

    def _close(self) -> None:
        """Close the files. Raise StoreError if the system reports only now that something could not be written."""
        cells, self._cells, self._is_writing = self._cells, None, False
        with self._store_errors(), cells or nullcontext(), closing(self._predictions):
            self._predictions.sync()
            if cells is not None:
                sync_file(cells)
        if cells is not None:
            # Every command reads results in the log, too, and the next run tries again to move them.
            with suppress(OSError, StoreError):
                self._move_to_table()


def _held_text(folder: Path, error: HeldError) -> str:
    if error.marker is None:
        return f"another probcal run is writing to {folder} ({error.holder}); wait for it, or choose -o"
    return (
        f"another probcal run is writing to {folder}, as {error.marker} says ({error.holder}); this drive has no file"
        " locks, so if that process has ended, remove this file; otherwise wait for it, or choose -o"
    )


def _latest_valid_result(previous: CellResult | None, result: CellResult) -> CellResult:
    """Return the result of a cell that counts: only a done result replaces a done one.

    A failed attempt after a done result is kept in its ``later_failure``.
    """
    if previous is None or result.status == "done" or previous.status != "done":
        return result
    return replace(previous, later_failure=result)


def by_run(results: Iterable[CellResult]) -> dict[str, list[str]]:
    """Return run -> the cells of ``results`` that it made."""
    cells: dict[str, list[str]] = {}
    for result in results:
        cells.setdefault(result.run, []).append(result.id)
    return cells


def find_stores(folder: Path | str) -> Iterator[Store]:
    """Yield the results folders at or below ``folder``, in order of their names."""
    for path in sorted(Path(folder).rglob("experiment.json")):
        yield Store(path.parent)
