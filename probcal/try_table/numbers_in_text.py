"""Numbers written as text with a decimal point or comma, and which of the two a file uses."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from probcal._io import join_first
from probcal.data.labels import NUMBER

Mark = Literal[".", ","]
"""The decimal mark. The other one of the two then separates thousands."""
OTHER_MARK: Mapping[Mark, Mark] = {".": ",", ",": "."}

_MOST_WORDS = 3
"""Largest number of different words among numbers that may mean missing."""
_NUMBER_SHARE = 0.95
_CODE = re.compile(r"[-+]?0[0-9]+")
"""Whole numbers with a leading 0 are codes, such as postal codes."""
_WIDE_CHARACTERS = {wide: chr(wide - 0xFEE0) for wide in (0xFF05, *range(0xFF0B, 0xFF1B))}
"""The digits, marks and signs as wide as a Chinese character."""
_LOOKALIKES = _WIDE_CHARACTERS | str.maketrans(
    {"\u2212": "-", "\u2019": "'"} | dict.fromkeys("\u00a0\u2007\u2008\u2009\u202f\u3000", " ")
)
"""The minus sign, the apostrophe and the blanks of typesetting."""
_MARK_SWAP = str.maketrans(".,", ",.")
_THOUSANDS = re.compile(r"[-+]?[1-9][0-9]{0,2}([, '])[0-9]{3}(\1[0-9]{3})*(\.[0-9]+)?")
"""Separated thousands with a decimal point. None begins with 0, so ``0,125`` does not match."""
_AMBIGUOUS = re.compile(r"[-+]?[1-9][0-9]{0,2}[.,][0-9]{3}")
_SEPARATOR_NAMES = {",": "commas", ".": "points", " ": "blanks", "'": "apostrophes"}


class ParsedNumbers(NamedTuple):
    """Hold ``numbers``, (n_texts,) float64 with NaN for a word, the ``words``, and a note on the marks."""

    numbers: np.ndarray[Any, Any]
    words: list[str]
    description: str


def read_numbers(texts: list[str], mark: Mark) -> ParsedNumbers:
    """Read ``texts`` with this decimal ``mark``. The other mark, a blank or an apostrophe may separate thousands."""
    numbers = np.array([number(text, mark) for text in texts], dtype=np.float64)
    is_word = np.isnan(numbers)
    words = [texts[place] for place in np.flatnonzero(is_word)]
    number_texts = [texts[place] for place in np.flatnonzero(~is_word)] if words else texts
    return ParsedNumbers(numbers, words, _describe_marks(number_texts, mark))


def number(text: str, mark: Mark) -> float:
    """Return the value of ``text`` with this decimal ``mark``, or NaN where it is no number or too large."""
    plain = text.translate(_MARK_SWAP) if mark == "," else text
    if not NUMBER.fullmatch(plain):
        plain = normalised_text(plain)
        if _THOUSANDS.fullmatch(plain):
            plain = re.sub("[, ']", "", plain)
        elif plain is text or not NUMBER.fullmatch(plain):
            return np.nan
    value = float(plain)
    return value if np.isfinite(value) else np.nan


def normalised_text(text: str) -> str:
    """Return ``text`` with one character for several that look alike: minus, blank, apostrophe."""
    return text if text.isascii() else text.translate(_LOOKALIKES)


def is_ambiguous(text: str) -> bool:
    """Return whether ``text`` has another value with a decimal comma than with a decimal point, like ``1,250``."""
    return bool(_AMBIGUOUS.fullmatch(normalised_text(text)))


def has_parted_thousands(text: str) -> bool:
    """Return whether blanks or apostrophes separate the thousands of the number ``text``."""
    plain = normalised_text(text)
    variants = (plain, plain.translate(_MARK_SWAP))
    return any(mark in plain for mark in " '") and any(map(_THOUSANDS.fullmatch, variants))


def holds_numbers(words: list[str], counts: Mapping[str, int]) -> bool:
    """Return whether a column holds numbers. ``words`` are its texts that are no numbers.

    ``counts`` maps a text to the number of rows that have it. A few words may mean missing. Numbers like 007 are
    codes.
    """
    if len(words) > _MOST_WORDS or len(words) == len(counts):
        return False
    word_rows = sum(counts[word] for word in words)
    return word_rows <= (1 - _NUMBER_SHARE) * sum(counts.values()) and not any(map(_CODE.fullmatch, counts))


def _describe_marks(texts: list[str], mark: Mark) -> str:
    text = normalised_text("\n".join(texts))
    separators = [words for part, words in _SEPARATOR_NAMES.items() if part != mark and part in text]
    comma = mark == "," and "," in text
    if separators:
        return f"; {' and '.join(separators)} separate thousands" + (", decimal comma" if comma else "")
    if comma:
        return "; decimal comma"
    return "; decimal point" if "." in text and _are_ambiguous(texts) else ""


def _are_ambiguous(texts: list[str]) -> bool:
    return all(is_ambiguous(text) for text in texts if "." in text)


_MARK_OF_SEPARATOR: Mapping[str | None, Mark] = {";": ",", ",": "."}
"""Programs that write decimal commas separate fields by semicolons."""
_FAR_RATIO = 1000**0.5
"""The geometric middle between two readings of one number."""
_MOST_NAMES = 5
_MARK_NAMES: Mapping[Mark, str] = {".": "a decimal point", ",": "a decimal comma"}

RowCounts = Mapping[str, int]
"""Text of a column -> number of rows that have it."""


@dataclass(frozen=True)
class Evidence:
    """Hold the evidence of one column for a decimal mark."""

    forced_mark: Mark | None
    """The mark without which some texts are no numbers."""
    likely_mark: Mark | None
    """Where no mark is forced: the mark that makes the numbers similar in size."""
    example: str
    """A text that forces the mark, or that can be read both ways."""


class MarkDoubt(NamedTuple):
    """Describe how a doubtful column is read. Columns of the same ``kind`` share one line."""

    kind: str
    description: str


@dataclass(frozen=True)
class Marks:
    """Hold the decimal marks of a table: ``column_marks`` by the place of a column, ``file_mark`` for all others."""

    file_mark: Mark
    column_marks: Mapping[int, Mark] = field(default_factory=dict)
    doubts: Mapping[int, MarkDoubt] = field(default_factory=dict)
    """Place of a doubtful column -> how it is read, and why."""

    def __getitem__(self, place: int) -> Mark:
        return self.column_marks.get(place, self.file_mark)

    def notes(self, names: Mapping[int, str]) -> Iterator[str]:
        """Yield how the doubtful columns among ``names`` are read, one line for each kind."""
        groups: dict[str, list[int]] = {}
        for place, doubt in self.doubts.items():
            if place in names:
                groups.setdefault(doubt.kind, []).append(place)
        for places in groups.values():
            column_names = join_first((f'"{names[place]}"' for place in places), _MOST_NAMES)
            yield f"column{'s' * (len(places) > 1)} {column_names}: {self.doubts[places[0]].description}"


def decimal_marks(
    columns: Mapping[int, pd.Series],
    separator: str | None = None,
    decimal: Mark | None = None,
    numbers: Collection[int] = (),
) -> Marks:
    """Return the decimal mark of each of ``columns``, (n_rows,) of any type, by their places.

    What the values of the columns force counts first. Then the ``separator`` of the fields counts, then the size of the
    numbers of a column. Where nothing decides, the mark in the numbers is the decimal mark. A column differs from the
    file only where its own values force that. ``decimal`` is the mark that the user names for the file. ``numbers``
    holds the places of columns that the user declares as numbers.
    """
    texts = {place: text_counts(raw) for place, raw in columns.items()}
    all_clues = {place: evidence(rows, place in numbers) for place, rows in texts.items()}
    clues = {place: clue for place, clue in all_clues.items() if clue is not None}
    mark, reason = (decimal, "by --decimal") if decimal else _mark_of_file(list(clues.values()), separator)
    marks: dict[int, Mark] = {place: "." for place, rows in texts.items() if not rows}  # numbers, not text
    marks |= {place: clue.forced_mark for place, clue in clues.items() if clue.forced_mark}
    unanimous = decimal is None and {clue.forced_mark for clue in clues.values()} - {None} == {mark}
    doubts = {}
    for place, clue in clues.items():
        if clue.forced_mark == OTHER_MARK[mark]:
            doubts[place] = _forced_doubt(clue, clue.forced_mark, decimal)
        elif not clue.forced_mark and not decimal and not (unanimous and clue.likely_mark in (None, mark)):
            doubts[place] = _ambiguous_doubt(clue, mark, reason)
    return Marks(mark, marks, doubts)


def text_counts(raw: pd.Series) -> dict[str, int]:
    """Return text -> number of rows for a column of any type. Values that are not text are ignored."""
    if raw.dtype == object:
        raw = raw[[isinstance(value, str) for value in raw]]
    elif not isinstance(raw.dtype, pd.CategoricalDtype | pd.StringDtype):
        return {}
    counts: dict[str, int] = {}
    for value, rows in raw.value_counts(sort=False).items():
        if isinstance(value, str) and rows and (text := " ".join(value.split())):
            counts[text] = counts.get(text, 0) + int(rows)
    return counts


def evidence(texts: RowCounts, is_numeric: bool = False) -> Evidence | None:
    """Return the evidence of the ``texts`` of a column, or None where they are no numbers or have no mark.

    With ``is_numeric``, the column holds numbers, even with many words among them.
    """
    text_list, rows = list(texts), np.array(list(texts.values()))
    is_word = {m: np.isnan([number(text, m) for text in text_list]) for m in OTHER_MARK}
    lost_rows = {m: int(rows[words].sum()) for m, words in is_word.items()}
    mark: Mark = "," if lost_rows[","] < lost_rows["."] else "."
    words = [text_list[place] for place in np.flatnonzero(is_word[mark])]
    if len(words) == len(text_list) or not (is_numeric or holds_numbers(words, texts)):
        return None
    if lost_rows["."] != lost_rows[","]:
        examples = np.flatnonzero(is_word[OTHER_MARK[mark]] & ~is_word[mark])
        return Evidence(mark, None, text_list[int(examples[0])])
    ambiguous = [text for text in texts if is_ambiguous(text)]
    if not ambiguous:
        return None
    marks = [m for m in OTHER_MARK if any(m in text for text in ambiguous)]
    # if another mark separates thousands, this one is decimal
    if len(marks) == 1 and any(map(has_parted_thousands, texts)):
        return Evidence(marks[0], None, ambiguous[0])
    return Evidence(None, _likely_mark(texts, ambiguous), ambiguous[0])


def _likely_mark(texts: RowCounts, ambiguous: list[str]) -> Mark | None:
    """Return the mark that makes the numbers similar in size, or None where all are ambiguous.

    With separated thousands, the plain numbers lie below the separated ones, and some not far below. Decimals lie among
    the plain numbers.
    """
    sizes = [abs(value) for text in texts if not is_ambiguous(text) and (value := number(text, "."))]
    sizes = [value for value in sizes if not np.isnan(value)]
    if not sizes:
        return None
    thousands = min(max(abs(number(text, mark)) for mark in OTHER_MARK) for text in ambiguous)
    decimal: Mark = "," if "," in ambiguous[0] else "."
    return OTHER_MARK[decimal] if max(sizes) < thousands <= _FAR_RATIO * max(sizes) else decimal


def _mark_of_file(clues: list[Evidence], separator: str | None) -> tuple[Mark, str]:
    """Return the decimal mark of the file, and why in words."""
    if mark := _majority(clue.forced_mark for clue in clues):
        return mark, "like the other columns of the file"
    if separator in _MARK_OF_SEPARATOR:
        return _MARK_OF_SEPARATOR[separator], f"because '{separator}' separates the fields"
    if mark := _majority(clue.likely_mark for clue in clues):
        return mark, "because that fits the other numbers of the column"
    examples = [clue.example for clue in clues if not clue.forced_mark]
    commas = bool(examples) and all("," in example for example in examples)
    return "," if commas else ".", "because nothing says otherwise"


def _majority(marks: Iterable[Mark | None]) -> Mark | None:
    """Return the more frequent mark, or None for a tie."""
    votes = list(marks)
    points, commas = votes.count("."), votes.count(",")
    return None if points == commas else "." if points > commas else ","


def _ambiguous_doubt(clue: Evidence, mark: Mark, reason: str) -> MarkDoubt:
    value, alternative = (f"{number(clue.example, sign):.15g}" for sign in (mark, OTHER_MARK[mark]))
    remedy = f"if it is {alternative}, add --decimal {OTHER_MARK[mark]}"
    decimal = "decimal" if mark in clue.example else "thousands"
    return MarkDoubt(f"{decimal}, {reason}", f'"{clue.example}" is read as {value}, {reason}; {remedy}')


def _forced_doubt(clue: Evidence, mark: Mark, decimal: Mark | None) -> MarkDoubt:
    contrast = f"not as --decimal {decimal} says" if decimal else "unlike the rest of the file"
    remedy = "if that is wrong, correct such values, or name the column with --category"
    return MarkDoubt(
        f"forced, {mark}", f'read with {_MARK_NAMES[mark]}, {contrast}, because of "{clue.example}"; {remedy}'
    )
