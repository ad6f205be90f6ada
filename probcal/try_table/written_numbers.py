"""Numbers as people write them: money, percentages, units, clock times and durations, turned into plain numbers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from probcal.try_table.numbers_in_text import OTHER, holds_numbers, number, rows_of, tidied

_CURRENCIES = "USD|EUR|GBP|CHF|JPY|CNY|INR|SEK|NOK|DKK|PLN|CZK|AUD|CAD|NZD|BRL|ZAR|RUB|US\\$|Rs\\.?|kr\\.?|[$€£¥₹₽₩]"
_DIGITS = r"[0-9][0-9.,'\u2019 \u00a0\u2009\u202f]*[0-9]|[0-9]|[.,][0-9]+"
_MONEY = re.compile(
    rf"(?P<sign>[-+]?)\s?(?P<before>{_CURRENCIES})?\s?(?P<inner>[-+]?)(?P<digits>{_DIGITS})(?:[.,][-\u2013])?"
    rf"\s?(?P<scale>bn|B|mn|mio\.?|Mio\.?|[kKM]|million|billion|thousand)?\s?(?P<after>{_CURRENCIES})?"
)
_SCALES = {"k": 3, "thousand": 3, "m": 6, "mn": 6, "mio": 6, "million": 6, "b": 9, "bn": 9, "billion": 9}
"""Word in small letters -> power of ten."""
_PERCENT = re.compile(rf"(?P<digits>[-+]?(?:{_DIGITS}))\s?(?P<unit>%|‰|percent|per cent)")
_LETTER = "A-Za-zµμ°²³Ωäöüéß"
_UNIT = re.compile(rf"(?P<digits>[-+]?(?:{_DIGITS}))\s?(?P<unit>[{_LETTER}][{_LETTER}/·^-]{{0,14}}[0-9]?)")
_BRACKETS = re.compile(r"\((?P<inside>[^()]+)\)")
_CLOCK = re.compile(r"(\d{1,3}):([0-5]\d)(?::([0-5]\d)(?:[.,]\d+)?)?\s?([AaPp]\.?[Mm]\.?)?")
_HOUR = re.compile(r"(1[0-2]|0?[1-9])\s?([AaPp]\.?[Mm]\.?)")
_PART = re.compile(
    r"(\d+(?:[.,]\d+)?)\s?(weeks?|w|days?|d|hours?|hrs?|hr|h|minutes?|mins?|min|m|seconds?|secs?|sec|s)(?![a-z])"
)
_ISO_DURATION = re.compile(r"P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?")
_MINUTES = {"w": 10_080.0, "d": 1_440.0, "h": 60.0, "m": 1.0, "s": 1 / 60}
_FEET = re.compile(r"(\d+)\s?(?:'|\u2019|ft\.?)\s?(\d+(?:\.\d+)?)\s?(?:\"|''|\u201d|in\.?)?")
_ABOUT = re.compile(
    r"(?:[<>~≈≤≥=]+|about|ca\.?|approx\.?|around|over|under|up to|at least|at most)\s?(?P<rest>.+)", re.I
)
_RANGE = re.compile(rf"(?P<low>{_DIGITS})\s?(?:-|\u2013|\u2014|to|bis)\s?(?P<high>{_DIGITS})(?P<rest>\D*)")
_OPEN = re.compile(rf"(?P<digits>{_DIGITS})\s?(?:\+|and over|and more|or more|plus)[A-Za-z ]{{0,15}}")
_COMPUTED = ("in minutes", "in inches", "as their middle")
_LONGEST = 60
_LOOKED_AT = 200
"""Different values of a column. If none of them is written, the others are not looked at."""
_FEWEST_VALUES = 3
"""Different values of a column that get a unit taken away unasked. Two may be names, such as ``3 doors``."""


class PlainNumber(NamedTuple):
    """Hold a number as plain ``text``, and ``kind``: how it was written. Its decimal mark is not known yet."""

    text: str
    kind: str


def plain_number(text: str, loose: bool = False) -> PlainNumber | None:
    """Return the number that a person reads in ``text``, or None where it is a plain number already, or none.

    Clock times and durations become minutes. With ``loose``, ``<5`` is 5 and ``10-20`` is 15, too.
    """
    text = tidied(" ".join(text.split()))
    if len(text) > _LONGEST or not any(one.isdigit() for one in text) or _is_plain(text):
        return None
    found = _bracketed(text) or _time(text) or _feet(text) or _percent(text) or _money(text) or _with_unit(text)
    return found or (_loosely(text) if loose else None)


def _is_plain(text: str) -> bool:
    return any(not np.isnan(number(text, mark)) for mark in OTHER)


def _checked(digits: str, kind: str) -> PlainNumber | None:
    return PlainNumber(digits, kind) if _is_plain(digits) else None


def _bracketed(text: str) -> PlainNumber | None:
    found = _BRACKETS.fullmatch(text)
    if found is None:
        return None
    inside = found["inside"].strip()
    if _is_plain(inside) and not inside.startswith(("-", "+")):
        return PlainNumber(f"-{inside}", "brackets mean minus")
    money = _money(inside)
    return None if money is None or money.text.startswith("-") else PlainNumber(f"-{money.text}", money.kind)


def _time(text: str) -> PlainNumber | None:
    if found := _CLOCK.fullmatch(text):
        hours, minutes, seconds, half = int(found[1]), int(found[2]), int(found[3] or 0), found[4]
        if half is None or 1 <= hours <= 12:
            hours = hours if half is None else hours % 12 + 12 * (half[0] in "pP")
            return PlainNumber(_short(60 * hours + minutes + seconds / 60), "times, in minutes")
        return None
    if found := _HOUR.fullmatch(text):
        return PlainNumber(_short(60 * (int(found[1]) % 12 + 12 * (found[2][0] in "pP"))), "times, in minutes")
    if (found := _ISO_DURATION.fullmatch(text)) and any(found.groups()):
        parts = zip(found.groups(), "dhms", strict=True)
        return PlainNumber(_short(sum(float(n) * _MINUTES[unit] for n, unit in parts if n)), "durations, in minutes")
    parts_found = _PART.findall(text.lower())
    rest = _PART.sub("", text.lower())
    if parts_found and not rest.replace("and", "").strip(" ,") and (len(parts_found) > 1 or parts_found[0][1] != "m"):
        minutes_all = sum(float(n.replace(",", ".")) * _MINUTES[unit[0]] for n, unit in parts_found)
        return PlainNumber(_short(minutes_all), "durations, in minutes")
    return None


def _feet(text: str) -> PlainNumber | None:
    found = _FEET.fullmatch(text)
    return PlainNumber(_short(12 * int(found[1]) + float(found[2])), "feet and inches, in inches") if found else None


def _percent(text: str) -> PlainNumber | None:
    found = _PERCENT.fullmatch(text)
    return _checked(found["digits"], "per mille" if found["unit"] == "‰" else "per cent") if found else None


def _money(text: str) -> PlainNumber | None:
    found = _MONEY.fullmatch(text)
    if found is None or (found["sign"] and found["inner"]) or (found["before"] and found["after"]):
        return None
    currency, scale = found["before"] or found["after"], (found["scale"] or "").rstrip(".")
    if not (currency or scale) or (scale == "B" and not currency):
        return None
    sign = (found["sign"] or found["inner"]).replace("+", "")
    digits = found["digits"].strip()
    kind = f"without {currency}" if currency else "scaled"
    return _checked(f"{sign}{digits}e{_SCALES[scale.lower()]}" if scale else f"{sign}{digits}", kind)


def _with_unit(text: str) -> PlainNumber | None:
    found = _UNIT.fullmatch(text)
    return _checked(found["digits"], f"without the unit {found['unit']}") if found else None


def _loosely(text: str) -> PlainNumber | None:
    if found := _RANGE.fullmatch(text):
        low, high = (number(found[part], ".") for part in ("low", "high"))
        if not np.isnan(low + high):
            return PlainNumber(_short((low + high) / 2), "ranges as their middle")
    for pattern, part in ((_ABOUT, "rest"), (_OPEN, "digits")):
        if found := pattern.fullmatch(text):
            inner = plain_number(found[part], loose=False)
            return (
                PlainNumber(inner.text if inner else found[part], "limits as numbers")
                if inner or _is_plain(found[part])
                else None
            )
    return None


def _short(value: float) -> str:
    """Return a number that has the same value with a decimal point as with the marks of any file."""
    return f"{value:.0f}" if float(value).is_integer() else f"{value:.6f}"


@dataclass(frozen=True)
class WrittenNumbers:
    """Hold a column of text with plain numbers in place of written ones, and a note on what was done."""

    column: pd.Series
    note: str
    computed: bool
    """Whether its numbers were computed, as those of times are. Their decimal mark is a point in any file."""


def read_written_numbers(raw: pd.Series, asked: bool) -> WrittenNumbers | None:
    """Return a column, (n_rows,) of text, with plain numbers, or None where it does not hold written numbers.

    All values must be written in one way. With ``asked``, the user says that the column holds numbers, and any way of
    writing is read in any row.
    """
    rows = rows_of(raw)
    first = list(rows)[:_LOOKED_AT]
    if not asked and not any(map(plain_number, first)):
        return None
    found = {text: plain for text in rows if (plain := plain_number(text, loose=asked)) is not None}
    if not found:
        return None
    kinds = list(dict.fromkeys(one.kind for one in found.values()))
    if not asked and not _is_sure(rows, found, kinds):
        return None
    computed = any(kind.endswith(_COMPUTED) for kind in kinds)
    return WrittenNumbers(without_writing(raw, asked), "".join(f"; {kind}" for kind in kinds), computed)


def without_writing(raw: pd.Series, asked: bool) -> pd.Series:
    """Return (n_rows,) text in which ``plain_number`` replaces every number that a person wrote."""
    values = raw.astype(object)
    plain = {
        value: found.text
        for value in values.dropna().unique()
        if isinstance(value, str) and (found := plain_number(value, loose=asked)) is not None
    }
    return values.map(lambda value: plain.get(value, value), na_action="ignore")


def _is_sure(rows: Mapping[str, int], found: Mapping[str, PlainNumber], kinds: list[str]) -> bool:
    of_amounts = all(kind == "scaled" or kind.startswith(("brackets", "without ")) for kind in kinds)
    units = {kind for kind in kinds if kind.startswith("without ")}
    if len(kinds) > 1 and not (of_amounts and len(units) <= 1):
        return False
    if any(kind.startswith("without the unit") for kind in kinds) and len(found) < _FEWEST_VALUES:
        return False
    words = [text for text in rows if text not in found and not _is_plain(text)]
    return holds_numbers(words, rows)
