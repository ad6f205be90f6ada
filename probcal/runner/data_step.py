"""The data step before any cell: every data set is fetched, checked and cached, or reported as missing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from probcal.config.experiment import Experiment
from probcal.data.card import Card
from probcal.data.load import LocatedDataset, fetch_into_cache, find
from probcal.data.sources.files import original_paths
from probcal.errors import AmbiguousDataError, DataError, MissingDataError


@dataclass
class DataStep:
    """Hold the state of the data sets of an experiment.

    ``sources`` maps a data set to where it came from, ``missing`` maps one to the reason why it is missing.
    """

    sources: dict[str, str] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    fingerprints: dict[Card, str] = field(default_factory=dict)
    """Card, as it was read -> full fingerprint of its data set, where it is known."""
    local_cards: set[Card] = field(default_factory=set)
    """Cards whose values are on this machine. For other cards, the fingerprints are only those that the cards name."""

    def obtain(self, cards: Iterable[Card], folder: Path | None, say: Callable[[str], None]) -> None:
        """Fetch data sets into the cache. Raise one DataError for all data sets that cannot be used."""
        faults = []
        for card in cards:
            try:
                location = fetch_into_cache(card, folder)
            except MissingDataError as error:
                self.missing[card.name] = str(error)
            except DataError as error:
                faults.append(str(error))
            else:
                self._record(card, location, say)
        if faults:
            raise DataError("\n".join(faults))

    def unfetched_cards(self, cards: Iterable[Card]) -> list[Card]:
        """Return the cards whose data set is unknown until it is fetched."""
        return [
            card for card in cards if not (card.generator or card in self.fingerprints or card.name in self.missing)
        ]

    def _record(self, card: Card, location: LocatedDataset, say: Callable[[str], None]) -> None:
        if location.source not in ("cache", "generated") and not card.bundled and card.name not in self.sources:
            say(f"{card.name}: {location.source}")
        self.sources.setdefault(card.name, location.source)
        self.local_cards.add(card.bind(None))
        if location.fingerprint and not card.generator:
            self.fingerprints[card.bind(None)] = location.fingerprint

    def bind_cards(self, experiment: Experiment) -> Experiment:
        """Return the experiment with each of its cards bound to its data set."""
        return replace(
            experiment,
            cards=tuple(map(self.bind_card, experiment.cards)),
            overrides=tuple(
                replace(override, card=self.bind_card(override.card)) if override.card else override
                for override in experiment.overrides
            ),
        )

    def bind_card(self, card: Card) -> Card:
        """Return the card bound to its data set, where that is known."""
        return card.bind(self.fingerprints.get(card, card.values))


def current_data(
    cards: Iterable[Card], folder: Path | None, say: Callable[[str], None] = lambda line: None
) -> DataStep:
    """Return the present data set of each card, as far as it is known without a network.

    Raises one DataError for all data sets that cannot be used.
    """
    step, faults = DataStep(), []
    for card in cards:
        try:
            location = find(card, folder)
        except MissingDataError as error:
            step.missing[card.name] = str(error)
            location = LocatedDataset("nowhere", card.expect.fingerprint)
        except DataError as error:
            faults.append(str(error))
            continue
        if location.is_available:
            step._record(card, location, say)
        elif location.fingerprint:
            step.fingerprints[card] = location.fingerprint
    if faults:
        raise DataError("\n".join(faults))
    return step


def data_changes(cards: Iterable[Card], folder: Path | None) -> Iterator[str]:
    """Yield a message for each of the ``cards`` whose files now hold another data set than the run used.

    A missing file is no change, and neither is a file with the same values in other text.
    """
    for card in cards:
        if card.generator or card.bundled or card.values is None:
            continue
        files, fault = "its files", ""
        try:
            location = find(card.bind(None), folder)
        except (MissingDataError, AmbiguousDataError):
            continue
        except DataError as error:
            fault = f" ({error})"
        else:
            if location.fingerprint == card.values:
                continue
            files = ", ".join(map(str, original_paths(card, location.folder))) or files
        yield (f"{card.name}: {files} changed during the run, so these results are those of the earlier content{fault}")


def obtain_all(cards: Iterable[Card], folder: Path | None, say: Callable[[str], None]) -> DataStep:
    """Fetch every data set into the cache. Raise one DataError for all data sets that cannot be used."""
    step = DataStep()
    step.obtain(cards, folder, say)
    return step
