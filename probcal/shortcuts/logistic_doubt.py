"""Which minima scikit-learn's own solver would not reach, or stops so far from that a label may differ.

Where the Hessian H is singular to working precision its newton-cholesky goes over to L-BFGS, which may end anywhere.
Else it stops after a Newton step from a point p that is e off the minimum, e H e / 2 <= tol, with no entry of the
gradient above tol. So the score of a row x is off by at most tol |H^-1 x|_1. To the leading order of what a Newton step
leaves, it is off by e B e / 2, where B is what H changes by along H^-1 x: at most by tol times the largest y B y of all
y with y H y = 1, and that by tol max_i |1 - 2 sigma_i| |x H^-1 x_i|, which is looser and costs next to nothing.
Mostly it stops far below tol, for the last step but one was still too far and the last one squares what is left. Where
the bounds leave a row in doubt, its steps are repeated, on some rows if there are many, to see how much of tol it used.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dpocon, dpotrf
from scipy.special import expit

from probcal.shortcuts.logistic_loss import LogisticLoss
from probcal.shortcuts.logistic_search import CLOSE_ENOUGH, Search

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
"""Rows over which the largest term of the looser bound is taken."""
_BEND_ROWS = 1 << 14
"""Rows, or up to twice as many, that the tighter bound is computed on."""
_UNSURE = 10.0
"""How many times more of the loss scikit-learn may have left to go than steps on some rows suggest."""
_MOST_STEPS = 30
_MOST_IN_REACH = 1 << 14
_MOST_ROWS = 8
"""Rows in doubt that are looked at more closely; with more, the learner's own fit is as cheap."""


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

    ``tol``: that of the learner.
    """

    def __init__(self, loss: LogisticLoss, tol: float) -> None:
        self._loss, self._tol = loss, tol
        self._sample = loss.with_ones(slice(None, None, max(1, loss.n_rows // _SAMPLE)))
        self._some = loss.every(max(1, loss.n_rows // _BEND_ROWS))

    @property
    def reach(self) -> float:
        """The distance from 0 beyond which no score is in doubt."""
        return _LARGEST_BOUND * self._tol

    def decides(self, search: Search, rows: np.ndarray) -> bool:
        """Whether the tolerance, or the error of ``search``, may decide a label of ``rows``, numbers of those in reach.

        So it is where very many are in reach: equal rows, for instance, or scores that are all about 0.
        """
        if len(rows) > _MOST_IN_REACH:
            return True
        X = self._loss.with_ones(rows)
        solved = search.solve(X.T)
        own = CLOSE_ENOUGH * np.sqrt(np.abs(np.einsum("ij,ji->i", X, solved)))  # by Cauchy and Schwarz
        scores = np.abs(X @ search.point) - own
        flatness = np.abs(1 - 2 * expit(self._sample @ search.point))
        loose = _LEADING_ORDER * (flatness[:, None] * np.abs(self._sample @ solved)).max(axis=0)
        doubtful = scores <= self._tol * np.minimum(loose, np.abs(solved).sum(axis=0))
        if doubtful.sum() > _MOST_ROWS:
            return True
        for i in np.flatnonzero(doubtful):
            bound = self._tol * self._tight(search, solved[:, i])
            if scores[i] <= bound and scores[i] <= bound * self._used(search):
                return True
        return False

    def _tight(self, search: Search, solved: np.ndarray) -> float:
        return _LEADING_ORDER * search.largest(self._some.bend(search.point, search.weighting, solved))

    def _used(self, search: Search) -> float:
        """What share of the tolerance scikit-learn's solver is likely to have used when it stopped, 1 if that is open.

        Its steps are taken on some of the rows, from 0 on as it does.
        """
        copy = Search(search.weighting, search.penalties, np.zeros_like(search.point))
        gradient, before = self._gradient(copy), np.inf
        for _ in range(_MOST_STEPS):
            copy.take_hessian(self._some.hessian(copy.point, copy.weighting), own=True)
            if copy.state == "failed":
                return 1.0
            step = -copy.solve(gradient)
            left = -float(step @ gradient) / 2
            copy.point = copy.point + step
            gradient = self._gradient(copy)
            # squared, for the gradient goes with the square root of what is left
            over = max(left / self._tol, float(np.abs(gradient).max() / self._tol) ** 2)
            if over <= 1:
                return 1.0 if before <= _UNSURE else min(1.0, _UNSURE * left / self._tol)
            before = over
        return 1.0

    def _gradient(self, search: Search) -> np.ndarray:
        gradient = self._some.gradients(search.point[:, None], search.weighting[None])[:, 0]
        return gradient + search.penalties * search.point
