"""Cache of prepared data sets, and the notes that say which data set belongs to which card.

``data/FINGERPRINT/``
    One data set. It never changes once it is written, so the fingerprint identifies its values.
``index/NAME-DIGEST/*.json``
    Notes of a card, one for each place that it was read from. A note holds the digest of the files
    there and the fingerprint of the data set that they gave.

Folders named NAME-DIGEST in the cache folder itself come from earlier versions. They are neither read nor written.

Pooch does not replace this: it keeps downloaded files under their URL and hash. What is kept here are checked tables
under the digest of their values, read from a folder of the user or through the OpenML client.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from platformdirs import user_cache_path

from probcal.data.card import Card
from probcal.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

    from probcal.data.dataset import Dataset

_COLUMNS = "X.npz"
_EARLIER_COLUMNS = "X.parquet"
_UNUSED_SECONDS = 30 * 24 * 3600
"""Seconds after which a data set without a note is removed. Until then a run may still use it."""


@dataclass(frozen=True)
class Note:
    """Record what a card was read from: the files in ``place`` gave the data set ``fingerprint``.

    ``contents`` is the digest of those files. ``folder`` is the data directory that was named, or None for files
    beside the card and for OpenML.
    """

    place: str
    contents: str
    fingerprint: str
    folder: str | None = None


def cache_folder() -> Path:
    """Return the folder that PROBCAL_CACHE_DIR names, or else the system's cache folder of the user."""
    path = os.environ.get("PROBCAL_CACHE_DIR")
    return Path(path) if path else user_cache_path("probcal", appauthor=False)


def is_cached(fingerprint: str) -> bool:
    """Return whether a data set is in the cache, without checking its values. ``read_cached`` checks them."""
    folder = _data_folder(fingerprint)
    return (folder / "y.npy").is_file() and any((folder / name).is_file() for name in (_COLUMNS, _EARLIER_COLUMNS))


def read_cached(card: Card, fingerprint: str) -> Dataset | None:
    """Return the data set with that fingerprint, or None when it is absent or differs in a single bit."""
    from probcal.data.dataset import Dataset

    folder = _data_folder(fingerprint)
    try:
        y = np.load(folder / "y.npy", allow_pickle=False)
        strata = np.load(folder / "strata.npy", allow_pickle=False) if card.by_majority else None
        weight = np.load(folder / "weight.npy", allow_pickle=False) if card.weight else None
        dataset = Dataset(card, _read_columns(folder), y, strata=strata, weight=weight)
        if dataset.fingerprint() != fingerprint:
            return None
    except Exception:  # a damaged file may make a reader raise anything
        return None
    with suppress(OSError):  # the cache may be read-only
        # ``_remove_unused`` goes by this time.
        os.utime(folder)
    return dataset


def _write_columns(X: pd.DataFrame, path: Path) -> None:
    """Write the columns of a data set: all numbers, and the codes and levels of each categorical column."""
    import pandas as pd

    nominal = {name: column.cat for name, column in X.items() if isinstance(column.dtype, pd.CategoricalDtype)}
    columns = [[name, nominal[name].categories.tolist() if name in nominal else None] for name in X]
    # JSON as bytes, so that the file needs no pickle, which could run code when it is read.
    text = np.frombuffer(json.dumps(columns).encode(), dtype=np.uint8)
    numbers = X.drop(columns=list(nominal)).to_numpy(np.float64).T
    codes = {f"codes{number}": column.codes.to_numpy() for number, column in enumerate(nominal.values())}
    np.savez_compressed(path, allow_pickle=False, columns=text, numbers=np.ascontiguousarray(numbers), **codes)


def _read_columns(folder: Path) -> pd.DataFrame:
    """Read what ``_write_columns`` wrote, or the Parquet file of an earlier version."""
    import pandas as pd

    if not (folder / _COLUMNS).is_file():
        X = pd.read_parquet(folder / _EARLIER_COLUMNS)
        # A Parquet file forgets that a column without any value was nominal.
        empty_columns = [name for name, column in X.items() if column.dtype == object and column.isna().all()]
        return X.astype(dict.fromkeys(empty_columns, pd.CategoricalDtype([])))
    columns: dict[str, Any] = {}
    with np.load(folder / _COLUMNS, allow_pickle=False) as arrays:
        numbers, codes = iter(arrays["numbers"]), (arrays[f"codes{number}"] for number in count())
        for name, levels in json.loads(arrays["columns"].tobytes()):
            if levels is None:
                columns[name] = next(numbers)
            else:
                columns[name] = pd.Categorical.from_codes(next(codes), categories=pd.Index(levels, dtype=object))
    return pd.DataFrame(columns)


