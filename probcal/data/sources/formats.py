"""Readers of packed files: delimited text, dense ARFF and MATLAB. None reads more than a limit of bytes."""

from __future__ import annotations

import codecs
import csv
import hashlib
import io
import os
from collections.abc import Collection, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from probcal.data.sources.arff_file import parse_arff
from probcal.data.sources.packed_file import OPENERS, UNPACKING_ERRORS, RefusedArchive
from probcal.data.text_values import stack_frames, text_column
from probcal.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

    from probcal.data.sources.specifications import FileSource

_PIECE = 1 << 20
_ROWS_AT_A_TIME = 20_000
"""Number of rows that are held as text at once before they become categories. KDD Cup 98 has 480 fields a row."""
_LONGEST_FIELD = 1 << 24
_OPEN_QUOTE = "a quotation mark that is not closed"
_MB = 1_000_000
_DEFAULT_MB = 4_000
"""Default limit in megabytes. The largest file of the papers, that of KDD Cup 98, has 118."""
_MAT_ORDER = "mldata_descr_ordering"
"""The variable that lists the others in the order of their columns."""


def largest_data() -> int:
    """Return the largest size in bytes of an unpacked data file: 4 GB, or PROBCAL_LARGEST_MB megabytes.

    Raises DataError when PROBCAL_LARGEST_MB is not a number.
    """
    value = os.environ.get("PROBCAL_LARGEST_MB") or str(_DEFAULT_MB)
    if not (value.isascii() and value.isdigit() and 0 < len(value) < 10 and int(value)):
        raise DataError(f"PROBCAL_LARGEST_MB is {value!r}; it must be a whole number of megabytes")
    return int(value) * _MB


def join_pieces(pieces: Iterable[bytes], name: object) -> bytes:
    """Join ``pieces``. Raises DataError with the given ``name`` as soon as they are too large."""
    limit, chunks, size = largest_data(), [], 0
    for piece in pieces:
        size += len(piece)
        if size > limit:
            raise DataError(
                f"{name}: is larger than {limit // _MB:,} MB unpacked; if it is meant to be, set PROBCAL_LARGEST_MB to "
                "as many megabytes as it may have"
            )
        chunks.append(piece)
    return b"".join(chunks)


def read_all(file: IO[bytes], name: object) -> bytes:
    """Return the bytes of an open file. Raises DataError as ``join_pieces`` does."""
    return join_pieces(iter(lambda: file.read(_PIECE), b""), name)


def read_unpacked(path: Path, packed: bool = True) -> tuple[bytes, str]:
    """Return the content of a file, and the sha256 of its bytes on the disk.

    A packed file (see ``OPENERS``) is unpacked. Without ``packed``, the content is the bytes themselves.

    Raises DataError for a file that cannot be read.
    """
    try:
        with path.open("rb") as file:
            content = read_all(file, path)
        digest = hashlib.sha256(content).hexdigest()
        if packed and path.suffix in OPENERS:
            # From the bytes that were hashed, since the file may change meanwhile.
            with OPENERS[path.suffix](io.BytesIO(content)) as stream:
                # The limit counts unpacked bytes, since a few packed ones can stand for gigabytes.
                content = read_all(stream, path)
    except RefusedArchive as error:
        raise DataError(f"{path}: {error}") from None
    except (OSError, *UNPACKING_ERRORS) as error:
        if isinstance(error, OSError) and error.strerror:
            raise DataError(f"{path}: cannot be read ({error.strerror})") from None
        raise DataError(f"{path}: cannot be unpacked ({error}); get the file again") from None
    return content, digest


def hash_files(paths: Iterable[Path]) -> dict[Path, str]:
    """Return the sha256 of each file as it is on the disk. Raises DataError for one that cannot be read."""
    digests = {}
    for path in paths:
        try:
            with path.open("rb") as file:
                digests[path] = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise DataError(f"{path}: cannot be read ({error.strerror})") from None
    return digests


def csv_rows(lines: Iterable[str], delimiter: str) -> Any:
    """Return a strict reader of ``lines``. Blanks after a delimiter do not count."""
    # Python's limit of 131,072 characters is too small for long texts.
    csv.field_size_limit(_LONGEST_FIELD)
    return csv.reader(lines, delimiter=delimiter, skipinitialspace=True, strict=True)


def read_delimited(
    content: bytes, path: Path, source: FileSource, names: list[str] | None, skip_lines: list[int]
) -> pd.DataFrame:
    """Read all fields of a file as categorical columns of stripped text. Missing values are NaN.

    ``names`` are the column names, or None where the file has a header. ``path`` is for messages.

    Raises DataError with the line number when a line does not have one field for each column.
    """
    import pandas as pd

    records = _records(content, path, source, skip_lines, len(names) if names else None)
    if names is None:
        names = [name.strip() for name in next(records, [])]
        if duplicates := [name for name in names if names.count(name) > 1]:
            line_number, _ = next(_lines(content, source, skip_lines))
            raise DataError(f"{path}:{line_number}: two columns are called {duplicates[0]!r}")

    def spelling(text: str) -> str | None:
        text = text.strip()
        return None if text in source.missing else text

    frames = []
    while chunk := list(islice(records, _ROWS_AT_A_TIME)):
        columns = enumerate(zip(*chunk, strict=True))
        frames.append(pd.DataFrame({number: text_column(values, spelling) for number, values in columns}))
    if not frames:
        raise DataError(f"{path}: holds no data")
    return stack_frames(frames).set_axis(names, axis=1)


