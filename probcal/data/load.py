"""Finding and loading a data set: from the cache, from a folder of original files, or from OpenML.

``find`` identifies the data set that a card stands for now by hashing the files. ``obtain`` may use the network
and runs before any cell. ``load`` reads what ``obtain`` stored and is all that a cell calls. The card of a
planned cell is bound to the fingerprint of its data set, and ``load`` returns exactly those values or fails.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from probcal._lock import FileLock, HeldError
from probcal.data.cache import Note, cache_folder, card_notes, is_cached, read_cached, remove_cached, write_cached
from probcal.data.card import Card
from probcal.data.sources.files import (
    digest_files,
    missing_files,
    origin,
    original_paths,
    read_original_files,
    set_folder,
)
from probcal.data.sources.formats import hash_files, largest_data
from probcal.errors import AmbiguousDataError, DataError, MissingDataError, RowError

if TYPE_CHECKING:
    from probcal.data.dataset import Dataset

_CACHE, _FILES, _BUNDLED, _GENERATED = "cache", "original files", "bundled with scikit-learn", "generated"
_obtained_fingerprints: dict[tuple[Path, Card], str] = {}
"""(cache folder, unbound card) -> fingerprint that ``obtain`` found in this process."""
_MOST_WAITING_SECONDS = 600.0
"""Longest wait for another process that obtains the same data set."""


@dataclass(frozen=True)
class LocatedDataset:
    """Describe where the data set of a card comes from, and which one it is.

    ``fingerprint`` is None while nobody knows the values, such as those of an OpenML set that was not fetched
    yet. ``folder`` is the data directory that the original files were found in.
    """

    source: str
    fingerprint: str | None = None
    folder: Path | None = None

    @property
    def is_available(self) -> bool:
        """Return whether the values are on this machine."""
        return self.source in (_CACHE, _FILES, _BUNDLED, _GENERATED)


def data_folder(folder: str | None = None) -> Path | None:
    """Return the folder of original files: ``folder``, or PROBCAL_DATA_DIR, or None.

    Raises DataError when the folder does not exist.
    """
    path = folder or os.environ.get("PROBCAL_DATA_DIR")
    if not path:
        return None
    if not Path(path).is_dir():
        option = "--data-dir" if folder else "PROBCAL_DATA_DIR"
        raise DataError(f"{option} names {path}, which is not a folder")
    return Path(path)


def find(card: Card, folder: Path | None = None) -> LocatedDataset:
    """Return which data set ``card`` stands for now, without using the network.

    Original files that are present are hashed. They are read only where the cache does not know their contents.
    Where they are absent, the data set that they gave last is taken.

    Raises MissingDataError when no source has the data set, and DataError when its files do not fit the card.
    """
    location = _find(card, folder)
    if card.bundled:
        return replace(location, fingerprint=_load(card).fingerprint())
    if location.source == _FILES and location.fingerprint is None:
        dataset, note = _read_files(card, location.folder)
        with suppress(DataError):  # the cache may be read-only, which ``obtain`` reports
            write_cached(dataset, note)
        return replace(location, fingerprint=note.fingerprint)
    return location


def obtain(card: Card, folder: Path | None = None) -> str:
    """Make sure that ``load(card)`` works, and return the source as ``fetch_into_cache`` does."""
    return fetch_into_cache(card, folder).source


def obtain_once(card: Card) -> None:
    """Obtain the data set in one process at a time, so that others find it in the cache.

    Raises DataError as ``fetch_into_cache`` does.
    """
    if card.generator or card.bundled:  # of which nothing is stored
        obtain(card, data_folder())
    else:
        with _one_at_a_time(cache_folder() / f".{card.name}-{card.digest}.lock"):
            obtain(card, data_folder())


@contextmanager
def _one_at_a_time(path: Path) -> Iterator[None]:
    lock = FileLock(path)
    # The wait only saves downloads. It is left out where the cache is read-only or has no locks, or a holder hangs.
    with suppress(OSError, HeldError):
        path.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire(_MOST_WAITING_SECONDS, markers=False)
    try:
        yield
    finally:
        lock.release()


def fetch_into_cache(card: Card, folder: Path | None = None) -> LocatedDataset:
    """Bring the data set into the cache, and return its source: cache, files, OpenML or bundled.

    A generated data set is drawn only when it is needed, so nothing is stored for it.

    Raises MissingDataError when no source has the data set. Raises DataError when the data do not fit the card, or are
    not the data set that the card is bound to.
    """
    if card.values and not card.bundled and read_cached(card, card.values) is not None:
        return LocatedDataset(_CACHE, card.values)
    location = _find(card, folder)
    if location.source == _CACHE and read_cached(card, str(location.fingerprint)) is None:
        remove_cached(str(location.fingerprint))  # damaged, so the next source is used
        location = _find(card, folder)
    if card.generator:
        return location
    if card.bundled:
        fingerprint = _load(card).fingerprint()
    elif location.source == _CACHE:
        fingerprint = str(location.fingerprint)
    else:
        dataset, note = (
            _read_files(card, location.folder) if location.source == _FILES else _read_openml(card, location.source)
        )
        write_cached(dataset, note)
        fingerprint = note.fingerprint
    if card.values not in (None, fingerprint):
        raise DataError(
            f"{card.name}: the data here are not those that the run was planned with (fingerprint {fingerprint[:16]}…, "
            f"planned {str(card.values)[:16]}…)"
        )
    _obtained_fingerprints[cache_folder(), card.bind(None)] = fingerprint
    return replace(location, fingerprint=fingerprint)


def known_fingerprint(card: Card) -> str | None:
    """Return the fingerprint of the card's data set, as far as it is known without reading the data.

    The first that is known is returned: the fingerprint that the card is bound to, that of the files present or
    cached, that which the card expects. It is None where none is known. For a generated data set, which differs in
    every repetition, the digest of its card is returned.
    """
    if card.generator:
        return card.digest
    if card.values:
        return card.values
    if card.bundled:
        return _load(card).fingerprint()
    with suppress(DataError):
        location = _find(card, data_folder())
        if location.fingerprint or location.is_available:
            return location.fingerprint
    return card.expect.fingerprint


def load(card: Card) -> Dataset:
    """Return the data set that ``card`` is bound to, or the one that ``obtain`` found, without using the network.

    It is read once per process and checked against its fingerprint to the last bit.

    Raises DataError when the cache no longer holds these values. For an unbound card, raises MissingDataError when
    ``obtain`` has not been called for it on this machine.
    """
    # Splits are seeded under another name, and the data are stored under the card's own.
    card = card.original
    if card.generator:
        raise DataError(f"{card.name}: is drawn from a seed by probcal.data.dataset.generated, and not loaded")
    if card.values or card.bundled:
        return _load(card)
    fingerprint = _obtained_fingerprints.get((cache_folder(), card)) or _cached_fingerprint(card)
    if fingerprint is None:
        raise MissingDataError(f'{card.name}: is not in the cache {cache_folder()}; "probcal fetch" brings it there')
    return _load(card.bind(fingerprint))


@lru_cache(maxsize=2)
def _load(card: Card) -> Dataset:
    """Return the data set as ``load`` does. Cards that are bound to different values are different keys."""
    from probcal.data.dataset import assemble

    if card.bundled:
        bundled_dataset = assemble(card, card.bundled.rows(card.target))
        if card.values in (None, bundled_dataset.fingerprint()):
            return bundled_dataset
    elif (cached_dataset := read_cached(card, str(card.values))) is not None:
        return cached_dataset
    raise DataError(
        f"{card.name}: the data of {card.name} changed while the run was going on: "
        + ("scikit-learn here does not have" if card.bundled else f"the cache {cache_folder()} no longer holds")
        + f" the values that it was planned with (fingerprint {str(card.values)[:16]}…); run again with --retry-failed"
    )


def _find(card: Card, folder: Path | None) -> LocatedDataset:
    """Return what ``find`` does, but without reading files or bundled sets, so the fingerprint may be None.

    Raises MissingDataError when no source has the data set, and DataError when several data sets are possible.
    """
    largest_data()  # a limit that is no number is refused, even if the cache spares the reading
    if card.bundled:
        return LocatedDataset(_BUNDLED)
    if card.generator:
        return LocatedDataset(_GENERATED)
    # The files that are there count, even where the cache has a data set of this card: somebody may have edited them.
    if (folder or card.own_folder) and (paths := original_paths(card, folder)):
        return _find_by_contents(card, folder, paths)
    locations = {location.fingerprint or str(location.folder): location for location in _earlier_sources(card)}
    if len(locations) > 1:
        places = ", ".join(sorted(note.place for note in card_notes(card)))
        raise AmbiguousDataError(
            f"{card.name}: the cache has several data sets of this card, from {places}, and its files are not at hand"
        )
    if locations:
        return next(iter(locations.values()))
    if folder and folder.name == (card.folder or card.name) and not missing_files(card, folder.parent):
        raise MissingDataError(
            f"{card.name}: its files lie in {folder} itself, and a data directory has a folder for each data set; "
            f"name {folder.parent}"
        )
    if card.openml is None:
        advice = "or name another folder" if card.own_folder else "name DATA_DIR"
        hint = "" if folder else f"; {advice} with --data-dir or PROBCAL_DATA_DIR"
        reason = f" OpenML: {card.no_openml}" if card.no_openml else ""
        names = ", ".join(missing_files(card, folder))
        raise MissingDataError(f"{card.name}: has no data files here. Put these files in place: {names}{hint}.{reason}")
    return LocatedDataset(f"OpenML {card.openml.id}", card.expect.fingerprint)


def _find_by_contents(card: Card, folder: Path | None, paths: list[Path]) -> LocatedDataset:
    """Return the data set of the original files at ``paths``. Its fingerprint is None if the cache does not know it."""
    digest = digest_files(hash_files(paths))
    fingerprints = [note.fingerprint for note in card_notes(card) if note.contents == digest]
    if not fingerprints:
        return LocatedDataset(_FILES, None, folder)
    return LocatedDataset(_CACHE if is_cached(fingerprints[0]) else _FILES, fingerprints[0], folder)


def _earlier_sources(card: Card) -> list[LocatedDataset]:
    """Return the data sets that the card was read from before.

    Files that are still there are looked up as they are now. Where they are gone, what they gave then is returned.
    """
    locations = []
    for note in card_notes(card):
        folder = Path(note.folder) if note.folder else None
        paths = original_paths(card, folder) if folder else []
        if paths:
            locations.append(_find_by_contents(card, folder, paths))
        elif is_cached(note.fingerprint):
            locations.append(LocatedDataset(_CACHE, note.fingerprint))
    return locations


def _cached_fingerprint(card: Card) -> str | None:
    """Return the fingerprint of the cached data set that ``card`` stands for now, or None without one."""
    with suppress(MissingDataError):
        location = _find(card, data_folder())
        return location.fingerprint if location.source == _CACHE else None
    return None


def _read_files(card: Card, folder: Path | None) -> tuple[Dataset, Note]:
    from probcal.data.dataset import assemble

    digests: dict[Path, str] = {}
    # The digests are of the very bytes that are read, whatever becomes of the files meanwhile.
    rows = read_original_files(card, folder, digests)
    try:
        dataset = assemble(card, rows)
    except RowError as error:
        raise DataError(f"{origin(card, folder, error.row)}: {error}") from None
    except DataError as error:
        raise DataError(f"{origin(card, folder)}: {error}") from None
    place = str(set_folder(card, folder).resolve())
    return dataset, Note(place, digest_files(digests), dataset.fingerprint(), str(folder.resolve()) if folder else None)


def _read_openml(card: Card, source: str) -> tuple[Dataset, Note]:
    from probcal.data.dataset import assemble
    from probcal.data.sources.openml import fetch_openml_rows

    dataset = assemble(card, fetch_openml_rows(card))
    fingerprint = dataset.fingerprint()
    return dataset, Note(source, fingerprint, fingerprint)
