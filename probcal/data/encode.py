"""Mixed columns turned into numbers, as Weka's SMO and Logistic do it before they learn."""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin


class NumericEncoder(TransformerMixin, BaseEstimator):
    """Missing values to mode or mean, nominal columns to indicators, everything scaled to [0, 1].

    All of it is learned on the rows given to ``fit``: a level that did not occur there gives zeros, a
    number outside the range seen there falls outside [0, 1]. As in Weka, a nominal column with two
    levels becomes one indicator and one with k > 2 levels becomes k.
    """

    def fit(self, X: pd.DataFrame, y: object = None) -> NumericEncoder:
        """X: (n_rows, n_columns) frame of numeric and categorical columns; y is not used."""
        self.columns_ = {name: self._learn(column) for name, column in X.items()}
        return self

    def transform(self, X: pd.DataFrame) -> np.ndarray:
        """(n_rows, n_encoded) float64 without missing values."""
        parts = [_encode(X[name], learned) for name, learned in self.columns_.items()]
        return np.ascontiguousarray(np.concatenate(parts, axis=1)) if parts else np.empty((len(X), 0))

    @staticmethod
    def _learn(column: pd.Series) -> _Levels | _Range:
        if isinstance(column.dtype, pd.CategoricalDtype):
            counts = column.value_counts(sort=False)
            levels = [level for level in column.cat.categories if counts[level] > 0]
            return _Levels(levels, mode=max(levels, key=counts.get) if levels else None)
        values = column.to_numpy(np.float64)
        seen = values[~np.isnan(values)]
        if not len(seen):
            return _Range(0.0, 0.0, 0.0)
        return _Range(float(seen.mean()), float(seen.min()), float(seen.max()))


class _Levels:
    def __init__(self, levels: list[str], mode: str | None) -> None:
        self.levels, self.mode = levels, mode
        self.indicated = levels[1:] if len(levels) == 2 else levels


class _Range:
    def __init__(self, mean: float, low: float, high: float) -> None:
        self.mean, self.low, self.high = mean, low, high


def _encode(column: pd.Series, learned: _Levels | _Range) -> np.ndarray:
    if isinstance(learned, _Range):
        values = column.to_numpy(np.float64, copy=True)
        values[np.isnan(values)] = learned.mean
        width = learned.high - learned.low
        return ((values - learned.low) / width if width > 0 else np.zeros(len(values)))[:, None]
    position = {level: number for number, level in enumerate(learned.indicated)}
    of_code = np.array([position.get(level, -1) for level in column.cat.categories] + [-1])
    of_code[-1] = position.get(learned.mode, -1)  # code -1, a missing value, reads the last entry
    encoded = np.zeros((len(column), len(learned.indicated)))
    chosen = of_code[column.cat.codes.to_numpy()]
    rows = np.flatnonzero(chosen >= 0)
    encoded[rows, chosen[rows]] = 1.0
    return encoded
