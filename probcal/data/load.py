"""Getting a data set: the cache first, then a folder of original files, then OpenML.

``find`` tells which data set a card stands for now: it hashes the files, so that it never takes one for another.
``obtain`` may use the network and runs before any cell; ``load`` reads what ``obtain`` left and is all
that a cell calls. The card of a planned cell is bound to the fingerprint of its data set: ``load`` gives those values
or fails.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from probcal.data.cache import Note, cache_folder, discard, has, keep, notes, read_cached
from probcal.data.card import Card
from probcal.data.dataset import Dataset, assemble
from probcal.data.sources.files import (
    contents,
    hashed,
    missing_files,
    origin,
    original_paths,
    place_of,
    read_original_files,
)
from probcal.data.sources.generated import bundled_rows
from probcal.errors import DataError, MissingData, RowError, SeveralDataSets

_CACHE, _FILES, _BUNDLED, _GENERATED = "cache", "original files", "bundled with scikit-learn", "generated"
_obtained: dict[tuple[Path, Card], str] = {}
"""Cache folder and card -> what ``obtain`` has found for it in this process, for a card that is bound to nothing."""


@dataclass(frozen=True)
class Found:
    """Where the data set of a card comes from, and which one it is.

    ``fingerprint``: None while nobody knows the values, as of a set on OpenML that was not fetched yet. ``folder``:
    the data directory that the original files were found in.
    """

    source: str
    fingerprint: str | None = None
    folder: Path | None = None

    @property
    def is_at_hand(self) -> bool:
        """Whether the values are on this machine, and not only promised by the card."""
        return self.source in (_CACHE, _FILES, _BUNDLED, _GENERATED)


def data_folder(chosen: str | None = None) -> Path | None:
    """The folder of original files: ``chosen``, or ``PROBCAL_DATA_DIR``, or None.

    Raises DataError when the one named is not a folder.
    """
    named = chosen or os.environ.get("PROBCAL_DATA_DIR")
    if not named:
        return None
    if not Path(named).is_dir():
        said = "--data-dir" if chosen else "PROBCAL_DATA_DIR"
        raise DataError(f"{said} names {named}, which is not a folder")
    return Path(named)


def find(card: Card, folder: Path | None = None) -> Found:
    """Return which data set ``card`` stands for now, without a network.

    Original files that are at hand are hashed; where the cache has not seen their contents, they are read. Where they
    are not at hand, the data set that they gave last counts.

    Raises MissingData when no source has it, DataError when what there is does not fit the card.
    """
    found = _find(card, folder)
    if card.bundled:
        return replace(found, fingerprint=_load(card).fingerprint())
    if found.source == _FILES and found.fingerprint is None:
        dataset, note = _from_files(card, found.folder)
        with suppress(DataError):  # of a cache that may only be read: ``obtain`` tells
            keep(dataset, note)
        return replace(found, fingerprint=note.fingerprint)
    return found


def obtain(card: Card, folder: Path | None = None) -> str:
    """Make sure ``load(card)`` works; returns where the data came from, as ``bring`` does."""
    return bring(card, folder).source


def bring(card: Card, folder: Path | None = None) -> Found:
    """Bring the data set into the cache, and return where it came from: cache, files, OpenML or bundled.

    A generated set is drawn when it is needed; of it only that is said.

    Raises MissingData when no source has the set, DataError when what came is not what the card says, or not the data
    set that the card is bound to.
    """
    if card.values and not card.bundled and read_cached(card, card.values) is not None:
        return Found(_CACHE, card.values)
    found = _find(card, folder)
    if found.source == _CACHE and read_cached(card, str(found.fingerprint)) is None:
        discard(str(found.fingerprint))  # damaged: the next source is asked
        found = _find(card, folder)
    if card.generator:
        return found
    if card.bundled:
        fingerprint = _load(card).fingerprint()
    elif found.source == _CACHE:
        fingerprint = str(found.fingerprint)
    else:
        dataset, note = _from_files(card, found.folder) if found.source == _FILES else _from_openml(card, found.source)
        keep(dataset, note)
        fingerprint = note.fingerprint
    if card.values not in (None, fingerprint):
        raise DataError(
            f"{card.name}: the data here are not those that the run was planned with (fingerprint {fingerprint[:16]}…, "
            f"planned {str(card.values)[:16]}…)"
        )
    _obtained[cache_folder(), card.bound_to(None)] = fingerprint
    return replace(found, fingerprint=fingerprint)


def known_fingerprint(card: Card) -> str | None:
    """Return the fingerprint that the card is bound to, else what can be told of it without reading a data set.

    That is the one of the files at hand, or in the cache, where the cache has seen them; else the one that the card
    expects; None without any. Of a generated set, which is another in every repetition, the digest of its card.
    """
    if card.generator:
        return card.digest
    if card.values:
        return card.values
    if card.bundled:
        return _load(card).fingerprint()
    with suppress(DataError):
        found = _find(card, data_folder())
        if found.fingerprint or found.is_at_hand:
            return found.fingerprint
    return card.expect.fingerprint


def load(card: Card) -> Dataset:
    """Return the data set that ``card`` is bound to, or the one that ``obtain`` found; never from the network.

    It is read once per process, and compared with its fingerprint to the last bit.

    Raises DataError when the cache does not hold these values any more, and, for a card that is bound to nothing,
    MissingData when ``obtain`` has not been called for it on this machine.
    """
    if card.generator:
        raise DataError(f"{card.name}: is drawn from a seed by probcal.data.sources.generated, and not loaded")
    if card.values or card.bundled:
        return _load(card)
    fingerprint = _obtained.get((cache_folder(), card)) or _cached(card)
    if fingerprint is None:
        raise MissingData(f'{card.name}: is not in the cache {cache_folder()}; "probcal fetch" brings it there')
    return _load(card.bound_to(fingerprint))


@lru_cache(maxsize=2)
def _load(card: Card) -> Dataset:
    """As ``load``. Cards that are bound to different values are different keys."""
    if card.bundled:
        bundled = assemble(card, bundled_rows(card))
        if card.values in (None, bundled.fingerprint()):
            return bundled
    elif (cached := read_cached(card, str(card.values))) is not None:
        return cached
    raise DataError(
        f"{card.name}: the data of {card.name} changed while the run was going on: "
        + (
            "scikit-learn here has other values than"
            if card.bundled
            else f"the cache {cache_folder()} no longer holds, as they were kept,"
        )
        + f" those that it was planned with (fingerprint {str(card.values)[:16]}…); run again with --retry-failed"
    )


def _find(card: Card, folder: Path | None) -> Found:
    """As ``find``, but for reading: without the fingerprint of files that the cache has not seen, and of bundled sets.

    Raises MissingData when no source has the set, DataError when it cannot be told which one is meant.
    """
    if card.bundled:
        return Found(_BUNDLED)
    if card.generator:
        return Found(_GENERATED)
    if (folder or card.beside) and (paths := original_paths(card, folder)):
        return _seen(card, folder, paths)
    seen = {found.fingerprint or str(found.folder): found for found in _elsewhere(card)}
    if len(seen) > 1:
        places = ", ".join(sorted(note.place for note in notes(card)))
        raise SeveralDataSets(
            f"{card.name}: the cache has several data sets of this card, from {places}, and its files are not at hand"
        )
    if seen:
        return next(iter(seen.values()))
    if card.openml is None:
        why = f" OpenML: {card.no_openml}" if card.no_openml else ""
        raise MissingData(f"{card.name}: is not at hand. {_what_to_put(card, folder)}{why}")
    return Found(f"OpenML {card.openml.id}", card.expect.fingerprint)


def _seen(card: Card, folder: Path | None, paths: list[Path]) -> Found:
    """The data set of the original files at ``paths``, if the cache has seen what they hold now."""
    now = contents(hashed(paths))
    known = [note.fingerprint for note in notes(card) if note.contents == now]
    if not known:
        return Found(_FILES, None, folder)
    return Found(_CACHE if has(known[0]) else _FILES, known[0], folder)


def _elsewhere(card: Card) -> list[Found]:
    """What the card was read from before: the files as they are now, or, where they are gone, what they gave then."""
    found = []
    for note in notes(card):
        folder = Path(note.folder) if note.folder else None
        paths = original_paths(card, folder) if folder else []
        if paths:
            found.append(_seen(card, folder, paths))
        elif has(note.fingerprint):
            found.append(Found(_CACHE, note.fingerprint))
    return found


def _cached(card: Card) -> str | None:
    """The fingerprint of the data set in the cache that ``card`` stands for now; None without one."""
    with suppress(MissingData):
        found = _find(card, data_folder())
        return found.fingerprint if found.source == _CACHE else None
    return None


def _what_to_put(card: Card, folder: Path | None) -> str:
    names = ", ".join(map(str, missing_files(card, folder)))
    named = "or name another folder" if card.beside else "name DATA_DIR"
    hint = "" if folder else f"; {named} with --data-dir or PROBCAL_DATA_DIR"
    return f"Put these files in place: {names}{hint}."


def _from_files(card: Card, folder: Path | None) -> tuple[Dataset, Note]:
    """The data set of the original files, and a note of the very bytes that it was made of."""
    read: dict[Path, str] = {}
    rows = read_original_files(card, folder, read)
    try:
        dataset = assemble(card, rows)
    except RowError as error:
        raise DataError(f"{origin(card, folder, error.row)}: {error}") from None
    except DataError as error:
        raise DataError(f"{origin(card, folder)}: {error}") from None
    place = place_of(card, folder).resolve()
    named = str(folder.resolve()) if folder else None
    return dataset, Note(str(place), contents(read), dataset.fingerprint(), named)


def _from_openml(card: Card, source: str) -> tuple[Dataset, Note]:
    from probcal.data.sources.openml import fetch_openml_rows

    dataset = assemble(card, fetch_openml_rows(card))
    fingerprint = dataset.fingerprint()
    return dataset, Note(source, fingerprint, fingerprint)
