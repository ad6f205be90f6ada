"""Program that fetches one data set with the OpenML client, in a separate process.

``probcal.data.sources.openml`` runs this file and stops it when it takes too long. The client waits for ever
on a server that does not answer. It writes to the user's home and keeps half-written files after a kill. Here
its home and cache are a temporary folder, and nothing that it prints reaches the terminal.

The program ends when the process that started it ends, however that happens. Its stdin is a pipe that the
parent process holds open. This file is run as a script, so it must not import probcal.
"""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import re
import signal
import socket
import sys
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

FRAME, FAULT = "frame.pickle", "fault.json"
_LARGEST_DESCRIPTION = 64_000_000
"""Largest size in bytes of anything but data. The descriptions of OpenML's largest sets have some megabytes."""
_PIECE = 1 << 16
_F_SETSIG = 10  # from <fcntl.h> of Linux. Python 3.11 and 3.12 do not define it


def main(folder: Path, order: dict[str, Any]) -> int:
    """Write FRAME to ``folder``, print its checksum and return 0, or write FAULT and return 1.

    ``order`` holds id, name and version of the data set (None accepts any), and the server (a URL, or None for the
    client's own). It also holds ``stall`` (seconds that one answer may take), ``attempts``, and the most bytes of data.
    """
    # Before the client is imported, because it writes to the home folder.
    os.environ |= {"HOME": str(folder), "USERPROFILE": str(folder), "XDG_CONFIG_HOME": str(folder)}
    os.environ["OPENML_CACHE_DIR"] = str(folder / "cache")
    try:
        table = _fetch(order)
    except Exception as error:
        (folder / FAULT).write_text(json.dumps(_fault(error)), encoding="utf-8")
        return 1
    content = pickle.dumps(table)
    (folder / FRAME).write_bytes(content)
    # The parent checks that the file is, to the last bit, the one that was written here.
    print(hashlib.sha256(content).hexdigest())
    return 0


