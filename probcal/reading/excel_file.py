"""Spreadsheets (.xlsx, .xlsm, .xls, .ods): one sheet as typed columns, with the names in its first row."""

from __future__ import annotations

import datetime
import io
import re
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from probcal._io import join_first
from probcal.data.sources.formats import largest_data, read_all
from probcal.data.text_values import as_text
from probcal.errors import DataError, did_you_mean, require
from probcal.reading.reading_options import ReadingOptions, title_advice
from probcal.reading.text_column import TEXT

_OLD_FORMAT = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ARCHIVE = b"PK\x03\x04"
_ODS_CONTENT, _ODS_TYPE = "content.xml", b"application/vnd.oasis.opendocument.spreadsheet"
_ATTRIBUTES = rb"""((?:[^>"']|"[^"]*"|'[^']*')*)"""
_ODS_PART = re.compile(rb"<(?:\w+:)?(table|table-row|table-cell|covered-table-cell)(?=[\s/>])" + _ATTRIBUTES + rb">")
_ODS_REPEATED = re.compile(rb"""number-(?:rows|columns)-repeated\s*=\s*["']\s*([0-9]{1,9})""")
_WORKBOOK, _TEXTS = "xl/workbook.xml", "xl/sharedStrings.xml"
_SHEET = re.compile(r"xl/worksheets/[^/]+\.xml")
_CELL = re.compile(rb"""<(?:\w+:)?c\b[^>]*?\br=["']([A-Z]{1,3})([0-9]{1,7})["']""")
_SHARED_TEXT = re.compile(rb"""<(?:\w+:)?c\b[^>]*?\bt=["']s["'][^>]*>\s*<(?:\w+:)?v>([0-9]{1,9})<""")
_CELL_BYTES = 32
"""Memory of an empty cell in the reader."""
_MOST_NAMES = 10


class ExcelTable(NamedTuple):
    """Hold ``columns`` under their ``names``, what was inferred in words, and the number of each row in the sheet."""

    names: list[str]
    columns: list[pa.ChunkedArray]
    notes: list[str]
    lines: npt.NDArray[Any]


def is_excel(content: bytes) -> bool:
    """Return whether ``content`` is a workbook of Excel or of OpenDocument, by its own bytes."""
    if content.startswith(_OLD_FORMAT):
        return True
    if not content.startswith(_ARCHIVE):
        return False
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            names = archive.namelist()
            return _WORKBOOK in names or (
                {"mimetype", _ODS_CONTENT} <= {*names} and archive.read("mimetype").strip() == _ODS_TYPE
            )
    except (zipfile.BadZipFile, ValueError):
        return False


def read_excel(content: bytes, path: Path, options: ReadingOptions) -> ExcelTable:
    """Return the columns of a sheet. A formula has the value that Excel stored.

    Raises DataError for a file that is damaged, protected by a password or too large, for several sheets with cells
    without ``options.sheet``, and for a sheet without rows. Raises MissingPackage without python-calamine.
    """
    require("python_calamine", f"{path}: a spreadsheet")
    from python_calamine import CalamineError, CalamineWorkbook, PasswordError

    if content.startswith(_ARCHIVE):
        _refuse_too_large(content, path)
    try:
        with CalamineWorkbook.from_filelike(io.BytesIO(content)) as workbook:
            name = _sheet_name(workbook, path, options)
            sheet = workbook.get_sheet_by_name(name)
            first, rows = (sheet.start or (0, 0))[0], sheet.to_python()
    except PasswordError:
        raise DataError(f"{path}: is protected by a password; save it without, or save the sheet as CSV") from None
    except (CalamineError, OSError) as error:
        raise DataError(f"{path}: cannot be read as a spreadsheet ({error}); save it again, or as CSV") from None
    numbered = [(number, row) for number, row in enumerate(rows, first + 1) if number > options.skip_lines]
    numbered = [(number, row) for number, row in numbered if any(value != "" for value in row)]
    where = f'{path}: sheet "{name}"'
    if len(numbered) < 2:
        raise DataError(f"{where} has 0 rows below the names of the columns")
    if advice := title_advice(numbered):
        raise DataError(f"{where}: row {numbered[0][0]} has one name for several columns; {advice}")
    header, values = numbered[0][1], [row for _, row in numbered[1:]]
    # a blank column between two tables, or after the last one, has no name and no value
    places = [place for place, name in enumerate(header) if name != "" or any(row[place] != "" for row in values)]
    names = [as_text(_without_time(header[place])).strip() for place in places]
    columns = [_column([row[place] for row in values]) for place in places]
    return ExcelTable(names, columns, [f'sheet "{name}"'], np.array([number for number, _ in numbered[1:]]))


