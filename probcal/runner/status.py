"""The status of a results folder: its cells, a current run, and what has changed since.

Commands that only read results find stale data sets here, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from probcal.config.experiment_file import card_name
from probcal.config.yaml_file import YamlFile
from probcal.data.card import Card, find_card, read_card
from probcal.data.load import find
from probcal.errors import AmbiguousDataError, DataError, MissingDataError, ProbcalError
from probcal.runner.data_step import current_data
from probcal.runner.heartbeat import heartbeat_lines, read_heartbeat
from probcal.runner.identity import data_change
from probcal.runner.plan import CARD_CHANGED, cells_text, make_plan, mark_missing_data, plan_lines, staleness_doubt
from probcal.runner.run import experiment_of
from probcal.store.folder import CellResult, Store
from probcal.store.outline import Outline
from probcal.store.summary import planned_ids


def status_lines(
    store: Store,
    every_cell: bool,
    takes: Callable[[str, str, str], bool] = lambda *_: True,
    originals: Path | None = None,
    strict: bool = False,
) -> Iterator[str]:
    """Yield the status line by line, the fastest first.

    ``takes`` returns whether a data set, learner and method are selected. ``originals`` is the folder of original data
    files.

    Raises ProbcalError after the first lines when the experiment cannot be read, for example for a missing or untrusted
    module, or when its data do not match its cards.
    """
    description = store.experiment()
    yield f"{description['name']} in {store.folder}"
    if heartbeat := read_heartbeat(store.folder):
        yield from heartbeat_lines(heartbeat)
    try:
        experiment = experiment_of(store)
        data = current_data(experiment.used_cards(), originals)
        plan = [
            entry
            for entry in mark_missing_data(make_plan(experiment, store, data, strict=strict), data.missing)
            if takes(entry.cell.dataset, entry.cell.column.learner.name, entry.cell.column.method.name)
        ]
    except ProbcalError:
        states = Counter(
            result.status for result in store.results().values() if takes(result.dataset, result.learner, result.method)
        )
        counts = ", ".join(f"{n} {state}" for state, n in states.items())
        yield f"{cells_text(states.total())} stored: {counts or 'none'}; whether they are stale is unknown"
        raise
    yield from plan_lines(plan, every_cell=every_cell)
    path = store.folder / description["config_path"]
    if _has_changed(path, description["config"]):
        name = _short_path(path)
        yield f"  {name} has changed since it was run: probcal run {name} --dry-run shows what that makes stale"


def _has_changed(path: Path, text: str) -> bool:
    """Return whether the content of the file at ``path`` differs from ``text``, apart from comments."""
    try:
        if not path.is_file() or path.read_bytes() == text.encode():
            return False
        return bool(YamlFile.read(path).data != YamlFile(path, text).data)
    except OSError:  # a removed file changes no number
        return False
    except ProbcalError:  # it is no YAML any more
        return True


def _short_path(path: Path) -> str:
    path = path.resolve()
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)


class CurrentResults(Store):
    """Read a results folder, and count results of changed data as stale. ``warnings`` names these data sets.

    The cards that the experiment names are read, and their files are hashed as in ``probcal run``. No network is used.
    If a card cannot be read, a warning says that its state is unknown.
    """

    def __init__(self, store: Store, originals: Path | None = None) -> None:
        super().__init__(store.folder)
        self._store, self.is_whole = store, store.is_whole
        self.warnings: list[str] = []
        self._outdated: set[str] = set()
        self._outdated = set(self._find_outdated(originals))

    def experiment(self) -> dict[str, Any]:
        """Return the experiment with fingerprints that mark results of changed data as stale."""
        description = self._store.experiment()
        if self._outdated and isinstance(description.get("keys", {}), dict):
            description["keys"] = {**description.get("keys", {}), **dict.fromkeys(self._outdated, "of other data")}
        return description

    def _find_outdated(self, originals: Path | None) -> Iterator[str]:
        outline, results, runs = Outline.of(self._store), self.results(), self.runs()
        full_outline = Outline.of(Store(self.folder))  # with all exceptions, which a selection leaves out
        config = self._store.experiment().get("config_path")
        if not outline.config or not isinstance(config, str):
            return
        try:
            content = YamlFile(self.folder / config, outline.config).data
        except ProbcalError:
            content = {}
        cards = _Cards(content, (self.folder / config).parent, originals)
        for row in outline.datasets:
            reasons = {
                cell: cards.outdated_reason(card, results[cell], runs)
                for column in outline.columns
                for card in [cards.card_of(row.name, column.learner, column.method, full_outline)]
                for cell in planned_ids(outline, row, column)
                if cell in results
            }
            outdated_cells = {cell: reason for cell, reason in reasons.items() if reason}
            if outdated_cells:
                count = "1 cell was" if len(outdated_cells) == 1 else f"{len(outdated_cells)} cells were"
                reason = "; ".join(dict.fromkeys(outdated_cells.values()))
                self.warnings.append(f"{row.name}: {count} made of other data ({reason}); probcal run runs them again")
            yield from outdated_cells
        self.warnings += cards.faults


class _Cards:
    """Hold the cards that an experiment names, and their present data sets."""

    def __init__(self, content: Any, folder: Path, originals: Path | None) -> None:
        self._content = content if isinstance(content, Mapping) else {}
        self._folder, self._originals = folder, originals
        self._read: dict[str, Card | None] = {}
        self._current_data: dict[Card, tuple[str | None, bool, str]] = {}
        self.faults: list[str] = []

    def card_of(self, dataset: str, learner: str, method: str, outline: Outline) -> Card | None:
        """Return the card that a cell reads, by its exception if there is one. None if the card cannot be read."""
        paths = {card_name(path): path for path in _as_list(self._content.get("datasets")) if isinstance(path, str)}
        name = paths.get(dataset)
        for override, entry in zip(outline.exceptions, _as_list(self._content.get("exceptions")), strict=False):
            if dataset in override.datasets and (learner, method) in override.columns and isinstance(entry, Mapping):
                name = entry.get("card") or name
        return self._card(name) if isinstance(name, str) else None

    def outdated_reason(
        self, card: Card | None, result: CellResult, runs: Mapping[str, Mapping[str, Any]]
    ) -> str | None:
        """Return why a result is not of the card's present data, or None if nothing speaks against it."""
        if card is None:
            return None
        if card not in self._current_data:
            self._current_data[card] = self._find_data(card)
        fingerprint, local_cards, fault = self._current_data[card]
        if fault:
            return fault
        if fingerprint is not None and result.key.get("data") != fingerprint[:12]:
            return data_change(card, runs.get(result.run, {}))
        return CARD_CHANGED if not local_cards and staleness_doubt(card, result, runs) == CARD_CHANGED else None

    def _find_data(self, card: Card) -> tuple[str | None, bool, str]:
        """Return the fingerprint if known, whether the values are at hand, and the fault of the data."""
        try:
            location = find(card, self._originals)
        except MissingDataError:
            return card.expect.fingerprint, False, ""
        except AmbiguousDataError as error:
            self.faults.append(f"{error.fault}, so whether its data changed is unknown; give --data-dir")
            return None, False, ""
        except DataError as error:
            return None, False, str(error)
        return card.digest if card.generator else location.fingerprint, location.is_available, ""

    def _card(self, name: str) -> Card | None:
        if name not in self._read:
            try:
                self._read[name] = read_card(find_card(name, folder=self._folder))
            except (ProbcalError, OSError):
                self._read[name] = None
                self.faults.append(f"{name}: the card cannot be read, so whether its data changed is unknown")
        return self._read[name]


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
