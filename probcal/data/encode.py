"""Encoders that turn numeric and nominal columns into numbers, as Weka's SMO and Logistic do before they learn."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler


class OrdinalEncoder(TransformerMixin, BaseEstimator):
    """Replace each level by its alphabetical position, standardise all columns and replace missing values by means.

    The authors of Vovk, Petej & Gammerman (2021) prepare Bank Marketing in this way. Means and standard deviations
    come from the rows given to ``fit``. The levels are those that the data set declares, in whichever rows they occur.
    """

    def fit(self, X: pd.DataFrame, y: object = None, sample_weight: np.ndarray | None = None) -> OrdinalEncoder:
        """Learn means and standard deviations of ``X``, (n_rows, n_columns) numeric and categorical. Ignores ``y``.

        ``sample_weight``, (n_rows,), weighs the standard deviations. Missing values get plain means.
        """
        from sklearn.impute import SimpleImputer  # imports nearest neighbours, and a plan fits nothing

        self.names_ = X.columns
        filled = SimpleImputer(keep_empty_features=True)
        pipeline = make_pipeline(filled, StandardScaler())
        self.scaled_ = pipeline.fit(_ordinals(X), standardscaler__sample_weight=sample_weight)
        return self

    def transform(self, X: pd.DataFrame) -> np.ndarray:
        """Return (n_rows, n_columns) float64 without missing values, in the order of the columns."""
        scaled: np.ndarray = self.scaled_.transform(_ordinals(X[self.names_]))
        return scaled


def _ordinals(X: pd.DataFrame) -> np.ndarray:
    """Return (n_rows, n_columns) float64 numbers and level positions. A missing value is NaN."""
    columns = []
    for number in range(X.shape[1]):
        column = X.iloc[:, number]
        if isinstance(column.dtype, pd.CategoricalDtype):
            codes = column.cat.set_categories(sorted(column.cat.categories)).cat.codes.to_numpy(np.float64)
            columns.append(np.where(codes < 0, np.nan, codes))
        else:
            columns.append(column.to_numpy(np.float64))
    return np.column_stack(columns)


class NumericEncoder(TransformerMixin, BaseEstimator):
    """Encode nominal columns as indicators, scale all columns to [0, 1] and replace missing values by mode or mean.

    Everything is learned on the rows given to ``fit``. A level that did not occur there gives zeros. A number
    outside the range seen there falls outside [0, 1]. As in Weka, a nominal column with two levels becomes one
    indicator, of the second level. One with k > 2 levels becomes k indicators. A column with fewer than two
    distinct values becomes zeros, nominal or numeric, whatever values come later.
    """

    def fit(self, X: pd.DataFrame, y: object = None, sample_weight: np.ndarray | None = None) -> NumericEncoder:
        """Learn modes, means and ranges of ``X``, (n_rows, n_columns) numeric and categorical. Ignores ``y``.

        ``sample_weight``, (n_rows,), weighs the rows for modes and means.
        """
        self.names_ = X.columns
        nominal = np.array([isinstance(kind, pd.CategoricalDtype) for kind in X.dtypes], dtype=bool)
        self.levels_ = {int(column): _Levels(X.iloc[:, column], sample_weight) for column in np.flatnonzero(nominal)}
        self.numeric_ = np.flatnonzero(~nominal)
        self.ranges_ = _Ranges(self._numbers(X), sample_weight)
        return self

    def transform(self, X: pd.DataFrame) -> np.ndarray:
        """Return (n_rows, n_encoded) float64 without missing values, in the order of the columns."""
        if not X.columns.equals(self.names_):
            X = X[self.names_]
        scaled = self.ranges_.encode(self._numbers(X))
        if not self.levels_:
            return np.ascontiguousarray(scaled)
        widths = np.ones(len(self.names_), dtype=int)
        # A column without a second level still has one column, of zeros.
        widths[list(self.levels_)] = [max(len(levels.indicated), 1) for levels in self.levels_.values()]
        ends = np.cumsum(widths)
        encoded = np.zeros((len(X), ends[-1]))
        encoded[:, (ends - widths)[self.numeric_]] = scaled
        for column, levels in self.levels_.items():
            levels.mark(X.iloc[:, column], encoded[:, ends[column] - widths[column] : ends[column]])
        return encoded

    def _numbers(self, X: pd.DataFrame) -> np.ndarray:
        """Return the numeric columns of a frame, (n_rows, n_numeric) float64."""
        part = X if len(self.numeric_) == X.shape[1] else X.iloc[:, self.numeric_]
        numbers: np.ndarray = part.to_numpy(np.float64)
        return numbers


class _Levels:
    """Hold the levels of a nominal column that occurred, the commonest one, and those that get an indicator."""

    def __init__(self, column: pd.Series, weight: np.ndarray | None = None) -> None:
        counts = column.value_counts(sort=False)
        if weight is not None:
            codes = column.cat.codes.to_numpy()
            sums = np.bincount(codes[codes >= 0], weight[codes >= 0], minlength=len(column.cat.categories))
            counts = pd.Series(sums, index=column.cat.categories)
        levels = [level for level in column.cat.categories if counts[level] > 0]
        self.mode = max(levels, key=counts.get) if levels else None
        self.indicated = levels if len(levels) > 2 else levels[1:]

    def mark(self, column: pd.Series, encoded: np.ndarray) -> None:
        """Set the ones in ``encoded``, (n_rows, n_indicated) zeros."""
        position = {level: number for number, level in enumerate(self.indicated)}
        # code -1, a missing value, reads the last entry
        indicator_of_code = np.array([position.get(level, -1) for level in (*column.cat.categories, self.mode)])
        indicators = indicator_of_code[column.cat.codes.to_numpy()]
        rows = np.flatnonzero(indicators >= 0)
        encoded[rows, indicators[rows]] = 1.0


class _Ranges:
    """Hold mean, lowest and highest value of each numeric column. All are 0 where no value was seen."""

    def __init__(self, numbers: np.ndarray, weight: np.ndarray | None = None) -> None:
        self.mean, self.low, self.high = np.zeros((3, numbers.shape[1]))
        for column, values in _present_values(numbers):
            self.mean[column], self.low[column], self.high[column] = values.mean(0), values.min(0), values.max(0)
        if weight is not None:
            missing = np.isnan(numbers)
            total = (~missing * weight[:, None]).sum(axis=0)
            sums = (np.where(missing, 0.0, numbers) * weight[:, None]).sum(axis=0)
            self.mean = np.divide(sums, total, out=np.zeros_like(sums), where=total > 0)

    def encode(self, numbers: np.ndarray) -> np.ndarray:
        missing = np.isnan(numbers)
        if missing.any():
            numbers = np.where(missing, self.mean, numbers)
        width = self.high - self.low
        return np.where(width > 0, (numbers - self.low) / np.where(width > 0, width, 1.0), 0.0)


def _present_values(numbers: np.ndarray) -> Iterator[tuple[np.ndarray | int, np.ndarray]]:
    """Yield the columns without missing values at once, then each other column without its missing values."""
    missing = np.isnan(numbers)
    has_missing = missing.any(axis=0)
    if len(numbers) and not has_missing.all():
        # Each column lies in one piece and is summed as a single one below, so both ways round alike.
        yield ~has_missing, np.asfortranarray(numbers[:, ~has_missing])
    for column in np.flatnonzero(has_missing):
        values = numbers[~missing[:, column], column]
        if len(values):
            yield int(column), values


ENCODERS: dict[str, type[NumericEncoder | OrdinalEncoder]] = {"numeric": NumericEncoder, "ordinal": OrdinalEncoder}
"""The encodings that an experiment may name. A learner with encoding ``native`` gets the columns unchanged."""
