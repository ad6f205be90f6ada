"""Readers of delimited text and of dense ARFF files, with a limit on the size of a data file."""

from __future__ import annotations

import codecs
import csv
import io
import os
import re
from collections.abc import Iterable
from pathlib import Path

import arff
import numpy as np
import pandas as pd

from probcal.data.dataset import stacked, text_column
from probcal.data.sources.specifications import FileSource
from probcal.errors import DataError

_ROWS_AT_A_TIME = 20_000
"""Number of rows that are held as text at once before they become categories. KDD Cup 98 has 480 fields a row."""
_QUOTED = re.compile(rb'"[^"]*"')
_Line = tuple[int, bytes]
"""Line number in the file, counted from 1, and content."""


def read_delimited(
    content: bytes, path: Path, source: FileSource, names: list[str] | None, skip_lines: list[int]
) -> pd.DataFrame:
    """Read all fields of a file as categorical columns of stripped text. Missing values are NaN.

    ``names`` are the column names, or None where the file has a header. ``path`` is for messages.

    Raises DataError with the line number when a line does not have one field for each column.
    """
    lines = _data_lines(content.removeprefix(codecs.BOM_UTF8), source, set(skip_lines))
    if names is None:
        names = _header(lines.pop(0), path, source) if lines else []
    if not lines:
        raise DataError(f"{path}: holds no data")
    _check_fields(lines, path, source, len(names))
    chunks = pd.read_csv(
        io.BytesIO(b"\n".join(line for _, line in lines)),
        sep=r"\s+" if source.separator == "whitespace" else source.separator,
        header=None,
        names=names,
        dtype=object,
        na_filter=False,
        skipinitialspace=True,
        skip_blank_lines=False,
        encoding_errors="backslashreplace",  # some old files hold a stray Latin-1 letter
        chunksize=_ROWS_AT_A_TIME,
    )
    missing = set(source.missing)

    def spelling(text: str) -> str | None:
        text = text.strip()
        return None if text in missing else text

    return stacked([chunk.apply(text_column, spelling=spelling) for chunk in chunks])


def line_numbers(content: bytes, source: FileSource, skip_lines: list[int]) -> list[int]:
    """Return the line number, counted from 1, of each row that ``read_delimited`` reads."""
    lines = _data_lines(content.removeprefix(codecs.BOM_UTF8), source, set(skip_lines))
    return [number for number, _ in lines[source.header :]]


def _data_lines(content: bytes, source: FileSource, skipped: set[int]) -> list[_Line]:
    comment = source.comment.encode() if source.comment else None
    blanks_separate = source.separator == "whitespace"
    return [
        (number, line.strip() if blanks_separate else line)
        for number, line in enumerate(content.splitlines(), 1)
        if line.strip() and number not in skipped and not (comment and line.startswith(comment))
    ]


def _header(line: _Line, path: Path, source: FileSource) -> list[str]:
    number, content = line
    text = content.decode("utf-8", "backslashreplace")
    if source.separator == "whitespace":
        names = text.split()
    else:
        fields = next(csv.reader([text], delimiter=source.separator, skipinitialspace=True))
        names = [name.strip() for name in fields]
    if twice := [name for name in names if names.count(name) > 1]:
        raise DataError(f"{path}:{number}: two columns are called {twice[0]!r}")
    return names


def _check_fields(lines: list[_Line], path: Path, source: FileSource, wanted: int) -> None:
    """Raise DataError for a line of the wrong length. pandas would fill a short line with blanks."""
    separator = None if source.separator == "whitespace" else source.separator.encode()
    for number, line in lines:
        bare = _QUOTED.sub(b"quoted", line) if b'"' in line else line
        found = len(bare.split(separator)) if separator is None else bare.count(separator) + 1
        if found != wanted:
            fault = f"{found} field{'s' * (found != 1)} where {wanted} are expected"
        elif b'"' in bare:
            fault = "a quotation mark that is not closed"
        else:
            continue
        raise DataError(f"{path}:{number}: {fault}; mend the line, or name it under skip_lines on the card")


def read_arff(content: bytes, path: Path) -> pd.DataFrame:
    """Read the rows of a dense ARFF file. Numeric attributes become float64, all others categorical text.

    ``path`` is for messages. Raises DataError when the file is not sound ARFF, with the line where it is known.
    """
    try:
        table = arff.loads(content.decode("utf-8", "backslashreplace"))
    except arff.ArffException as error:
        # str(error) fails where the file holds a percent sign
        fault = error.message.replace("%d", str(error.line), 1).partition(", at line")[0].rstrip(".")
        raise DataError(f"{path}:{max(error.line, 1)}: is not sound ARFF: {fault}") from None
    except Exception as error:  # some faults make the parser raise other errors
        raise DataError(f"{path}: is not sound ARFF: {error}") from None
    if not table["data"]:
        raise DataError(f"{path}: holds no data")
    columns = zip(*table["data"], strict=True)
    return pd.DataFrame(
        {name: _column(kind, values) for (name, kind), values in zip(table["attributes"], columns, strict=True)}
    )


def _column(kind: str | list[str], values: tuple[object, ...]) -> pd.Series:
    if isinstance(kind, str) and kind in ("NUMERIC", "REAL", "INTEGER"):
        return pd.Series(np.array(values, dtype=np.float64))
    return text_column(values)


_MB = 1_000_000
_USUAL = 4_000
"""Default limit in megabytes. The largest file of the papers, that of KDD Cup 98, has 118."""


def largest_data() -> int:
    """Return the largest size in bytes of an unpacked data file: 4 GB, or PROBCAL_LARGEST_MB megabytes.

    Raises DataError when PROBCAL_LARGEST_MB is not a number.
    """
    said = os.environ.get("PROBCAL_LARGEST_MB") or str(_USUAL)
    if not (said.isascii() and said.isdigit() and 0 < len(said) < 10 and int(said)):
        raise DataError(f"PROBCAL_LARGEST_MB is {said!r}; it must be a whole number of megabytes")
    return int(said) * _MB


def at_most(pieces: Iterable[bytes], what: object) -> bytes:
    """Join ``pieces``. Raises DataError with the name ``what`` as soon as they are too large."""
    most, found, size = largest_data(), [], 0
    for piece in pieces:
        size += len(piece)
        if size > most:
            raise DataError(
                f"{what}: is larger than {most // _MB:,} MB unpacked; if it is meant to be, set PROBCAL_LARGEST_MB to "
                "as many megabytes as it may have"
            )
        found.append(piece)
    return b"".join(found)
