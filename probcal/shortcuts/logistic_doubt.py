"""Which minima scikit-learn's own solver would not reach, or stops so far from that a label may differ.

Where the Hessian H is singular to working precision its newton-cholesky goes over to L-BFGS, which may end anywhere.
Else it stops after a Newton step from a point p that is e off the minimum, e H e / 2 <= tol, with no entry of the
gradient above tol. So the score of a row x is off by at most tol |H^-1 x|_1. To the leading order of what a Newton step
leaves, it is off by e B e / 2, where B is what H changes by along H^-1 x: at most by tol times the largest y B y of all
y with y H y = 1, which is no more than max_i |1 - 2 sigma_i| |x H^-1 x_i| and costs next to nothing.
Mostly it stops far below tol, for the last step but one was still too far and the last one squares what is left. Where
that bound leaves a row in doubt, its steps are repeated, on some rows if there are many, and tell on which side of the
line the row is where they stop.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dpocon, dpotrf
from scipy.special import expit

from probcal.shortcuts.logistic_loss import AtZero, LogisticLoss
from probcal.shortcuts.logistic_replay import Replay
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
_OWN_ERROR = 5 * CLOSE_ENOUGH
"""Of a search's end, in the norm of the Hessian: a Hessian that is but a likeness may take a step for shorter than it
is."""
_ROUNDING = 1e-14
"""Of a gradient, as a share of the mean size of a column: some fifty times the machine's."""
_SAMPLE = 256
"""Rows over which the largest term of the bound is taken."""
_UNUSUAL = 3.0
"""How many times the median of all a row's length in the norm of the inverse Hessian may be for samples to speak of it:
the few rows with a value that is rare may all be in none."""
_MOST_IN_REACH = 1 << 14


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

    ``tol``: that of the learner; ``at_zero``: of ``loss``.
    """

    def __init__(self, loss: LogisticLoss, tol: float, at_zero: AtZero) -> None:
        self._loss, self._tol = loss, tol
        self._sample = loss.with_ones(slice(None, None, max(1, loss.n_rows // _SAMPLE)))
        self._replay = Replay(loss, tol, at_zero)

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
        lengths = _lengths(X, solved)
        own = _OWN_ERROR * lengths  # by Cauchy and Schwarz
        scores = X @ search.point
        flatness = np.abs(1 - 2 * expit(self._sample @ search.point))
        loose = _LEADING_ORDER * (flatness[:, None] * np.abs(self._sample @ solved)).max(axis=0)
        bound = self._tol * np.minimum(loose, np.abs(solved).sum(axis=0))
        doubtful = np.abs(scores) - own <= bound
        if not doubtful.any():
            return False
        own += _ROUNDING * (np.abs(self._sample).mean(axis=0) @ np.abs(solved))
        X, lengths, own, sides = X[doubtful], lengths[doubtful], own[doubtful], np.sign(scores[doubtful])
        usual = np.median(_lengths(self._sample, search.solve(self._sample.T)))
        for ends in self._replay.ends(search, samples=bool(lengths.max() <= _UNUSUAL * usual)):
            # how far on the side of the minimum's score a row's score is, where scikit-learn stops
            reserve = [sides * (X @ (search.point + one.offset)) for one in ends]
            error = [own + one.error * lengths for one in ends]
            if ends and all((left > off).all() for left, off in zip(reserve, error, strict=True)):
                return False
            if len(ends) == 1 and (reserve[0] < -error[0]).any():
                return True
        return True


def _lengths(X: np.ndarray, solved: np.ndarray) -> np.ndarray:
    """(n,) of the rows of X in the norm of the inverse Hessian, by which ``solved``, (n_coefficients, n), is X.T."""
    return np.sqrt(np.abs(np.einsum("ij,ji->i", X, solved)))