def line_numbers(content: bytes, source: FileSource, skip_lines: list[int]) -> list[int]:
    """Return the line number, counted from 1, of each row that ``read_delimited`` reads."""
    return [number for number, _ in _lines(content, source, skip_lines)][source.header :]


def _lines(content: bytes, source: FileSource, skip_lines: list[int]) -> Iterator[tuple[int, str]]:
    """Yield number, counted from 1, and text of each line that is not blank, skipped or a comment."""
    for number, line in enumerate(content.removeprefix(codecs.BOM_UTF8).splitlines(), 1):
        text = line.decode("utf-8", "backslashreplace")  # some old files hold a stray Latin-1 letter
        if text.strip() and number not in skip_lines and not (source.comment and text.startswith(source.comment)):
            yield number, text


def _records(
    content: bytes, path: Path, source: FileSource, skip_lines: list[int], width: int | None
) -> Iterator[list[str]]:
    """Yield the fields of each line. Each has ``width`` fields, or as many as the first."""
    blanks = source.separator == "whitespace"
    numbers: list[int] = []

    def texts() -> Iterator[str]:
        for number, line in _lines(content, source, skip_lines):
            numbers.append(number)
            yield line.strip().replace("\t", " ") if blanks else line

    reader, n_records, fault = csv_rows(texts(), " " if blanks else source.separator), 0, ""
    try:
        for record in reader:
            width = width or len(record)
            if reader.line_num > n_records + 1:  # the field went on in the next line
                fault = _OPEN_QUOTE
            elif len(record) != width:
                fault = f"{len(record)} field{'s' * (len(record) != 1)} where {width} are expected"
            if fault:
                break
            yield record
            n_records += 1
    except csv.Error:
        fault = _OPEN_QUOTE
    if fault:
        raise DataError(f"{path}:{numbers[n_records]}: {fault}; mend the line, or name it under skip_lines on the card")


def read_arff(content: bytes, path: object) -> pd.DataFrame:
    """Read the rows of a dense ARFF file. Numeric attributes become float64, all others categorical text.

    ``path`` is for messages. Raises DataError when the file is not sound ARFF, with the line where it is known.
    """
    import pandas as pd

    table = parse_arff(content, path)
    return pd.DataFrame(
        {
            name: pd.Series(np.array([np.nan if text is None else float(text) for text in values]))
            if kind == "numeric"
            else text_column(values)
            for name, kind, values in zip(table.names, table.kinds, table.columns, strict=True)
        }
    )


def read_mat(content: bytes, path: object, missing: Collection[str]) -> pd.DataFrame:
    """Read the variables of a file of mldata.org. Numbers become float64, cells of text become categorical.

    A variable of k > 1 columns gives NAME_1 to NAME_k. A text of ``missing`` becomes NaN. A number that stands for
    a missing value stays as it is. mldata.org wrote -2147483648, see ``missing_codes`` of a card. ``path`` is
    for messages.

    Raises DataError when the file is no MATLAB file of mldata.org.
    """
    import pandas as pd
    from scipy.io import loadmat

    try:
        variables = loadmat(io.BytesIO(content))
    except Exception as error:  # a damaged file may make the reader raise anything
        raise DataError(f"{path}: is not a sound MATLAB file: {error}") from None
    if _MAT_ORDER not in variables:
        raise DataError(f"{path}: has no variable {_MAT_ORDER}, which the files of mldata.org have")
    names = [_mat_text(name) for name in variables[_MAT_ORDER].ravel()]
    if missing_names := [name for name in names if name not in variables]:
        raise DataError(f"{path}: has no variable {missing_names[0]!r}, which {_MAT_ORDER} lists")
    columns: dict[str, pd.Series] = {}
    for name in names:
        table = np.atleast_2d(variables[name])  # columns x rows
        if table.dtype.kind not in "Oif":
            raise DataError(f"{path}: the variable {name!r} holds neither numbers nor text")
        titles = [name] if len(table) == 1 else [f"{name}_{number}" for number in range(1, len(table) + 1)]
        columns |= {title: _mat_column(values, missing) for title, values in zip(titles, table, strict=True)}
    if len({len(column) for column in columns.values()}) != 1:
        raise DataError(f"{path}: its variables do not have the same number of rows")
    return pd.DataFrame(columns)


def _mat_column(values: np.ndarray, missing: Collection[str]) -> pd.Series:
    import pandas as pd

    if values.dtype != object:
        return pd.Series(values.astype(np.float64))
    texts = [_mat_text(value) for value in values]
    return text_column([None if text in missing else text for text in texts])


def _mat_text(cell: object) -> str:
    return "".join(map(str, np.asarray(cell).ravel())).strip()
