"""Readers of a table from a file, standard input or OpenML. Encoding, delimiter and missing values are inferred."""

from __future__ import annotations

import codecs
import csv
import io
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from probcal._io import join_first
from probcal.data.sources.formats import (
    OPENERS,
    csv_rows,
    hash_files,
    read_all,
    read_arff,
    read_parquet,
    read_unpacked,
    text_frame,
)
from probcal.errors import DataError
from probcal.try_table.numbers_in_text import number

_COMMON_DELIMITERS = (";", "\t", "|", ",")
"""Delimiters in order of preference for a tie.

A comma comes last, because it can be a decimal mark or part of a name.
"""
_RARE_DELIMITERS = (" ", ":", "^", "~", "!", "#")
"""Used only where every line agrees, because they are also part of times and prose."""
_DELIMITER_NAMES = {"\t": "tabs", " ": "blanks"}
MISSING = frozenset(("", "?", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "<NA>", "#N/A"))
"""Texts that programs write for a missing value. The word "none" is not one, because it is often an answer."""
_SEPARATOR_LINE = re.compile(r'"?sep=(.)"?\r?\n')
"""The line with which Excel names the delimiter."""
_EXAMINED_LENGTH = 1 << 20
_EXAMINED_RECORDS = 200
_MOST_COLUMNS = 19_000
"""A card with more columns is rejected as too large."""
STANDARD_INPUT = "-"
_OPENML = re.compile(r"(?:openml:)?([0-9]{1,9})")
_HEAD = re.compile(rb"\s*(%[^\n]*\n\s*)*@relation\b", re.IGNORECASE)


class DelimitedTable(NamedTuple):
    """Hold a table, what was inferred in words (``notes``), and the ``separator`` of fields, None for one column.

    ``lines``, (n_rows,), are the numbers of the lines on which the rows begin, counted from 1. ``word_columns`` has the
    columns that hold words such as NA, by their places, with these words. In ``frame`` they are missing values.
    """

    frame: pd.DataFrame
    notes: list[str]
    separator: str | None
    lines: np.ndarray[Any, Any]
    word_columns: dict[int, pd.Series]


def read_delimited_text(content: bytes, path: Path) -> DelimitedTable:
    """Return columns of categorical text under the names of the first line.

    Text has no blanks around it, and a missing value is NaN. Names are unchanged, so two may be the same. Raises
    DataError, with the line, for what is no text, has no rows, or has lines with different numbers of fields.
    """
    text, notes = _decode(content, path)
    separator_line = _SEPARATOR_LINE.match(text)
    delimiter = separator_line[1] if separator_line else _delimiter(text)
    text = text[separator_line.end() :] if separator_line else text
    notes.append(
        "one column" if delimiter is None else f"separated by {_DELIMITER_NAMES.get(delimiter, repr(delimiter))}"
    )
    records = _records(text, delimiter or ",", path, lines_before=1 if separator_line else 0)
    _, header = next(records, (0, None))
    if header is None:
        raise DataError(f"{path}: is empty")
    if len(header) > _MOST_COLUMNS:
        raise DataError(f"{path}: has {len(header):,} columns; at most {_MOST_COLUMNS:,} are allowed")
    lines: list[int] = []
    frame, _ = text_frame(_record_fields(records, lines), {""})
    if frame is None:
        raise DataError(f"{path}: has 0 rows: only a line of names ({join_first(header, 3)})")
    word_columns = {}
    for place in range(frame.shape[1]):
        column = frame[place]
        if words := MISSING.intersection(column.cat.categories):
            word_columns[place], frame[place] = column, column.cat.remove_categories(sorted(words))
    frame = frame.set_axis([name.strip() for name in header], axis=1)
    return DelimitedTable(frame, notes, delimiter, np.array(lines), word_columns)


def _record_fields(records: Iterator[tuple[int, list[str]]], lines: list[int]) -> Iterator[list[str]]:
    """Yield the fields of each record, and add its line to ``lines``."""
    for line, record in records:
        lines.append(line)
        yield record


def _decode(content: bytes, path: Path) -> tuple[str, list[str]]:
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return content.decode("utf-16", "replace"), ["UTF-16 text"]
    if b"\0" in content[:_EXAMINED_LENGTH]:
        hint = " (an Excel file or another archive; save the table as CSV)" if content.startswith(b"PK") else ""
        raise DataError(f"{path}: is not a table of text{hint}; CSV, TSV, ARFF and Parquet files are read")
    try:
        return content.decode("utf-8-sig"), []
    except UnicodeDecodeError:
        return content.decode("cp1252", "replace"), ["not UTF-8, so read as Windows-1252"]


def _delimiter(text: str) -> str | None:
    """Return the delimiter by which most lines have the same number of fields, or None for one column."""
    choices = [
        choice for choice in map(lambda mark: (*_agreement(text, mark), mark), _COMMON_DELIMITERS) if choice[1] > 1
    ]
    if choices:
        return max(choices, key=lambda choice: choice[:2])[2]
    marks = [mark for mark in _RARE_DELIMITERS if (agreement := _agreement(text, mark))[0] == 1 and agreement[1] > 1]
    return marks[0] if marks else None


def _agreement(text: str, mark: str) -> tuple[float, int]:
    """Return the share of the first lines that have the most frequent number of fields, and that number."""
    widths: Counter[int] = Counter()
    with suppress(csv.Error):  # the part that is examined may end inside quotation marks
        records = csv_rows(io.StringIO(text[:_EXAMINED_LENGTH], newline=""), mark)
        widths.update(len(record) for record in islice(records, _EXAMINED_RECORDS) if any(record))
    width, count = widths.most_common(1)[0] if widths else (0, 0)
    return count / max(1, widths.total()), width


