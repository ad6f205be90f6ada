"""Getting a data set: the cache first, then a folder of original files, then OpenML.

``obtain`` may use the network and runs before any cell; ``load`` reads what ``obtain`` left and is all
that a cell calls.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from platformdirs import user_cache_path

from probcal.data.bundled import bundled_rows
from probcal.data.card import Card
from probcal.data.dataset import Dataset, assemble, check
from probcal.data.files import missing_files, origin, original_paths, read_original_files
from probcal.errors import DataError, MissingData, RowError


def cache_folder() -> Path:
    """``PROBCAL_CACHE_DIR``, or the user's cache folder as the system has it."""
    chosen = os.environ.get("PROBCAL_CACHE_DIR")
    return Path(chosen) if chosen else user_cache_path("probcal", appauthor=False)


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


def whereabouts(card: Card, folder: Path | None = None) -> str:
    """Where ``obtain`` would take the data set from; reads nothing and uses no network.

    Raises MissingData when no source has it.
    """
    if card.bundled:
        return "bundled with scikit-learn"
    if card.generator:
        return "generated"
    files = original_paths(card, folder) if folder or card.beside else []
    # a card that does not say which values to expect cannot tell that its files were edited since
    if _written(card) and (card.expect.fingerprint or not files or _written(card).get("files") == _state(files)):
        return "cache"
    if files:
        return "original files"
    if card.openml is None:
        why = f" OpenML: {card.no_openml}" if card.no_openml else ""
        raise MissingData(f"{card.name}: is not at hand. {_what_to_put(card, folder)}{why}")
    return f"OpenML {card.openml.id}"


def obtain(card: Card, folder: Path | None = None) -> str:
    """Make sure ``load(card)`` works; returns where the data came from: cache, files, OpenML or bundled.

    A generated set is drawn when it is needed; of it only that is said.

    Raises MissingData when no source has the set, DataError when what came is not what the card says.
    """
    source = whereabouts(card, folder)
    if source == "cache" and _read_cache(card) is None:
        shutil.rmtree(_folder_of(card), ignore_errors=True)  # damaged: the next source is asked
        source = whereabouts(card, folder)
    if card.bundled:
        load(card)
    elif source == "original files":
        _write_cache(_from_files(card, folder), original_paths(card, folder))  # type: ignore[arg-type]  # files are found in a folder only
    elif source not in ("cache", "generated"):
        from probcal.data.openml import fetch_openml_rows

        _write_cache(assemble(card, fetch_openml_rows(card)))
    return source


def known_fingerprint(card: Card) -> str | None:
    """The fingerprint that the card expects, else that of the rows at hand: bundled, or in the cache; None without any.

    Of a generated set, which is another in every repetition, the digest of its card, which tells them all.
    """
    if card.generator:
        return card.digest
    if card.expect.fingerprint:
        return card.expect.fingerprint
    return load(card).fingerprint() if card.bundled else _written(card).get("fingerprint")


@lru_cache(maxsize=2)
def load(card: Card) -> Dataset:
    """The data set, from the cache or scikit-learn; never from the network.

    Raises MissingData when ``obtain`` has not been called for it on this machine.
    """
    if card.generator:
        raise DataError(f"{card.name}: is drawn from a seed by probcal.data.generators, and not loaded")
    if card.bundled:
        return assemble(card, bundled_rows(card))
    dataset = _read_cache(card)
    if dataset is None:
        raise MissingData(f'{card.name}: is not in the cache {cache_folder()}; "probcal fetch" brings it there')
    return dataset


def _what_to_put(card: Card, folder: Path | None) -> str:
    names = ", ".join(map(str, missing_files(card, folder)))
    named = "or name another folder" if card.beside else "name DATA_DIR"
    hint = "" if folder else f"; {named} with --data-dir or PROBCAL_DATA_DIR"
    return f"Put these files in place: {names}{hint}."


def _folder_of(card: Card) -> Path:
    return cache_folder() / f"{card.name}-{card.digest}"


def _from_files(card: Card, folder: Path | None) -> Dataset:
    rows = read_original_files(card, folder)
    try:
        return assemble(card, rows)
    except RowError as error:
        raise DataError(f"{origin(card, folder, error.row)}: {error}") from None
    except DataError as error:
        raise DataError(f"{origin(card, folder)}: {error}") from None


def _state(files: list[Path]) -> list[list[object]]:
    """What changes when a file is edited."""
    return [[file.name, (found := file.stat()).st_size, found.st_mtime_ns] for file in files]


def _written(card: Card) -> dict[str, Any]:
    """What was noted when the set was put into the cache: ``fingerprint``, ``files``; empty when it was not."""
    try:
        written = json.loads((_folder_of(card) / "written.json").read_text(encoding="utf-8"))
        return written if isinstance(written["fingerprint"], str) else {}
    except (OSError, ValueError, LookupError, TypeError):
        return {}


def _read_cache(card: Card) -> Dataset | None:
    """The cached data set; None when it is not there or is not, to the last bit, what was written."""
    folder = _folder_of(card)
    try:
        y = np.load(folder / "y.npy", allow_pickle=False)
        dataset = Dataset(card, pd.read_parquet(folder / "X.parquet"), y)
    except Exception:  # whatever a damaged file makes a reader raise: the next source is asked
        return None
    if dataset.fingerprint() != _written(card).get("fingerprint"):
        return None
    check(dataset)
    return dataset


def _write_cache(dataset: Dataset, files: Sequence[Path] = ()) -> None:
    """Written aside and moved into place, so that a kill leaves a whole copy or none."""
    target = _folder_of(dataset.card)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        aside = Path(tempfile.mkdtemp(prefix=f".{dataset.name}-", dir=target.parent))
        try:
            dataset.X.to_parquet(aside / "X.parquet")
            np.save(aside / "y.npy", dataset.y)
            written = {"fingerprint": dataset.fingerprint(), "files": _state(list(files))}
            (aside / "written.json").write_text(json.dumps(written), encoding="utf-8")
            if target.exists():  # damaged, or of files that were edited since
                shutil.rmtree(target)
            os.replace(aside, target)
        finally:
            shutil.rmtree(aside, ignore_errors=True)
    except OSError as error:
        raise DataError(
            f"{dataset.name}: cannot be kept in the cache {target.parent}: {error.strerror or error};"
            " choose another folder with PROBCAL_CACHE_DIR"
        ) from None
