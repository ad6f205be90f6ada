"""Packed files: .gz, .xz, .bz2, .zst, and .zip with one file in it. None is unpacked beyond what a reader asks for."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zipfile
import zlib
from collections.abc import Callable
from pathlib import PurePosixPath
from typing import IO, Any, Self

import pyarrow as pa

from probcal._io import join_first

UNPACKING_ERRORS = (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile, zipfile.BadZipFile, NotImplementedError)
"""What unpacking raises for a damaged file, besides an OSError without a number, as bz2 and pyarrow raise."""
_ENCRYPTED = 1
"""The bit of a member's flags that says so."""
_MOST_NAMES = 5


class RefusedArchive(Exception):
    """Say why an archive is no packed file of one table."""


class _ZstandardFile:
    """Read a .zst file with pyarrow, because Python before 3.14 has no reader of its own."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = pa.CompressedInputStream(pa.PythonFile(file, "r"), "zstd")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def read(self, size: int) -> bytes:
        return bytes(self._file.read(size))


def open_only_member(file: IO[bytes]) -> IO[bytes]:
    """Open the only file of a zip archive. Raise RefusedArchive for several files, for none, and for encryption."""
    archive = zipfile.ZipFile(file)
    members = [member for member in archive.infolist() if not member.is_dir() and not _is_clutter(member.filename)]
    if len(members) != 1:
        names = join_first((member.filename for member in members), _MOST_NAMES)
        holds = f"holds {len(members)} files ({names})" if members else "holds no file"
        raise RefusedArchive(f"{holds}; unpack it, and give the path of one file")
    [member] = members
    if member.flag_bits & _ENCRYPTED:
        raise RefusedArchive("is encrypted; unpack it with its password, and give the path of the file")
    return archive.open(member)


def _is_clutter(name: str) -> bool:
    """Return whether a member is what macOS adds beside every file."""
    path = PurePosixPath(name)
    return path.parts[:1] == ("__MACOSX",) or path.name == ".DS_Store"


OPENERS: dict[str, Callable[[Any], Any]] = {
    ".gz": gzip.open,
    ".xz": lzma.open,
    ".bz2": bz2.open,
    ".zst": _ZstandardFile,
    ".zip": open_only_member,
}
"""Ending of a packed file -> function that opens it."""
