"""The program that fetches one data set with the OpenML client, in a process of its own.

``probcal.data.openml`` runs this file and stops it when it takes too long: the client waits for ever
on a server that does not answer, writes to the user's home and keeps files that a kill left
half-written. Here its home and cache are a temporary folder, and nothing of it reaches the terminal.

It is run as a file, so it must not import probcal.
"""

from __future__ import annotations

import json
import os
import pickle
import re
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FRAME, FAULT = "frame.pickle", "fault.json"


def main(folder: Path, order: dict[str, Any]) -> int:
    """Leave FRAME (0 is returned) or FAULT (1) in ``folder``.

    ``order``: id, name and version of the data set, server (URL or None for the client's own),
    stall (seconds that one answer may take) and attempts.
    """
    os.environ |= {"HOME": str(folder), "USERPROFILE": str(folder), "XDG_CONFIG_HOME": str(folder)}
    os.environ["OPENML_CACHE_DIR"] = str(folder / "cache")
    try:
        frame, unasked = _fetch(order)
    except Exception as error:
        (folder / FAULT).write_text(json.dumps(_fault(error)), encoding="utf-8")
        return 1
    with (folder / FRAME).open("wb") as file:
        pickle.dump((frame, unasked), file)
    return 0


class _OtherData(Exception):
    """What the server describes is not what was ordered."""


def _fetch(order: dict[str, Any]) -> tuple[Any, list[str]]:
    """The frame of all columns, and the names of those that OpenML does not count as data."""
    import openml

    _never_wait_long(order["stall"], order["attempts"])
    openml.config.set_retry_policy("human", order["attempts"])
    openml.config.server = order["server"] or openml.config.server
    dataset = openml.datasets.get_dataset(order["id"], download_data=False)
    found, wanted = (dataset.name, dataset.version), (order["name"], order["version"])
    if (found[0].casefold(), found[1]) != (wanted[0].casefold(), wanted[1]):
        raise _OtherData('there it is "{}" version {}, on the card "{}" version {}'.format(*found, *wanted))
    if "sparse" in dataset.format.lower():
        raise _OtherData("it is stored as sparse ARFF, which the client reads without labels")
    return _data(dataset), _names(dataset.row_id_attribute) + _names(dataset.ignore_attribute)


def _data(dataset: Any) -> Any:
    """The rows, from parquet where OpenML offers it, else, or when that fails, from ARFF."""
    from minio.error import MinioException
    from urllib3.exceptions import HTTPError

    everything = {"include_row_id": True, "include_ignore_attribute": True}
    try:
        return dataset.get_data(**everything)[0]
    except Exception as error:
        # The client itself falls back only when the parquet file is not there at all.
        if dataset.parquet_file is None and not isinstance(error, MinioException | HTTPError):
            raise
    os.environ["OPENML_SKIP_PARQUET"] = "true"
    dataset.parquet_file = None
    return dataset.get_data(**everything)[0]


def _names(marked: str | list[str] | None) -> list[str]:
    """Column names, of which OpenML keeps several as a list, or as one text with commas."""
    texts = [marked] if isinstance(marked, str) else marked or []
    return [name.strip() for text in texts for name in text.split(",")]


def _never_wait_long(stall: float, attempts: int) -> None:
    """Give both ways in which the client downloads a limit to their silence; they have none."""
    import minio
    import requests
    import urllib3

    class Session(requests.sessions.Session):
        def send(self, request: Any, **options: Any) -> requests.Response:
            response = super().send(request, **{**options, "timeout": stall})
            if response.status_code != 200 and b"oml:error" not in response.content:
                # a page of the machines in front of OpenML, at which the client may stumble
                raise requests.ConnectionError(f"Status code: {response.status_code}")
            if "charset" not in response.headers.get("Content-Type", ""):
                # requests takes such text for Latin-1, and the client's checksum of it then fails
                response.encoding = "utf-8"
            return response

    class Minio(minio.api.Minio):
        def __init__(self, *args: Any, http_client: Any = None, **options: Any) -> None:
            client = http_client or urllib3.PoolManager()
            retries = urllib3.Retry(attempts - 1, backoff_factor=0.2, status_forcelist=[500, 502, 503, 504])
            client.connection_pool_kw |= {"timeout": urllib3.Timeout(stall), "retries": retries}
            super().__init__(*args, http_client=client, **options)

    requests.Session, minio.Minio = Session, Minio


def _fault(error: Exception) -> dict[str, Any]:
    """``reason``: what happened, in words; ``later``: whether it may go away by itself."""
    from xml.parsers.expat import ExpatError

    from arff import ArffException
    from openml import exceptions as openml
    from requests.exceptions import ChunkedEncodingError, Timeout
    from urllib3.exceptions import TimeoutError as Silence

    first_line = (str(error).strip().splitlines() or [""])[0].rstrip(".")
    status = re.search(r"Status code: (\d+)", str(error))
    chain = list(_behind(error))

    def has(*kinds: type) -> bool:
        return any(isinstance(link, kinds) for link in chain)

    not_utf8 = has(openml.OpenMLHashException) and "encoding" in first_line
    for_good = (_OtherData, openml.OpenMLServerNoResult, openml.OpenMLPrivateDatasetError, ArffException)
    if has(_OtherData):
        reason = first_line
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
    elif has(ExpatError, KeyError):
        reason = "what answers there is not OpenML"
    else:
        reason = f"{type(error).__name__}: {first_line}"
    return {"reason": reason, "later": not (not_utf8 or has(*for_good))}


def _behind(error: BaseException) -> Iterator[BaseException]:
    """``error`` and all that led to it; requests and urllib3 keep that in places of their own."""
    yield error
    for inner in (getattr(error, "reason", None), *error.args, error.__cause__ or error.__context__):
        if isinstance(inner, BaseException):
            yield from _behind(inner)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), json.loads(sys.argv[2])))
