"""What a process on a Dask worker does: see whether it is fit for the run, then run cells of it.

Jobs travel as bytes and are unpickled only in that process, which is started anew for every run: a Dask
worker lives for days, and what it has imported may be older than what is on its disk.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from filelock import FileLock

from probcal.config.components import import_class
from probcal.data.cache import cache_folder
from probcal.data.card import Card
from probcal.data.load import data_folder, obtain
from probcal.errors import ProbcalError
from probcal.runner.execute import Outcome
from probcal.runner.fingerprint import Fingerprints, code_of, code_of_metrics, modules_of
from probcal.runner.isolation import execute_alone, lost
from probcal.runner.plan import Planned


@dataclass(frozen=True)
class Folders:
    """Those of the one who started the run. A worker uses them where it has none of its own and they are there."""

    data: Path | None
    cache: Path
    modules: Path

    @classmethod
    def of(cls, data: Path | None) -> Folders:
        return cls(None if data is None else data.resolve(), cache_folder().resolve(), Path.cwd())

    def use(self) -> None:
        for name, folder in (("PROBCAL_DATA_DIR", self.data), ("PROBCAL_CACHE_DIR", self.cache)):
            if name not in os.environ and folder is not None and folder.is_dir():
                os.environ[name] = str(folder)
        if str(self.modules) not in sys.path and self.modules.is_dir():
            sys.path.append(str(self.modules))  # last, to hide no module


@dataclass(frozen=True)
class Check:
    """Whether a worker would make the same numbers: the same code, the same values, all modules there."""

    components: list[str]
    modules: list[str]
    code: dict[str, str]
    cards: list[Card]
    folders: Folders

    @classmethod
    def of(cls, planned: list[Planned], folders: Folders) -> Check:
        columns = [one.cell.column for one in planned]
        components = sorted({part.path for column in columns for part in (column.learner, column.method)})
        modules = sorted({module for one in planned for module in modules_of(one.cell)})
        cards = dict.fromkeys(one.cell.card for one in planned)
        return cls(components, modules, _code(modules), list(cards), folders)

    def prepare(self) -> None:
        self.folders.use()

    def do(self, run: str) -> tuple[list[str], bool]:
        """(what speaks against this worker, nothing if it is fit; whether its process can have another job)."""
        return self._code_at_fault() or self._imports_at_fault() or self._data_at_fault(), True

    def _code_at_fault(self) -> list[str]:
        here = _code(self.modules)
        if lacking := sorted(self.code.keys() - here.keys()):
            return [
                f"cannot find {', '.join(lacking)}; the folder of your modules, {self.folders.modules}, must be there"
                " under the same path or on the worker's PYTHONPATH"
            ]
        other = [name for name, digest in self.code.items() if here[name] != digest]
        return [f"has other code of {', '.join(other)}"] if other else []

    def _imports_at_fault(self) -> list[str]:
        faults = []
        for path in self.components:
            try:
                import_class(path)
            except ProbcalError as error:
                faults.append(str(error))
        return faults

    def _data_at_fault(self) -> list[str]:
        faults = []
        for card in self.cards:
            try:
                obtain_once(card)
            except ProbcalError as error:
                faults.append(str(error))
        return faults


@dataclass(frozen=True)
class RunCell:
    """One cell, run as anywhere else, if its key is the same here."""

    planned: Planned
    folders: Folders

    def prepare(self) -> None:
        self.folders.use()
        _fingerprints().key(self.planned.cell)  # imports what the cell needs

    def do(self, run: str) -> tuple[Outcome, bool]:
        key = _fingerprints().key(self.planned.cell)
        other = [part for part, digest in self.planned.key.items() if key.get(part) != digest]
        if other:
            why = f"the worker has other {' and '.join(other)} than the run was planned with"
            return lost(self.planned, run, 0.0, "failed", "ProbcalError", why), True
        return execute_alone(self.planned, run)


def obtain_once(card: Card) -> None:
    """Bring the data set that ``card`` is bound to into this machine's cache, one process at a time.

    The others find it there. Raises DataError when the data that are to be had here are others.
    """
    folder = data_folder()
    if card.generator or card.bundled:
        obtain(card, folder)  # which keeps nothing
        return
    cache_folder().mkdir(parents=True, exist_ok=True)
    with FileLock(cache_folder() / f".{card.name}-{card.digest}.lock"):
        obtain(card, folder)


@cache
def _fingerprints() -> Fingerprints:
    return Fingerprints()


def _code(modules: list[str]) -> dict[str, str]:
    return {**code_of(*modules), **code_of_metrics()}
