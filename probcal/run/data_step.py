"""The step before any cell: every data set is fetched, checked and kept, or known to be missing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from probcal.data.card import Card
from probcal.data.load import obtain, whereabouts
from probcal.errors import DataError, MissingData


@dataclass
class DataStep:
    """``sources``: data set -> where it came from. ``missing``: data set -> why it is not to be had."""

    sources: dict[str, str] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)

    def update(self, other: DataStep) -> None:
        """Take in what ``other`` found."""
        self.sources.update(other.sources)
        self.missing.update(other.missing)


def not_to_be_had(cards: Iterable[Card], folder: Path | None) -> dict[str, str]:
    """Data set -> why no source has it, as far as that can be told without reading or fetching anything."""
    missing = {}
    for card in cards:
        try:
            whereabouts(card, folder)
        except MissingData as error:
            missing[card.name] = str(error)
    return missing


def obtain_all(cards: Iterable[Card], folder: Path | None, say: Callable[[str], None]) -> DataStep:
    """Bring every data set into the cache.

    Raises DataError, all faults at once, when a set came that cannot be used.
    """
    step, faults = DataStep(), []
    for card in cards:
        try:
            step.sources[card.name] = obtain(card, folder)
        except MissingData as error:
            step.missing[card.name] = str(error)
        except DataError as error:
            faults.append(str(error))
        else:
            if step.sources[card.name] not in ("cache", "generated") and not card.bundled:
                say(f"{card.name}: {step.sources[card.name]}")
    if faults:
        raise DataError("\n".join(faults))
    return step
