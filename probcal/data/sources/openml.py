"""Fetching the rows of a data set from OpenML, under the column names of its card.

Only plain requests are made: one for the description of the data set, and one for its file. TLS is required, and every
answer is limited in size and in silence.
"""

from __future__ import annotations

import hashlib
import os
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TypeVar
from urllib.parse import urljoin, urlsplit
from xml.etree import ElementTree

import pandas as pd

from probcal.data.card import Card
from probcal.data.dataset import as_text
from probcal.data.sources.formats import largest_data, read_arff, read_parquet
from probcal.data.sources.specifications import OpenMLSource
from probcal.errors import DataError, MissingData

_SERVER = "https://www.openml.org/api/v1/xml"
_MOST_DESCRIBED = 64_000_000
"""Largest size in bytes of a description. Those of OpenML's largest sets have some megabytes."""
_PIECE = 1 << 16
_LATER, _CORRECT = "try again later", "correct the card"
_FOR_GOOD = {
    111: "the server knows no data set of this id",
    372: "the server knows no data set of this id",
    112: "the server gives it only to its owner",
}
"""Errors of OpenML's API that no later try changes."""
_Read = TypeVar("_Read")


@dataclass(frozen=True)
class OpenMLTable:
    """Hold a data set of OpenML. ``frame`` is (n_rows, n_columns), with all columns of its file."""

    name: str
    version: int
    target: str | None
    """Default target column on OpenML, or None where it names none."""
    frame: pd.DataFrame
    ignored: list[str]
    """Columns that OpenML does not count as data, such as ids."""


def fetch_openml_rows(card: Card, *, timeout: float = 1800.0, stall: float = 60.0, attempts: int = 3) -> pd.DataFrame:
    """Fetch the rows of ``card.openml``, ready for ``assemble``: (n_rows, n_columns), in the card's columns.

    Numbers are float64, all other values text, missing ones None or NaN. ``timeout`` limits the whole download and
    ``stall`` the silence of the server, both in seconds. ``attempts`` is the number of tries of each request. The
    server is OpenML's, or the one in PROBCAL_OPENML_SERVER (its URL up to ``/api/v1/xml``). The connection uses
    TLS, unless the server is on this machine. A description may have 64 MB, the data 4 GB or PROBCAL_LARGEST_MB.
    Nothing is kept on disk.

    Raises MissingData when the card has no OpenML source or the download fails. The message says what to do.
    Raises DataError when the columns are not those of the card.
    """
    source = card.openml
    if source is None:
        why = f": {card.no_openml.rstrip('.')}" if card.no_openml else ""
        raise MissingData(f"{card.name}: is not available from OpenML{why}{_files_advice(card, '; ')}")
    try:
        found = _within(timeout, lambda: _Server(stall, attempts).table(source.id, source))
    except _Failure as failure:
        raise MissingData(f"{card.name}: {_message(source.id, failure)}{_files_advice(card)}") from None
    frame = _under_card_names(card, source, found.frame, found.ignored)
    rows = pd.DataFrame({name: _values(frame[name], source.rename.get(name, {})) for name in frame})
    rows = rows.iloc[: source.first_rows]
    test_rows = source.test_rows_first or 0
    return pd.concat([rows.iloc[test_rows:], rows.iloc[:test_rows]], ignore_index=True)


def fetch_openml_table(number: int, *, timeout: float = 1800.0, stall: float = 60.0, attempts: int = 3) -> OpenMLTable:
    """Fetch the data columns of the OpenML data set ``number``. Limits and server are as in ``fetch_openml_rows``.

    Numbers are float64, all other values text, missing ones None or NaN. Raises MissingData when the download fails.
    """
    try:
        found = _within(timeout, lambda: _Server(stall, attempts).table(number))
    except _Failure as failure:
        raise MissingData(_message(number, failure).replace(_CORRECT, "is the number right?")) from None
    columns = [name for name in found.frame if name not in found.ignored]
    rows = pd.DataFrame({name: _values(found.frame[name], {}) for name in columns})
    return OpenMLTable(found.name, found.version, found.target, rows, [])


class _Failure(Exception):
    """Signal why a download failed, and what to do. Only what may pass, with ``_LATER``, is tried again."""

    def __init__(self, reason: str, advice: str = _LATER) -> None:
        super().__init__(reason)
        self.reason, self.advice = reason, advice


def _message(number: int, failure: _Failure) -> str:
    place = os.environ.get("PROBCAL_OPENML_SERVER") or "openml.org"
    return f"OpenML data set {number} could not be fetched from {place}: {failure.reason}; {failure.advice}"


