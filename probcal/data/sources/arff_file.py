"""Dense ARFF files: their attributes, and their rows as text, as Weka reads them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

import arff
import numpy as np
import numpy.typing as npt

from probcal.data.text_values import NUMBER, decode_text
from probcal.errors import DataError

AttributeKind = Literal["numeric", "date", "text"]
HEAD = re.compile(rb"(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)?(?:\s|%[^\n]*\n)*@relation\b", re.IGNORECASE)
"""The beginning of an ARFF file."""
_ATTRIBUTE = re.compile(
    r"""\s*@attribute\s+('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^\s'"{]+)\s*(\{.*|[a-z]+.*)""", re.IGNORECASE
)
_KINDS: dict[str, AttributeKind] = {
    "numeric": "numeric", "real": "numeric", "integer": "numeric", "date": "date", "string": "text",
}  # fmt: skip


@dataclass(frozen=True)
class ArffTable:
    """Hold the attributes of an ARFF file, and its rows as text. None is a missing value."""

    names: list[str]
    kinds: list[AttributeKind]
    columns: list[tuple[str | None, ...]]
    lines: npt.NDArray[np.int64]
    """The line of each row, (n_rows,), counted from 1."""
    has_weights: bool
    """Whether rows have different weights in braces, which are not read."""


def parse_arff(content: bytes, path: object) -> ArffTable:
    """Return a dense ARFF file. Raise DataError when it is not sound, with the line where it is known.

    A comment may follow an attribute, and a weight in braces may follow a row. The encoding is inferred.
    """
    # liac-arff alone rounds numbers, and refuses dates, weights and comments behind attributes. SciPy's reader refuses
    # strings and levels that end with a space, and scikit-learn's needs the description on OpenML beside the file.
    text, _ = decode_text(content, path)
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    start = next((number for number, line in enumerate(lines) if line.strip().lower() == "@data"), len(lines))
    # The parser would take any line that begins with @data, and drop the rest of it.
    if start == len(lines):
        begins = (number for number, line in enumerate(lines, 1) if line.lstrip().lower().startswith("@data"))
        where = f"{path}:{number}" if (number := next(begins, None)) else f"{path}"
        raise DataError(f"{where}: is not sound ARFF: the rows must follow a line that holds @data alone")
    kinds: list[AttributeKind] = []
    header = [_header_line(line, kinds) for line in lines[:start]]
    rows, weights = [], set[str]()
    for number, line in enumerate(lines[start + 1 :], start + 2):
        bare = line.strip()
        if bare.startswith("{"):
            raise DataError(f"{path}:{number}: is a row of a sparse ARFF file; only dense ones are read")
        if bare.endswith("}") and (brace := bare.rfind("{")) > 0 and bare[:brace].rstrip().endswith(","):
            weights.add(bare[brace + 1 : -1].strip())
            bare = bare[:brace].rstrip()[:-1]
        rows.append(bare)
    try:
        table = arff.loads("\n".join([*header, *lines[start : start + 1], *rows]))
    except arff.ArffException as error:
        # str(error) fails where the file holds a percent sign
        fault = error.message.replace("%d", str(error.line), 1).partition(", at line")[0].rstrip(".")
        raise DataError(f"{path}:{max(error.line, 1)}: is not sound ARFF: {fault}") from None
    except Exception as error:  # some faults make the parser raise other errors
        raise DataError(f"{path}: is not sound ARFF: {error}") from None
    if not table["data"]:
        raise DataError(f"{path}: holds no data")
    line_numbers = [number for number, row in enumerate(rows, start + 2) if row and not row.startswith("%")]
    columns = [_texts(values) for values in zip(*table["data"], strict=True)]
    names = [name for name, _ in table["attributes"]]
    if not len(names) == len(kinds) == len(columns):
        raise DataError(
            f"{path}: is not sound ARFF: the name of an attribute holds a quotation mark; put the whole name in"
            " quotation marks of the other kind"
        )
    for name, kind, values in zip(names, kinds, columns, strict=True):
        if kind == "numeric":
            _refuse_text(name, values, line_numbers, path)
    return ArffTable(names, kinds, columns, np.array(line_numbers), len(weights) > 1)


def _header_line(line: str, kinds: list[AttributeKind]) -> str:
    """Return a line of the header for the parser, without a comment. Add the kind of an attribute to ``kinds``."""
    # A blank first line would shift the parser's numbers of lines.
    line = _without_comment(line).strip() or "%"
    match = _ATTRIBUTE.match(line)
    if match is None:
        return line
    declared = match[2].strip()
    word = "" if declared.startswith("{") else declared.split()[0].lower()
    if word and word not in _KINDS:
        return line  # which the parser refuses
    kinds.append(_KINDS.get(word, "text"))
    # Numbers and dates are read as text, so that none is rounded.
    return f"@attribute {match[1]} {declared if not word else 'STRING'}"


def _without_comment(line: str) -> str:
    quote, escaped = "", False
    for position, letter in enumerate(line):
        if escaped:  # a character behind a backslash neither opens nor ends anything
            escaped = False
        elif letter == "\\":
            escaped = True
        elif quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        elif letter == "%":
            return line[:position]
    return line


def _texts(values: tuple[object, ...]) -> tuple[str | None, ...]:
    return tuple(None if value is None else str(value).strip() for value in values)


def _refuse_text(name: str, values: tuple[str | None, ...], line_numbers: list[int], path: object) -> None:
    for value, number in zip(values, line_numbers, strict=True):
        if value is not None and not NUMBER.fullmatch(value) and value.lower() not in ("nan", "inf", "-inf"):
            fault = f"Invalid numerical value {value!r} of attribute {name!r}"
            raise DataError(f"{path}:{number}: is not sound ARFF: {fault}")
