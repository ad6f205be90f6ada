"""The form in which the numbers of a column are written: its marks, its currency or per-cent sign, and its values."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from probcal.reading.text_column import TEXT, TextColumn

Mark = Literal[".", ","]
"""The decimal mark. The other one of the two then separates thousands."""
OTHER_MARK: Mapping[Mark, Mark] = {".": ",", ",": "."}
Floats = npt.NDArray[np.float64]

_CURRENCIES = (
    "USD", "EUR", "GBP", "CHF", "JPY", "CNY", "INR", "SEK", "NOK", "DKK", "PLN", "CZK", "AUD", "CAD", "NZD", "BRL",
    "ZAR", "RUB", r"US\$", "Rs", "kr", r"[$€£¥₹₽₩]",
)  # fmt: skip
_CURRENCY = f"(?:{'|'.join(_CURRENCIES)})"
_DIGITS = r"[0-9][0-9., ']*|[.,][0-9]+"
_BEFORE = re.compile(rf"[-+]?({_CURRENCY}) ?[-+]?(?:{_DIGITS})")
_AFTER = re.compile(rf"[0-9.,] ?({_CURRENCY})$")
_ANY_FORM = rf"^[-+]? ?(?:{_CURRENCY})? ?[-+]?[0-9., ']*[0-9][0-9., ']*(?:[eE][-+]?[0-9]+)? ?(?:{_CURRENCY}|%)?$"
CODE = r"^[-+]?0[0-9]+$"
"""Whole numbers with a leading 0 are codes, such as postal codes."""
_GROUPS = {",": "commas", ".": "points", " ": "blanks", "'": "apostrophes"}
LARGEST_EXACT = 2.0**53
"""Whole floats of 64 bits may stand for several whole numbers from here on."""
_LONGEST = 400
"""Largest number of characters of a number. The longest float has 309 digits before its decimal mark."""
_WIDE_CHARACTERS = {wide: chr(wide - 0xFEE0) for wide in (0xFF05, *range(0xFF0B, 0xFF1B))}
"""The digits, marks and signs as wide as a Chinese character."""
_LOOKALIKES = _WIDE_CHARACTERS | str.maketrans(
    {"\u2212": "-", "\u2019": "'"} | dict.fromkeys("\u00a0\u2007\u2008\u2009\u202f\u3000", " ")
)
"""The minus sign, the apostrophe and the blanks of typesetting."""
_MOST_WORDS = 3
"""Largest number of different texts among numbers that count as missing."""
_NUMBER_SHARE = 0.95


@dataclass(frozen=True)
class NumberForm:
    """Describe how all numbers of a column are written."""

    mark: Mark = "."
    group: str = ""
    """The mark that groups thousands, empty for none."""
    currency: str = ""
    is_before: bool = True
    """Whether the currency stands before the number."""
    percent: bool = False

    def with_mark(self, mark: Mark) -> NumberForm:
        """Return the same form in a file with this decimal mark. The other mark then groups thousands."""
        if mark == self.mark:
            return self
        return replace(self, mark=mark, group=self.mark if self.group == mark else self.group)

    @property
    def example(self) -> str:
        """Return a number in this form."""
        digits = f"1{self.group}234{self.mark}5" if self.group else f"12{self.mark}5"
        before, after = (f"{self.currency} ", "") if self.is_before else ("", f" {self.currency}")
        return f"{digits}%" if self.percent else f"{before}{digits}{after}" if self.currency else digits

    def describe(self, has_marks: bool = True) -> str:
        """Return in words what is not plain about the numbers, beginning with a semicolon, or an empty text.

        ``has_marks`` says whether some numbers have a decimal mark.
        """
        parts = [f"without {self.currency}"] * bool(self.currency)
        parts += ["per cent as parts of 1"] * self.percent
        marks = [f"{_GROUPS[self.group]} separate thousands"] if self.group else []
        marks += ["decimal comma"] * (self.mark == "," and has_marks)
        parts += [", ".join(marks)] if marks else []
        return "".join(f"; {part}" for part in parts)


@dataclass(frozen=True)
class ReadNumbers:
    """Hold ``values``, one for each of some texts with NaN where it is no number in this ``form``, and these texts."""

    form: NumberForm
    values: Floats
    words: list[str]
    """The texts that are no numbers in the form, each once."""
    description: str
    """What is not plain about the numbers, see ``NumberForm.describe``."""


def parse_numbers(texts: pa.Array, form: NumberForm) -> Floats:
    """Return (n,) the numbers in ``texts``, with NaN for a missing text and for one that is not written in ``form``."""
    plain = _without_sign(normalised(texts), form)
    text, is_number = plain, pc.match_substring_regex(plain, _plain(form.mark))
    if form.group:
        grouped = rf"^[-+]?[1-9][0-9]{{0,2}}(?:[{form.group}][0-9]{{3}})+(?:[{form.mark}][0-9]+)?$"
        is_grouped = pc.match_substring_regex(plain, grouped)
        # Beside grouped numbers, a number of thousands without grouping is written in another way.
        is_long = pc.match_substring_regex(plain, rf"^[-+]?[0-9]{{4,}}(?:[{form.mark}].*)?$")
        is_number = pc.or_(is_grouped, pc.and_(is_number, pc.invert(is_long)))
        text = pc.replace_substring(plain, form.group, "")
    text = pc.replace_substring(text, ",", ".") if form.mark == "," else text
    if form.percent:  # the decimal point moves, so that 5.5% is .055 to the last bit
        is_number = pc.and_(is_number, pc.invert(pc.match_substring_regex(text, "[eE]")))
        text = pc.binary_join_element_wise(text, pa.scalar("e-2", TEXT), pa.scalar("", TEXT))
    values = pc.cast(pc.if_else(is_number, text, pa.scalar(None, TEXT)), pa.float64())
    numbers = np.array(values.to_numpy(zero_copy_only=False), dtype=np.float64)
    # A number beyond the largest float is no number that can be computed with.
    numbers[~np.isfinite(numbers)] = np.nan
    return numbers


def normalised(texts: pa.Array) -> pa.Array:
    """Return ``texts`` with one character for several that look alike: minus, blank, apostrophe. Long ones are null."""
    # A character takes at most four bytes.
    short = pc.less_equal(pc.binary_length(texts), 4 * _LONGEST)
    texts = texts if pc.all(short).as_py() is not False else pc.if_else(short, texts, pa.scalar(None, TEXT))
    if pc.all(pc.string_is_ascii(texts)).as_py() is not False:
        return texts
    return pa.array([None if text is None else text.translate(_LOOKALIKES) for text in texts.to_pylist()], TEXT)


def _plain(mark: str) -> str:
    return rf"^[-+]?(?:[0-9]+(?:[{mark}][0-9]*)?|[{mark}][0-9]+)(?:[eE][-+]?[0-9]+)?$"


def _without_sign(texts: pa.Array, form: NumberForm) -> pa.Array:
    """Return ``texts`` without the currency or per-cent sign of ``form``, and null for a text without it."""
    if form.percent:
        pattern, replacement = r"^(.*[0-9.,]) ?%$", r"\1"
    elif form.currency:
        sign = re.escape(form.currency).replace("\\ ", " ")
        pattern = rf"^([-+]?) ?{sign} ?([-+]?[0-9.,].*)$" if form.is_before else rf"^([-+]?[0-9.,].*?) ?{sign}$"
        replacement = r"\1\2" if form.is_before else r"\1"
    else:
        return texts
    bare = pc.replace_substring_regex(texts, pattern, replacement, max_replacements=1)
    return pc.if_else(pc.match_substring_regex(texts, pattern), bare, pa.scalar(None, TEXT))


def read_numbers(column: TextColumn, mark: Mark, is_declared: bool = False) -> ReadNumbers | None:
    """Return the numbers of ``column.distinct`` if they are written alike with this decimal ``mark``, or None.

    Up to three other texts in 5 % of the rows are ``words``. With ``is_declared``, the user says that it holds numbers.
    Then there may be any words, and whole numbers may begin with a 0.
    """
    values = column.point_numbers
    if values is not None and (mark == "." or not _holds(column.distinct, ".")):
        return ReadNumbers(NumberForm(mark), values, [], "")
    counts = column.counts
    if not counts:
        return None
    levels = pa.array(list(counts), TEXT)
    rows = np.array(list(counts.values()))
    form = _form_of(levels, rows, mark)
    level_values = parse_numbers(levels, form)
    is_word = np.isnan(level_values)
    words = [text for text, word in zip(counts, is_word, strict=True) if word]
    if len(words) == len(counts) or not (is_declared or _are_words(words, int(rows[is_word].sum()), int(rows.sum()))):
        return None
    if not is_declared and pc.any(pc.match_substring_regex(levels, CODE)).as_py():
        return None
    description = form.describe(has_marks=_holds(levels, mark))
    return ReadNumbers(form, parse_numbers(column.distinct, form), words, description)


def _are_words(words: list[str], word_rows: int, n_rows: int) -> bool:
    is_few = len(words) <= _MOST_WORDS and word_rows <= (1 - _NUMBER_SHARE) * n_rows
    return is_few and not any(map(in_another_form, words))


def in_another_form(text: str) -> bool:
    """Return whether ``text`` is a number with any marks, currency or per-cent sign."""
    texts = normalised(pa.array([text], TEXT))
    return bool(pc.match_substring_regex(texts, _ANY_FORM)[0].as_py())


def _form_of(levels: pa.Array, rows: npt.NDArray[Any], mark: Mark) -> NumberForm:
    """Return the form in which the most rows are numbers, the plainest of several. ``rows`` counts those of levels."""
    texts = normalised(levels)
    forms = [NumberForm(mark)]
    odd = texts.filter(pc.invert(pc.match_substring_regex(texts, _plain(mark)))).drop_null()
    if not len(odd):
        return forms[0]
    signs = [NumberForm(mark), *(sign for text in odd.to_pylist()[:50] if (sign := _sign_of(text, mark)) is not None)]
    forms = [
        NumberForm(mark, group, sign.currency, sign.is_before, sign.percent)
        for sign in dict.fromkeys(signs)
        for group in ("", *(part for part in (OTHER_MARK[mark], " ", "'") if _holds(odd, part)))
    ]
    return max(forms, key=lambda form: int(rows[~np.isnan(parse_numbers(levels, form))].sum()))


def _holds(texts: pa.Array, part: str) -> bool:
    return bool(pc.any(pc.match_substring(texts, part)).as_py())


def _sign_of(text: str, mark: Mark) -> NumberForm | None:
    text = text[:_LONGEST]
    if text.endswith("%"):
        return NumberForm(mark, percent=True)
    if match := _BEFORE.match(text):
        return NumberForm(mark, currency=match[1])
    if match := _AFTER.search(text):
        return NumberForm(mark, currency=match[1], is_before=False)
    return None


def plain_values(texts: Sequence[str], mark: Mark) -> Floats:
    """Return (n,) the values of ``texts`` without currency or per-cent sign, NaN where one is no number."""
    column = TextColumn(pa.array(texts, TEXT), ())
    read = read_numbers(column, mark, is_declared=True)
    if read is None or read.form.currency or read.form.percent:
        return np.full(len(texts), np.nan)
    return read.values


def rounded_numbers(raw: pd.Series) -> npt.NDArray[np.bool_]:
    """Return (n_rows,) whether a float may have lost digits of a whole number, as a reader of Parquet files does it."""
    if not pd.api.types.is_float_dtype(raw):
        return np.zeros(len(raw), dtype=bool)
    exact = 2.0 ** (np.finfo(getattr(raw.dtype, "numpy_dtype", raw.dtype)).nmant + 1)  # 2^53 of float64
    return np.asarray(np.abs(raw.to_numpy(np.float64, na_value=np.nan)) >= exact)
