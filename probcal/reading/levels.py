"""Levels of a category: one spelling for each, and new rows' levels matched with those of the training rows."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

_WHOLE = re.compile(r"([-+]?(?:0|[1-9][0-9]*))(?:\.0+)?")
"""A whole number, perhaps with a decimal point and zeros, as programs write a float."""
_PLAIN = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]{1,3})?")
_LONGEST = 100
_BOOLEANS = ("false", "true")
_SPELLING = ("Mn", "Cf", "Pi", "Pf")
"""Categories of letters by which only spellings differ: accents, invisible letters and typographic quotes."""
_TRUTHS = dict.fromkeys(("t", "yes", "y", "1.0"), "true") | dict.fromkeys(("f", "no", "n", "0.0"), "false")


def same_spelling(levels: Sequence[str]) -> list[str]:
    """Return ``levels`` as all formats write them: True as ``true``, and 1.0 as ``1`` if all are whole numbers."""
    if levels and all(level.casefold() in _BOOLEANS for level in levels):
        return [level.casefold() for level in levels]
    matches = [_WHOLE.fullmatch(level) if len(level) <= _LONGEST else None for level in levels]
    if all(matches):
        return [match[1].removeprefix("+") for match in matches if match]
    return list(levels)


def class_labels(names: Sequence[str]) -> npt.NDArray[Any]:
    """Return (n_classes,) the labels of classes: whole numbers if all names are, and texts otherwise."""
    if all(name.removeprefix("-").isdecimal() and str(int(name)) == name for name in names):
        return np.array([int(name) for name in names])
    return np.array(names)


def match_levels(
    levels: Sequence[str], known: Sequence[str], typed: bool = False
) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """Return level -> the level of the training rows that it is, and the pairs of which nobody knows.

    A pair is a new level and a known one that may be the same, such as ``Basic`` and ``basic``.
    A level in neither result is new. ``typed`` says that the levels were numbers, so that only their value counts.
    """
    exact = _by_key(known, _key)
    values = _by_key(known, _value) if typed else {}
    has_truths = all(_truth_key(level) in _BOOLEANS for level in known)
    loose_key = _truth_key if has_truths else _loose_key
    loose = _by_key(known, loose_key)
    aliases = _boolean_aliases(known)
    has_words = any(not _PLAIN.fullmatch(level) for level in known)
    matched, clashes = {}, []
    for level in levels:
        key = aliases.get(_key(level), _key(level))
        candidates = [level] if level in set(known) else exact.get(key) or values.get(_value(level)) or []
        if len(candidates) == 1:
            matched[level] = candidates[0]
        elif near := candidates or loose.get(loose_key(level), []):
            clashes.append((level, near[0]))
        elif known and ({*map(_key, known)} <= {*_BOOLEANS} or (key in _BOOLEANS and not has_words)):
            clashes.append((level, known[0]))  # there is no third boolean, and numbers have none
    return matched, clashes


def _by_key(known: Sequence[str], key: Callable[[str], str]) -> dict[str, list[str]]:
    levels: dict[str, list[str]] = {}
    for level in known:
        levels.setdefault(key(level), []).append(level)
    return levels


def _key(level: str) -> str:
    """Return a text that is equal for levels that every program reads alike."""
    match = _WHOLE.fullmatch(level) if len(level) <= _LONGEST else None
    return match[1].removeprefix("+") if match else level.casefold() if level.casefold() in _BOOLEANS else level


def _value(level: str) -> str:
    """Return the value of a number as text, or the level itself."""
    return repr(float(level)) if len(level) <= _LONGEST and _PLAIN.fullmatch(level) else level


def _loose_key(level: str) -> str:
    """Return a text that is equal for levels of which one may be a spelling of the other."""
    letters = unicodedata.normalize("NFKD", level).casefold()
    dashed = ("-" if unicodedata.category(letter) == "Pd" else letter for letter in letters)
    text = "".join(letter for letter in dashed if unicodedata.category(letter) not in _SPELLING)
    text = "".join(text.split()).strip("\"'.") or text
    if not any(letter.isdigit() for letter in text):
        text = text.replace("-", "").replace("_", "") or text
    # A decimal comma is another spelling of a decimal point.
    return _value(re.sub(r"(?<=[0-9]),(?=[0-9]+$)", ".", text))


def _truth_key(level: str) -> str:
    """Return the same as ``_loose_key``, and ``true`` or ``false`` for their usual words."""
    key = _loose_key(level)
    return _TRUTHS.get(key, key)


def _boolean_aliases(known: Sequence[str]) -> dict[str, str]:
    """Return the keys of 1 and 0 for levels that are true and false, and the other way round."""
    keys = {_key(level) for level in known}
    if keys <= {"true", "false"}:
        return {"1": "true", "0": "false"}
    return {"true": "1", "false": "0"} if keys <= {"1", "0"} else {}
