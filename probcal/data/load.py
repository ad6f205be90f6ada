"""Getting a data set: the cache first, then a folder of original files, then OpenML.

``obtain`` may use the network and runs before any cell; ``load`` reads what ``obtain`` left and is all
that a cell calls.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
from platformdirs import user_cache_path

from probcal.data.bundled import bundled_rows
from probcal.data.card import Card
from probcal.data.dataset import Dataset, assemble, check
from probcal.data.files import missing_files, origin, read_original_files
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


def obtain(card: Card, folder: Path | None = None) -> str:
    """Make sure ``load(card)`` works; returns where the data came from: cache, files, OpenML or bundled.

    Raises MissingData when no source has the set, DataError when what came is not what the card says.
    """
    if card.bundled:
        load(card)
        return "bundled with scikit-learn"
    at_hand = folder is not None and card.files and not missing_files(card, folder)
    # a card that does not say which values to expect is read anew, for its files may have been edited
    if _read_cache(card) is not None and (card.expect.fingerprint or not at_hand):
        return "cache"
    if at_hand:
        rows = read_original_files(card, folder)
        try:
            dataset = assemble(card, rows)
        except RowError as error:
            raise DataError(f"{origin(card, folder, error.row)}: {error}") from None
        except DataError as error:
            raise DataError(f"{origin(card, folder)}: {error}") from None
        _write_cache(dataset)
        return "original files"
    if card.openml is None:
        raise MissingData(f"{card.name}: is not at hand. {_what_to_put(card, folder)} OpenML: {card.no_openml}")
    from probcal.data.openml import fetch_openml_rows

    _write_cache(assemble(card, fetch_openml_rows(card)))
    return f"OpenML {card.openml.id}"


def known_fingerprint(card: Card) -> str | None:
    """The fingerprint that the card expects, else that of the copy in the cache; None without either."""
    return card.expect.fingerprint or _written(_folder_of(card))


@lru_cache(maxsize=2)
def load(card: Card) -> Dataset:
    """The data set, from the cache or scikit-learn; never from the network.

    Raises MissingData when ``obtain`` has not been called for it on this machine.
    """
    if card.bundled:
        return assemble(card, bundled_rows(card))
    dataset = _read_cache(card)
    if dataset is None:
        raise MissingData(f'{card.name}: is not in the cache {cache_folder()}; "probcal fetch" brings it there')
    return dataset


def _what_to_put(card: Card, folder: Path | None) -> str:
    names = ", ".join(map(str, missing_files(card, folder or Path("DATA_DIR"))))
    hint = "" if folder else " and name DATA_DIR with --data-dir or PROBCAL_DATA_DIR"
    return f"Put there: {names}{hint}."


def _folder_of(card: Card) -> Path:
    return cache_folder() / f"{card.name}-{card.digest}"


def _written(folder: Path) -> str | None:
    """The fingerprint of what was put into this folder of the cache; None when nothing sound was."""
    try:
        return str(json.loads((folder / "written.json").read_text(encoding="utf-8"))["fingerprint"])
    except (OSError, ValueError, LookupError, TypeError):
        return None


def _read_cache(card: Card) -> Dataset | None:
    """The cached data set; None when it is not there or is not, to the last bit, what was written."""
    folder = _folder_of(card)
    try:
        y = np.load(folder / "y.npy", allow_pickle=False)
        dataset = Dataset(card, pd.read_parquet(folder / "X.parquet"), y)
    except Exception:  # whatever a damaged file makes a reader raise: the next source is asked
        return None
    if dataset.fingerprint() != _written(folder):
        return None
    check(dataset)
    return dataset


def _write_cache(dataset: Dataset) -> None:
    """Written aside and moved into place, so that a kill leaves a whole copy or none."""
    target = _folder_of(dataset.card)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        aside = Path(tempfile.mkdtemp(prefix=f".{dataset.name}-", dir=target.parent))
        try:
            dataset.X.to_parquet(aside / "X.parquet")
            np.save(aside / "y.npy", dataset.y)
            (aside / "written.json").write_text(json.dumps({"fingerprint": dataset.fingerprint()}), encoding="utf-8")
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
