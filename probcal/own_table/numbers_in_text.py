"""Numbers written as text, with whichever comma."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np

from probcal.data.card import NUMBER

_THOUSANDS = re.compile(r"[-+]?[0-9]{1,3}(,[0-9]{3})+(\.[0-9]+)?")
_POINTS = re.compile(r"[-+]?[0-9]{1,3}(\.[0-9]{3})+(,[0-9]+)?")
"""Of such texts one with a comma, or with two points, shows that a point is no decimal one."""
_DECIMAL = re.compile(r"[-+]?[0-9]*,[0-9]+([eE][-+]?[0-9]+)?")


class Read(NamedTuple):
    """``numbers``: (n_texts,) float64, NaN for a word; ``words``: the texts that are none; ``said``: of the commas."""

    numbers: np.ndarray[Any, Any]
    words: list[str]
    said: str


def read_numbers(texts: list[str]) -> Read:
    """A comma parts thousands where every text with one looks so, else it is a decimal one where no point is.

    Points part thousands where all numbers can be read so, and one has a comma behind them or two points.
    """
    commas = [text for text in texts if "," in text]
    if commas and all(map(_THOUSANDS.fullmatch, commas)):
        plain, said = [text.replace(",", "") for text in texts], "; commas part thousands"
    elif any(map(_DECIMAL.fullmatch, commas)) and not any("." in text for text in texts):
        plain = [text.replace(",", ".") if _DECIMAL.fullmatch(text) else text for text in texts]
        said = "; the comma is a decimal one"
    elif _points_part_thousands(texts):
        plain = [text.replace(".", "").replace(",", ".") if _with_points(text) else text for text in texts]
        said = "; points part thousands" + (", comma decimal" if commas else "")
    else:
        plain, said = texts, "; the point is a decimal one" if _points_in_doubt(texts) else ""
    numbers = np.array([float(text) if NUMBER.fullmatch(text) else np.nan for text in plain], dtype=np.float64)
    numbers[np.isinf(numbers)] = np.nan  # beyond the largest there is
    words = [text for text, number in zip(texts, numbers, strict=True) if np.isnan(number)]
    return Read(numbers, words, said)


def _with_points(text: str) -> bool:
    return bool(_POINTS.fullmatch(text) or _DECIMAL.fullmatch(text))


def _points_part_thousands(texts: list[str]) -> bool:
    marked = [text for text in texts if re.fullmatch(r"[-+]?[0-9.,]*[0-9][0-9.,]*", text) and re.search("[.,]", text)]
    shown = any(text.count(".") > 1 or ("." in text and "," in text) for text in marked)
    return shown and all(map(_with_points, marked))


def _points_in_doubt(texts: list[str]) -> bool:
    """Whether all that have a point have three digits behind it and none is below 1, as thousands look."""
    pointed = [text for text in texts if "." in text]
    return bool(pointed) and all(_POINTS.fullmatch(text) and text.lstrip("+-")[0] != "0" for text in pointed)
