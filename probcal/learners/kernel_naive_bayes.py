"""Naive Bayes with kernel densities, as in Weka's NaiveBayes -K (John & Langley 1995)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import pandas as pd
from scipy.special import expit, ndtr
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from probcal.fast_paths.prior_shift import PriorShift
from probcal.methods._base import row_weights, two_classes

_FINEST = 1e-6
"""Weka's smallest rounding step (its ``Utils.SMALL``)."""
_IGNORED_SHARE = 1e-12
"""Kernels are left out of a sum if their total is below this share of it."""
_NODES_PER_WIDTH = 8
_STENCIL = 20
"""Number of nodes for the interpolation of a kernel.

With nodes this close the relative error is at most 7e-13 up to 6 widths from the centre, 7e-10 up to 8 and 2e-6 up to
10. Wide bins are even more accurate.
"""
_FAR = 4.0
"""Points farther than this many widths from every centre are summed exactly.

Nearer points have a kernel so high that those beyond 8 widths cannot matter, with the exception below.
"""
_SMALLEST_SHARE = 1e-12
"""If a kernel has less than this share of the weight, all points are summed exactly."""
_NODES_PAY = 4
"""Number of points per cell between nodes above which interpolation costs less than the sums."""
_ZERO_DISTANCE = 40.0
"""Number of widths beyond which a kernel is 0 in floating point."""


class KernelDensity:
    """Sum Gaussian kernels on values rounded to a precision. The mass of a value is that of its rounding bin.

    The width is range / sqrt(total weight), but at least a sixth of the precision, as in Weka's KernelEstimator. Weka
    stops summing kernels when the rest weighs less than 1 %. Here the relative error stays below 1e-8 while the
    precision is above a millionth of the width.
    """

    def __init__(self, values: np.ndarray, weights: np.ndarray, precision: float) -> None:
        """Fit the density. ``values``: (n,) finite. ``weights``: (n,) not negative. ``precision``: rounding step."""
        values, weights = values[weights > 0], weights[weights > 0]
        if not len(values):  # Weka's estimator without values has one kernel at 0
            values, weights = np.zeros(1), np.ones(1)
        self.precision = max(precision, _FINEST)
        centres, bins = np.unique(np.rint(values / self.precision) * self.precision, return_inverse=True)
        self._origin = centres[0]
        self._centres = centres - self._origin  # so that values far from 0 keep their digits
        total = weights.sum()
        self._share = np.bincount(bins, weights) / total
        self.width = max(self._centres[-1] / np.sqrt(total), self.precision / 6)
        # beyond it, kernels with all the weight add _IGNORED_SHARE to the nearest one with the least weight
        self._reach = -2 * (np.log(_IGNORED_SHARE) + np.log(max(self._share.min(), np.finfo(np.float64).tiny)))

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Return the mass of the bin of width ``precision`` around each x, (n,) in [0, 1]."""
        edge = _ZERO_DISTANCE * self.width + self.precision
        x = np.clip(x, self._origin - edge, self._origin + self._centres[-1] + edge) - self._origin
        points, inverse = np.unique(x, return_inverse=True)
        near = self._distance(points) <= _FAR * self.width
        n_cells = len(np.unique(self._cell(points[near])))
        if near.sum() < _NODES_PAY * n_cells or self._share.min() < _SMALLEST_SHARE:
            near[:] = False
        mass = np.empty(len(points))
        mass[~near] = self._exact_mass(points[~near])
        mass[near] = self._interpolated_mass(points[near])
        return mass[inverse]

    def _cell(self, points: np.ndarray) -> np.ndarray:
        cell: np.ndarray = np.floor(points * (_NODES_PER_WIDTH / self.width)).astype(np.int64)
        return cell

    def _distance(self, points: np.ndarray) -> np.ndarray:
        after = np.searchsorted(self._centres, points)
        left = self._centres[np.maximum(after - 1, 0)]
        right = self._centres[np.minimum(after, len(self._centres) - 1)]
        gap: np.ndarray = np.minimum(np.abs(points - left), np.abs(points - right))
        return gap

    def _exact_mass(self, points: np.ndarray) -> np.ndarray:
        reach = np.sqrt((self._distance(points) / self.width) ** 2 + self._reach) * self.width + self.precision
        first = np.searchsorted(self._centres, points - reach)
        last = np.searchsorted(self._centres, points + reach, side="right")
        mass = np.empty(len(points))
        for start, stop in _chunks(last - first):
            mass[start:stop] = self._sum(points[start:stop], first[start:stop], last[start:stop])
        return mass

    def _sum(self, points: np.ndarray, first: np.ndarray, last: np.ndarray) -> np.ndarray:
        """Sum the kernels ``first`` to ``last`` of each point as one ragged array."""
        counts = last - first
        starts = np.cumsum(counts) - counts
        kernel = np.arange(counts.sum()) - np.repeat(starts - first, counts)
        # in the lower tail, where ndtr keeps its digits
        nearer = -np.abs(self._centres[kernel] - np.repeat(points, counts)) / self.width
        half = self.precision / (2 * self.width)
        mass = (ndtr(nearer + half) - ndtr(nearer - half)) * self._share[kernel]
        return np.add.reduceat(mass, starts)

    def _interpolated_mass(self, points: np.ndarray) -> np.ndarray:
        """Interpolate by polynomials on evenly spaced nodes around each point (barycentric form)."""
        stencil = np.arange(_STENCIL)
        left = self._cell(points) - (_STENCIL // 2 - 1)
        nodes = np.unique(np.unique(left)[:, None] + stencil)
        value = self._exact_mass(nodes * (self.width / _NODES_PER_WIDTH))
        value = value[np.searchsorted(nodes, left)[:, None] + stencil]
        offset = (points * (_NODES_PER_WIDTH / self.width) - left)[:, None] - stencil
        offset[offset == 0] = 1e-200  # at a node: its own term outweighs all others, and no term overflows
        weight = _BARYCENTRIC / offset
        mean: np.ndarray = (weight * value).sum(axis=1) / weight.sum(axis=1)
        return mean


_BARYCENTRIC = np.cumprod([1.0, *((i - _STENCIL) / i for i in range(1, _STENCIL))])
"""(-1)^j times the binomial coefficient of _STENCIL - 1 over j."""


def _chunks(sizes: np.ndarray, most: int = 2_000_000) -> list[tuple[int, int]]:
    """Return runs of points whose ``sizes`` add up to about ``most``, to limit memory."""
    group = np.cumsum(sizes) // most
    edges = [*np.flatnonzero(np.diff(group, prepend=-1)), len(sizes)]
    return list(pairwise(edges))


_SMALLEST = 1e-75
"""Weka's least probability of one value given a class."""
_DEFAULT_PRECISION = 0.01
"""Weka's rounding step for a column with a single distinct value."""


