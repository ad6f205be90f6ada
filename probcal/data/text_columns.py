"""Columns of text kept as categories: each distinct value is stored, and changed, only once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain, count

import numpy as np
import pandas as pd

Spelling = Callable[[str], str | None]
"""What becomes of a value; None for missing."""


def text_column(values: Sequence[str | None] | pd.Series, spelling: Spelling = str) -> pd.Series:
    """(n,) text, None or NaN for missing, as a categorical column of ``spelling(value)``."""
    codes, distinct = pd.factorize(pd.Series(values, dtype=object))
    return _joined([([spelling(value) for value in distinct], codes)])


def respelt(column: pd.Series, spelling: Spelling) -> pd.Series:
    """The categorical ``column`` (n,) with each value replaced by ``spelling(value)``."""
    return _joined([([spelling(value) for value in column.cat.categories], column.cat.codes.to_numpy())])


def stacked(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Frames with the same columns, one under the other. ``pd.concat`` would give up the categories."""
    if len(frames) == 1:
        return frames[0]
    return pd.DataFrame({name: _stacked_column([frame[name] for frame in frames]) for name in frames[0]})


def _stacked_column(parts: list[pd.Series]) -> pd.Series:
    if all(isinstance(part.dtype, pd.CategoricalDtype) for part in parts):
        return _joined([(list(part.cat.categories), part.cat.codes.to_numpy()) for part in parts])
    return pd.concat(parts, ignore_index=True)


def _joined(parts: list[tuple[list[str | None], np.ndarray]]) -> pd.Series:
    """One column of parts given as (their values, the number of each row's value, -1 for missing)."""
    levels = dict.fromkeys(chain.from_iterable(values for values, _ in parts))
    levels.pop(None, None)
    categories = pd.Index(list(levels), dtype=object)
    number = dict(zip(levels, count(), strict=False)) | {None: -1}
    codes = [np.array([*map(number.__getitem__, values), -1])[rows] for values, rows in parts]
    return pd.Series(pd.Categorical.from_codes(np.concatenate(codes), categories=categories))
