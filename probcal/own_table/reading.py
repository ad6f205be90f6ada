"""Reading a table of which only the place is known: a file of one of four formats, or a data set of OpenML."""

from __future__ import annotations

import gzip
import io
import lzma
import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from probcal.data.arff_file import read_arff
from probcal.data.limits import at_most, largest_data
from probcal.errors import DataError
from probcal.own_table.delimited_text import read_delimited_text

_OPEN: dict[str, Callable[[Path], Any]] = {".gz": gzip.open, ".xz": lzma.open}
_PIECE = 1 << 20
_OPENML = re.compile(r"(?:openml:)?([0-9]{1,9})")
_HEAD = re.compile(rb"\s*(%[^\n]*\n\s*)*@relation\b", re.IGNORECASE)


@dataclass(frozen=True)
class Table:
    """A table as it was found. ``frame``: (n_rows, n_columns) of text, numbers, dates and booleans."""

    name: str
    """What it is called, without endings."""
    place: str
    """Its path in full, or ``openml:ID``."""
    frame: pd.DataFrame
    notes: list[str] = field(default_factory=list)
    """What was found out while reading, in words."""
    declared: bool = False
    """Whether the file itself says what is a number: text that looks like one is then a category."""
    target: str | None = None
    """The column that the source takes for the target."""
    separator: str | None = None
    """What separates the fields of delimited text."""


def read_table(source: str) -> Table:
    """The table at ``source``: a path, or ``openml:31`` or ``31``.

    Raises DataError, or MissingData of OpenML, when there is none, it is no table, or it is too large (see
    ``probcal.data.limits``).
    """
    if (found := _OPENML.fullmatch(source)) and not Path(source).exists():
        return _from_openml(int(found[1]))
    path = Path(source)
    _refuse_no_file(path, source)
    content = _content(path)
    stem = Path(path.stem) if path.suffix in _OPEN else path
    if not content.strip():
        raise DataError(f"{path}: is empty")
    separator = None
    if content.startswith(b"PAR1"):
        frame, notes, declared = _parquet(content, path), ["a Parquet file"], False
    elif stem.suffix.lower() == ".arff" or _HEAD.match(content[:100_000]):
        frame, notes, declared = read_arff(content, path), ["an ARFF file"], True
    else:
        frame, notes, separator = read_delimited_text(content, path)
        declared = False
    if not len(frame):
        raise DataError(f"{path}: has 0 rows")
    return Table(stem.stem, str(path.resolve()), frame, notes, declared, separator=separator)


def _refuse_no_file(path: Path, source: str) -> None:
    if re.match(r"[a-z]+://", source):
        raise DataError(f"{source}: is an address; fetch the file first, and give its path")
    if path.is_dir():
        raise DataError(f"{path}: is a folder; give one file of it")
    if not path.exists():
        raise DataError(f"{path}: there is no such file")
    if not path.is_file():
        raise DataError(f"{path}: is no regular file")


def _content(path: Path) -> bytes:
    try:
        with _OPEN[path.suffix](path) if path.suffix in _OPEN else path.open("rb") as opened:
            return at_most(iter(lambda: opened.read(_PIECE), b""), path)
    except (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile) as error:
        raise DataError(f"{path}: cannot be unpacked ({error}); get the file again") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from None


def _parquet(content: bytes, path: Path) -> pd.DataFrame:
    from pyarrow import ArrowException
    from pyarrow.parquet import ParquetFile

    try:
        parquet: Any = ParquetFile  # of a package without types
        found = parquet(io.BytesIO(content)).metadata
        if found.num_rows * found.num_columns * 8 > largest_data():  # a few bytes can stand for any number of values
            raise DataError(f"{path}: is of {found.num_rows:,} rows, too large; PROBCAL_LARGEST_MB allows larger ones")
        frame = pd.read_parquet(io.BytesIO(content))
    except (ArrowException, OSError, ValueError) as error:
        raise DataError(f"{path}: is not a sound Parquet file: {str(error).splitlines()[0]}") from None
    named = [name for name in frame.index.names if name is not None]
    return frame.reset_index() if named else frame.reset_index(drop=True)


def _from_openml(number: int) -> Table:
    from probcal.data.openml import fetch_openml_table

    found = fetch_openml_table(number)
    notes = [f"OpenML data set {number}, {found.name} version {found.version}"]
    return Table(found.name, f"openml:{number}", found.frame, notes, declared=True, target=found.target)