class KernelNaiveBayes(ClassifierMixin, BaseEstimator):
    """Classify by naive Bayes: a kernel density per numeric column and class, Laplace frequencies per nominal one.

    The method is that of John & Langley (1995), Estimating continuous distributions in Bayesian classifiers, as
    implemented in Weka's NaiveBayes -K.

    It takes frames with numeric and categorical columns, or numeric arrays, and two classes. Missing values (NaN) are
    left out of the product, in training and in prediction. So are levels that the training frame did not declare.

    Parameters
    ----------
    weights : ``"counts"`` treats a row of weight w as w rows, like Weka. A class of more weight then has narrower
        kernels and less smoothed frequencies. ``"shares"`` uses the weights as shares within a class. Weights of whole
        classes then change only the prior, and Probing needs a single fit.

    Attributes
    ----------
    classes_ : (2,) labels in sorted order.
    log_prior_ : (2,) log prior probabilities, in nats.
    n_features_in_ : number of columns of X.
    """

    def __init__(self, *, weights: Literal["counts", "shares"] = "counts") -> None:
        self.weights = weights

    def fit(self, X: Any, y: Any, sample_weight: np.ndarray | None = None) -> KernelNaiveBayes:
        """Fit the densities and frequencies.

        Parameters
        ----------
        X : rows, (n_rows, n_columns).
        y : labels, (n_rows,).
        sample_weight : weights, (n_rows,), not negative, or None for 1 each.

        Raises
        ------
        ValueError
            For infinite values, invalid weights, and any number of classes but two.
        """
        if self.weights not in ("counts", "shares"):
            raise ValueError(f"weights must be 'counts' or 'shares', not {self.weights!r}")
        labels, self.classes_ = two_classes(X, y)
        weights = row_weights(sample_weight, len(labels))
        weights = np.ones(len(labels)) if weights is None else weights
        positive = labels == self.classes_[1]
        by_class = np.array([weights[~positive].sum(), weights[positive].sum()])
        self.log_prior_ = np.log((by_class + 1) / (by_class.sum() + 2))
        if self.weights == "shares":
            weights = _shares(weights, positive)
        columns = _columns(X)
        self._names = _names(X)
        self.n_features_in_ = len(columns)
        self.columns_ = [_fit_column(column, positive, weights) for column in columns]
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the log-odds of the second class, (n_rows,) in nats.

        Raises ValueError for other columns than in ``fit``.
        """
        check_is_fitted(self)
        columns, names = _columns(X), _names(X)
        if len(columns) != self.n_features_in_:
            raise ValueError(f"X has {len(columns)} columns, and {self.n_features_in_} were fitted")
        if names and self._names and names != self._names:
            given, fitted = next(pair for pair in zip(names, self._names, strict=True) if pair[0] != pair[1])
            raise ValueError(f"X has column {given!r} where {fitted!r} was fitted")
        log_odds = np.full(len(X), self.log_prior_[1] - self.log_prior_[0])
        for learned, column in zip(self.columns_, columns, strict=True):
            log_odds += learned.log_ratio(column)
        return log_odds

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return (n_rows, 2) probabilities in the order of ``classes_``."""
        log_odds = self.decision_function(X)
        return np.column_stack([expit(-log_odds), expit(log_odds)])

    def predict(self, X: Any) -> np.ndarray:
        """Return the predicted labels, (n_rows,). The first class wins a tie, as in Weka."""
        is_second = self.decision_function(X) > 0
        labels: np.ndarray = self.classes_[is_second.astype(int)]
        return labels

    @property
    def class_weight_shortcut(self) -> Callable[[], PriorShift] | None:
        """Return the function that makes the shortcut for many class weights, or None. See ``probcal.fast_paths``."""
        return (lambda: PriorShift(_log_odds, _log_prior_odds)) if self.weights == "shares" else None


