"""Naive Bayes on many candidate splits, and how far its numbers are from the printed ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import pandas as pd
from scipy.special import expit
from scipy.stats import rankdata

from probcal.methods.calibrators.sigmoid import Sigmoid, fit_sigmoid

UNIT = 0.001
"""The last digit of a printed number."""
Numbers = dict[str, float]
"""Metric -> value; a printed infinity is left out, because it says little."""


class Bayes(Protocol):
    """Score rows by naive Bayes."""

    def log_odds(self, train: np.ndarray, all_rows: bool = False) -> np.ndarray:
        """Return the log-odds of the positive class of each candidate's test rows, in nats.

        ``train`` is (n_candidates, n_rows) bool. The result has its shape. Training rows have a meaning only if
        ``all_rows`` is set.
        """


def naive_bayes(X: pd.DataFrame, y: np.ndarray) -> Bayes:
    """Return Weka 3.4.1's NaiveBayes -K for these rows. All-nominal tables take matrix products."""
    nominal = all(isinstance(column.dtype, pd.CategoricalDtype) for _, column in X.items())
    return NominalBayes(X, y) if nominal else MixedBayes(X, y)


class NominalBayes:
    """Count with matrix products: every row as indicators of its levels, every candidate as a row of 0 and 1."""

    def __init__(self, X: pd.DataFrame, y: np.ndarray) -> None:
        blocks = [
            column.cat.codes.to_numpy()[:, None] == np.arange(len(column.cat.categories)) for _, column in X.items()
        ]
        self._indicators = np.hstack(blocks).astype(np.float32)
        self._first = np.cumsum([0, *(block.shape[1] for block in blocks)])[:-1]
        self._levels = np.array([block.shape[1] for block in blocks])
        self._y = y.astype(bool)

    def log_odds(self, train: np.ndarray, all_rows: bool = False) -> np.ndarray:
        log_share, prior = [], []
        for mask in (~self._y, self._y):
            rows = train[:, mask]
            counts = (rows.astype(np.float32) @ self._indicators[mask]).astype(np.float64)
            totals = np.add.reduceat(counts, self._first, axis=1) + self._levels
            log_share.append(np.log((counts + 1) / np.repeat(totals, self._levels, axis=1)))
            prior.append(np.log(rows.sum(axis=1) + 1.0))
        ratio = (log_share[1] - log_share[0]).astype(np.float32)
        odds: np.ndarray = ratio @ self._indicators.T + (prior[1] - prior[0])[:, None].astype(np.float32)
        return odds


class MixedBayes:
    """Fit kernel densities and frequencies for one candidate after the other."""

    def __init__(self, X: pd.DataFrame, y: np.ndarray) -> None:
        from research import split_kernels  # numba is not needed for all-nominal tables

        self._kernels, self._y = split_kernels, y.astype(np.int64)
        self._nominal: list[tuple[np.ndarray, int]] = []
        self._numeric: list[tuple[np.ndarray, np.ndarray]] = []
        for column in X.values():
            if isinstance(column.dtype, pd.CategoricalDtype):
                self._nominal.append((column.cat.codes.to_numpy(np.int64), len(column.cat.categories)))
            else:
                values = column.to_numpy(np.float64)
                order = np.argsort(values, kind="stable")
                self._numeric.append((values, order[~np.isnan(values[order])]))

    def log_odds(self, train: np.ndarray, all_rows: bool = False) -> np.ndarray:
        return np.array([self._row_odds(row, np.ones_like(row) if all_rows else ~row) for row in train])

    def _row_odds(self, train: np.ndarray, mask: np.ndarray) -> np.ndarray:
        positives = self._y[train].sum()
        odds = np.full(len(train), np.log((positives + 1) / (train.sum() - positives + 1)))
        for codes, n_levels in self._nominal:
            self._kernels.add_nominal(codes, n_levels, self._y, train, mask, odds)
        for values, order in self._numeric:
            self._kernels.add_numeric(values, order, self._y, train, mask, odds)
        return odds


def losses(odds: np.ndarray, y: np.ndarray, test: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return RMS and CXE (bits) of each candidate, (n_candidates,) each.

    ``odds`` and ``test`` are (n_candidates, n_rows). A candidate without test rows has NaN.
    """
    margin = (odds * np.where(y, -1, 1).astype(odds.dtype))[test]
    ratio = np.exp(np.minimum(margin, 80))
    p_wrong = ratio / (1 + ratio)
    sizes = test.sum(axis=1)
    starts = np.minimum(np.cumsum(sizes) - sizes, len(margin) - 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        squares = np.add.reduceat(p_wrong**2, starts, dtype=np.float64) / sizes
        bits = np.add.reduceat(np.maximum(np.log1p(ratio), margin), starts, dtype=np.float64) / sizes / np.log(2)
    return np.sqrt(np.where(sizes, squares, np.nan)), np.where(sizes, bits, np.nan)


def area(odds: np.ndarray, y: np.ndarray) -> float:
    """Return the area under the ROC curve, ties counted half, or NaN where one class is missing."""
    positives = int(y.sum())
    if positives in (0, len(y)):
        return np.nan
    n_pairs = rankdata(odds)[y.astype(bool)].sum() - positives * (positives + 1) / 2
    return float(n_pairs / (positives * (len(y) - positives)))


def distances(odds: np.ndarray, y: np.ndarray, test: np.ndarray, printed: Numbers, limit: float = np.inf) -> np.ndarray:
    """Return each candidate's largest difference from the ``printed`` numbers, in units of the last digit.

    AUC takes most of the time. It is left out for candidates that RMS or CXE put farther away than ``limit``.
    """
    rms, cxe = losses(odds, y, test)
    result = np.zeros(len(odds))
    for metric, values in (("rms", rms), ("cxe", cxe)):
        if metric in printed:
            result = np.maximum(result, np.abs(values - printed[metric]) / UNIT)
    if "auc" in printed:
        for i in np.flatnonzero(result <= limit):
            auc = area(odds[i, test[i]], y[test[i]])
            result[i] = max(result[i], abs(auc - printed["auc"]) / UNIT)
    return np.where(np.isnan(result), np.inf, result)


def measure(odds: np.ndarray, y: np.ndarray) -> Numbers:
    """Return RMS, CXE (bits) and AUC of predictions given as log-odds, (n_rows,)."""
    [rms], [cxe] = losses(odds[None], y, np.ones((1, len(y)), bool))
    return {"rms": float(rms), "cxe": float(cxe), "auc": area(odds, y)}


def sigmoid_on_training_rows(odds: np.ndarray, y: np.ndarray, train: np.ndarray) -> np.ndarray:
    """Return the log-odds of SigNB for all rows: Platt's sigmoid of the probability, fitted on the training rows."""
    p = expit(odds.astype(np.float64))
    slope, intercept = fit_sigmoid(p[train], y[train].astype(bool), None)
    predicted = np.clip(Sigmoid(slope, intercept)(p), 1e-300, 1 - 1e-16)
    return np.log(predicted) - np.log1p(-predicted)


def largest_difference(numbers: Numbers, printed: Numbers) -> float:
    """Return the largest difference in units of the last digit, over the metrics that were printed."""
    return max((abs(numbers[metric] - value) / UNIT for metric, value in printed.items()), default=0.0)


def finite_numbers(numbers: Sequence[tuple[str, float | None]]) -> Numbers:
    """Return the numbers that are printed and finite."""
    return {metric: value for metric, value in numbers if value is not None and np.isfinite(value)}
