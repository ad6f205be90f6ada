"""Text in data: the encoding of files, the spelling and order of labels and levels, and categorical columns."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from probcal.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

MAJORITY = "majority"
"""The word on a card for the most frequent label, under ``positive``."""
NUMBER = re.compile(r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?")
"""The spelling of a number on a card and in its files."""
_EXAMINED_LENGTH = 1 << 20


def decode_text(content: bytes, path: object) -> tuple[str, list[str]]:
    """Return the text of a file, and a note unless it is UTF-8.

    Its encoding is UTF-8 with or without its mark, UTF-16, or else Windows-1252.

    Raises DataError for what is no text.
    """
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return content.decode("utf-16", "replace"), ["UTF-16 text"]
    if b"\0" in content[:_EXAMINED_LENGTH]:
        hint = " (an Excel file or another archive; save the table as CSV)" if content.startswith(b"PK") else ""
        raise DataError(f"{path}: is not a table of text{hint}; CSV, TSV, ARFF and Parquet files are read")
    try:
        return content.decode("utf-8-sig"), []
    except UnicodeDecodeError:
        return content.decode("cp1252", "replace"), ["not UTF-8, so read as Windows-1252"]


def sort_labels(labels: Iterable[str]) -> list[str]:
    """Return the distinct labels in order: by number where all are numbers ("10" after "9"), otherwise as text."""
    distinct = sorted(set(labels))
    return sorted(distinct, key=float) if all(map(NUMBER.fullmatch, distinct)) else distinct


def most_frequent_label(counts: Mapping[str, int]) -> str:
    """Return the label with the largest count, the first in order of several. Raises ValueError for no label."""
    return max(sort_labels(counts), key=lambda label: counts[label])


def as_text(value: object) -> str:
    """Return a label or level as the original file spells it: a whole number without ``.0``."""
    if isinstance(value, bool | np.bool_):
        return str(bool(value)).lower()
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)


Spelling = Callable[[str], str | None]
"""Function that maps a value to its new spelling, or to None for missing."""


def text_column(values: Sequence[str | None] | pd.Series, spelling: Spelling = str) -> pd.Series:
    """Return (n,) text as a categorical column of ``spelling(value)``. None and NaN mean missing."""
    import pandas as pd

    codes, distinct = pd.factorize(pd.Series(values, dtype=object))
    return _categorical(codes, [spelling(value) for value in distinct])


def respell(column: pd.Series, spelling: Spelling) -> pd.Series:
    """Return the categorical ``column`` (n,) with each value replaced by ``spelling(value)``."""
    return _categorical(column.cat.codes.to_numpy(), [spelling(value) for value in column.cat.categories])


def _categorical(codes: np.ndarray, values: list[str | None]) -> pd.Series:
    """Return the categorical column of ``values[code]``. Values may be equal, and None or code -1 means missing."""
    import pandas as pd

    numbers, levels = pd.factorize(pd.Series(values, dtype=object))
    categories = pd.Index(levels, dtype=object)  # pandas 3 would choose text of its own kind
    return pd.Series(pd.Categorical.from_codes(np.append(numbers, -1)[codes], categories=categories))


def stack_frames(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return frames of the same columns, one below the other. ``pd.concat`` would lose the categories."""
    import pandas as pd
    from pandas.api.types import union_categoricals

    if len(frames) == 1:
        return frames[0]
    stacked = {}
    for name in frames[0]:
        parts = [frame[name] for frame in frames]
        if all(isinstance(part.dtype, pd.CategoricalDtype) for part in parts):
            joined = union_categoricals(parts)
            stacked[name] = _categorical(joined.codes, list(joined.categories))
        else:
            stacked[name] = pd.concat(parts, ignore_index=True)
    return pd.DataFrame(stacked)
