"""Preparation of all rows of a data set before any split, as some papers did it.

It looks at the rows that test later, so it is not how you would prepare your own data. Missing values, codes and scales
that are learned from training rows alone belong to a learner (``encoding`` in an experiment).
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import pandas as pd

from probcal.data.sources.specifications import CardPart


class Preparation(CardPart):
    """Say how the columns of all rows are prepared before any split. What is not named stays as it is."""

    nominal: Literal["codes"] | None = None
    """``codes`` makes a nominal column numeric: the place 0, 1, 2, ... of its level, in the order of the levels."""
    missing: Literal["drop_rows", "column_mean"] | None = None
    """``drop_rows`` leaves out each row that lacks an input. ``column_mean`` fills in the mean of the column."""
    scale: Literal["all_rows"] | None = None
    """``all_rows`` takes the mean of all rows from each column, and divides by their standard deviation."""


def prepare_columns(preparation: Preparation, X: pd.DataFrame) -> tuple[pd.DataFrame, np.ndarray]:
    """Return the prepared columns, and which rows they hold.

    ``X`` (n_rows, n_columns) has float64 and categorical columns. The first result has the rows where the second,
    (n_rows,) bool, is True. Levels are coded before rows are dropped, and scales come from the other rows. Nominal
    columns are not scaled unless they are coded. The divisor of the standard deviation is n, and a constant column
    becomes 0.
    """
    if preparation.nominal == "codes":
        X = pd.DataFrame({name: _level_numbers(column) for name, column in X.items()})
    is_complete = np.ones(len(X), dtype=bool)
    if preparation.missing == "drop_rows":
        is_complete = ~X.isna().to_numpy().any(axis=1)
        X = X[is_complete].reset_index(drop=True)
    numeric = [name for name, column in X.items() if not isinstance(column.dtype, pd.CategoricalDtype)]
    # Sums then go row by row, so that they are the same on every machine.
    numbers = np.ascontiguousarray(X[numeric].to_numpy(np.float64))
    if preparation.missing == "column_mean":
        numbers = _fill_means(numbers)
    if preparation.scale == "all_rows":
        numbers = _standardise(numbers)
    prepared = dict(zip(numeric, numbers.T, strict=True))
    return pd.DataFrame({name: prepared.get(name, column) for name, column in X.items()}), is_complete


def _level_numbers(column: pd.Series) -> pd.Series:
    """Return the number of each level as float64, with NaN for a missing value. A column of numbers stays as it is."""
    if not isinstance(column.dtype, pd.CategoricalDtype):
        return column
    codes = column.cat.codes.to_numpy(np.float64)
    return pd.Series(np.where(codes < 0, np.nan, codes))


def _fill_means(numbers: np.ndarray) -> np.ndarray:
    """Return (n_rows, n_columns) with the mean of a column in place of NaN, and 0 in a column without a value."""
    missing = np.isnan(numbers)
    counts = (~missing).sum(axis=0)
    means = np.where(missing, 0.0, numbers).sum(axis=0) / np.maximum(counts, 1)
    return np.where(missing, means, numbers)


def _standardise(numbers: np.ndarray) -> np.ndarray:
    """Return (n_rows, n_columns) with mean 0 and standard deviation 1. Missing values do not count and stay NaN."""
    present = ~np.isnan(numbers)
    n = np.maximum(present.sum(axis=0), 1)
    centred = numbers - np.where(present, numbers, 0.0).sum(axis=0) / n
    spread = np.sqrt(np.where(present, centred * centred, 0.0).sum(axis=0) / n)
    return np.asarray(centred / np.where(spread == 0, 1.0, spread))
