"""The one place that writes CSV: tables for other programs, and rows of data that are read back."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable

Field = str | float | None
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""What a spreadsheet takes for the beginning of a formula, the last four as East Asian keyboards write them."""
_NUMBER = r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|[-+]?(?:inf|nan)"
_NUMBERS = re.compile(rf"(?:(?:{_NUMBER}|-)(?: |$))+")
"""A number, or several with blanks between them; - alone stands for one that is missing."""
_QUOTE = "'"


def csv_text(rows: Iterable[Iterable[Field]]) -> str:
    """Return ``rows`` as lines of CSV for a program or a spreadsheet; no field can be taken for a formula.

    A text that begins like one gets ``'`` in front; ``as_it_was`` takes it away again. Numbers stay as they are.
    """
    return _written([_without_formula(field) for field in row] for row in rows)


def data_text(rows: Iterable[Iterable[Field]]) -> str:
    """Return ``rows`` of a data set as lines of CSV, every field as it is.

    What learns from them must read the very values again: ``-`` and ``=1`` may be categories or labels. Show people
    ``csv_text`` instead.
    """
    return _written(rows)


def as_it_was(field: str) -> str:
    """Return the text that ``csv_text`` wrote as ``field``."""
    return field[1:] if field[:1] == _QUOTE and _begins_a_formula(field[1:].lstrip(_QUOTE)) else field


def _without_formula(field: Field) -> Field:
    # a text that has the quote already gets another, so that it comes back as it was
    if isinstance(field, str) and _begins_a_formula(field.lstrip(_QUOTE)):
        return _QUOTE + field
    return field


def _begins_a_formula(text: str) -> bool:
    return text.lstrip(" ").startswith(_FORMULA) and not _NUMBERS.fullmatch(text)


def _written(rows: Iterable[Iterable[Field]]) -> str:
    lines = _Lines()
    csv.writer(lines, lineterminator=_END).writerows(rows)
    return "".join(line.removesuffix(_END) + "\n" for line in lines)


_END = "\r\n"
"""Of a line while it is written: a field is quoted for what the end of a line holds, and \\r alone ends one too."""


class _Lines(list[str]):
    """What ``csv.writer`` writes a row at a time."""

    write = list.append
