"""The cache of prepared data sets, each under the fingerprint of its values, and what tells which is a card's.

``data/FINGERPRINT/``        one data set, never changed once it is there: a reader that knows the fingerprint gets
                             these values or none
``index/NAME-DIGEST/*.json`` for a card, a note for each place that it was read from: what lay there, and the
                             fingerprint of what came of it

Folders of earlier versions, NAME-DIGEST/ in the cache folder itself, are neither read nor written.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np
import pandas as pd
from platformdirs import user_cache_path

from probcal.data.card import Card
from probcal.data.dataset import Dataset
from probcal.errors import DataError

_UNUSED = 30 * 24 * 3600
"""Seconds after which a data set that no note names any more is removed: a run may still be using it."""


@dataclass(frozen=True)
class Note:
    """What a card was read from: ``contents``, a digest of the files in ``place``, gave the data set ``fingerprint``.

    ``folder``: the data directory that was named, None for files beside the card and for OpenML.
    """

    place: str
    contents: str
    fingerprint: str
    folder: str | None = None


def cache_folder() -> Path:
    """``PROBCAL_CACHE_DIR``, or the user's cache folder as the system has it."""
    chosen = os.environ.get("PROBCAL_CACHE_DIR")
    return Path(chosen) if chosen else user_cache_path("probcal", appauthor=False)


def has(fingerprint: str) -> bool:
    """Return whether a data set is in the cache; ``read_cached`` looks whether it is whole."""
    return all((_folder_of(fingerprint) / name).is_file() for name in ("X.parquet", "y.npy"))


def read_cached(card: Card, fingerprint: str) -> Dataset | None:
    """Return the data set of that fingerprint; None when it is not there or is not, to the last bit, what was kept."""
    folder = _folder_of(fingerprint)
    try:
        y = np.load(folder / "y.npy", allow_pickle=False)
        dataset = Dataset(card, pd.read_parquet(folder / "X.parquet"), y)
        if dataset.fingerprint() != fingerprint:
            return None
    except Exception:  # whatever a damaged file makes a reader raise: the next source is asked
        return None
    with suppress(OSError):  # of a cache that may only be read
        os.utime(folder)
    return dataset


def keep(dataset: Dataset, note: Note) -> None:
    """Keep a data set under ``note.fingerprint``, which is its own, and the note under its card.

    Raises DataError when the cache cannot be written.
    """
    cache = cache_folder()
    try:
        target = _folder_of(note.fingerprint)
        target.parent.mkdir(parents=True, exist_ok=True)
        if read_cached(dataset.card, note.fingerprint) is None:
            _put(dataset, target)
        _write_note(dataset.card, note)
    except OSError as error:
        raise DataError(
            f"{dataset.name}: cannot be kept in the cache {cache}: {error.strerror or error};"
            " choose another folder with PROBCAL_CACHE_DIR"
        ) from None
    _remove_unused()


def discard(fingerprint: str) -> None:
    """Remove a data set that was found to be damaged."""
    shutil.rmtree(_folder_of(fingerprint), ignore_errors=True)


def notes(card: Card) -> list[Note]:
    """Return what is known of the places that ``card`` was read from; what is no sound note counts for nothing."""
    return [note for _, note in _notes_in(_notes_of(card))]


def _folder_of(fingerprint: str) -> Path:
    return cache_folder() / "data" / fingerprint


def _notes_of(card: Card) -> Path:
    return cache_folder() / "index" / f"{card.name}-{card.digest}"


def _notes_in(folder: Path) -> Iterator[tuple[Path, Note]]:
    for path in sorted(folder.glob("*.json")):
        try:
            said = json.loads(path.read_text(encoding="utf-8"))
            note = Note(**{field.name: said[field.name] for field in fields(Note)})
        except (OSError, ValueError, LookupError, TypeError, RecursionError):
            continue
        texts = (note.place, note.contents, note.fingerprint, "" if note.folder is None else note.folder)
        if all(isinstance(text, str) for text in texts) and _is_fingerprint(note.fingerprint):
            yield path, note


def _is_fingerprint(text: str) -> bool:
    """Whether it is one, and not a path that leads out of the cache."""
    return len(text) == 64 and set(text) <= set("0123456789abcdef")


def _put(dataset: Dataset, target: Path) -> None:
    """Written aside and moved into place, so that a kill leaves a whole copy or none."""
    aside = Path(tempfile.mkdtemp(prefix=".new-", dir=target.parent))
    try:
        new = aside / "new"
        new.mkdir()
        dataset.X.to_parquet(new / "X.parquet")
        np.save(new / "y.npy", dataset.y)
        try:
            os.replace(new, target)
        except OSError:
            if not target.exists():
                raise
            if read_cached(dataset.card, target.name) is None:  # damaged, and not of a process that was faster
                os.replace(target, aside / "damaged")
                os.replace(new, target)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _write_note(card: Card, note: Note) -> None:
    folder = _notes_of(card)
    folder.mkdir(parents=True, exist_ok=True)
    name = hashlib.sha256(note.place.encode("utf-8", "surrogateescape")).hexdigest()[:16]
    aside = folder / f".{name}.{secrets.token_hex(4)}"  # others may write the same one now
    aside.write_text(json.dumps(asdict(note)), encoding="utf-8")
    os.replace(aside, folder / f"{name}.json")


def _remove_unused() -> None:
    """Remove the data sets that no note names and that nobody has read for a month."""
    with suppress(OSError):
        named = {note.fingerprint for folder in (cache_folder() / "index").iterdir() for _, note in _notes_in(folder)}
        for folder in (cache_folder() / "data").iterdir():
            if folder.name not in named and time.time() - folder.stat().st_mtime > _UNUSED:
                shutil.rmtree(folder, ignore_errors=True)
