"""The results folder of one experiment: what was asked, what ran, what came out.

``experiment.json``  the experiment as it was last run, names and labels resolved
``runs.jsonl``       provenance, a line when a run starts and one when it ends; the last of a run counts
``cells.jsonl``      one line per cell that ended, flushed and soon synced; the last line of a cell counts, but a
                     failed one never takes the place of a finished one
``predictions.bin``  the labels and probabilities behind the cells; may be deleted
``running.json``     what the run under way is doing; gone when it has ended
``input/``           the table, card and experiment that ``probcal try`` made; nothing else reads or writes it
``figures/``         what ``probcal plot`` draws; may be deleted
``report.html``      what ``probcal report`` writes; may be deleted
``estimates.json``   what ``probcal plot`` draws of the predictions, for where these are not; may be deleted
``accepted.csv``     the numbers that ``probcal check --accept`` took as ours; nothing else writes it
"""

from __future__ import annotations

import errno
import json
import os
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import numpy as np
from filelock import FileLock, Timeout

from probcal._io import appending, lines_of, refuse_links_out, refuse_other_kinds, what_became_of
from probcal.errors import StoreError
from probcal.store.cell_result import (
    CellResult,
    ImpossibleValueError,
    RowFaultError,
    UnknownParts,
    cell_id,
    key_digest,
    refuse_impossible_values,
)
from probcal.store.other_versions import OtherVersions
from probcal.store.predictions import Predictions

__all__ = ["ACCEPTED", "CellResult", "Store", "cell_id", "find_stores", "key_digest"]
"""What runs a cell imports ``CellResult`` from here, and is not the same code once it imports it from elsewhere."""

ACCEPTED = "accepted.csv"
ESTIMATES = "estimates.json"

_FILES = (
    *("experiment.json", "experiment.json.new", "runs.jsonl", "cells.jsonl", "predictions.bin", ".lock"),
    *(ACCEPTED, f"{ACCEPTED}.new"),
    *("report.html", "report.html.new"),
    *(ESTIMATES, f"{ESTIMATES}.new"),
)
_FOLDERS = ("figures", "input")
_OF_THE_RUN = ("running.json", "running.json.new")
"""Where one of these cannot be read or written, all goes on without it."""
_OURS = (*_FILES, *_FOLDERS, *_OF_THE_RUN)

_MOST_TOLD = 10
"""Broken lines of a file, told of one by one."""
_SYNC_SHARE = 20
"""A file system may take milliseconds to sync: longer than some fits. It gets a twentieth of the time at most."""