def write_cached(dataset: Dataset, note: Note) -> None:
    """Write a data set and its note to the cache.

    ``note.fingerprint`` must be the fingerprint of the data set.

    Raises DataError when the cache cannot be written.
    """
    cache = cache_folder()
    try:
        target = _data_folder(note.fingerprint)
        target.parent.mkdir(parents=True, exist_ok=True)
        if read_cached(dataset.card, note.fingerprint) is None:
            _write_dataset(dataset, target)
        _write_note(dataset.card, note)
    except OSError as error:
        raise DataError(
            f"{dataset.name}: cannot be kept in the cache {cache}: {error.strerror or error};"
            " choose another folder with PROBCAL_CACHE_DIR"
        ) from None
    _remove_unused()


def remove_cached(fingerprint: str) -> None:
    """Remove a damaged data set."""
    shutil.rmtree(_data_folder(fingerprint), ignore_errors=True)


def card_notes(card: Card) -> list[Note]:
    """Return the notes of the places that ``card`` was read from. Unreadable notes are left out."""
    return list(_read_notes(_note_folder(card)))


def _data_folder(fingerprint: str) -> Path:
    return cache_folder() / "data" / fingerprint


def _note_folder(card: Card) -> Path:
    return cache_folder() / "index" / f"{card.name}-{card.digest}"


def _read_notes(folder: Path) -> Iterator[Note]:
    for path in sorted(folder.glob("*.json")):
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            note = Note(**{field.name: data[field.name] for field in fields(Note)})
        except (OSError, ValueError, LookupError, TypeError, RecursionError):
            continue
        texts = (note.place, note.contents, note.fingerprint, "" if note.folder is None else note.folder)
        # Anything but a fingerprint could be a path that leads out of the cache.
        if all(isinstance(text, str) for text in texts) and re.fullmatch("[0-9a-f]{64}", note.fingerprint):
            yield note


def _write_dataset(dataset: Dataset, target: Path) -> None:
    # Written there and moved into place, so that a kill never leaves a part of it.
    temp_folder = Path(tempfile.mkdtemp(prefix=".new-", dir=target.parent))
    try:
        new_folder = temp_folder / "new"
        new_folder.mkdir()
        _write_columns(dataset.X, new_folder / _COLUMNS)
        np.save(new_folder / "y.npy", dataset.y)
        if dataset.strata is not None:
            np.save(new_folder / "strata.npy", dataset.strata)
        if dataset.weight is not None:
            np.save(new_folder / "weight.npy", dataset.weight)
        try:
            os.replace(new_folder, target)
        except OSError:
            if not target.exists():
                raise
            # It is damaged, and was not written by a faster process.
            if read_cached(dataset.card, target.name) is None:
                # Moved away first, because a folder cannot replace a folder that is not empty.
                os.replace(target, temp_folder / "damaged")
                os.replace(new_folder, target)
    finally:
        shutil.rmtree(temp_folder, ignore_errors=True)


def _write_note(card: Card, note: Note) -> None:
    folder = _note_folder(card)
    folder.mkdir(parents=True, exist_ok=True)
    # A path may hold bytes that are no UTF-8, which Python keeps as half surrogates.
    name = hashlib.sha256(note.place.encode("utf-8", "surrogateescape")).hexdigest()[:16]
    # Other processes may write the same note now.
    temp_path = folder / f".{name}.{secrets.token_hex(4)}"
    temp_path.write_text(json.dumps(asdict(note)), encoding="utf-8")
    os.replace(temp_path, folder / f"{name}.json")


def _remove_unused() -> None:
    """Remove data sets that no note names and that nobody has read for a month."""
    with suppress(OSError):
        fingerprints = {
            note.fingerprint for folder in (cache_folder() / "index").iterdir() for note in _read_notes(folder)
        }
        for folder in (cache_folder() / "data").iterdir():
            if folder.name not in fingerprints and time.time() - folder.stat().st_mtime > _UNUSED_SECONDS:
                shutil.rmtree(folder, ignore_errors=True)
