"""A user's table: read from a file, standard input or OpenML to columns of text and of types."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from probcal.data.sources.arff_file import HEAD, parse_arff
from probcal.data.sources.formats import hash_files, read_all, read_unpacked
from probcal.data.sources.packed_file import OPENERS
from probcal.data.text_values import as_text
from probcal.errors import DataError
from probcal.reading.dates import date_order, parse_dates
from probcal.reading.delimited import read_delimited_text
from probcal.reading.excel_file import is_excel, read_excel
from probcal.reading.number_form import OTHER_MARK, read_numbers
from probcal.reading.parquet_file import read_parquet_columns
from probcal.reading.reading_options import READ_AS_IT_IS, ReadingOptions, names_line_advice, without_codes
from probcal.reading.text_column import MISSING, TEXT, TextColumn, is_text, text_of

STANDARD_INPUT = "-"
_MOST_TITLE_LINES = 20
# Least similarity of two names without their suffixes: one letter of four may differ.
_NEAR_NAME = 0.75
_OPENML = re.compile(r"(?:openml:)?([0-9]{1,9})")


@dataclass(frozen=True)
class UserTable:
    """Hold a table as it was read. ``columns`` are columns of text and of arrow types under ``names``."""

    name: str
    """Its name without endings."""
    origin: str
    """Its full path, ``openml:ID`` or ``standard input``."""
    names: Sequence[str]
    """The names of its columns. Two may be the same."""
    columns: Sequence[pa.ChunkedArray]
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
    lines: npt.NDArray[Any] | None = None
    """The line on which each row of text begins, or the row of a sheet, (n_rows,), counted from 1."""
    reading: ReadingOptions = READ_AS_IT_IS
    """What the user said about the file."""
    written: Sequence[pa.ChunkedArray] | None = None
    """The columns with the values of ``--missing``, where ``columns`` are without them."""

    @property
    def n_rows(self) -> int:
        """Return the number of rows."""
        return len(self.columns[0])

    @property
    def origin_name(self) -> str:
        """Return the name of the file without its folder, ``openml:ID`` or ``standard input``, for messages."""
        return Path(self.origin).name

    @property
    def as_written(self) -> UserTable:
        """Return the table with every value that the file has, for output."""
        return self if self.written is None else replace(self, columns=self.written, written=None)

    @cached_property
    def texts(self) -> Mapping[int, TextColumn]:
        """Return the columns of text by their index."""
        return {index: TextColumn(column) for index, column in enumerate(self.columns) if is_text(column.type)}

    def pandas_column(self, place: int) -> pd.Series:
        """Return one column as pandas has it: categorical text without words for missing values, numbers, booleans."""
        column = self.columns[place]
        if pa.types.is_integer(column.type) and column.null_count:
            return pd.Series(column.to_pylist(), dtype="UInt64" if pa.types.is_uint64(column.type) else "Int64")
        if pa.types.is_integer(column.type) or pa.types.is_floating(column.type) or pa.types.is_boolean(column.type):
            return column.to_pandas()
        if pa.types.is_decimal(column.type):
            return pd.Series(column.to_pylist(), dtype=object)
        return (self.texts[place] if place in self.texts else text_of(column)).categories()

    @cached_property
    def word_columns(self) -> Mapping[int, pd.Series]:
        """Return index -> column with words such as NA, which are missing values in ``pandas_column``."""
        return {
            index: column.with_words(column.words).categories() for index, column in self.texts.items() if column.words
        }

    def missing_words(self, target: int) -> list[str]:
        """Return the words that are missing values in any column except the one with the index ``target``."""
        return sorted({word for index, column in self.texts.items() if index != target for word in column.words})

    def where(self, row: int) -> str:
        """Return where a row, counted from 0, stands, for a message: file and line, or the number of the row."""
        return f"{self.origin_name}, row {row + 1}" if self.lines is None else f"{self.origin_name}:{self.lines[row]}"

    def header_hint(self, name: str = "") -> str:
        """Return a hint for messages about the missing column ``name``, empty unless the names may be elsewhere."""
        if self.lines is None or self.declares_numbers:
            return ""
        for column in self.columns:  # a title that has as many fields as there are columns
            first = [str(value).strip() for value in column.slice(0, _MOST_TITLE_LINES).to_pylist()]
            if name and name in first:
                return f"; {names_line_advice(int(self.lines[first.index(name)]))}"
        return "; the first line must hold the names of the columns" if any(map(_is_number, self.names)) else ""

    def has_changed(self) -> bool:
        """Return whether the content of its file has changed. A removed file has not changed."""
        try:
            return self.digest is not None and hash_files([Path(self.origin)])[Path(self.origin)] != self.digest
        except DataError:
            return Path(self.origin).is_file()


def read_table(source: str, options: ReadingOptions = READ_AS_IT_IS, needed: Sequence[str] = ()) -> UserTable:
    """Return the table at ``source``: a path, ``-`` for standard input, ``openml:31`` or ``31``.

    ``options`` that a format does not have, such as the sheet of a CSV file, are refused. Those of another file skip no
    line where the first line names all ``needed`` columns.

    Raises DataError, or MissingDataError for OpenML, when there is no table or it is too large (see
    ``probcal.data.sources.formats``).
    """
    if (match := _OPENML.fullmatch(source)) and not Path(source).exists():
        return mark_missing(_read_openml(int(match[1])), options)
    if source == STANDARD_INPUT:
        path, origin, content, digest = Path("standard input"), "standard input", _read_standard_input(), None
    else:
        path = Path(source)
        _refuse_missing_file(path, source)
        origin = str(path.resolve())
        content, digest = read_unpacked(path)
    stem = Path(path.stem) if path.suffix in OPENERS else path
    name = "stdin" if source == STANDARD_INPUT else stem.stem
    if not content or content.isspace():
        raise DataError(f"{path}: is empty")
    if options.is_of_another_file and options.skip_lines and needed:
        with suppress(DataError):  # a title that is no table
            table = _read_content(content, path, stem, name, origin, digest, replace(options, skip_lines=0))
            if {*needed} <= {str(one).strip() for one in table.names}:
                return table
    return _read_content(content, path, stem, name, origin, digest, options)


def _read_content(
    content: bytes, path: Path, stem: Path, name: str, origin: str, digest: str | None, options: ReadingOptions
) -> UserTable:
    # By the content and not by the name, since standard input has none.
    is_workbook, is_parquet = is_excel(content), content.startswith(b"PAR1")
    # Nulls are removed below, because UTF-16 has one in every second byte.
    is_arff = not is_workbook and (stem.suffix.lower() == ".arff" or HEAD.match(content[:100_000].replace(b"\0", b"")))
    if not options.is_of_another_file:
        if options.sheet is not None and not is_workbook:
            raise DataError(f"--sheet: {path} is no spreadsheet; leave the option out")
        if options.skip_lines and (is_parquet or is_arff):
            raise DataError(f"--skip-lines: {path} has no lines above the names; leave the option out")
    if is_workbook:
        names, columns, notes, lines = read_excel(content, path, options)
        table = UserTable(name, origin, names, columns, notes, digest=digest, lines=lines)
    elif is_parquet:
        names, columns = read_parquet_columns(content, path)
        table = UserTable(name, origin, names, columns, ["a Parquet file"], digest=digest)
    elif is_arff:
        table = _read_arff(content, path, name, origin, digest)
    else:
        names, columns, notes, separator, lines = read_delimited_text(content, path, options.skip_lines)
        table = UserTable(name, origin, names, columns, notes, separator=separator, digest=digest, lines=lines)
    if not table.columns or not table.n_rows:
        raise DataError(f"{path}: has 0 rows")
    return mark_missing(table, options)


def mark_missing(table: UserTable, options: ReadingOptions) -> UserTable:
    """Return the table in which the values of ``--missing`` are missing."""
    table = replace(table, reading=options)
    if not options.missing:
        return table
    columns, notes = without_codes(table.columns, options.missing)
    return replace(table, columns=columns, notes=[*table.notes, *notes], written=table.columns)


def table_of_frame(frame: pd.DataFrame, options: ReadingOptions = READ_AS_IT_IS) -> UserTable:
    """Return a frame of a program as a table. Raises DataError if it has no rows."""
    names, columns = _columns_of(frame)
    if not columns or not len(frame):
        raise DataError("the frame has 0 rows")
    return mark_missing(UserTable("frame", "the frame", names, columns), options)


def _read_arff(content: bytes, path: Path, name: str, origin: str, digest: str | None) -> UserTable:
    arff = parse_arff(content, path)
    columns = []
    for kind, values in zip(arff.kinds, arff.columns, strict=True):
        text = pa.chunked_array([pa.array(values, TEXT)])
        columns.append(_typed_arff(kind, text))
    notes = ["an ARFF file"]
    if arff.has_weights:
        notes.append("the weights of its rows in braces are not used")
    return UserTable(name, origin, arff.names, columns, notes, declares_numbers=True, digest=digest, lines=arff.lines)


def _typed_arff(kind: str, text: pa.ChunkedArray) -> pa.ChunkedArray:
    if kind == "numeric":
        numbers = text.cast(pa.float64())
        try:  # integers beyond 2^53 are ids, which must not become equal
            return text.cast(pa.int64())
        except pa.ArrowInvalid:
            return numbers
    if kind == "date":
        array = text.combine_chunks()
        counts = array.value_counts()
        order = date_order(counts.field("values"), counts.field("counts").to_numpy(zero_copy_only=False))
        if order in ("year month day", "day month year", "month day year"):
            days = parse_dates(array, order)  # type: ignore[arg-type]  # one of three literals
            ticks = pa.array((days * 86_400e6).round(), from_pandas=True).cast(pa.int64())
            return pa.chunked_array([ticks.cast(pa.timestamp("us"))])
    return text


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
        raise DataError(f"{path}: there is no such file{_near_name_beside(path)}")
    if not path.is_file():
        raise DataError(f"{path}: is not a regular file; for a pipe, give - and redirect it to standard input")


def _near_name_beside(path: Path) -> str:
    """Return a question with the name of a file beside ``path`` that is nearly its own, otherwise an empty text.

    Suffixes do not count: ``.csv`` alone makes a third of two short names equal.
    """
    try:
        beside = {one.stem.lower(): one.name for one in sorted(path.parent.iterdir()) if one.is_file()}
    except OSError:
        return ""
    near = get_close_matches(path.stem.lower(), beside, n=1, cutoff=_NEAR_NAME)
    return f'; did you mean "{beside[near[0]]}"?' if near else ""


def _read_openml(number: int) -> UserTable:
    from probcal.data.sources.openml import fetch_openml_table

    table = fetch_openml_table(number)
    notes = [f"OpenML data set {number}, {table.name} version {table.version}"]
    names, columns = _columns_of(table.frame)
    return UserTable(table.name, f"openml:{number}", names, columns, notes, declares_numbers=True, target=table.target)


def _columns_of(frame: pd.DataFrame) -> tuple[list[str], list[pa.ChunkedArray]]:
    """Return the names and the columns of a frame, (n_rows, n_columns), of numbers and text."""
    columns = []
    for index in range(frame.shape[1]):
        values = frame.iloc[:, index]
        is_number = pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values)
        if not is_number and not pd.api.types.is_datetime64_any_dtype(values):
            values = values.astype(object).where(values.notna(), None)
        try:
            array = pa.array(values, from_pandas=True)
        except pa.ArrowException:  # values of several types, such as numbers and a word for a missing one
            array = pa.array([None if value is None else as_text(value) for value in values], TEXT)
        # a column of a few rows may hold only missing values, which any kind of column has
        is_written = is_text(array.type) or (pa.types.is_null(array.type) and values.isna().all())
        columns.append(pa.chunked_array([array.cast(TEXT) if is_written else array]))
    return list(map(str, frame.columns)), columns


def _is_number(text: str) -> bool:
    column = TextColumn(pa.array([text], TEXT), MISSING)
    return any(read_numbers(column, mark, is_declared=True) is not None for mark in OTHER_MARK)