def _within(timeout: float, fetch: Callable[[], OpenMLTable]) -> OpenMLTable:
    """Return ``fetch()``, or raise _Failure after ``timeout`` seconds, whatever the server does.

    A thread that still waits then does not keep the process from ending.
    """
    found: list[OpenMLTable | Exception] = []

    def run() -> None:
        try:
            found.append(fetch())
        except Exception as error:
            found.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(timeout)
    if not found:
        raise _Failure(f"it took longer than {timeout:g} seconds")
    if isinstance(found[0], Exception):
        raise found[0]
    return found[0]


class _Server:
    """Ask an OpenML server. ``stall`` is the longest silence in seconds, ``attempts`` the tries of each request."""

    def __init__(self, stall: float, attempts: int) -> None:
        self._stall, self._attempts = stall, attempts
        self._url = (os.environ.get("PROBCAL_OPENML_SERVER") or _SERVER).rstrip("/")

    def table(self, number: int, wanted: OpenMLSource | None = None) -> OpenMLTable:
        """Return a data set. Raises _Failure for another name or version than those of ``wanted``."""
        facts = self._get(f"{self._url}/data/{number}", _MOST_DESCRIBED, _description)
        name, version = facts["name"][0], int(facts["version"][0])
        if wanted and (name.casefold(), version) != (wanted.name.casefold(), wanted.version):
            there, here = f'"{name}" version {version}', f'"{wanted.name}" version {wanted.version}'
            raise _Failure(f"there it is {there}, on the card {here}", _CORRECT)
        if "sparse" in facts["format"][0].lower():
            raise _Failure("it is stored as sparse ARFF, which probcal does not read", _CORRECT)
        target = next(iter(_names(facts["default_target_attribute"])), None)
        ignored = _names(facts["row_id_attribute"] + facts["ignore_attribute"])
        return OpenMLTable(name, version, target, self._rows(facts), ignored)

    def _rows(self, facts: dict[str, list[str]]) -> pd.DataFrame:
        """Return the rows, from parquet where OpenML offers it. Without parquet, or when it fails, read ARFF."""
        for url in facts["parquet_url"]:
            if not _is_here(url):  # OpenML names its storage without TLS, but has it
                url = url.replace("http://", "https://", 1)
            try:
                content = self._once(url, largest_data())
                return read_parquet(content, url)
            except (_Failure, DataError):
                break
        url, checksum = facts["url"][0], facts["md5_checksum"]

        def read(content: bytes) -> pd.DataFrame:
            if checksum and hashlib.md5(content).hexdigest() != checksum[0]:
                raise _Failure("the file that arrived does not have the checksum that OpenML states")
            try:
                content.decode()
                return read_arff(content, PurePosixPath(urlsplit(url).path).name)
            except UnicodeDecodeError:
                raise _Failure("its file is not UTF-8 text", _CORRECT) from None
            except DataError as error:
                raise _Failure(str(error), _CORRECT) from None

        return self._get(url, largest_data(), read)

    def _get(self, url: str, most: int, read: Callable[[bytes], _Read]) -> _Read:
        """Return ``read`` of the bytes at ``url``. A failure that may pass is tried again."""
        for attempt in range(1, self._attempts):
            try:
                return read(self._once(url, most))
            except _Failure as failure:
                if failure.advice != _LATER:
                    raise
                time.sleep(attempt)
        return read(self._once(url, most))

    def _once(self, url: str, most: int) -> bytes:
        """Return the bytes at ``url``. Raises _Failure for anything else, and for more than ``most`` bytes."""
        import requests  # takes a quarter of a second
        from urllib3.exceptions import HTTPError

        def check(response: requests.Response, **_: object) -> None:
            _refuse_plain(urljoin(response.url, response.headers.get("Location", "")))

        _refuse_plain(url)
        pieces, size = [], 0
        try:
            with requests.get(url, timeout=self._stall, stream=True, hooks={"response": check}) as response:
                for piece in response.iter_content(_PIECE):
                    size += len(piece)
                    if size > most:
                        larger = "set PROBCAL_LARGEST_MB to allow larger files"
                        raise _Failure(f"{url} sends more than {most // 1_000_000:,} MB", larger)
                    pieces.append(piece)
        except (requests.RequestException, HTTPError) as error:
            raise _Failure(_reason(error)) from error
        content = b"".join(pieces)
        if response.status_code != 200:
            raise _refusal(content, response.status_code)
        return content


def _description(content: bytes) -> dict[str, list[str]]:
    """Return the texts of every element of a description that is needed."""
    names = ("name", "version", "format", "url", "default_target_attribute", "row_id_attribute", "ignore_attribute",
             "md5_checksum", "parquet_url")  # fmt: skip
    try:
        root = ElementTree.fromstring(content)
        facts = {name: [text for one in root.findall(f"{{*}}{name}") if (text := one.text)] for name in names}
        if all(map(facts.get, ("name", "format", "url"))) and int(facts["version"][0]):
            return facts
    except (ElementTree.ParseError, LookupError, ValueError):
        pass
    raise _Failure("what answers there is not OpenML")


