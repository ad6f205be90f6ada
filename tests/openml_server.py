"""Provide an OpenML server on loopback for the data sets that a test registers.

It has version 1 of the XML API. It serves ARFF files as openml.org does, and parquet files as its MinIO storage does.
On request it fails in the ways in which servers fail.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import threading
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Literal, Self

from tests import openml_replies as replies

Part = Literal["description", "arff", "parquet"]


@dataclass
class Fault:
    """Describe what goes wrong in the first ``times`` requests for ``part`` of a data set.

    ``hang``: no reply; ``stall``: half a reply; ``drip``: half a reply, then byte by byte without end;
    ``endless``: zeros as fast as possible, without a length; ``bomb``: the same compressed;
    ``elsewhere``: a redirection to a server without TLS; ``cut``: half of the promised bytes;
    ``damaged``: the second half is zeros; ``busy``: HTTP 503 with a page for people;
    ``page``: such a page in place of the reply; ``no results``, ``private``, ``overloaded``: errors of the API.
    """

    kind: Literal[
        "hang", "stall", "drip", "endless", "bomb", "elsewhere", "cut", "damaged", "busy", "page", "no results",
        "private", "overloaded",
    ]  # fmt: skip
    part: Part = "description"
    times: float = float("inf")


@dataclass
class Served:
    """Describe one data set. A file without bytes does not exist.

    Without parquet bytes, the description names no parquet file. With ``b""`` it names one that does not exist.
    """

    id: int
    name: str
    target: str
    arff: bytes | None = None
    parquet: bytes | None = None
    version: int = 1
    format: str = "ARFF"
    row_id: list[str] = field(default_factory=list)
    ignore: list[str] = field(default_factory=list)
    content_type: str = "text/plain; charset=utf-8"
    compressed: bool = True
    fault: Fault | None = None
    root: str = ""
    """Where the description says that the files are; here, unless it is given."""


class OpenMLServer:
    """Run a server: ``with OpenMLServer() as server``. ``url`` is its API. ``requests`` lists the requests."""

    def __init__(self) -> None:
        self.datasets: dict[int, Served] = {}
        self.requests: list[str] = []
        self.closing = threading.Event()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._http.daemon_threads = True
        self.root = f"http://127.0.0.1:{self._http.server_address[1]}"
        self.url = f"{self.root}/api/v1/xml"

    def add(self, dataset: Served) -> None:
        self.datasets[dataset.id] = dataset

    def __enter__(self) -> Self:
        threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the server. It then accepts no connections."""
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()


def _handler(server: OpenMLServer) -> type[BaseHTTPRequestHandler]:
    class Handler(_Handler):
        world = server

    return Handler


class _Handler(BaseHTTPRequestHandler):
    world: OpenMLServer
    fault: str | None = None

    def do_GET(self) -> None:
        self.world.requests.append(f"{self.command} {self.path}")
        match self.path.partition("?")[0].strip("/").split("/"):
            case ["api", "v1", "xml", "data", "list", *filters]:
                self._xml(*replies.listed(self.world.datasets.values(), filters))
            case ["api", "v1", "xml", "data", "features", id_]:
                self._part("description", id_, lambda of: self._xml(200, replies.features(of)))
            case ["api", "v1", "xml", "data", "qualities", id_]:
                self._part("description", id_, lambda of: self._xml(200, replies.qualities(of)))
            case ["api", "v1", "xml", "data", id_]:
                files = self.world.root
                self._part("description", id_, lambda of: self._xml(200, replies.description(of, of.root or files)))
            case ["data", "v1", "download", id_, _]:
                self._part("arff", id_, self._arff)
            case ["datasets", _, id_, _]:
                self._part("parquet", id_, self._parquet)
            case _:
                self._page(404)

    do_HEAD = do_GET

    def _part(self, part: Part, id_: str, answer: Callable[[Served], None]) -> None:
        dataset = self.world.datasets.get(int(id_))
        if dataset is None:
            return self._api_error(111, "Unknown dataset")
        fault = dataset.fault
        if not fault or fault.part != part or fault.times < 1:
            return answer(dataset)
        fault.times -= 1
        match fault.kind:
            case "hang":
                self.world.closing.wait()
            case "busy":
                self._page(503)
            case "page":
                self._page(200)
            case "no results":
                self._api_error(372, "No results")
            case "private":
                self._api_error(112, "No access granted")
            case "overloaded":
                self._api_error(107, "Database connection error. Usually due to high server load.")
            case "endless" | "bomb":
                self._endless(packed=fault.kind == "bomb")
            case "elsewhere":
                self.send_response(302)
                self.send_header("Location", "http://elsewhere.invalid/")
                self.send_header("Content-Length", "0")
                self.end_headers()
            case "cut" | "stall" | "drip" | "damaged":
                self.fault = fault.kind
                answer(dataset)
        return None

    def _arff(self, dataset: Served) -> None:
        if dataset.arff is None:
            return self._page(404)
        self._send(200, dataset.content_type, dataset.arff, dataset.compressed)
        return None

    def _parquet(self, dataset: Served) -> None:
        if not dataset.parquet:
            body = b"<Error><Code>NoSuchKey</Code><Message>Object does not exist</Message></Error>"
            return self._send(404, "application/xml", body)
        self._send(200, "application/octet-stream", dataset.parquet)
        return None

    def _xml(self, status: int, body: bytes) -> None:
        self._send(status, "text/xml; charset=utf-8", body, compressed=True)

    def _api_error(self, code: int, message: str) -> None:
        self._xml(412, replies.error(code, message))

    def _page(self, status: int) -> None:
        self._send(status, "text/html", b"<html><body><h1>A page for people</h1></body></html>")

    def _send(self, status: int, content_type: str, body: bytes, compressed: bool = False) -> None:
        half = len(body) // 2
        etag = hashlib.md5(body).hexdigest()
        if self.fault == "damaged":
            body = body[:half] + bytes(len(body) - half)
        if compressed:
            body = gzip.compress(body)
            half = len(body) // 2
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("ETag", f'"{etag}"')
        self.send_header("Last-Modified", "Mon, 03 Aug 2026 10:00:00 GMT")
        if compressed:
            self.send_header("Content-Encoding", "gzip")
        self.end_headers()
        if self.command == "HEAD":
            return
        self.wfile.write(body[:half] if self.fault in ("cut", "stall", "drip") else body)
        if self.fault == "stall":
            self.world.closing.wait()
        while self.fault == "drip" and not self.world.closing.wait(0.1):
            self.wfile.write(b"\0")

    def _endless(self, packed: bool) -> None:
        """Send a body without a length. Only the end of the connection ends it."""
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.send_header("ETag", '"0"')
        if packed:
            self.send_header("Content-Encoding", "gzip")
        self.end_headers()
        packer = zlib.compressobj(wbits=31)
        while self.command == "GET" and not self.world.closing.is_set():
            zeros = bytes(1_000_000)
            if packed:
                zeros = b"".join(packer.compress(zeros) for _ in range(5)) + packer.flush(zlib.Z_SYNC_FLUSH)
            self.wfile.write(zeros)

    def handle(self) -> None:
        with contextlib.suppress(ConnectionError):  # a stopped client has closed the connection
            super().handle()

    def log_message(self, *_: object) -> None:
        pass
