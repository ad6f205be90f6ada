"""Naive Bayes with kernel densities, as in Weka's NaiveBayes -K (John & Langley 1995)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import Any, ClassVar, Literal, Self

import numpy as np
import pandas as pd
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from probcal._classes import two_classes
from probcal._validation import CheckedParameters, Constraint, row_weights
from probcal.fast_paths.column_sums import ColumnSums, LogOdds
from probcal.fast_paths.prior_shift import PriorShift
from probcal.learners.kernel_density import KernelDensity, bins_of

# Weka's least probability of one value given a class.
_SMALLEST = 1e-75
# Weka's rounding step for a column with a single distinct value.
_DEFAULT_PRECISION = 0.01


class KernelNaiveBayes(CheckedParameters, ClassifierMixin, BaseEstimator):
    """Classify by naive Bayes: a kernel density per numeric column and class, Laplace frequencies per nominal one.

    The method is that of John & Langley (1995), Estimating continuous distributions in Bayesian classifiers, as
    implemented in Weka's NaiveBayes -K.

    It takes frames with numeric and categorical columns, or numeric arrays, and two classes. Missing values (NaN)
    are left out of the product, in training and in prediction. Levels that the training frame did not declare are left
    out, too.

    Parameters
    ----------
    weights : {"counts", "shares"}, default="counts"
        ``"counts"`` treats a row of weight w as w rows, like Weka. A class of more weight then has narrower kernels and
        less smoothed frequencies. ``"shares"`` uses the weights as shares within a class. Weights of whole classes then
        change only the prior, and Probing needs a single fit.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        Labels in sorted order.
    log_prior_ : ndarray of shape (2,)
        Log prior probabilities, in nats. 1 is added to the weight of each class.
    n_features_in_ : int
        Number of columns of ``X``.

    See Also
    --------
    sklearn.naive_bayes.GaussianNB : Fits a normal distribution per column and class.
    WekaClassifier : Runs Weka's own ``bayes.NaiveBayes`` with the option ``-K``.
    probcal.SigmoidClassifier : Calibrates its probabilities, which are too certain.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.metrics import log_loss
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from probcal.learners import KernelNaiveBayes
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> for learner in (GaussianNB(), KernelNaiveBayes()):
    ...     p = learner.fit(X[:300, :5], y[:300]).predict_proba(X[300:, :5])
    ...     print(type(learner).__name__, round(log_loss(y[300:], p), 2))
    GaussianNB 0.29
    KernelNaiveBayes 0.26
    """

    constraints: ClassVar[dict[str, Constraint]] = {"weights": ("counts", "shares")}

    def __init__(self, *, weights: Literal["counts", "shares"] = "counts") -> None:
        self.weights = weights

    def fit(self, X: Any, y: Any, sample_weight: np.ndarray | None = None) -> KernelNaiveBayes:
        """Fit the densities and frequencies.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_rows, n_columns)
            Numbers. Columns of a frame may also be categorical. NaN is missing.
        y : array-like of shape (n_rows,)
            Labels of two classes.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows, not negative. None means weight 1 for each row.

        Returns
        -------
        KernelNaiveBayes
            The classifier itself.

        Raises
        ------
        ValueError
            If ``weights`` or a row weight is invalid, or ``y`` does not hold exactly two classes. Also if a numeric
            column holds infinite values or text.
        """
        self.check_parameters()
        labels, self.classes_ = two_classes(X, y)
        weights = row_weights(sample_weight, len(labels))
        weights = np.ones(len(labels)) if weights is None else weights
        positive = labels == self.classes_[1]
        self._set_prior(np.array([weights[~positive].sum(), weights[positive].sum()]))
        if self.weights == "shares":
            weights = _shares(weights, positive)
        columns = _columns(X)
        self._names = _names(X)
        self.n_features_in_ = len(columns)
        self.columns_ = [
            (_Nominal if isinstance(column.dtype, pd.CategoricalDtype) else _Numeric)(column, positive, weights)
            for column in columns
        ]
        return self

    def reweighted(self, first: float, second: float) -> KernelNaiveBayes:
        """Return the classifier that a fit with other class weights would give. It needs ``weights="counts"``.

        Parameters
        ----------
        first : float
            Factor above 0 of the weights of the first class.
        second : float
            Factor above 0 of the weights of the second class.

        Returns
        -------
        KernelNaiveBayes
            Another fitted classifier.
        """
        factors = (first, second)
        made = copy(self)
        made._set_prior(self._by_class * factors)
        made.columns_ = [column.reweighted(factors) for column in self.columns_]
        return made

    def coded(self, X: Any) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return the distinct points of each column, and which of them each row has.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_rows, n_columns)
            Rows with the columns of ``fit``.

        Returns
        -------
        list of tuple (points, codes), of length n_columns
            ``points`` has shape (n_points,): levels of a nominal column, and bins of a numeric one. ``codes`` has shape
            (n_rows,) and type intp: the number of each row's point, and -1 for a missing value.

        Raises
        ------
        ValueError
            If the columns differ from those of ``fit``.
        """
        check_is_fitted(self)
        columns, names = _columns(X), _names(X)
        if len(columns) != self.n_features_in_:
            raise ValueError(f"X has {len(columns)} columns, and {self.n_features_in_} were fitted")
        if names and self._names and names != self._names:
            given, fitted = next(pair for pair in zip(names, self._names, strict=True) if pair[0] != pair[1])
            raise ValueError(f"X has column {given!r} where {fitted!r} was fitted")
        return [learned.coded(column) for learned, column in zip(self.columns_, columns, strict=True)]

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the log-odds of the second class.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_rows, n_columns)
            Rows with the columns of ``fit``.

        Returns
        -------
        ndarray of shape (n_rows,)
            Log-odds in nats.

        Raises
        ------
        ValueError
            If the columns differ from those of ``fit``.
        """
        rows = LogOdds([self], self.coded(X), len(X))
        log_odds: np.ndarray = rows[:][:, 0]
        return log_odds

    def predict_proba(self, X: Any) -> np.ndarray:
        """Predict the probability of each class.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_rows, n_columns)
            Rows with the columns of ``fit``.

        Returns
        -------
        ndarray of shape (n_rows, 2)
            Probabilities, in the order of ``classes_``.

        Raises
        ------
        ValueError
            If the columns differ from those of ``fit``.
        """
        log_odds = self.decision_function(X)
        return np.column_stack([expit(-log_odds), expit(log_odds)])

    def predict(self, X: Any) -> np.ndarray:
        """Predict the label of each row.

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
            If the columns differ from those of ``fit``.
        """
        is_second = self.decision_function(X) > 0
        labels: np.ndarray = self.classes_[is_second.astype(int)]
        return labels

    @property
    def class_weight_shortcut(self) -> Callable[[], PriorShift | ColumnSums]:
        """Return the function that makes the shortcut for many class weights. See ``probcal.fast_paths``.

        Returns
        -------
        callable
            Takes no arguments. It makes a ``PriorShift`` for ``weights="shares"``, and a ``ColumnSums`` otherwise.
        """
        if self.weights == "shares":
            return lambda: PriorShift(_log_odds, _log_prior_odds)
        return lambda: ColumnSums(_LOG_ODDS_ERROR)

    def _set_prior(self, by_class: np.ndarray) -> None:
        self._by_class = by_class
        # one row more in each class, as Weka's estimators begin
        self.log_prior_ = np.log((by_class + 1) / (by_class.sum() + 2))


# Far above the error of the kernel densities of all columns, which depends on the predicted rows.
_LOG_ODDS_ERROR = 1e-6


def _log_odds(fitted: KernelNaiveBayes, X: Any) -> tuple[np.ndarray, float]:
    return fitted.decision_function(X), _LOG_ODDS_ERROR


def _log_prior_odds(first: float, second: float) -> float:
    return float(np.log((second + 1) / (first + 1)))


def _shares(weights: np.ndarray, positive: np.ndarray) -> np.ndarray:
    """Return ``weights`` scaled within each class to sum to its number of rows of positive weight."""
    scaled = weights.copy()
    for of_class in (~positive, positive):
        total = weights[of_class].sum()  # the width of a kernel depends on it, so it must not follow the class weight
        if total > 0:
            scaled[of_class] *= np.count_nonzero(weights[of_class]) / total
    return scaled


def _columns(X: Any) -> list[pd.Series]:
    frame = X if isinstance(X, pd.DataFrame) else pd.DataFrame(np.asarray(X))
    return [column for _, column in frame.items()]


def _names(X: Any) -> list[Any]:
    return list(X.columns) if isinstance(X, pd.DataFrame) else []


class _Frequencies:
    """Hold the Laplace-smoothed frequencies of the levels in one class."""

    def __init__(self, counts: np.ndarray) -> None:
        self._counts = counts

    def log_shares(self, points: np.ndarray) -> np.ndarray:
        # one row more at each declared level, so that a level without rows is not impossible
        shares = (self._counts + 1) / (self._counts.sum() + len(self._counts))
        log_shares: np.ndarray = np.log(np.maximum(shares, _SMALLEST))[points]
        return log_shares

    def reweighted(self, factor: float) -> _Frequencies:
        return self if factor == 1 else _Frequencies(self._counts * factor)


class _Density:
    """Hold the kernel density in one class. ``unit``: the mass of a bin is divided by it."""

    def __init__(self, density: KernelDensity, unit: float) -> None:
        self.density, self._unit = density, unit

    def log_shares(self, points: np.ndarray) -> np.ndarray:
        log_shares: np.ndarray = np.log(np.maximum(self.density.mass(points) / self._unit, _SMALLEST))
        return log_shares

    def reweighted(self, factor: float) -> _Density:
        return self if factor == 1 else _Density(self.density.reweighted(factor), self._unit)


class _Column:
    """Hold what was learned of a column in each class."""

    def __init__(self, classes: Sequence[_Frequencies | _Density]) -> None:
        self.classes = classes

    def reweighted(self, factors: tuple[float, float]) -> Self:
        made = copy(self)
        made.classes = [one.reweighted(factor) for one, factor in zip(self.classes, factors, strict=True)]
        return made


class _Nominal(_Column):
    """Describe a nominal column. A point is a level."""

    def __init__(self, column: pd.Series, positive: np.ndarray, weights: np.ndarray) -> None:
        codes = column.cat.codes.to_numpy()
        known = codes >= 0
        self._levels = column.cat.categories
        of_class = (known & ~positive, known & positive)
        counts = (np.bincount(codes[rows], weights[rows], len(self._levels)) for rows in of_class)
        super().__init__([_Frequencies(one) for one in counts])

    def coded(self, column: pd.Series) -> tuple[np.ndarray, np.ndarray]:
        # another frame may declare the levels in another order
        if not column.cat.categories.equals(self._levels):
            column = column.cat.set_categories(self._levels)
        return np.arange(len(self._levels)), column.cat.codes.to_numpy(np.intp)


class _Numeric(_Column):
    """Describe a numeric column. A point is a bin, as wide as the mean gap between distinct values, as in Weka."""

    def __init__(self, column: pd.Series, positive: np.ndarray, weights: np.ndarray) -> None:
        values = column.to_numpy(np.float64)
        known = ~np.isnan(values)
        distinct = np.unique(values[known])
        if np.isinf(distinct).any():
            raise ValueError(f"column {column.name!r} holds infinite values")
        gaps = np.diff(distinct)
        # summed one by one as in Weka: the last digit decides how a value halfway is rounded
        precision = np.add.accumulate(gaps)[-1] / len(gaps) if len(gaps) else _DEFAULT_PRECISION
        of_class = [rows & (weights > 0) for rows in (known & ~positive, known & positive)]
        densities = [KernelDensity(values[rows], weights[rows], precision) for rows in of_class]
        self._precision = densities[0].precision
        # mass per unit, except for a class without values, as in Weka 3.9: it matters next to the floor
        units = [self._precision if rows.any() else 1.0 for rows in of_class]
        super().__init__([_Density(*one) for one in zip(densities, units, strict=True)])

    def coded(self, column: pd.Series) -> tuple[np.ndarray, np.ndarray]:
        values = column.to_numpy(np.float64)
        known = ~np.isnan(values)
        codes = np.full(len(values), -1)
        # Weka rounds a value that it predicts as in training, and the mass of each bin is computed once
        points, codes[known] = np.unique(bins_of(values[known], self._precision), return_inverse=True)
        return points, codes