def _refusal(content: bytes, status: int) -> _Failure:
    """Return the failure for an answer with an HTTP ``status`` other than 200. OpenML explains it in XML."""
    try:
        root = ElementTree.fromstring(content)
        code, said = int(root.findtext("{*}code", "")), root.findtext("{*}message", "")
    except (ElementTree.ParseError, ValueError):
        return _Failure(f"the server answers with HTTP status {status}")
    if code in _FOR_GOOD:
        return _Failure(_FOR_GOOD[code], _CORRECT)
    return _Failure(f"the server says: {said.rstrip('.')}")


def _reason(error: BaseException) -> str:
    """Return in words why nothing arrived."""
    import socket

    from urllib3.exceptions import ProtocolError
    from urllib3.exceptions import TimeoutError as Silence

    known: dict[type[BaseException], str] = {
        socket.gaierror: "its address cannot be found (is this machine online?)",
        ConnectionRefusedError: "the server refuses the connection",
        Silence: "the server does not answer",
        ProtocolError: "the connection broke off in the middle",
    }
    chain = [error]
    while cause := chain[-1].__cause__ or chain[-1].__context__:
        chain.append(cause)
    for kind, reason in known.items():
        if any(isinstance(one, kind) for one in chain):
            return reason
    return f"{type(error).__name__}: {(str(error).strip().splitlines() or [''])[0].rstrip('.')}"


def _refuse_plain(url: str) -> None:
    if url.startswith("http://") and not _is_here(url):
        plain = f"{url} is not encrypted, and plain http is spoken with this machine only"
        raise _Failure(plain, "name a server with https")


def _is_here(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    return host in ("localhost", "::1") or re.fullmatch(r"127\.[0-9]+\.[0-9]+\.[0-9]+", host) is not None


def _names(marked: list[str]) -> list[str]:
    """Return column names. OpenML keeps several of them in several elements or as one text with commas."""
    return [name.strip() for text in marked for name in text.split(",")]


def _files_advice(card: Card, joint: str = ", or ") -> str:
    """Return the advice to use the original files, where the card names some."""
    if not card.files:
        return ""
    parts = [part for file in card.files[0].files for part in (file, file.labels) if part]
    names = ", ".join(part.name for part in parts)
    place = f"DATA_DIR/{card.folder or card.name}"
    return f"{joint}put {names} into {place} (--data-dir or PROBCAL_DATA_DIR names DATA_DIR)"


def _under_card_names(card: Card, source: OpenMLSource, frame: pd.DataFrame, ignored: list[str]) -> pd.DataFrame:
    """Return ``frame`` with the card's columns in the card's order. With a ``*`` all other columns follow."""
    what = f"{card.name}: OpenML data set {source.id}"
    if source.target not in frame:
        raise DataError(f"{what} has no column {source.target!r} (openml.target on the card); {_column_list(frame)}")
    if source.column_names == "by position":
        names = dict(zip(_by_position(card, source, frame, ignored), _inputs(card), strict=True))
    else:
        names = dict(source.column_names)
    frame = frame.rename(columns={**names, source.target: card.target})
    for name, kind in card.columns.items():
        if name not in frame and name != "*" and kind != "ignore":
            raise DataError(f"{what} has no column {name!r}, which the card names; {_column_list(frame)}")
    if not frame.columns.is_unique:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise DataError(f"{what} has two columns {twice!r} once openml.column_names of the card is applied")
    others = [name for name in frame if name not in card.columns and name not in ignored]
    wanted = [name for name in card.columns if name in frame] + ("*" in card.columns) * others
    return frame[wanted]


def _by_position(card: Card, source: OpenMLSource, frame: pd.DataFrame, ignored: list[str]) -> list[str]:
    """Return as many input columns of ``frame`` as the card has, with or without the ``ignored`` ones."""
    every = [name for name in frame if name != source.target]
    for names in (every, [name for name in every if name not in ignored]):
        if len(names) == len(_inputs(card)):
            return names
    raise DataError(
        f"{card.name}: OpenML data set {source.id} has {len(every)} columns besides the target, "
        f"the card {len(_inputs(card))}, so they cannot be matched by position; {_column_list(frame)}"
    )


def _inputs(card: Card) -> list[str]:
    return [name for name in card.columns if name != card.target]


def _column_list(frame: pd.DataFrame) -> str:
    return f"it has {', '.join(map(str, frame.columns))}"


def _values(column: pd.Series, rename: dict[str, str]) -> pd.Series:
    """Return numbers as float64, and all else as renamed text. True and false become lower case."""
    if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column) and not rename:
        return column.astype("float64")
    text = column.astype(object).map(as_text, na_action="ignore")
    if {str(level).lower() for level in text.dropna().unique()} <= {"true", "false"}:
        text = text.map(str.lower, na_action="ignore")
    return text.map(lambda value: rename.get(value, value), na_action="ignore")