_LOG_ODDS_ERROR = 1e-6
"""Far above the error of the kernel densities of all columns, which depends on the predicted rows."""


def _log_odds(fitted: KernelNaiveBayes, X: Any) -> tuple[np.ndarray, float]:
    return fitted.decision_function(X), _LOG_ODDS_ERROR


def _log_prior_odds(first: float, second: float) -> float:
    return float(np.log((second + 1) / (first + 1)))


def _shares(weights: np.ndarray, positive: np.ndarray) -> np.ndarray:
    """Return ``weights`` scaled within each class to sum to its number of rows of positive weight."""
    scaled = weights.copy()
    for of_class in (~positive, positive):
        total = weights[of_class].sum()
        if total > 0:
            scaled[of_class] *= np.count_nonzero(weights[of_class]) / total
    return scaled


def _columns(X: Any) -> list[pd.Series]:
    frame = X if isinstance(X, pd.DataFrame) else pd.DataFrame(np.asarray(X))
    return [column for _, column in frame.items()]


def _names(X: Any) -> list[Any]:
    return list(X.columns) if isinstance(X, pd.DataFrame) else []


def _fit_column(column: pd.Series, positive: np.ndarray, weights: np.ndarray) -> _Nominal | _Numeric:
    kind = _Nominal if isinstance(column.dtype, pd.CategoricalDtype) else _Numeric
    return kind(column, positive, weights)


class _Nominal:
    """Hold the Laplace-smoothed frequencies of the levels, per class."""

    def __init__(self, column: pd.Series, positive: np.ndarray, weights: np.ndarray) -> None:
        codes = column.cat.codes.to_numpy()
        known = codes >= 0
        self.levels = column.cat.categories
        n = len(self.levels)
        counts = np.stack(
            [np.bincount(codes[rows], weights[rows], n) for rows in (known & ~positive, known & positive)]
        )
        shares = (counts + 1) / (counts.sum(axis=1, keepdims=True) + n)
        log_ratio = np.log(np.maximum(shares[1], _SMALLEST)) - np.log(np.maximum(shares[0], _SMALLEST))
        self.of_code = np.append(log_ratio, 0.0)  # code -1, a missing value, reads the last entry

    def log_ratio(self, column: pd.Series) -> np.ndarray:
        if not column.cat.categories.equals(self.levels):
            column = column.cat.set_categories(self.levels)
        log_ratio: np.ndarray = self.of_code[column.cat.codes.to_numpy()]
        return log_ratio


class _Numeric:
    """Hold a kernel density per class. Values are rounded to the mean gap between distinct ones, as in Weka."""

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
        self.densities = [KernelDensity(values[rows], weights[rows], precision) for rows in of_class]
        # mass per unit, except for a class without values, as in Weka 3.9: it matters next to the floor
        self.units = [self.densities[0].precision if rows.any() else 1.0 for rows in of_class]

    def log_ratio(self, column: pd.Series) -> np.ndarray:
        values = column.to_numpy(np.float64)
        known = ~np.isnan(values)
        ratio = np.zeros(len(values))
        step = self.densities[0].precision
        rounded = np.rint(values[known] / step) * step  # rounded like the training values
        negative, positive = (
            np.log(np.maximum(density(rounded) / unit, _SMALLEST))
            for density, unit in zip(self.densities, self.units, strict=True)
        )
        ratio[known] = positive - negative
        return ratio
