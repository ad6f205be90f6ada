"""Preparation of all rows of a data set before any split, as some papers did it.

It looks at the rows that test later, so it is not how you would prepare your own data. Missing values, codes and scales
that are learned from training rows alone belong to a learner (``encoding`` in an experiment).
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import pandas as pd
from pydantic import BaseModel, ConfigDict


class Preparation(BaseModel):
    """Say how the columns of all rows are prepared before any split. What is not named stays as it is."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    nominal: Literal["codes"] | None = None
    """``codes`` makes a nominal column numeric: the place 0, 1, 2, ... of its level, in the order of the levels."""
    missing: Literal["drop_rows", "column_mean"] | None = None
    """``drop_rows`` leaves out each row that lacks an input. ``column_mean`` fills in the mean of the column."""
    scale: Literal["all_rows"] | None = None
    """``all_rows`` takes the mean of all rows from each column, and divides by their standard deviation."""


def prepared(preparation: Preparation, X: pd.DataFrame) -> tuple[pd.DataFrame, np.ndarray]:
    """Return the prepared columns, and which rows are kept.

    ``X`` (n_rows, n_columns) has float64 and categorical columns. The first result is (n_kept, n_columns), the second
    (n_rows,) bool. Levels are coded before rows are dropped, and scales come from the kept rows. Nominal columns are
    not scaled unless they are coded. The divisor of the standard deviation is n, and a constant column becomes 0.
    """
    if preparation.nominal == "codes":
        X = pd.DataFrame({name: _codes(column) for name, column in X.items()})
    kept = np.ones(len(X), dtype=bool)
    if preparation.missing == "drop_rows":
        kept = ~X.isna().to_numpy().any(axis=1)
        X = X[kept].reset_index(drop=True)
    numeric = [name for name, column in X.items() if not isinstance(column.dtype, pd.CategoricalDtype)]
    numbers = np.ascontiguousarray(X[numeric].to_numpy(np.float64))  # sums row by row, so the same on every machine
    if preparation.missing == "column_mean":
        numbers = _filled(numbers)
    if preparation.scale == "all_rows":
        numbers = _standardised(numbers)
    new = dict(zip(numeric, numbers.T, strict=True))
    return pd.DataFrame({name: new.get(name, column) for name, column in X.items()}), kept


def _codes(column: pd.Series) -> pd.Series:
    """Return the place of each level as float64, with NaN for a missing value. A column of numbers stays as it is."""
    if not isinstance(column.dtype, pd.CategoricalDtype):
        return column
    codes = column.cat.codes.to_numpy(np.float64)
    return pd.Series(np.where(codes < 0, np.nan, codes))


def _filled(numbers: np.ndarray) -> np.ndarray:
    """Return (n_rows, n_columns) with the mean of a column in place of NaN, and 0 in a column without a value."""
    missing = np.isnan(numbers)
    seen = (~missing).sum(axis=0)
    means = np.where(missing, 0.0, numbers).sum(axis=0) / np.maximum(seen, 1)
    return np.where(missing, means, numbers)


def _standardised(numbers: np.ndarray) -> np.ndarray:
    """Return (n_rows, n_columns) with mean 0 and standard deviation 1. Missing values do not count and stay NaN."""
    present = ~np.isnan(numbers)
    n = np.maximum(present.sum(axis=0), 1)
    centred = numbers - np.where(present, numbers, 0.0).sum(axis=0) / n
    spread = np.sqrt(np.where(present, centred * centred, 0.0).sum(axis=0) / n)
    return np.asarray(centred / np.where(spread == 0, 1.0, spread))
