"""Columns of a prediction file in the forms that programs write them: per-cent signs, dates, whole numbers, weights."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from probcal.data.dataset import as_text
from probcal.data.labels import NUMBER

Floats = npt.NDArray[np.float64]
Texts = npt.NDArray[np.object_]

SIGN = "[%\N{FULLWIDTH PERCENT SIGN}]"
"""Per-cent signs, as a regular expression."""
_PERCENT = re.compile(rf"(.*[0-9.,])\s*{SIGN}", re.DOTALL)
_HUNDREDTH = "e-2"
"""The exponent in place of a per-cent sign, so that ``63.7%`` is the same float as ``.637``."""
_DECIMAL_ZEROS = re.compile(r"\.0+")
_DATE, _TIME = re.compile(r"\d{4}-\d\d-\d\d"), re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?")
_BOOLEANS = {"true", "false"}
_SAFE_WEIGHTS = (1e-100, 1e100)
"""Sums and squares of weights between these are finite."""
LARGEST_RATIO = 1e30
"""Largest ratio of two weights. A sum has 16 digits, so it does not notice a smaller weight, and fits lose theirs."""


def texts_of(raw: pd.Series) -> Texts:
    """Return (n_rows,) each value as text, None where it is missing."""
    if isinstance(raw.dtype, pd.CategoricalDtype):  # each level once
        levels = [as_text(level) for level in raw.cat.categories]
        texts: Texts = np.array([*levels, None], dtype=object)[raw.cat.codes.to_numpy()]
        return texts
    values = raw.astype(object).where(raw.notna(), None)
    return np.array([None if value is None else as_text(value) for value in values], dtype=object)


def percent_signs(raw: pd.Series) -> npt.NDArray[np.bool_]:
    """Return (n_rows,) whether a per-cent sign follows the number."""
    codes, levels = pd.factorize(raw.astype(object))
    signs = [isinstance(level, str) and bool(_PERCENT.fullmatch(level)) for level in levels]
    found: npt.NDArray[np.bool_] = np.array([*signs, False], dtype=bool)[codes]
    return found


def without_percent_signs(raw: pd.Series) -> pd.Series:
    """Return the column with ``63.7e-2`` for ``63.7%``, (n_rows,) of text."""
    return raw.astype(object).map(lambda text: _PERCENT.sub(rf"\1{_HUNDREDTH}", text), na_action="ignore")


def one_spelling(raw: pd.Series) -> pd.Series:
    """Return a column of labels in which ``True`` and ``true`` are one label, if it holds both spellings."""
    texts = texts_of(raw)
    spellings = set(texts) - {None}
    lower = {text.casefold() for text in spellings}
    if not lower or not lower <= _BOOLEANS or len(lower) == len(spellings):
        return raw
    return pd.Series([None if text is None else text.casefold() for text in texts], dtype=object)


def same_label(label: str, labels: list[str]) -> str:
    """Return the one of ``labels`` that is the boolean ``label`` in another spelling, otherwise ``label``."""
    matches = [one for one in labels if one.casefold() == label.casefold() and one.casefold() in _BOOLEANS]
    return matches[0] if len(matches) == 1 and label not in labels else label


def group_names(raw: pd.Series, missing: str) -> Texts:
    """Return (n_rows,) the group of each row, ``missing`` where it has none.

    A group is a name and never a number: ``2026-01`` and ``007`` stay as they are written. Only what CSV and Parquet
    files write in two ways is one group: ``1`` and ``1.0``, ``true`` and ``True``, a date with and without midnight.
    """
    codes, texts = pd.factorize(texts_of(raw))
    groups = [" ".join(text.split()) for text in texts]
    distinct = set(groups) - {missing}
    if any(map(_TIME.fullmatch, distinct)) and all(
        _TIME.fullmatch(group) or _DATE.fullmatch(group) for group in distinct
    ):
        groups = [f"{group} 00:00:00" if _DATE.fullmatch(group) else group for group in groups]
    elif all(map(NUMBER.fullmatch, distinct)):
        names = {group: _DECIMAL_ZEROS.sub("", group) if _ends_in_zeros(group) else group for group in distinct}
        groups = [names.get(group, group) for group in groups]
    elif {group.casefold() for group in distinct} <= _BOOLEANS:
        groups = [group.casefold() if group in distinct else group for group in groups]
    names_of_codes: Texts = np.array([*groups, missing], dtype=object)
    named: Texts = names_of_codes[codes]
    return named


def _ends_in_zeros(group: str) -> bool:
    return bool(re.fullmatch(r"[-+]?[0-9]+\.0+", group))


def scaled_weights(weight: Floats) -> Floats:
    """Return the weights, times a power of two where their sums could overflow or their squares be 0.

    Only ratios of weights matter, and a power of two changes none.
    """
    low, high = _SAFE_WEIGHTS
    largest: Any = weight.max()
    if low <= largest <= high:
        return weight
    return np.asarray(np.ldexp(weight, -np.frexp(largest)[1]))