def _end_with_parent() -> None:
    """Have this process killed at the end of stdin: by the kernel on Linux, otherwise by a thread."""
    if sys.platform == "linux":  # a thread alone may be kept from running by native code
        import fcntl

        fcntl.fcntl(0, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(0, _F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(0, fcntl.F_SETFL, fcntl.fcntl(0, fcntl.F_GETFL) | os.O_ASYNC)
    # The thread also covers an end before the lines above.
    threading.Thread(target=_wait_for_end, daemon=True).start()


def _wait_for_end() -> None:
    os.read(0, 1)
    os._exit(1)


class _OtherDataError(Exception):
    """Signal that the server describes another data set than the one that was ordered."""


class _SizeError(Exception):
    """Signal that the server sends more bytes than allowed."""


class _PlainHTTPError(Exception):
    """Signal a connection without TLS, which others could read and change."""


def _fetch(order: dict[str, Any]) -> tuple[Any, list[str], dict[str, Any]]:
    """Return the frame of all columns, the names of those that OpenML does not count as data, and its description."""
    import openml

    _limit_client(order["stall"], order["attempts"], order["most"])
    openml.config.set_retry_policy("human", order["attempts"])
    openml.config.server = order["server"] or openml.config.server
    dataset = openml.datasets.get_dataset(order["id"], download_data=False)
    server_version, card_version = (dataset.name, dataset.version), (order["name"], order["version"])
    if card_version[0] is not None and (server_version[0].casefold(), server_version[1]) != (
        card_version[0].casefold(),
        card_version[1],
    ):
        raise _OtherDataError(
            'there it is "{}" version {}, on the card "{}" version {}'.format(*server_version, *card_version)
        )
    if "sparse" in dataset.format.lower():
        raise _OtherDataError("it is stored as sparse ARFF, which the client reads without labels")
    description = {"name": dataset.name, "version": dataset.version, "target": dataset.default_target_attribute}
    return _data(dataset), _names(dataset.row_id_attribute) + _names(dataset.ignore_attribute), description


def _data(dataset: Any) -> Any:
    """Return the rows, from parquet where OpenML offers it. Without parquet, or when it fails, read ARFF."""
    from minio.error import MinioException
    from urllib3.exceptions import HTTPError

    # All columns, because a card may name columns that OpenML does not count as data.
    options = {"include_row_id": True, "include_ignore_attribute": True}
    try:
        return dataset.get_data(**options)[0]
    except Exception as error:
        # The client itself falls back to ARFF only when there is no parquet file at all.
        if dataset.parquet_file is None and not isinstance(
            error, MinioException | HTTPError | _SizeError | _PlainHTTPError
        ):
            raise
    os.environ["OPENML_SKIP_PARQUET"] = "true"
    dataset.parquet_file = None
    return dataset.get_data(**options)[0]


def _names(value: str | list[str] | None) -> list[str]:
    # OpenML keeps several names as a list or as one text with commas.
    texts = [value] if isinstance(value, str) else value or []
    return [name.strip() for text in texts for name in text.split(",")]


def _limit_client(stall: float, attempts: int, limit: int) -> None:
    """Make both ways in which the client downloads limit silence and size and require TLS. The client does neither."""
    import minio
    import pandas as pd
    import requests
    import urllib3

    class Adapter(requests.adapters.HTTPAdapter):
        def send(self, request: Any, **options: Any) -> requests.Response:  # type: ignore[override]  # the client passes options by name
            _refuse_plain(request.url)
            response = super().send(request, **{**options, "timeout": stall, "stream": True})
            is_description = "/api/v1/" in request.url
            # Read here, because requests has no limit of size.
            pieces = _limited_pieces(
                response.iter_content(_PIECE), _LARGEST_DESCRIPTION if is_description else limit, request.url
            )
            response._content = b"".join(pieces)
            if response.status_code != 200 and not response.is_redirect and b"oml:error" not in response.content:
                # an error page of a proxy before OpenML, which the client may not understand
                raise requests.ConnectionError(f"Status code: {response.status_code}")
            if "charset" not in response.headers.get("Content-Type", ""):
                # requests reads such text as Latin-1, which would break the client's checksum
                response.encoding = "utf-8"
            return response

    class Session(requests.sessions.Session):
        def __init__(self) -> None:
            super().__init__()
            for scheme in ("https://", "http://"):
                self.mount(scheme, Adapter())

    class Minio(minio.api.Minio):
        def __init__(self, endpoint: str, *, secure: bool, http_client: Any = None, **options: Any) -> None:
            client = http_client or urllib3.PoolManager()
            retries = urllib3.Retry(attempts - 1, backoff_factor=0.2, status_forcelist=[500, 502, 503, 504])
            client.connection_pool_kw |= {"timeout": urllib3.Timeout(stall), "retries": retries}
            client.urlopen = _limited(client.urlopen, limit)  # type: ignore[method-assign]  # minio offers no limit
            # The client never asks for TLS, not even for https.
            secure = not _is_local(f"//{endpoint}")
            super().__init__(endpoint, secure=secure, http_client=client, **options)

    def read_parquet(path: Any, **options: Any) -> Any:
        from pyarrow.parquet import read_metadata

        metadata = read_metadata(path)
        # Parquet packs many equal values into a few bytes.
        if metadata.num_rows * metadata.num_columns * 8 > limit:
            raise _SizeError(f"its parquet file is of {metadata.num_rows:,} rows, more than {limit // 1_000_000:,} MB")
        return reader(path, **options)

    reader = pd.read_parquet
    # openml takes these for the originals
    requests.Session, minio.Minio, pd.read_parquet = Session, Minio, read_parquet  # type: ignore[misc, assignment]


def _limited(urlopen: Any, limit: int) -> Any:
    """Return urllib3's ``urlopen`` with at most ``limit`` bytes per answer and without redirects."""

    def bounded(method: str, url: str, *, preload_content: bool = True, **options: Any) -> Any:
        _refuse_plain(url)
        response = urlopen(method, url, preload_content=False, redirect=False, **options)
        stream = response.stream
        if preload_content or response.status >= 300:
            body = b"".join(_limited_pieces(stream(_PIECE), _LARGEST_DESCRIPTION, url))
            response._body, response.read = body, lambda *_, **__: body
        else:
            response.stream = lambda amt=_PIECE, decode_content=None: _limited_pieces(
                stream(amt, decode_content), limit, url
            )
        return response

    return bounded


def _limited_pieces(pieces: Iterable[bytes], limit: int, url: str) -> Iterator[bytes]:
    size = 0
    for piece in pieces:
        size += len(piece)
        if size > limit:
            raise _SizeError(f"{url} sends more than {limit // 1_000_000:,} MB")
        yield piece


def _refuse_plain(url: str) -> None:
    if url.startswith("http://") and not _is_local(url):
        raise _PlainHTTPError(f"{url} is not encrypted, and plain http is spoken with this machine only")


def _is_local(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    return host in ("localhost", "::1") or re.fullmatch(r"127\.[0-9]+\.[0-9]+\.[0-9]+", host) is not None


def _fault(error: Exception) -> dict[str, Any]:  # noqa: C901
    """Return ``reason`` (what happened), ``later`` (whether a later try may work) and ``advice`` (what else to do)."""
    from xml.parsers.expat import ExpatError

    from arff import ArffException
    from openml import exceptions as openml
    from requests.exceptions import ChunkedEncodingError, Timeout
    from urllib3.exceptions import TimeoutError as Silence

    # str(error) fails where the file holds a percent sign.
    text = error.message.replace("%d", str(error.line), 1) if isinstance(error, ArffException) else str(error)
    first_line = (text.strip().splitlines() or [""])[0].rstrip(".")
    status = re.search(r"Status code: (\d+)", text)
    chain = list(_causes(error))

    def has(*kinds: type) -> bool:
        return any(isinstance(link, kinds) for link in chain)

    not_utf8 = has(openml.OpenMLHashException) and "encoding" in first_line
    permanent_errors = (_OtherDataError, openml.OpenMLServerNoResult, openml.OpenMLPrivateDatasetError, ArffException)
    own_error = next((link for link in chain if isinstance(link, _OtherDataError | _SizeError | _PlainHTTPError)), None)
    if own_error is not None:
        reason = str(own_error)
    elif has(openml.OpenMLServerNoResult):
        reason = "the server knows no data set of this id"
    elif has(openml.OpenMLPrivateDatasetError):
        reason = "the server gives it only to its owner"
    elif not_utf8:
        reason = "its file is not UTF-8 text, so the client cannot check it"
    elif has(openml.OpenMLHashException):
        reason = "the file that arrived does not have the checksum that OpenML states"
    elif isinstance(error, openml.OpenMLServerException):
        reason = f"the server says: {error.message.removesuffix(' - None').rstrip('.')}"
    elif status:
        reason = f"the server answers with HTTP status {status[1]}"
    elif has(socket.gaierror):
        reason = "its address cannot be found (is this machine online?)"
    elif has(ConnectionRefusedError):
        reason = "the server refuses the connection"
    elif has(Timeout, Silence):
        reason = "the server does not answer"
    elif has(ChunkedEncodingError):
        reason = "the connection broke off in the middle"
    elif has(ArffException):
        reason = f"its ARFF file cannot be read: {first_line}"
    elif has(ExpatError) or isinstance(error, KeyError):
        reason = "what answers there is not OpenML"
    else:
        reason = f"{type(error).__name__}: {first_line}"
    advice: dict[type, str] = {
        _SizeError: "set PROBCAL_LARGEST_MB to allow larger files",
        _PlainHTTPError: "name a server with https",
    }
    retry = not (not_utf8 or has(*permanent_errors))
    return {"reason": reason, "later": retry, "advice": advice.get(type(own_error))}


def _causes(error: BaseException) -> Iterator[BaseException]:
    yield error
    # requests and urllib3 keep some causes in attributes of their own.
    for cause in (getattr(error, "reason", None), *error.args, error.__cause__ or error.__context__):
        if isinstance(cause, BaseException):
            yield from _causes(cause)


if __name__ == "__main__":
    _end_with_parent()
    sys.exit(main(Path(sys.argv[1]), json.loads(sys.argv[2])))
