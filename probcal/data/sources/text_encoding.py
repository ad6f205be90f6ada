"""The encoding of a file of text: UTF-8 with or without its mark, UTF-16, or else Windows-1252."""

from __future__ import annotations

import codecs

from probcal.errors import DataError

_EXAMINED_LENGTH = 1 << 20


def decode_text(content: bytes, path: object) -> tuple[str, list[str]]:
    """Return the text of a file, and a note unless it is UTF-8. Its encoding is UTF-8, UTF-16 or Windows-1252.

    Raises DataError for what is no text.
    """
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return content.decode("utf-16", "replace"), ["UTF-16 text"]
    if b"\0" in content[:_EXAMINED_LENGTH]:
        hint = " (an Excel file or another archive; save the table as CSV)" if content.startswith(b"PK") else ""
        raise DataError(f"{path}: is not a table of text{hint}; CSV, TSV, ARFF and Parquet files are read")
    try:
        return content.decode("utf-8-sig"), []
    except UnicodeDecodeError:
        return content.decode("cp1252", "replace"), ["not UTF-8, so read as Windows-1252"]
