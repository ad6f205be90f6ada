"""Warnings about columns and labels that make results too good or too bad."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from probcal._io import counted, join_first
from probcal.data.text_values import as_text
from probcal.reading.number_form import LARGEST_EXACT
from probcal.try_table.column_types import TableColumn

# Numbers that surveys and laboratories write for a missing value.
_MISSING_CODE = re.compile(r"-9|-?9{2,}(\.9+)?")
# Numbers beside 99 and 999 that surveys write where nobody answered.
_REFUSED_CODE = re.compile(r"9+[678]")
_FEWEST_CODE_ROWS = 3
# Such a number lies this many times the range of all other values away from them.
_FEWEST_RANGES = 2.0
_MOST_NAMES = 5
# The day 9999-01-01. Databases write 9999-12-31 where a period has no end.
_LAST_YEAR = 2_932_532
_MOST_DOUBTS = 10
# Range of the whole numbers that ids and keys of 64 bits have, and that a float64 does not hold exactly.
_ROUNDED = (LARGEST_EXACT, 2.0**64)


def warnings(columns: Sequence[TableColumn], labels: npt.NDArray[Any]) -> Iterator[tuple[str, str]]:
    """Yield code and text of a warning for each doubtful column, (n_rows,), or pair of ``labels`` of the same rows."""
    n_doubts = 0
    for column in columns:
        if column.kind == "number" and (codes := _missing_codes(column)):
            listing = " and ".join(f"{as_text(number)} in {counted(rows)}" for number, rows in codes)
            yield (
                "missing-code",
                f"{_names_text([column.name])} is {listing}, far from all others, and read as a number; if it stands "
                f"for a missing value, --missing {as_text(codes[0][0])} makes it one in every column",
            )
        if column.kind == "number" and (n_rounded := _count_rounded(column)):
            yield (
                "rounded-number",
                f"{_names_text([column.name])} holds numbers above 9,007,199,254,740,992 in {counted(n_rounded)}, "
                f'whose last digits are rounded; if they are ids, --drop "{column.name}" leaves them out, or '
                f'--category "{column.name}" keeps all digits',
            )
        if column.kind == "date" and (far := int((column.values >= _LAST_YEAR).sum())):
            yield (
                "open-end",
                f"{_names_text([column.name])} is in the year 9999 in {counted(far)}, and read as a date; if it stands "
                "for an open end, make those fields empty",
            )
        if column.plan is not None and column.plan.kind != "indicator" and column.plan.words:
            listing = " and ".join(map(repr, column.plan.words))
            yield (
                "words",
                f"{_names_text([column.name])} holds {listing} between its {column.kind}s, which are missing values "
                "there with a column that marks their rows",
            )
        if column.doubt and (n_doubts := n_doubts + 1) <= _MOST_DOUBTS:
            yield "doubtful-text", column.doubt
    if n_doubts > _MOST_DOUBTS:
        more = counted(n_doubts - _MOST_DOUBTS, "more column")
        yield "doubtful-text", f"{more} with text that looks like numbers or dates"
    spellings: dict[str, list[str]] = {}
    for label in sorted(set(labels)):
        spellings.setdefault(label.casefold(), []).append(label)
    for group in spellings.values():
        if len(group) > 1:
            yield "capitals", f"labels that differ only in capitals are read as different classes: {_names_text(group)}"


def _count_rounded(column: TableColumn) -> int:
    """Return the number of rows with a number in ``_ROUNDED``, of either sign."""
    sizes = np.abs(column.values.to_numpy(np.float64))
    return int(((sizes > _ROUNDED[0]) & (sizes < _ROUNDED[1])).sum())


def _missing_codes(column: TableColumn) -> list[tuple[float, int]]:
    """Return the numbers of ``column`` that look like missing values, each with how many rows have it."""
    present = column.values.dropna().to_numpy(np.float64)
    if not _begins_with_nine(present).any():  # nearly always, and to sort all numbers takes a while
        return []
    numbers, rows = np.unique(present, return_counts=True)
    is_code, is_refusal = np.zeros((2, len(numbers)), dtype=bool)
    for index in np.flatnonzero(rows >= _FEWEST_CODE_ROWS):
        text = as_text(numbers[index])
        is_code[index], is_refusal[index] = bool(_MISSING_CODE.fullmatch(text)), bool(_REFUSED_CODE.fullmatch(text))
    plain_numbers = numbers[~is_code & ~is_refusal]
    if not len(plain_numbers):
        return []
    low, high = plain_numbers.min(), plain_numbers.max()
    distance = _FEWEST_RANGES * (high - low)
    is_far = ((numbers < 0) & (low >= 0)) | (numbers < low - distance) | (numbers > high + distance)
    is_missing = (is_code & is_far) | (is_refusal & is_far & (numbers > _FEWEST_RANGES * max(abs(low), abs(high))))
    if is_missing.any():  # beside one such number, others need not be far
        is_missing |= is_code & ((numbers < low) | (numbers > high))
    return [(float(number), int(count)) for number, count in zip(numbers[is_missing], rows[is_missing], strict=True)]


def _begins_with_nine(numbers: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    """Return whether each number above 8.9 begins with 9, as codes for missing values do. A little less counts, too."""
    sizes = np.abs(numbers)
    sizes = sizes[sizes > 8.9]
    return np.asarray(sizes / 10.0 ** np.floor(np.log10(sizes)) > 8.9)


def _names_text(names: Sequence[str]) -> str:
    return join_first((f'"{name}"' for name in names), _MOST_NAMES)
