"""Read numbers written as text, with a decimal point or with a decimal comma."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import numpy as np

from probcal.data.card import NUMBER

Mark = Literal[".", ","]
"""The decimal mark. The other one of the two then parts thousands."""
OTHER: Mapping[Mark, Mark] = {".": ",", ",": "."}

_MOST_WORDS = 3
"""So many words among numbers may stand for missing ones."""
_NEARLY_ALL = 0.95
_CODE = re.compile(r"[-+]?0[0-9]+")
"""Whole numbers with a leading 0 are codes, such as of post offices."""
_ALIKE = str.maketrans({"\u2212": "-", "\u2019": "'"} | dict.fromkeys("\u00a0\u2007\u2008\u2009\u202f", " "))
"""The minus sign, the apostrophe and the narrow blanks of typesetters."""
_SWAPPED = str.maketrans(".,", ",.")
_PARTED = re.compile(r"[-+]?[1-9][0-9]{0,2}([, '])[0-9]{3}(\1[0-9]{3})*(\.[0-9]+)?")
"""Thousands parted, with a decimal point. None begins with 0, so ``0,125`` is none."""
_BOTH = re.compile(r"[-+]?[1-9][0-9]{0,2}[.,][0-9]{3}")
_PARTS = {",": "commas", ".": "points", " ": "blanks", "'": "apostrophes"}


class Read(NamedTuple):
    """``numbers``: (n_texts,) float64, NaN for a word; ``words``: the texts that are none; ``said``: of the marks."""

    numbers: np.ndarray[Any, Any]
    words: list[str]
    said: str


def read_numbers(texts: list[str], mark: Mark) -> Read:
    """Read ``texts`` with this decimal ``mark``; the other mark, a blank or an apostrophe may part thousands."""
    numbers = np.array([number(text, mark) for text in texts], dtype=np.float64)
    none = np.isnan(numbers)
    words = [texts[place] for place in np.flatnonzero(none)]
    found = [texts[place] for place in np.flatnonzero(~none)] if words else texts
    return Read(numbers, words, _said(found, mark))


def number(text: str, mark: Mark) -> float:
    """Return the number that ``text`` is with this decimal ``mark``, NaN where it is none or too large."""
    plain = text.translate(_SWAPPED) if mark == "," else text
    if not NUMBER.fullmatch(plain):
        plain = tidied(plain)
        if _PARTED.fullmatch(plain):
            plain = re.sub("[, ']", "", plain)
        elif plain is text or not NUMBER.fullmatch(plain):
            return np.nan
    found = float(plain)
    return found if np.isfinite(found) else np.nan


def tidied(text: str) -> str:
    """Return ``text`` with one sign for the several that look alike: minus, blank, apostrophe."""
    return text if text.isascii() else text.translate(_ALIKE)


def can_be_both(text: str) -> bool:
    """Whether ``text`` is another number with a decimal point than with a decimal comma, as ``1,250`` is."""
    return bool(_BOTH.fullmatch(tidied(text)))


def parting(text: str) -> str | None:
    """Return the blank or apostrophe that parts the thousands of the number ``text``, if one does."""
    return next((mark for mark in " '" if mark in (plain := tidied(text)) and _is_parted(plain)), None)


def holds_numbers(words: list[str], rows_of: Mapping[str, int]) -> bool:
    """Whether a column is one of numbers, of whose texts ``words`` are none; ``rows_of``: text -> rows that have it.

    A few words may stand for missing values. Numbers such as 007 are codes.
    """
    if len(words) > _MOST_WORDS or len(words) == len(rows_of):
        return False
    with_words = sum(rows_of[word] for word in words)
    return with_words <= (1 - _NEARLY_ALL) * sum(rows_of.values()) and not any(map(_CODE.fullmatch, rows_of))


def _is_parted(plain: str) -> bool:
    return bool(_PARTED.fullmatch(plain) or _PARTED.fullmatch(plain.translate(_SWAPPED)))


def _said(texts: list[str], mark: Mark) -> str:
    together = tidied("\n".join(texts))
    parted = [words for part, words in _PARTS.items() if part != mark and part in together]
    comma = mark == "," and "," in together
    if parted:
        return f"; {' and '.join(parted)} part thousands" + (", comma decimal" if comma else "")
    if comma:
        return "; the comma is a decimal one"
    return "; the point is a decimal one" if "." in together and _all_can_be_both(texts) else ""


def _all_can_be_both(texts: list[str]) -> bool:
    return all(can_be_both(text) for text in texts if "." in text)
