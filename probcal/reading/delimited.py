"""Delimited text: encoding, delimiter, names, fields as text, and the line on which each row begins."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv

from probcal._io import counted, join_first
from probcal.data.sources.formats import csv_rows
from probcal.data.text_values import decode_text
from probcal.errors import DataError
from probcal.reading.reading_options import names_line_advice, title_advice
from probcal.reading.text_column import TEXT

# DuckDB's sniffer and clevercsv would replace some 25 lines here. DuckDB 2.0 splits "spend, in EUR;left" at the comma
# and finds neither blanks nor ^ between fields. clevercsv 0.8 takes sentences for words between blanks, and needs a
# hundred times as long. charset-normalizer 3.5 takes Windows-1252 with two umlauts for HP Roman-8.
_COMMON_DELIMITERS = (";", "\t", "|", ",")
"""Delimiters in order of preference for a tie.

A comma comes last, because it can be a decimal mark or part of a name.
"""
_RARE_DELIMITERS = (" ", ":", "^", "~", "!", "#")
"""Used only where every line agrees, because they are also part of times and prose."""
_DELIMITER_NAMES = {"\t": "tabs", " ": "blanks"}
_LINE_END = re.compile(r"\r\n|\r|\n")
_BLANK_LINE = re.compile(r"(?:\A|\n)[^\S\n]+(?:\n|\Z)")
_SEPARATOR_LINE = re.compile(r'"?sep=(.)"?\r?\n')
"""The line with which Excel names the delimiter."""
_EXAMINED_LENGTH = 1 << 20
_EXAMINED_RECORDS = 200
_TITLE_PROOF = 5
"""Number of lines that must be as wide as the first one of another width, if what is above it is a title."""
_MOST_COLUMNS = 19_000
"""A card with more columns is rejected as too large."""
_BLOCK = _LONGEST_HEADER = 1 << 22
_NEWLINES = (10, 13)


class DelimitedTable(NamedTuple):
    """Hold ``columns`` of text under their ``names``, what was inferred in words, and the ``separator`` of fields.

    It is None for one column. ``lines``, (n_rows,), are the lines on which the rows begin, counted from 1.
    """

    names: list[str]
    columns: list[pa.ChunkedArray]
    notes: list[str]
    separator: str | None
    lines: npt.NDArray[Any]


def read_delimited_text(content: bytes, path: Path, skip_lines: int = 0) -> DelimitedTable:
    """Return columns of text under the names of the first line after ``skip_lines``.

    Names are unchanged, so two may be the same.

    Raises DataError, with the line, for what is no text, has no rows, or has lines with different numbers of fields.
    """
    text, notes = decode_text(content, path)
    text = _without_lines(text, skip_lines)
    separator_line = _SEPARATOR_LINE.match(text)
    delimiter = separator_line[1] if separator_line else _delimiter(text)
    text = text[separator_line.end() :] if separator_line else text
    notes.append(
        "one column" if delimiter is None else f"separated by {_DELIMITER_NAMES.get(delimiter, repr(delimiter))}"
    )
    lines_before = skip_lines + (1 if separator_line else 0)
    head = text[:_LONGEST_HEADER]
    line, header = next(_records(head, delimiter or ",", path, lines_before), (0, None))
    if header is None:
        raise DataError(f"{path}: is empty" + (f" after the first {counted(skip_lines, 'line')}" if skip_lines else ""))
    if len(header) > _MOST_COLUMNS:
        raise DataError(f"{path}: has {len(header):,} columns; at most {_MOST_COLUMNS:,} are allowed")
    if sum(map(bool, header)) <= 1 < len(header):
        rows: list[tuple[int, list[str]]] = []
        with suppress(DataError):  # a faulty line is told of below, or ends the part that is examined
            rows += islice(_records(head, delimiter or ",", path, lines_before), _EXAMINED_RECORDS)
        if advice := title_advice(rows):
            raise DataError(f"{path}:{line}: the first line has one name for several columns; {advice}")
    # equally long in ASCII, the text and the file have the same bytes, which are not made again
    encoded = content if text.isascii() and len(text) == len(content) else text.encode("utf-8", "replace")
    # in one column, a blank line could be a value: the exact reader leaves it out
    is_plain = delimiter is not None or not ('"' in text or _BLANK_LINE.search(text))
    table = _read_fast(encoded, delimiter or ",", len(header)) if is_plain else None
    columns = [] if table is None else [column.slice(1) for column in table.columns]
    # pyarrow tells no line numbers. They are known where every line is a row, or else the exact reader finds them.
    lines = _simple_lines(text, lines_before, 0 if table is None else len(table))
    if table is None or lines is None:
        records = _records(text, delimiter or ",", path, lines_before)
        next(records)  # the names
        columns, lines = _read_exactly(records, len(header))
    if not len(lines):
        raise DataError(f"{path}: has 0 rows: only a line of names ({join_first(header, 3)})")
    return DelimitedTable([name.strip() for name in header], columns, notes, delimiter, lines)


def _without_lines(text: str, n_lines: int) -> str:
    for _ in range(n_lines):
        if not (end := _LINE_END.search(text)):
            return ""
        text = text[end.end() :]
    return text


def _read_fast(content: bytes, delimiter: str, width: int) -> pa.Table | None:
    """Return all lines, that of the names too, or None for a text that only the exact reader understands."""
    if not _has_plain_quotes(content, delimiter):
        return None
    names = [f"f{index}" for index in range(width)]
    try:
        return pa.csv.read_csv(
            pa.BufferReader(content),
            pa.csv.ReadOptions(autogenerate_column_names=True, block_size=_BLOCK),
            pa.csv.ParseOptions(delimiter=delimiter, newlines_in_values=b'"' in content),
            pa.csv.ConvertOptions(column_types=dict.fromkeys(names, TEXT), strings_can_be_null=False),
        )
    except (pa.ArrowException, ValueError):
        # Lines have different lengths. The exact reader names the first of them.
        return None


def _has_plain_quotes(content: bytes, delimiter: str) -> bool:
    """Return whether every quotation mark encloses a whole field or is doubled, so that all readers agree."""
    if b'"' not in content:
        return True
    # A doubled mark stands for one mark inside a field and opens or ends nothing.
    codes = np.frombuffer(content.replace(b'""', b""), dtype=np.uint8)
    positions = np.flatnonzero(codes == ord('"'))
    if len(positions) % 2 or not delimiter.isascii():
        return False
    ends = np.array([ord(delimiter), *_NEWLINES], dtype=np.uint8)
    padded = np.concatenate([ends[-1:], codes, ends[-1:]])
    return bool(np.isin(padded[positions[0::2]], ends).all() and np.isin(padded[positions[1::2] + 2], ends).all())


def _simple_lines(text: str, lines_before: int, n_lines: int) -> npt.NDArray[Any] | None:
    """Return the line of each row if every line of the text is a row, or None."""
    if not n_lines or ("\r" in text and "\r" in text.replace("\r\n", "")):
        return None
    n_newlines = text.count("\n")
    is_simple = n_newlines == n_lines - (text[-1] != "\n")
    return np.arange(lines_before + 2, lines_before + n_lines + 1) if is_simple else None


def _read_exactly(records: Iterator[tuple[int, list[str]]], width: int) -> tuple[list[pa.ChunkedArray], Any]:
    """Return the columns and the lines of ``records``, which raises DataError for a faulty one."""
    lines: list[int] = []
    chunks: list[list[pa.Array]] = [[] for _ in range(width)]
    while batch := list(islice(records, 20_000)):
        lines += [line for line, _ in batch]
        for index, values in enumerate(zip(*(record for _, record in batch), strict=True)):
            texts = [value.encode("utf-8", "replace") for value in values]
            chunks[index].append(pa.array(texts, pa.large_binary()).cast(TEXT))
    return [pa.chunked_array(parts, TEXT) for parts in chunks], np.array(lines)


def _delimiter(text: str) -> str | None:
    """Return the delimiter by which most lines have the same number of fields, or None for one column."""
    choices = [choice for choice in ((*_agreement(text, mark), mark) for mark in _COMMON_DELIMITERS) if choice[1] > 1]
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
                next_widths: set[int] = set()
                with suppress(csv.Error):
                    next_widths = {len(other) for other in islice(reader, _TITLE_PROOF)}
                is_title = len(record) > width and next_widths == {len(record)}
                advice = names_line_advice(line) if is_title else "give every line as many fields as there are names"
                raise DataError(
                    f"{path}:{lines_before + end}: {len(record)} fields where the first line has {width}; {advice}"
                )
            yield line, record
    except csv.Error as error:
        raise DataError(f"{path}:{lines_before + reader.line_num}: {error}; is a quotation mark not closed?") from None
