"""Results whose data changed, or may have changed, since they were made.

Commands that only read results use this module, so it imports neither scikit-learn nor the code of a run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from probcal.config.experiment_file import card_name
from probcal.data.card import Card, find_card, read_card
from probcal.data.load import find
from probcal.errors import AmbiguousDataError, DataError, MissingDataError, ProbcalError
from probcal.store.folder import CellResult, Store, by_run
from probcal.store.stored_experiment import ResultColumn, Row, StoredExperiment
from probcal.store.summary import planned_ids
from probcal.yaml_file import YamlFile

CARD_CHANGED = "the card changed, and its data are not at hand"


def stored_reading(card: Card, run: Mapping[str, Any]) -> str | None:
    """Return the ``reading`` of the card in ``run`` (its provenance), or None where it stored none."""
    data = run.get("data", {})
    record = data.get(card.name, {}) if isinstance(data, dict) else {}
    reading = record.get("card") if isinstance(record, dict) else None
    return reading if isinstance(reading, str) else None


def data_change(card: Card, run: Mapping[str, Any]) -> str:
    """Return what changed, in words, where a result of ``run`` has other data than ``card`` stands for now.

    Other labels or columns on a card make other data from the same files.
    """
    if card.generator:
        return "the card changed"
    return "the data changed" if stored_reading(card, run) == card.reading else "the data or the card changed"


def unverified_data_reason(card: Card, result: CellResult, runs: Mapping[str, Mapping[str, Any]]) -> str | None:
    """Return why a result whose data set is not at hand may be stale, or None where the card names the values."""
    if stored_reading(card, runs.get(result.run, {})) not in (None, card.reading):
        return CARD_CHANGED
    return None if card.values or card.expect.fingerprint else "not checked: the data are not at hand"


class CurrentResults(Store):
    """Read a results folder, and count results of changed data as stale. ``warnings`` names these data sets.

    The cards that the experiment names are read, and their files are hashed as in ``probcal run``. No network is used.
    If a card cannot be read, a warning says that its state is unknown.
    """

    def __init__(self, store: Store, originals: Path | None) -> None:
        super().__init__(store.folder)
        self._store, self.is_whole = store, store.is_whole
        self.warnings: list[str] = []
        # Empty at first, because ``_find_outdated`` reads this object's own experiment.
        self._outdated: set[str] = set()
        self._outdated = set(self._find_outdated(originals))

    def experiment(self) -> dict[str, Any]:
        """Return the experiment, in which results of changed data are marked as stale, too."""
        description = self._store.experiment()
        stale = description.get("stale", {})
        if self._outdated and isinstance(stale, dict):
            results = self.results()
            outdated = by_run(results[cell] for cell in sorted(self._outdated) if cell in results)
            description["stale"] = {
                run_id: [*stale.get(run_id, []), *outdated.get(run_id, [])] for run_id in {**stale, **outdated}
            }
        return description

    def _find_outdated(self, originals: Path | None) -> Iterator[str]:
        stored, results, runs = StoredExperiment.of(self._store), self.results(), self.runs()
        # A selection leaves exceptions out, and then they would no longer stand in the order of the file.
        full_experiment = StoredExperiment.of(Store(self.folder))
        config = self._store.experiment().get("config_path")
        if not stored.config or not isinstance(config, str):
            return
        try:
            content = YamlFile(self.folder / config, stored.config).data
        except ProbcalError:
            content = {}
        cards = _Cards(content, (self.folder / config).parent, originals)
        for row in stored.datasets:
            reasons = {
                cell: cards.outdated_reason(card, results[cell], runs)
                for column in stored.columns
                for card in [cards.cell_card(row, column, full_experiment)]
                for cell in planned_ids(stored, row, column)
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
        content = content if isinstance(content, Mapping) else {}
        self._paths = {card_name(path): path for path in _as_list(content.get("datasets")) if isinstance(path, str)}
        self._exceptions = _as_list(content.get("exceptions"))
        self._folder, self._originals = folder, originals
        self._read: dict[str, Card | None] = {}
        self._current_data: dict[Card, tuple[str | None, bool, str]] = {}
        self._reasons: dict[tuple[int, str | None, str], str | None] = {}
        """Card, data and run -> why such results are not of the card's present data."""
        self.faults: list[str] = []

    def cell_card(self, row: Row, column: ResultColumn, stored: StoredExperiment) -> Card | None:
        """Return the card that a cell reads, by its exception if there is one. None if the card cannot be read."""
        name = self._paths.get(row.name)
        for override, entry in zip(stored.exceptions, self._exceptions, strict=False):
            if isinstance(entry, Mapping) and override.applies_to(row, column):
                name = entry.get("card") or name
        return self._card(name) if isinstance(name, str) else None

    def outdated_reason(
        self, card: Card | None, result: CellResult, runs: Mapping[str, Mapping[str, Any]]
    ) -> str | None:
        """Return why a result is not of the card's present data, or None if nothing speaks against it."""
        if card is None:
            return None
        parts = id(card), result.key.get("data"), result.run
        if parts not in self._reasons:
            self._reasons[parts] = self._find_reason(card, result, runs)
        return self._reasons[parts]

    def _find_reason(self, card: Card, result: CellResult, runs: Mapping[str, Mapping[str, Any]]) -> str | None:
        if card not in self._current_data:
            self._current_data[card] = self._find_data(card)
        fingerprint, local_cards, fault = self._current_data[card]
        if fault:
            return fault
        # An identity has the first twelve digits.
        if fingerprint is not None and result.key.get("data") != fingerprint[:12]:
            return data_change(card, runs.get(result.run, {}))
        return CARD_CHANGED if not local_cards and unverified_data_reason(card, result, runs) == CARD_CHANGED else None

    def _find_data(self, card: Card) -> tuple[str | None, bool, str]:
        """Return the fingerprint if known, whether the values are at hand, and the fault of the data."""
        try:
            location = find(card, self._originals)
        except MissingDataError:
            # A card that names the fingerprint tells which values it stands for, also without its files.
            return card.expect.fingerprint, False, ""
        except AmbiguousDataError as error:
            # Which of two files is the data set is unknown. That is no reason to call results stale.
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
