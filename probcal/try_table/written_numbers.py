"""Numbers as people write them: money, percentages, units, clock times and durations, turned into plain numbers."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from probcal.try_table.numbers_in_text import OTHER_MARK, holds_numbers, normalised_text, number, text_counts

_CURRENCIES = "USD|EUR|GBP|CHF|JPY|CNY|INR|SEK|NOK|DKK|PLN|CZK|AUD|CAD|NZD|BRL|ZAR|RUB|US\\$|Rs\\.?|kr\\.?|[$€£¥₹₽₩]"
_DIGITS = r"[0-9][0-9.,'\u2019 \u00a0\u2009\u202f]*[0-9]|[0-9]|[.,][0-9]+"
_MONEY = re.compile(
    rf"(?P<sign>[-+]?)\s?(?P<before>{_CURRENCIES})?\s?(?P<inner>[-+]?)(?P<digits>{_DIGITS})(?:[.,][-\u2013])?"
    rf"\s?(?P<scale>bn|B|mn|mio\.?|Mio\.?|[kKM]|million|billion|thousand)?\s?(?P<after>{_CURRENCIES})?"
    r"(?:\s?(?:/|per|an?|each)\s?(?P<per>hour|hr|h|day|d|week|wk|month|mo|year|yr|y|annum))?"
)
_SCALES = {"k": 3, "thousand": 3, "m": 6, "mn": 6, "mio": 6, "million": 6, "b": 9, "bn": 9, "billion": 9}
"""Word in small letters -> power of ten."""
_PERIODS = {"h": "hour", "d": "day", "w": "week", "m": "month", "y": "year", "a": "year"}
_PERCENT = re.compile(rf"(?P<digits>[-+]?(?:{_DIGITS}))\s?(?P<unit>%|‰|percent|per cent)")
_LETTER = "A-Za-zµμ°²³Ωäöüéß"
_UNIT = re.compile(rf"(?P<digits>[-+]?(?:{_DIGITS}))\s?(?P<unit>[{_LETTER}][{_LETTER}/·^-]{{0,14}}[0-9]?)")
_BRACKETS = re.compile(r"\((?P<inside>[^()]+)\)")
_CLOCK = re.compile(r"(\d{1,3}):([0-5]\d)(?::([0-5]\d)(?:[.,]\d+)?)?\s?([AaPp]\.?[Mm]\.?)?")
_UHR = re.compile(r"([01]?\d|2[0-4])(?:[.:]([0-5]\d))?\s?Uhr")
_HOURS_H = re.compile(r"(\d{1,3})\s?[hH]\s?([0-5]\d)")
"""Such as ``4h05``."""
_HOUR = re.compile(r"(1[0-2]|0?[1-9])\s?([AaPp]\.?[Mm]\.?)")
_PART = re.compile(
    r"(\d+(?:[.,]\d+)?)\s?(years?|yrs?|y|months?|mos?|weeks?|w|days?|d|hours?|hrs?|hr|h|minutes?|mins?|min|m|seconds?|secs?|sec|s)(?![a-z])"
)
_ISO_DURATION = re.compile(r"P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?")
_MINUTES = {"y": 525_960.0, "mo": 43_830.0, "w": 10_080.0, "d": 1_440.0, "h": 60.0, "m": 1.0, "s": 1 / 60}
_FEET = re.compile(r"(\d+)\s?(?:'|\u2019|ft\.?)\s?(\d+(?:\.\d+)?)\s?(?:\"|''|\u201d|in\.?)?")
_APPROXIMATION = re.compile(
    r"(?:[<>~≈≤≥=]+|about|ca\.?|approx\.?|around|over|under|up to|at least|at most)\s?(?P<rest>.+)", re.I
)
_RANGE = re.compile(rf"(?P<low>{_DIGITS})\s?(?:-|\u2013|\u2014|to|bis)\s?(?P<high>{_DIGITS})(?P<rest>\D*)")
_OPEN_LIMIT = re.compile(rf"(?P<digits>{_DIGITS})\s?(?:\+|and over|and more|or more|plus)(?P<rest>[A-Za-z ]{{0,15}})")
_FRACTION = re.compile(r"(?:(\d+)[ -])?(\d+)\s?/\s?(\d*[1-9]\d*)")
_VULGAR_FRACTION = re.compile(r"(\d*)\s?([\u00bc-\u00be\u2150-\u215e])")
"""A fraction that is one character, such as 4½."""
_INDIAN_THOUSANDS = re.compile(r"(?<![\d.,])[1-9]\d?(?:,\d\d)+,\d{3}(?![\d,])")
"""Lakhs and crores, such as ``40,29,366``."""
_CURRENCY_SYMBOLS = {"USD": "$", "US$": "$", "EUR": "€", "GBP": "£", "INR": "₹", "Rs": "₹", "Rs.": "₹", "kr.": "kr"}
_COMPUTED_KINDS = ("in minutes", "in years", "in inches", "as their middle", "as their value")
_LONGEST_TEXT = 60
_EXAMINED_VALUES = 200
"""Different values of a column. If none of them is written, the others are not looked at."""
_MOST_KINDS = 8
_FEWEST_VALUES = 3
"""Different values of a column that get a unit taken away unasked. Two may be names, such as ``3 doors``."""


class PlainNumber(NamedTuple):
    """Hold a number as plain ``text``, and ``kind``: how it was written. Its decimal mark is not known yet.

    ``unit`` is what the number counts, such as ``kg``, ``$`` or ``minutes``. It is empty where none is written.
    """

    text: str
    kind: str
    unit: str = ""


def plain_number(text: str, loose: bool = False) -> PlainNumber | None:
    """Return the number that a person reads in ``text``, or None where it is a plain number already, or none.

    Clock times and durations become minutes, durations with months or years become years. With ``loose``, ``<5`` is 5,
    ``10-20`` is 15 and ``1/4`` is .25, too.
    """
    text = _VULGAR_FRACTION.sub(_spelt_fraction, normalised_text(" ".join(text.split())))
    if len(text) > _LONGEST_TEXT or not any(letter.isdigit() for letter in text) or _is_plain(text):
        return None
    number_text = _INDIAN_THOUSANDS.sub(lambda digits: f"{int(digits[0].replace(',', '')):,}", text)
    if _is_plain(number_text):
        return PlainNumber(number_text, "Indian grouping") if loose else None
    text = number_text
    result = _brackets(text) or _time(text) or _feet_and_inches(text) or _percent(text) or _money(text) or _amount(text)
    return result or (_range_or_approximation(text) if loose else None)


def _spelt_fraction(match: re.Match[str]) -> str:
    """Return a fraction that is one character as ``4 1/2``."""
    fraction = unicodedata.normalize("NFKC", match[2]).replace("\u2044", "/")
    return f"{match[1]} {fraction}" if match[1] else fraction


def _is_plain(text: str) -> bool:
    return any(not np.isnan(number(text, mark)) for mark in OTHER_MARK)


def _number_if_plain(digits: str, kind: str, unit: str = "") -> PlainNumber | None:
    return PlainNumber(digits, kind, unit) if _is_plain(digits) else None


def _brackets(text: str) -> PlainNumber | None:
    match = _BRACKETS.fullmatch(text)
    if match is None:
        return None
    content = match["inside"].strip()
    if _is_plain(content) and not content.startswith(("-", "+")):
        return PlainNumber(f"-{content}", "brackets mean minus")
    money = _money(content)
    return None if money is None or money.text.startswith("-") else money._replace(text=f"-{money.text}")


def _time(text: str) -> PlainNumber | None:
    if match := _CLOCK.fullmatch(text):
        hours, minutes, seconds, am_pm = int(match[1]), int(match[2]), int(match[3] or 0), match[4]
        if am_pm is None or 1 <= hours <= 12:
            hours = hours if am_pm is None else hours % 12 + 12 * (am_pm[0] in "pP")
            return PlainNumber(_number_text(60 * hours + minutes + seconds / 60), "times, in minutes", "minutes")
        return None
    if match := _UHR.fullmatch(text) or _HOURS_H.fullmatch(text):
        return PlainNumber(_number_text(60 * int(match[1]) + int(match[2] or 0)), "times, in minutes", "minutes")
    if match := _HOUR.fullmatch(text):
        hour = int(match[1]) % 12 + 12 * (match[2][0] in "pP")
        return PlainNumber(_number_text(60 * hour), "times, in minutes", "minutes")
    if (match := _ISO_DURATION.fullmatch(text)) and any(match.groups()):
        parts = zip(match.groups(), "dhms", strict=True)
        total_minutes = sum(float(n) * _MINUTES[unit] for n, unit in parts if n)
        return PlainNumber(_number_text(total_minutes), "durations, in minutes", "minutes")
    pairs = _PART.findall(text.lower())
    rest = _PART.sub("", text.lower())
    if pairs and not rest.replace("and", "").strip(" ,") and (len(pairs) > 1 or pairs[0][1] != "m"):
        units = ["mo" if unit.startswith("mo") else unit[0] for _, unit in pairs]
        values = [float(n.replace(",", ".")) for n, _ in pairs]
        total_minutes = sum(value * _MINUTES[unit] for value, unit in zip(values, units, strict=True))
        if "y" in units or "mo" in units:
            return PlainNumber(_number_text(total_minutes / _MINUTES["y"]), "durations, in years", "years")
        return PlainNumber(_number_text(total_minutes), "durations, in minutes", "minutes")
    return None


def _feet_and_inches(text: str) -> PlainNumber | None:
    match = _FEET.fullmatch(text)
    if match is None:
        return None
    return PlainNumber(_number_text(12 * int(match[1]) + float(match[2])), "feet and inches, in inches", "inches")


def _percent(text: str) -> PlainNumber | None:
    match = _PERCENT.fullmatch(text)
    if match is None:
        return None
    return _number_if_plain(match["digits"], *(("per mille", "‰") if match["unit"] == "‰" else ("per cent", "%")))


def _money(text: str) -> PlainNumber | None:
    match = _MONEY.fullmatch(text)
    if match is None or (match["sign"] and match["inner"]) or (match["before"] and match["after"]):
        return None
    currency, scale = match["before"] or match["after"], (match["scale"] or "").rstrip(".")
    if not (currency or scale) or (not currency and (scale == "B" or match["per"])):
        return None
    sign = (match["sign"] or match["inner"]).replace("+", "")
    digits = match["digits"].strip()
    per = f"/{_PERIODS.get(match['per'][0], match['per'])}" if match["per"] else ""
    kind = f"without {currency}{per}" if currency else "scaled"
    unit = _CURRENCY_SYMBOLS.get(currency, currency) + per if currency else ""
    return _number_if_plain(f"{sign}{digits}e{_SCALES[scale.lower()]}" if scale else f"{sign}{digits}", kind, unit)


def _amount(text: str) -> PlainNumber | None:
    match = _UNIT.fullmatch(text)
    return _number_if_plain(match["digits"], f"without the unit {match['unit']}", match["unit"]) if match else None


def _range_or_approximation(text: str) -> PlainNumber | None:
    if match := _RANGE.fullmatch(text):
        low, high = (number(match[part], ".") for part in ("low", "high"))
        if not np.isnan(low + high):
            upper = plain_number(match["high"] + match["rest"])
            return PlainNumber(_number_text((low + high) / 2), "ranges as their middle", upper.unit if upper else "")
    if match := _FRACTION.fullmatch(text):
        integer, numerator, denominator = (int(part or 0) for part in match.groups())
        return PlainNumber(_number_text(integer + numerator / denominator), "fractions as their value")
    if match := _APPROXIMATION.fullmatch(text):
        return _limit(match["rest"])
    if match := _OPEN_LIMIT.fullmatch(text):
        return _limit(f"{match['digits']} {match['rest']}".strip()) or _limit(match["digits"])
    return None


def _limit(text: str) -> PlainNumber | None:
    inner = plain_number(text) or _number_if_plain(text, "")
    return inner._replace(kind="limits as numbers") if inner else None


def _number_text(value: float) -> str:
    """Return a number that has the same value with a decimal point as with the marks of any file."""
    return f"{value:.0f}" if float(value).is_integer() else f"{value:.6f}"


@dataclass(frozen=True)
class WrittenNumbers:
    """Hold a column of text with plain numbers in place of written ones, and a note on what was done."""

    column: pd.Series
    note: str
    is_computed: bool
    """Whether its numbers were computed, as those of times are. Their decimal mark is a point in any file."""
    units: tuple[str, ...] = ()
    """What its numbers count. With several, they are not comparable."""


def read_written_numbers(raw: pd.Series, loose: bool) -> WrittenNumbers | None:
    """Return a column, (n_rows,) of text, with plain numbers, or None where it does not hold written numbers.

    All values must be written in one way. With ``loose``, the user says that the column holds numbers, and any way of
    writing is read in any row.
    """
    rows = text_counts(raw)
    first = list(rows)[:_EXAMINED_VALUES]
    if not loose and not any(map(plain_number, first)):
        return None
    numbers = {text: plain for text in rows if (plain := plain_number(text, loose=loose)) is not None}
    if not numbers:
        return None
    kinds = list(dict.fromkeys(plain.kind for plain in numbers.values()))
    if not loose and not _is_number_column(rows, numbers, kinds):
        return None
    is_computed = any(kind.endswith(_COMPUTED_KINDS) for kind in kinds)
    units = tuple(dict.fromkeys(plain.unit for plain in numbers.values() if plain.unit))
    return WrittenNumbers(
        replace_written_numbers(raw, loose), "".join(f"; {kind}" for kind in kinds), is_computed, units
    )


def has_mixed_numbers(raw: pd.Series) -> bool:
    """Return whether most texts of a column, (n_rows,), are numbers written in a few ways."""
    texts = list(text_counts(raw))[:_EXAMINED_VALUES]
    numbers = [plain for text in texts if (plain := plain_number(text, loose=True)) is not None]
    return 2 * len(numbers) > len(texts) and len({plain.kind for plain in numbers}) <= _MOST_KINDS


def replace_written_numbers(raw: pd.Series, loose: bool, units: Collection[str] | None = None) -> pd.Series:
    """Return (n_rows,) text in which ``plain_number`` replaces every number that a person wrote.

    With ``units``, a number in another unit stays as it is.
    """
    values = raw.astype(object)
    plain_texts = {
        value: result.text
        for value in values.dropna().unique()
        if isinstance(value, str)
        and (result := plain_number(value, loose=loose)) is not None
        and (units is None or not result.unit or result.unit in units)
    }
    return values.map(lambda value: plain_texts.get(value, value), na_action="ignore")


def _is_number_column(rows: Mapping[str, int], numbers: Mapping[str, PlainNumber], kinds: list[str]) -> bool:
    are_amounts = all(kind == "scaled" or kind.startswith(("brackets", "without ")) for kind in kinds)
    units = {kind for kind in kinds if kind.startswith("without ")}
    if len(kinds) > 1 and not (are_amounts and len(units) <= 1):
        return False
    if any(kind.startswith("without the unit") for kind in kinds) and len(numbers) < _FEWEST_VALUES:
        return False
    words = [text for text in rows if text not in numbers and not _is_plain(text)]
    return holds_numbers(words, rows)
