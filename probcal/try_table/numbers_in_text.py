"""Read numbers written as text, with a decimal point or with a decimal comma.

Decide whether the numbers of a file have decimal points or decimal commas, from all of its columns.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

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


_OF_SEPARATOR: Mapping[str | None, Mark] = {";": ",", ",": "."}
"""Programs that write decimal commas separate fields by semicolons."""
_FAR = 1000**0.5
"""Halfway, as factors go, between two readings of one number."""
_NAMED = 5
_WORDS: Mapping[Mark, str] = {".": "a decimal point", ",": "a decimal comma"}

RowsOf = Mapping[str, int]
"""Each text of a column -> the rows that have it."""


@dataclass(frozen=True)
class Evidence:
    """What the texts of one column say of the decimal mark."""

    forced: Mark | None
    """The mark without which some of them are no numbers."""
    looks: Mark | None
    """Where nothing is forced: the mark that keeps the numbers together."""
    example: str
    """A text that forces the mark, or one that can be read both ways."""


class Doubt(NamedTuple):
    """``kind``: the same where one line can stand for several columns; ``said``: of the first of them."""

    kind: str
    said: str


@dataclass(frozen=True)
class Marks:
    """The decimal marks of a table: ``of_column`` for each column by its place, ``of_file`` for all others."""

    of_file: Mark
    of_column: Mapping[int, Mark] = field(default_factory=dict)
    doubts: Mapping[int, Doubt] = field(default_factory=dict)
    """Place of a column of which you should know how it is read -> how, and why."""

    def __getitem__(self, place: int) -> Mark:
        return self.of_column.get(place, self.of_file)

    def notes(self, names: Mapping[int, str]) -> Iterator[str]:
        """Say how the columns in doubt among ``names`` are read, those of one kind in one line."""
        alike: dict[str, list[int]] = {}
        for place, doubt in self.doubts.items():
            if place in names:
                alike.setdefault(doubt.kind, []).append(place)
        for places in alike.values():
            shown = [f'"{names[place]}"' for place in places[:_NAMED]] + ["…"] * (len(places) > _NAMED)
            yield f"column{'s' * (len(places) > 1)} {', '.join(shown)}: {self.doubts[places[0]].said}"


def decimal_marks(
    columns: Mapping[int, pd.Series],
    separator: str | None = None,
    asked: Mark | None = None,
    numbers: Collection[int] = (),
) -> Marks:
    """Decide on the decimal mark of each of ``columns``, (n_rows,) of any kind, under their places.

    What the values of the columns force counts first, then the ``separator`` of the fields, then how the numbers of
    a column lie. Where nothing decides, the mark is a decimal one. A column reads otherwise than the file only where
    its own values force that. ``asked``: the mark of the file, if the user says it; ``numbers``: the places of columns
    that hold numbers, whatever else is in them.
    """
    texts = {place: rows_of(raw) for place, raw in columns.items()}
    all_found = {place: evidence(rows, place in numbers) for place, rows in texts.items()}
    found = {place: said for place, said in all_found.items() if said is not None}
    mark, why = (asked, "as --decimal says") if asked else _of_file(list(found.values()), separator)
    of_column: dict[int, Mark] = {place: "." for place, rows in texts.items() if not rows}  # numbers, not text
    of_column |= {place: said.forced for place, said in found.items() if said.forced}
    agreed = asked is None and {said.forced for said in found.values()} - {None} == {mark}
    doubts = {}
    for place, said in found.items():
        if said.forced == OTHER[mark]:
            doubts[place] = _unlike(said, said.forced, asked)
        elif not said.forced and not asked and not (agreed and said.looks in (None, mark)):
            doubts[place] = _either(said, mark, why)
    return Marks(mark, of_column, doubts)


def mark_alone(texts: RowsOf) -> Mark:
    """Decide on the decimal mark of a column of which nothing but its texts is known."""
    said = evidence(texts)
    return "." if said is None else said.forced or _of_file([said], None)[0]


def rows_of(raw: pd.Series) -> dict[str, int]:
    """Return the rows of each text in a column of any kind; what is no text counts for nothing."""
    if raw.dtype == object:
        raw = raw[[isinstance(value, str) for value in raw]]
    elif not isinstance(raw.dtype, pd.CategoricalDtype | pd.StringDtype):
        return {}
    found: dict[str, int] = {}
    for value, rows in raw.value_counts(sort=False).items():
        if isinstance(value, str) and rows and (text := " ".join(value.split())):
            found[text] = found.get(text, 0) + int(rows)
    return found


def evidence(texts: RowsOf, are_numbers: bool = False) -> Evidence | None:
    """Return what the ``texts`` of a column say, None where they are no numbers or have no mark.

    ``are_numbers``: the column holds numbers, however many words stand among them.
    """
    listed, rows = list(texts), np.array(list(texts.values()))
    is_word = {mark: np.isnan([number(text, mark) for text in listed]) for mark in OTHER}
    lost = {mark: int(rows[words].sum()) for mark, words in is_word.items()}
    better: Mark = "," if lost[","] < lost["."] else "."
    words = [listed[place] for place in np.flatnonzero(is_word[better])]
    if len(words) == len(listed) or not (are_numbers or holds_numbers(words, texts)):
        return None
    if lost["."] != lost[","]:
        shown = np.flatnonzero(is_word[OTHER[better]] & ~is_word[better])
        return Evidence(better, None, listed[int(shown[0])])
    both = [text for text in texts if can_be_both(text)]
    if not both:
        return None
    marks = [mark for mark in OTHER if any(mark in text for text in both)]
    if len(marks) == 1 and any(map(parting, texts)):  # another mark parts the thousands, so this one is decimal
        return Evidence(marks[0], None, both[0])
    return Evidence(None, _looks(texts, both), both[0])


def _looks(texts: RowsOf, both: list[str]) -> Mark | None:
    """Return the mark that keeps the numbers together, None where all have one, and only the unit is in doubt.

    Where thousands are parted the plain numbers lie below the parted ones, and some not far below. Decimals lie
    among the plain numbers.
    """
    plain = [abs(one) for text in texts if not can_be_both(text) and (one := number(text, "."))]
    plain = [one for one in plain if not np.isnan(one)]
    if not plain:
        return None
    parted = min(max(abs(number(text, mark)) for mark in OTHER) for text in both)
    decimal: Mark = "," if "," in both[0] else "."
    return OTHER[decimal] if max(plain) < parted <= _FAR * max(plain) else decimal


def _of_file(found: list[Evidence], separator: str | None) -> tuple[Mark, str]:
    """Return (the decimal mark of the file, why in words)."""
    if mark := _more(said.forced for said in found):
        return mark, "as the other columns of the file are"
    if separator in _OF_SEPARATOR:
        return _OF_SEPARATOR[separator], f"because '{separator}' separates the fields"
    if mark := _more(said.looks for said in found):
        return mark, "because that fits the other numbers of the column"
    examples = [said.example for said in found if not said.forced]
    commas = bool(examples) and all("," in example for example in examples)
    return "," if commas else ".", "because nothing says otherwise"


def _more(marks: Iterable[Mark | None]) -> Mark | None:
    """Return the mark that comes more often, None where neither does."""
    listed = list(marks)
    points, commas = listed.count("."), listed.count(",")
    return None if points == commas else "." if points > commas else ","


def _either(said: Evidence, mark: Mark, why: str) -> Doubt:
    taken, other = (f"{number(said.example, one):.15g}" for one in (mark, OTHER[mark]))
    way_out = f"if it is {other}, add --decimal {OTHER[mark]}"
    decimal = "decimal" if mark in said.example else "thousands"
    return Doubt(f"{decimal}, {why}", f'"{said.example}" is read as {taken}, {why}; {way_out}')


def _unlike(said: Evidence, mark: Mark, asked: Mark | None) -> Doubt:
    unlike = f"not as --decimal {asked} says" if asked else "unlike the rest of the file"
    way_out = "if that is wrong, correct such values, or take them for --category"
    return Doubt(f"forced, {mark}", f'read with {_WORDS[mark]}, {unlike}, because of "{said.example}"; {way_out}')