def _records(text: str, mark: str, path: Path, lines_before: int) -> Iterator[tuple[int, list[str]]]:
    """Yield the first line and the fields of each record that is not blank. All have the same number of fields.

    ``lines_before`` counts the lines of the file before ``text``.
    """
    reader = csv_rows(io.StringIO(text, newline=""), mark)
    width, end = 0, 0
    try:
        for record in reader:
            line, end = lines_before + end + 1, reader.line_num
            if not any(field.strip() for field in record) and len(record) <= 1:
                continue
            width = width or len(record)
            if len(record) != width:
                raise DataError(
                    f"{path}:{lines_before + end}: {len(record)} fields where the first line has {width}; give every "
                    "line as many fields as there are names"
                )
            yield line, record
    except csv.Error as error:
        raise DataError(f"{path}:{lines_before + reader.line_num}: {error}; is a quotation mark not closed?") from None


@dataclass(frozen=True)
class UserTable:
    """Hold a table as it was read. ``frame`` has shape (n_rows, n_columns) with text, numbers, dates and booleans."""

    name: str
    """Its name without endings."""
    place: str
    """Its full path, ``openml:ID`` or ``standard input``."""
    frame: pd.DataFrame
    notes: list[str] = field(default_factory=list)
    """What was inferred while reading, in words."""
    declares_numbers: bool = False
    """Whether the file itself declares numbers. Text that looks like a number is then a category."""
    target: str | None = None
    """The target column that the source names."""
    separator: str | None = None
    """The separator of the fields of delimited text."""
    digest: str | None = None
    """Digest of the bytes of its file, None if it is not from a file."""
    lines: np.ndarray[Any, Any] | None = None
    """The line on which each row of delimited text begins, (n_rows,), counted from 1."""
    word_columns: Mapping[int, pd.Series] = field(default_factory=dict)
    """Place of a column -> the column with words such as NA, which are missing values in ``frame``."""

    def missing_words(self, target: int) -> list[str]:
        """Return the words that are missing values in any column except the one at the place ``target``."""
        columns = (column for place, column in self.word_columns.items() if place != target)
        return sorted({word for column in columns for word in MISSING.intersection(column.cat.categories)})

    def header_hint(self) -> str:
        """Return a hint for messages about a missing column, empty unless the names of delimited text hold a number."""
        if self.lines is None or not any(_is_number(str(name)) for name in self.frame.columns):
            return ""
        return "; the first line must hold the names of the columns"

    def has_changed(self) -> bool:
        """Return whether the content of its file has changed. A removed file has not changed."""
        try:
            return self.digest is not None and hash_files([Path(self.place)])[Path(self.place)] != self.digest
        except DataError:
            return Path(self.place).is_file()


def read_table(source: str) -> UserTable:
    """Return the table at ``source``: a path, ``-`` for standard input, ``openml:31`` or ``31``.

    Raises DataError, or MissingDataError for OpenML, when there is no table or it is too large (see
    ``probcal.data.sources.formats``).
    """
    if (match := _OPENML.fullmatch(source)) and not Path(source).exists():
        return _read_openml(int(match[1]))
    if source == STANDARD_INPUT:
        path, place, content, digest = Path("standard input"), "standard input", _read_standard_input(), None
    else:
        path = Path(source)
        _refuse_missing_file(path, source)
        place = str(path.resolve())
        content, digest = read_unpacked(path)
    stem = Path(path.stem) if path.suffix in OPENERS else path
    if not content.strip():
        raise DataError(f"{path}: is empty")
    separator, lines, word_columns = None, None, dict[int, pd.Series]()
    if content.startswith(b"PAR1"):
        frame, notes, declared = read_parquet(content, path), ["a Parquet file"], False
    elif stem.suffix.lower() == ".arff" or _HEAD.match(content[:100_000]):
        frame, notes, declared = read_arff(content, path), ["an ARFF file"], True
    else:
        frame, notes, separator, lines, word_columns = read_delimited_text(content, path)
        declared = False
    if not len(frame):
        raise DataError(f"{path}: has 0 rows")
    name = "stdin" if source == STANDARD_INPUT else stem.stem
    return UserTable(name, place, frame, notes, declared, None, separator, digest, lines, word_columns)


def _read_standard_input() -> bytes:
    if sys.stdin is None or sys.stdin.isatty():
        raise DataError(
            "standard input: no table comes from there; give a path, or pipe a table into the command, as in"
            "  probcal try - --target left < customers.csv"
        )
    return read_all(sys.stdin.buffer, "standard input")


def _refuse_missing_file(path: Path, source: str) -> None:
    if source.startswith("openml:"):
        raise DataError(f"{source}: an OpenML id is a number, such as openml:31")
    if re.match(r"[a-z]+://", source):
        raise DataError(f"{source}: is an address; download the file first, and give its path")
    if path.is_dir():
        raise DataError(f"{path}: is a folder; give one file of it")
    if not path.exists():
        raise DataError(f"{path}: there is no such file")
    if not path.is_file():
        raise DataError(f"{path}: is not a regular file; for a pipe, give - and redirect it to standard input")


def _read_openml(number: int) -> UserTable:
    from probcal.data.sources.openml import fetch_openml_table

    table = fetch_openml_table(number)
    notes = [f"OpenML data set {number}, {table.name} version {table.version}"]
    return UserTable(table.name, f"openml:{number}", table.frame, notes, declares_numbers=True, target=table.target)


def _is_number(text: str) -> bool:
    return not np.isnan([number(text, "."), number(text, ",")]).all()
