"""Which minima scikit-learn's own solver would not reach, or stops so far from that a label may differ.

Its newton-cholesky goes over to L-BFGS, which may end anywhere, where the Hessian is singular to working precision. Else
it stops after a Newton step from a point p with d^2 / 2 <= tol, d the Newton decrement, and with no entry of the
gradient above tol. That leaves the score of a row x off by at most tol |H^-1 x|_1; and, to the leading order of the
step's error -H^-1 sum_i v_i h_i' x_i (x_i (p - minimum))^2 / 2, with |h'| <= h |1 - 2 sigma|, by at most
tol max_i |1 - 2 sigma_i| |x H^-1 x_i|.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dpocon, dpotrf
from scipy.special import expit

from probcal.shortcuts.logistic_search import Search

_SINGULAR = 4 * np.finfo(np.float64).eps
"""Reciprocal condition numbers below which scikit-learn may find the Hessian singular; it draws the line at eps, of
numbers that rounding may change by a factor of 2 there."""
_FLAT = 1e4
"""A mean loss, or curvature, of so many times tol is one that scikit-learn's tolerance does not swallow."""
_LEADING_ORDER = 2.0
"""What the leading order of an error is multiplied by, for the orders left out."""
_LARGEST_BOUND = 1e5
"""Of the bound, in units of tol. Rows that are not nearly alone in what they tell of some coefficient stay below."""
_SAMPLE = 256
"""Rows over which the largest term of a bound is taken."""


def is_singular(search: Search, hessian: np.ndarray) -> bool:
    """Whether ``hessian``, without the penalty of ``search``, may be singular to scikit-learn's solver."""
    full = hessian + np.diag(search.penalties)
    factor, failed = dpotrf(full, lower=1)
    return bool(failed) or dpocon(factor, np.abs(full).sum(axis=0).max(), uplo="L")[0] < _SINGULAR


def is_flat(search: Search, at_zero: np.ndarray, tol: float) -> bool:
    """Whether the loss, that of separable classes for instance, is within ``tol`` of the minimum long before it.

    ``at_zero``: the Hessian without the penalty at coefficients of 0.
    """
    return bool(np.trace(search.hessian) <= _FLAT * tol * np.trace(at_zero))


class Doubt:
    """Whether a row lies so near the line between the classes that scikit-learn's tolerance decides its label.

    ``X``: (n_rows, n_columns) float64; ``tol``: of the learner.
    """

    def __init__(self, X: np.ndarray, intercept: bool, tol: float) -> None:
        self._X, self._intercept, self._tol = X, intercept, tol
        self._sample = self._with_ones(X[:: max(1, len(X) // _SAMPLE)])

    @property
    def reach(self) -> float:
        """The distance from 0 beyond which no score is in doubt."""
        return _LARGEST_BOUND * self._tol

    def decides(self, search: Search, rows: np.ndarray, scores: np.ndarray) -> bool:
        """Whether the tolerance may decide a label of ``rows``, whose ``scores``, (n,), are within reach."""
        solved = search.solve(self._with_ones(self._X[rows]).T)
        flatness = np.abs(1 - 2 * expit(self._sample @ search.point))
        by_decrement = _LEADING_ORDER * (flatness[:, None] * np.abs(self._sample @ solved)).max(axis=0)
        return bool((np.abs(scores) <= self._tol * np.minimum(by_decrement, np.abs(solved).sum(axis=0))).any())

    def _with_ones(self, X: np.ndarray) -> np.ndarray:
        return np.column_stack([X, np.ones(len(X))]) if self._intercept else X