class Store:
    """Read and write one results folder. Reading needs no lock, writing happens inside ``writing()``."""

    whole = True
    """Whether all of the experiment is to be seen, and not a selection of it."""

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
        """The experiment as it was last run. Raises StoreError when the folder holds none."""
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
        """The last finished result of every cell, or the last failed one of a cell that never finished.

        A finished result says in ``failed_since`` that a later attempt failed. A torn last line is as if it had never
        been written. Raises StoreError for broken lines anywhere else, for lines of a newer version, and for results
        that count with a number that its metric can never be, all of them at once.
        """
        return self._read(any_values=False)

    def results_as_written(self) -> dict[str, CellResult]:
        """Return what ``results`` does, whatever numbers the lines have: to find out what they should be."""
        return self._read(any_values=True)

    def _read(self, *, any_values: bool) -> dict[str, CellResult]:
        self._refuse_other_kinds()
        path = self.folder / "cells.jsonl"
        found: dict[str, CellResult] = {}
        broken: list[str] = []
        impossible: dict[str, str] = {}
        others = OtherVersions(path, self.runs)
        for number, line in lines_of(path):  # without a torn last one, which ``appending`` removes
            if line == "":
                continue
            try:
                result = CellResult.from_json(line or "", any_values=True)
                counts = found[result.id] = _after(found.get(result.id), result)
                if counts is not result:
                    continue
                impossible.pop(result.id, None)
                if not any_values:
                    refuse_impossible_values(result.metrics, result.stages)
            except ImpossibleValueError as error:
                impossible[result.id] = f"{path}:{number}: {result.id}: {error}"
            except (ValueError, TypeError, AttributeError, OverflowError, RecursionError) as error:
                if others.take(number, line or "", error.parts if isinstance(error, UnknownParts) else []):
                    continue
                why = f" ({error})" if isinstance(error, RowFaultError) else ""
                told = f"is not the result of a cell{why}; remove this line to run that cell again"
                broken.append(f"{path}:{number}: {told}")
        broken += impossible.values()
        if broken or others:
            more = [f"and {len(broken) - _MOST_TOLD} more lines"] if len(broken) > _MOST_TOLD else []
            if impossible:
                more.append(
                    f"probcal verify {self.folder} says what the stored predictions give; remove each line whose number"
                    " cannot be, and run again to make its cell anew"
                )
            raise StoreError("\n".join([*others.told(), *broken[:_MOST_TOLD], *more]))
        return found

    def runs(self) -> dict[str, dict[str, Any]]:
        """The provenance of every run, by run id."""
        path = self.folder / "runs.jsonl"
        found = {}
        for _, line in lines_of(path):
            try:
                run = json.loads(line or "")
                if all(isinstance(run.get(part, {}), dict) for part in ("code", "versions")):
                    found[run["run"]] = run
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
                continue  # an empty or broken line: of such a run nothing is known
        return found

    def state(self) -> tuple[int, int]:
        """Return what changes whenever a result is added: size and time of ``cells.jsonl``; zeros without one."""
        try:
            of_cells = (self.folder / "cells.jsonl").stat()
        except OSError:
            return 0, 0
        return of_cells.st_size, of_cells.st_mtime_ns

    def has_predictions(self, result: CellResult) -> bool:
        """Whether ``predictions`` is likely to find them; it alone looks into the file."""
        return result.predictions is not None and self._predictions.path.is_file()

    def predictions(self, result: CellResult) -> tuple[np.ndarray, np.ndarray]:
        """(y, p) behind a result, as they were added. Raises StoreError when they are not there any more."""
        found = self._predictions.read(result.predictions) if result.predictions else None
        if found is None:
            raise StoreError(f"{self._predictions.path} does not hold the predictions behind {result.id}")
        return found

    def refuse_others(self, name: str) -> None:
        """Raises StoreError when the folder holds another experiment's results, or other things."""
        if self.exists():
            other = self.experiment()["name"]
            if other != name:
                raise StoreError(
                    f'{self.folder} holds the results of experiment "{other}", not of "{name}"; choose another with -o'
                )
        elif self.folder.exists():
            if not self.folder.is_dir():
                raise StoreError(f"{self.folder} is a file; choose a folder with -o")
            strange = sorted(path.name for path in self.folder.iterdir() if path.name not in _OURS)
            if strange:
                raise StoreError(
                    f"{self.folder} is not empty and is not a results folder (it holds {strange[0]!r});"
                    " choose another with -o"
                )
            self._refuse_other_kinds()

    def _refuse_other_kinds(self) -> None:
        """Raises StoreError for a pipe, say, in the place of a file of ours: reading it would wait for ever."""
        refuse_other_kinds(self.folder, _FILES, _FOLDERS)

    # --- writing -------------------------------------------------------------------------------

    def writing(self, name: str) -> _Writing:
        """A context in which this process alone may write results of experiment ``name``.

        Raises StoreError when the folder belongs to something else, another process writes to it,
        or it cannot be written.
        """
        return _Writing(self, name)

    def write_experiment(self, experiment: dict[str, Any]) -> None:
        path = self.folder / "experiment.json"
        text = json.dumps(experiment, indent=1, ensure_ascii=False) + "\n"
        if path.is_file() and path.read_text(encoding="utf-8") == text:
            return
        new = path.with_suffix(".json.new")
        with self._told():
            with new.open("w", encoding="utf-8") as file:
                file.write(text)
                _sync(file)
            os.replace(new, path)

    def add_run(self, run: dict[str, Any]) -> None:
        """Keep the provenance of a run; a later line about the same run takes the place of an earlier one."""
        with self._told(), appending(self.folder / "runs.jsonl") as file:
            file.write(json.dumps(run, ensure_ascii=False) + "\n")
            _sync(file)

    def add(self, result: CellResult, y: np.ndarray | None = None, p: np.ndarray | None = None) -> None:
        """Keep one result, and the predictions behind it, so that a kill after this loses nothing.

        A power cut loses what was kept since the last sync, after which no more time has passed than 20 syncs take.
        ``y``: (n_test,) labels. ``p``: (n_test,) estimates, or (n_test, n_classes) for more than two classes.
        Raises StoreError when the folder cannot be written to any more.
        """
        if not self._is_writing:
            raise RuntimeError("Store.add is called inside Store.writing")
        with self._told():
            if self._cells is None:  # not before: a run that is interrupted here has changed nothing
                self._cells = appending(self.folder / "cells.jsonl")
            if y is not None and p is not None:
                result = replace(result, predictions=self._predictions.add(y, p))
            self._cells.write(result.to_json() + "\n")
            self._cells.flush()
            self._refuse_if_gone()
            if time.monotonic() >= self._next_sync:
                self._sync()

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            self._refuse_if_gone()
            raise StoreError(
                f"cannot write to {self.folder} any more: {error.strerror or error};"
                " what was finished before is kept, the same command goes on from there"
            ) from None

    def _refuse_if_gone(self) -> None:
        if self._cells is not None and (became := what_became_of(self._cells)):
            then = "run again to make them anew" if became == "removed" else "move it back and run again to go on"
            raise StoreError(f"{self._cells.name} was {became} while results were written to it; {then}")

    def _open(self) -> None:
        """Begin to write; raises PermissionError now for a file that could not be written to later."""
        path = self.folder / "cells.jsonl"
        if path.exists() and not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        self._is_writing = True

    def _sync(self) -> None:
        """Predictions first: a line on the disk is to find what it refers to."""
        start = time.monotonic()
        self._predictions.sync()
        if self._cells is not None:
            _sync(self._cells)
        end = time.monotonic()
        self._next_sync = end + _SYNC_SHARE * (end - start)

    def _close(self) -> None:
        """Raises StoreError where a system tells only now that something could not be written."""
        cells, self._cells, self._is_writing = self._cells, None, False
        with self._told(), cells or nullcontext(), closing(self._predictions):
            self._predictions.sync()
            if cells is not None:
                _sync(cells)


