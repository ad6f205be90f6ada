"""Fetching the rows of a data set from OpenML, under the column names of its card."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from probcal.data.card import Card
from probcal.data.sources import openml_download
from probcal.data.sources.formats import largest_data
from probcal.data.sources.specifications import OpenMLSource
from probcal.data.text_values import as_text
from probcal.errors import DataError, MissingDataError, installation, is_installed


def fetch_openml_rows(card: Card, *, timeout: float = 1800.0, stall: float = 60.0, attempts: int = 3) -> pd.DataFrame:
    """Fetch the rows of ``card.openml``, ready for ``assemble``: (n_rows, n_columns), in the card's columns.

    Numbers are float64, all other values text, missing ones None or NaN. ``timeout`` limits the whole download and
    ``stall`` the silence of the server, both in seconds. ``attempts`` is the number of tries of each request. The
    server is OpenML's, or the one in PROBCAL_OPENML_SERVER (its URL up to ``/api/v1/xml``). The connection uses
    TLS, unless the server is on this machine. A description may have 64 MB, the data 4 GB or PROBCAL_LARGEST_MB.
    Nothing is kept on disk.

    Raises MissingDataError when the card has no OpenML source or the download fails. The message says what to do.
    Raises DataError when the columns are not those of the card.
    """
    if card.openml is None:
        reason = f": {card.no_openml.rstrip('.')}" if card.no_openml else ""
        raise MissingDataError(f"{card.name}: is not available from OpenML{reason}{_files_advice(card, '; ')}")
    order = card.openml.model_dump(include={"id", "name", "version"})
    result = _download(order, timeout, stall, attempts)
    if isinstance(result, str):
        raise MissingDataError(f"{card.name}: {result}{_files_advice(card)}")
    frame, ignored_names, _ = result
    frame = _rename_columns(card, card.openml, frame, ignored_names)
    rename = card.openml.rename
    rows = pd.DataFrame({name: _values(frame[name], rename.get(name, {})) for name in frame})
    rows = rows.iloc[: card.openml.first_rows]
    # A standard split takes its training rows from the top.
    test_rows = card.openml.test_rows_first or 0
    return pd.concat([rows.iloc[test_rows:], rows.iloc[:test_rows]], ignore_index=True)


@dataclass(frozen=True)
class OpenMLTable:
    """Hold a data set of OpenML. ``frame`` is (n_rows, n_columns), without the columns that OpenML ignores."""

    name: str
    version: int
    target: str | None
    """Default target column on OpenML, or None where it names none."""
    frame: pd.DataFrame


def fetch_openml_table(number: int, *, timeout: float = 1800.0, stall: float = 60.0, attempts: int = 3) -> OpenMLTable:
    """Fetch the OpenML data set ``number`` without a card. Limits and server are as in ``fetch_openml_rows``.

    Numbers are float64, all other values text, missing ones None or NaN. Raises MissingDataError when the download
    fails.
    """
    result = _download({"id": number, "name": None, "version": None}, timeout, stall, attempts)
    if isinstance(result, str):
        raise MissingDataError(result.replace("correct the card", "is the number right?"))
    frame, ignored_names, description = result
    columns = [name for name in frame if name not in ignored_names]
    rows = pd.DataFrame({name: _values(frame[name], {}) for name in columns})
    target = description["target"].split(",")[0].strip() if description["target"] else None
    return OpenMLTable(description["name"], int(description["version"]), target, rows)


Download = tuple[pd.DataFrame, list[str], dict[str, Any]]


def _download(identity: dict[str, Any], timeout: float, stall: float, attempts: int) -> Download | str:
    """Run ``openml_download`` in a process that can be stopped. Return its data, or why it failed."""
    if not is_installed("openml"):
        message = f"OpenML data set {identity['id']} needs the package openml, which is not installed"
        return f"{message}; install it with: {installation('openml')}"
    server = os.environ.get("PROBCAL_OPENML_SERVER") or None
    order = {"server": server, "stall": stall, "attempts": attempts, "most": largest_data(), **identity}
    with tempfile.TemporaryDirectory(prefix="probcal-openml-", ignore_cleanup_errors=True) as folder:
        fault = _run_download(Path(folder), order, timeout)
        if fault is None:
            table: Download = pickle.loads((Path(folder) / openml_download.FRAME).read_bytes())  # noqa: S301  # of our own process
            return table
    advice = fault.get("advice") or ("try again later" if fault["later"] else "correct the card")
    place = server or "openml.org"
    return f"OpenML data set {identity['id']} could not be fetched from {place}: {fault['reason']}; {advice}"


def _run_download(folder: Path, order: dict[str, Any], timeout: float) -> dict[str, Any] | None:
    """Return None when the frame lies in ``folder``, otherwise ``reason``, ``later`` and ``advice``."""
    # Without -P, "import openml" in that file would find the openml.py beside it
    command = [sys.executable, "-P", openml_download.__file__, str(folder), json.dumps(order)]
    read_end, write_end = os.pipe()  # the program ends when nobody holds the write end any more
    try:
        process = subprocess.run(command, capture_output=True, stdin=read_end, timeout=timeout)
    except subprocess.TimeoutExpired:
        return {"reason": f"it took longer than {timeout:g} seconds", "later": True}
    finally:
        os.close(read_end)
        os.close(write_end)
    if process.returncode == 0:
        content = (folder / openml_download.FRAME).read_bytes()
        # Only the frame that the program wrote, to the last bit, is unpickled.
        if process.stdout.split()[-1:] == [hashlib.sha256(content).hexdigest().encode()]:
            return None
    try:
        fault: dict[str, Any] = json.loads((folder / openml_download.FAULT).read_text(encoding="utf-8"))
        return fault
    except (OSError, ValueError):
        message = process.stderr.decode(errors="replace").strip().split("\n")[-1]
        return {"reason": f"the OpenML client broke down ({message or process.returncode})", "later": True}


def _files_advice(card: Card, joint: str = ", or ") -> str:
    if not card.files:
        return ""
    parts = [part for file in card.files[0].files for part in (file, file.labels) if part]
    names = ", ".join(part.name for part in parts)
    place = f"DATA_DIR/{card.folder or card.name}"
    return f"{joint}put {names} into {place} (--data-dir or PROBCAL_DATA_DIR names DATA_DIR)"


def _rename_columns(card: Card, source: OpenMLSource, frame: pd.DataFrame, ignored_names: list[str]) -> pd.DataFrame:
    """Return ``frame`` with the card's columns in the card's order. With a ``*`` all other columns follow."""
    label = f"{card.name}: OpenML data set {source.id}"
    if source.target not in frame:
        raise DataError(f"{label} has no column {source.target!r} (openml.target on the card); {_column_list(frame)}")
    if source.column_names == "by position":
        names = dict(zip(_columns_by_position(card, source, frame, ignored_names), _inputs(card), strict=True))
    else:
        names = dict(source.column_names)
    frame = frame.rename(columns={**names, source.target: card.target})
    for name, kind in card.columns.items():
        if name not in frame and name != "*" and kind != "ignore":
            raise DataError(f"{label} has no column {name!r}, which the card names; {_column_list(frame)}")
    if not frame.columns.is_unique:
        duplicate = frame.columns[frame.columns.duplicated()][0]
        raise DataError(f"{label} has two columns {duplicate!r} once openml.column_names of the card is applied")
    other_columns = [name for name in frame if name not in card.columns and name not in ignored_names]
    columns = [name for name in card.columns if name in frame] + ("*" in card.columns) * other_columns
    return frame[columns]


def _columns_by_position(card: Card, source: OpenMLSource, frame: pd.DataFrame, ignored_names: list[str]) -> list[str]:
    """Return as many input columns of ``frame`` as the card has, with or without the ``ignored_names``."""
    all_names = [name for name in frame if name != source.target]
    for names in (all_names, [name for name in all_names if name not in ignored_names]):
        if len(names) == len(_inputs(card)):
            return names
    raise DataError(
        f"{card.name}: OpenML data set {source.id} has {len(all_names)} columns besides the target, "
        f"the card {len(_inputs(card))}, so they cannot be matched by position; {_column_list(frame)}"
    )


def _inputs(card: Card) -> list[str]:
    return [name for name in card.columns if name != card.target]


def _column_list(frame: pd.DataFrame) -> str:
    return f"it has {', '.join(map(str, frame.columns))}"


def _values(column: pd.Series, rename: dict[str, str]) -> pd.Series:
    if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column) and not rename:
        # The client also delivers uint8.
        return column.astype("float64")
    text = column.astype(object).map(as_text, na_action="ignore")
    return text.map(lambda value: rename.get(value, value), na_action="ignore")