def _sheet_name(workbook: Any, path: Path, options: ReadingOptions) -> str:
    names, wanted = list(workbook.sheet_names), options.sheet
    if wanted in names:
        return str(wanted)
    if wanted is not None and not options.is_of_another_file:
        raise DataError(
            f'--sheet: {path} has no sheet "{wanted}"{did_you_mean(wanted, names)} '
            f"(it has: {join_first(names, _MOST_NAMES)})"
        )
    filled = [name for name in names if workbook.get_sheet_by_name(name).total_height > 0]
    if not filled:
        raise DataError(f"{path}: has no sheet with cells")
    if len(filled) > 1:
        raise DataError(f"{path}: has {len(filled)} sheets ({join_first(filled, _MOST_NAMES)}); name one with --sheet")
    return str(filled[0])


def _refuse_too_large(content: bytes, path: Path) -> None:
    """Raise DataError for a file that needs too much memory, before the reader of another language allocates it.

    A few packed bytes can stand for gigabytes of XML, one far cell for a sheet of empty ones, and many cells for one
    long text.
    """
    limit, size, lengths = largest_data(), 0, np.zeros(0, dtype=np.int64)
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            sheets = []
            # the shared texts first, because the sheets refer to them
            for member in sorted(archive.infolist(), key=lambda member: member.filename != _TEXTS):
                with archive.open(member) as file:
                    xml = read_all(file, path)
                size += len(xml)
                if _SHEET.fullmatch(member.filename):
                    sheets.append(_extent(xml) * _CELL_BYTES)
                    sheets.append(int(lengths[_shared_places(xml, len(lengths))].sum()))
                elif member.filename == _ODS_CONTENT:
                    sheets += _ods_sizes(xml)
                elif member.filename == _TEXTS:
                    lengths = np.array([len(text) for text in xml.split(b"</si>")])
                if max([size, *sheets]) > limit:
                    raise DataError(
                        f"{path}: is larger than {limit // 1_000_000:,} MB unpacked; if it is meant to be, set "
                        "PROBCAL_LARGEST_MB to as many megabytes as it may have"
                    )
    except (zipfile.BadZipFile, EOFError, OSError, RuntimeError, NotImplementedError) as error:
        raise DataError(f"{path}: cannot be unpacked ({error}); get the file again") from None


def _extent(xml: bytes) -> int:
    """Return the number of cells of the smallest rectangle that holds all cells of a sheet."""
    columns, rows = 0, 0
    for column, row in _CELL.findall(xml):
        columns = max(columns, _column_number(column))
        rows = max(rows, int(row))
    return columns * rows


def _ods_sizes(xml: bytes) -> list[int]:
    """Return the memory of the cells of all sheets of OpenDocument, and of their repeated texts, in bytes.

    Empty rows and cells after the last ones with content take none.
    """
    cells, texts, rows, columns, last, row_times, place = 0, 0, 0, 0, 0, 1, 0
    parts = [*_ODS_PART.finditer(xml)]
    ends = [*(part.start() for part in parts[1:]), len(xml)] if parts else []
    for part, end in zip(parts, ends, strict=True):
        repeated = _ODS_REPEATED.search(part[2])
        times = int(repeated[1]) if repeated else 1
        if part[1] == b"table":
            cells, rows, columns, last = cells + columns * last, 0, 0, 0
        elif part[1] == b"table-row":
            rows, row_times, place = rows + times, times, 0
        else:
            place += times
            if not part[2].endswith(b"/") or b"value" in part[2]:
                columns, last = max(columns, place), rows
                texts += row_times * times * (end - part.start())
    return [(cells + columns * last) * _CELL_BYTES, texts]


def _column_number(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + letter - ord("A") + 1
    return number


def _shared_places(xml: bytes, n_texts: int) -> npt.NDArray[np.int64]:
    places = np.array([int(place) for place in _SHARED_TEXT.findall(xml)], dtype=np.int64)
    return places[places < n_texts]


def _column(values: Sequence[Any]) -> pa.ChunkedArray:
    """Return the cells of a column: numbers, dates or booleans if all are, and texts otherwise. Empty ones are null."""
    present = [None if value == "" else _without_time(value) for value in values]
    kinds = {type(value) for value in present if value is not None}
    if kinds and kinds <= {int, float}:
        numbers = pa.array([None if value is None else float(value) for value in present], pa.float64())
        try:  # Excel stores every number as a float, and 5 of another file is a whole number
            return pa.chunked_array([numbers.cast(pa.int64())])
        except pa.ArrowInvalid:
            return pa.chunked_array([numbers])
    if kinds == {bool}:
        return pa.chunked_array([pa.array(present, pa.bool_())])
    if kinds and kinds <= {datetime.datetime, datetime.date}:
        whole = [None if value is None else _as_datetime(value) for value in present]
        return pa.chunked_array([pa.array(whole, pa.timestamp("us"))])
    texts = [None if value is None else as_text(value) for value in present]
    return pa.chunked_array([pa.array(texts, TEXT)])


def _without_time(value: Any) -> Any:
    """Return a date in place of a time at midnight, as Excel shows it."""
    is_midnight = isinstance(value, datetime.datetime) and value.time() == datetime.time()
    return value.date() if is_midnight else value


def _as_datetime(value: datetime.date) -> datetime.datetime:
    return value if isinstance(value, datetime.datetime) else datetime.datetime.combine(value, datetime.time())
