"""Text that looks like numbers or dates and is not read as such: why, and the option that helps."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from probcal._io import join_first, shortened
from probcal.errors import DataError
from probcal.reading.number_form import NumberForm, normalised, parse_numbers
from probcal.reading.text_column import TEXT, TextColumn

_LIKE_NUMBER = r"^[<>~≈≤≥=(]*\s*[-+]?\s*(?:[A-Z]{3}|[A-Z]{1,2}\$|(?:Rs|kr|Fr)\.?|\p{Sc}|%)?\s*[-+]?[.,]?[0-9]"
"""The beginning of a number, perhaps with a sign, a currency or a limit before it."""
_CODE = r"^[-+]?0[0-9]+$"
_SHORT_DATE = re.compile(r"[0-9]{1,2}[-/. ](?:[0-9]{1,2}|[A-Za-z]{3,9}\.?)[-/. ][0-9]{2}(?![0-9])")
_LIMIT = ("<", ">", "~", "≈", "≤", "≥")
_FEWEST_NUMBERS = 5
_MOST_WORDS = 10


def doubt_of(name: str, text: TextColumn, left_out: bool, undecided: str = "") -> str:
    """Return why a column of text is no number, with two of its values and the option that helps, or an empty text.

    ``undecided`` is a value that has two readings. The text is empty where few values look like numbers.
    """
    treatment = "is left out" if left_out else "is a category"
    if undecided:
        other = next((level for level in text.counts if level != undecided), undecided)
        return (
            f'"{name}" holds {undecided!r} and {other!r}, and nothing says whether the mark is a decimal mark or '
            f"groups thousands, so it {treatment}; --decimal . or --decimal , says which"
        )
    levels = list(text.counts)
    texts = normalised(pa.array(levels, TEXT))
    like_number = pc.match_substring_regex(texts, _LIKE_NUMBER).fill_null(False).to_pylist()
    codes = pc.match_substring_regex(texts, _CODE).fill_null(False).to_pylist()
    alike = [level for level, is_like in zip(levels, like_number, strict=True) if is_like]
    rows, n_rows = sum(text.counts[level] for level in alike), sum(text.counts.values())
    if 2 * rows <= n_rows or any(codes):
        return ""
    words = [level for level, is_like in zip(levels, like_number, strict=True) if not is_like]
    values = parse_numbers(pa.array(levels, TEXT), NumberForm())
    plain = [level for level, value in zip(levels, values.tolist(), strict=True) if not math.isnan(value)]
    if words and len(plain) == len(alike) >= _FEWEST_NUMBERS and len(words) <= _MOST_WORDS:
        return (
            f'"{name}" holds numbers such as {plain[0]!r} and {join_first(map(repr, words), 5)}, and {treatment}; '
            f'--number "{name}" reads the numbers and takes all else as missing'
        )
    first, second = alike[0], words[0] if words else _of_another_shape(alike)
    if _is_like_date(first):
        fault, advice = "dates with years of two digits", "write years of four digits"
    else:
        fault, advice = "not plain numbers written alike", "write plain numbers"
    remedy = f'--category "{name}" keeps the texts' if left_out else f'--drop "{name}" leaves it out'
    return (
        f'"{name}" holds {shortened(first, 20)!r} and {shortened(second, 20)!r}, which are {fault}, and {treatment}; '
        f"{advice}, or {remedy}"
    )


def _is_like_date(text: str) -> bool:
    return _SHORT_DATE.match(text[:30]) is not None


def _of_another_shape(levels: Sequence[str]) -> str:
    """Return the first text that is written in another way than the first one, or else the second text."""

    def shape(level: str) -> str:
        return re.sub("[0-9]+", "0", level[:50])

    return next((level for level in levels if shape(level) != shape(levels[0])), levels[min(1, len(levels) - 1)])


def refuse_other_numbers(name: str, words: Sequence[str], text: TextColumn, where: Callable[[int], str]) -> None:
    """Raise DataError for a text with digits between the numbers that the user asked for, unless it is a limit.

    ``where`` returns the place of a row.
    """
    for word in words:
        if any(letter.isdigit() for letter in word) and not word.startswith(_LIMIT):
            raise DataError(
                f'{where(text.first_row(word))}: --number: column "{name}" holds {shortened(word, 40)!r}, which is not '
                "written like its other numbers; write plain numbers, leave the field empty, or leave out --number"
            )