class _Writing:
    def __init__(self, store: Store, name: str) -> None:
        self._store, self._name = store, name
        self._lock = FileLock(store.folder / ".lock", timeout=0)

    def __enter__(self) -> Store:
        folder = self._store.folder
        try:
            self._store.refuse_others(self._name)
            refuse_links_out(folder, _OURS)
            folder.mkdir(parents=True, exist_ok=True)
            self._lock.acquire()
            self._store.refuse_others(self._name)  # once more: another may have begun and ended meanwhile
            self._store._open()
        except Timeout:
            raise StoreError(f"another probcal run is writing to {folder}; wait for it, or choose -o") from None
        except StoreError:
            self._lock.release()
            raise
        except OSError as error:
            self._lock.release()
            raise StoreError(f"cannot write to {folder}: {error.strerror or error}; choose another with -o") from None
        return self._store

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            self._store._close()
        except StoreError:
            if kind is None:
                raise  # else said already: what could not be written then cannot be now
        finally:
            self._lock.release()


def _sync(file: IO[Any]) -> None:
    file.flush()
    os.fsync(file.fileno())


def _after(before: CellResult | None, result: CellResult) -> CellResult:
    """What counts of a cell: a finished result is replaced by a finished one only, and remembers a failed attempt."""
    if before is None or result.status == "done" or before.status != "done":
        return result
    return replace(before, failed_since=result)


def find_stores(folder: Path | str) -> Iterator[Store]:
    """The results folders at or below ``folder``, in order of their names."""
    for path in sorted(Path(folder).rglob("experiment.json")):
        yield Store(path.parent)
