"""What a file does not say itself: its sheet, the lines above the names, and the codes for missing values."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from probcal._io import counted
from probcal.data.text_values import as_text
from probcal.reading.text_column import TEXT, is_number, is_text, one_array, text_of

MINUS = "\N{MINUS SIGN}"
_PLAIN_NUMBER = re.compile(f"([-+{MINUS}]?)([0-9]+)(?:[.,]([0-9]+))?")
_THOUSAND_DIGITS = 3
_MOST_TITLE_LINES = 20


@dataclass(frozen=True)
class ReadingOptions:
    """Hold the options of the command line that say how to read a file."""

    sheet: str | None = None
    """The sheet of a spreadsheet. None means its only one with cells."""
    skip_lines: int = 0
    """Number of lines above the names: a title or a comment."""
    missing: tuple[str, ...] = ()
    """Numbers and words that mean a missing value, such as -99, besides the usual ones."""
    is_of_another_file: bool = False
    """Whether they were given for the training rows, so that a format without sheets or lines ignores them."""


READ_AS_IT_IS = ReadingOptions()


def without_codes(
    columns: Sequence[pa.ChunkedArray], missing: Sequence[str]
) -> tuple[list[pa.ChunkedArray], list[str]]:
    """Return ``columns`` in which every value of ``missing`` is null, and a note on each of these values.

    A number is the same in every spelling: ``-99`` is also ``-99.0`` and ``-99,0``. A text that is one number with a
    decimal point and another with a decimal comma is none of them.
    """
    result, counts = [], dict.fromkeys(missing, 0)
    for column in columns:
        for code in missing:
            mask = _mask(column, code)
            if (n := pc.sum(mask).as_py() or 0) > 0:
                counts[code] += n
                column = pa.chunked_array(
                    [pc.if_else(one_array(mask), pa.scalar(None, column.type), one_array(column))]
                )
        result.append(column)
    notes = [
        f"{code!r} is a missing value in {counted(n, 'field')}" if n else f"{code!r} of --missing is in no field"
        for code, n in counts.items()
    ]
    return result, notes


def _mask(column: pa.ChunkedArray, code: str) -> pa.ChunkedArray:
    """Return (n_rows,) whether each value is ``code``."""
    number = _number(code)
    if pa.types.is_null(column.type):
        return pa.chunked_array([pa.array(np.zeros(len(column), dtype=bool))])
    if is_number(column.type):
        return pc.equal(column.cast(pa.float64(), safe=False), pa.scalar(number)).fill_null(False)
    texts = column.cast(TEXT) if is_text(column.type) else pa.chunked_array([_texts(column)])
    spellings = [
        text
        for text in pc.unique(texts).to_pylist()
        if text is not None and (text.strip() == code.strip() or (is_text(column.type) and _number(text) == number))
    ]
    return pc.is_in(texts, value_set=pa.array(spellings, TEXT))


def _texts(column: pa.ChunkedArray) -> pa.Array:
    codes, levels = text_of(column).encoded
    return pa.array([*levels, None], TEXT).take(pa.array(codes % (len(levels) + 1)))


def _number(text: str) -> float:
    """Return the number that a text is with a decimal point and with a decimal comma, or NaN."""
    match = _PLAIN_NUMBER.fullmatch(text.strip())
    # three digits after a mark may be decimals or thousands, and 007 is a code
    if match is None or len(match[3] or "") == _THOUSAND_DIGITS or (len(match[2]) > 1 and match[2][0] == "0"):
        return np.nan
    return float(f"{'-' * (match[1] in ('-', MINUS))}{match[2]}.{match[3] or 0}")


def title_advice(rows: Sequence[tuple[int, Sequence[object]]]) -> str:
    """Return the option that helps if the first of ``rows`` are a title or a comment, or an empty text.

    Each row is the number of its line, counted from 1, and its fields. A title fills the first
    field or none, where a row below it
    fills several.
    """
    filled = [sum(bool(as_text(field).strip()) for field in fields) for _, fields in rows[:_MOST_TITLE_LINES]]
    # an unnamed index makes the first name blank, and is no title
    if not filled or filled[0] > 1 or (filled[0] and not as_text(rows[0][1][0]).strip()):
        return ""
    for (line, _), n_filled in zip(rows, filled, strict=False):
        if n_filled > 1:
            return names_line_advice(line)
    return ""


def names_line_advice(line: int) -> str:
    """Return the option that helps if the names of the columns are in ``line``, counted from 1."""
    return f"if the names are in line {line}, add --skip-lines {line - 1}"
