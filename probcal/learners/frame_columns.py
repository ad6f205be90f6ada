"""The columns of a frame as the learners of C4.5 and Weka read them, and the base class of both."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import validate_data


class FrameClassifier(ClassifierMixin, BaseEstimator):
    """Predict the most probable label, on frames with numbers, categories and missing values."""

    classes_: np.ndarray

    def predict(self, X: Any) -> np.ndarray:
        """Predict the most probable label of each row.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_rows, n_columns)
            Rows with the columns of ``fit``.

        Returns
        -------
        ndarray of shape (n_rows,)
            Labels out of ``classes_``. The first class wins a tie, as in Weka.

        Raises
        ------
        ValueError
            If the columns differ from those of ``fit``, or hold infinite values.
        """
        # first, because it says so if the classifier is not fitted
        probabilities = self.predict_proba(X)
        labels: np.ndarray = self.classes_[np.argmax(probabilities, axis=1)]
        return labels

    def predict_proba(self, X: Any) -> np.ndarray:
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.categorical = tags.input_tags.string = True
        return tags


def checked_frame(estimator: Any, X: Any, *, fitting: bool) -> pd.DataFrame:
    """Return ``X``, (n_rows, n_columns), as a frame.

    The estimator remembers its columns in ``fit``, and compares them later, as in scikit-learn. Raises ValueError for
    an empty table, for two columns of one name, and for other columns than in ``fit``.
    """
    if not isinstance(X, pd.DataFrame):
        return pd.DataFrame(validate_data(estimator, X, reset=fitting, ensure_all_finite="allow-nan"))
    if not len(X) or not X.shape[1]:
        raise ValueError(f"X has {len(X)} rows and {X.shape[1]} columns; at least 1 of each is required")
    if not X.columns.is_unique:
        raise ValueError(f"column {X.columns[X.columns.duplicated()][0]!r} occurs twice; names must be unique")
    # only the names, because scikit-learn's check of the values refuses categories and text
    validate_data(estimator, X, reset=fitting, skip_check_array=True)
    return X


def levels_of(name: Any, column: pd.Series) -> list[Any] | None:
    """Return the levels of a column, or None for numbers.

    Declared categories that do not occur are levels too, as in the header of an ARFF file. Raises TypeError for a
    column that is neither numbers nor categories.
    """
    if isinstance(column.dtype, pd.CategoricalDtype):
        return list(column.cat.categories)
    if pd.api.types.is_bool_dtype(column.dtype):
        return [False, True]
    if pd.api.types.is_numeric_dtype(column.dtype) and not pd.api.types.is_complex_dtype(column.dtype):
        return None
    if pd.api.types.is_object_dtype(column.dtype) or pd.api.types.is_string_dtype(column.dtype):
        return sorted(column.dropna().unique(), key=str)
    raise TypeError(f"column {name!r} holds {column.dtype}; give numbers or categories")


def numbers_of(name: Any, column: pd.Series) -> np.ndarray:
    """Return the numbers of a column, (n_rows,), and NaN for missing ones. Raises ValueError for infinite values."""
    numbers: np.ndarray = column.to_numpy(np.float64, na_value=np.nan)
    if np.isinf(numbers).any():
        raise ValueError(f"column {name!r} holds infinite values; replace them")
    return numbers


def codes_of(column: pd.Series, levels: list[Any]) -> np.ndarray:
    """Return the position of each value among ``levels``, (n_rows,) int32, and -1 for a missing or unknown value."""
    if [type(level) for level in levels] == [bool, bool]:  # truth values may come as 0 and 1, in any kind of column
        numbers = pd.to_numeric(column.astype(object), errors="coerce").to_numpy(np.float64, na_value=np.nan)
        return np.where(np.isin(numbers, (0, 1)), numbers, -1).astype(np.int32)
    column = column.astype("category")
    place = pd.Index(levels, dtype=object).get_indexer(pd.Index(column.cat.categories, dtype=object))
    coded: np.ndarray = np.append(place, -1)[column.cat.codes.to_numpy()]  # code -1, a missing value, reads the last
    return coded.astype(np.int32)
