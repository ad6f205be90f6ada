"""The logistic loss under many weights of the two classes at once, in blocks of rows.

The loss of a weighting is, as in scikit-learn's solver, sum_i v_i log(1 + exp(-s_i m_i)) + penalty / 2 |w|^2 with
margins m = X w + b, signs s_i and row weights v_i that sum to 1; the intercept b is not penalised.

The search for the minimum of one weighting: quasi-Newton steps, mixed, on a Hessian that need not be exact.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

_BLOCK = 1 << 16
"""Numbers of X in a block of rows: one that stays in the processor's cache, whatever the number of rows."""
_FEWEST = 256
"""Rows that a block holds at least, so that matrix products pay."""
_FEW = 6
"""Columns that are cheaper one by one: for a product of two matrices BLAS first copies them in an order of its own."""


class AtZero(NamedTuple):
    """At coefficients of 0, of the rows of each class: ``gradients``, (n_coefficients, 2), and ``hessians``,
    (2, n_coefficients, n_coefficients), all without the penalty."""

    gradients: np.ndarray
    hessians: np.ndarray


class LogisticLoss:
    """The loss on the rows of ``X``.

    ``X``: (n_rows, n_columns) float64; ``second``: (n_rows,) bool, the rows of the second class; ``row_weights``:
    (n_rows,) positive, or None. Coefficients have a row for each column of X and one more for the intercept where
    ``intercept``; "weightings" are pairs, the weights of a row of the first and the second class.
    """

    def __init__(self, X: np.ndarray, second: np.ndarray, row_weights: np.ndarray | None, intercept: bool) -> None:
        self._X, self._row_weights = X, row_weights
        self._second = second.astype(np.intp)
        self.n_rows = len(X)
        self._n_columns = X.shape[1]
        self._intercept = intercept
        self.n_coefficients = X.shape[1] + intercept
        self._block = max(_FEWEST, _BLOCK // max(1, X.shape[1]))

    @property
    def hessian_cost(self) -> float:
        """Of a Hessian, in gradients of one weighting: n d^2 sums to 4 n d and about 40 more for each probability."""
        return 1 + self._n_columns**2 / (4 * self._n_columns + 150)

    def at_zero(self) -> AtZero:
        """Weighted and summed, it gives gradient and Hessian of every weighting."""
        zero = np.zeros((self.n_coefficients, 2))
        hessians = [self.hessian(zero[:, 0], weighting) for weighting in np.eye(2)]
        return AtZero(self.gradients(zero, np.eye(2)), np.stack(hessians))

    def gradients(self, coefficients: np.ndarray, weightings: np.ndarray) -> np.ndarray:
        """(n_coefficients, k) gradients, without the penalty, at ``coefficients``, of ``weightings``, (k, 2)."""
        signed = weightings.T * np.array([[1.0], [-1.0]])
        gradients = np.zeros_like(coefficients)
        for rows in self._blocks():
            X, second = self._X[rows], self._second[rows]
            residuals = self._misfits(rows, coefficients)
            residuals *= signed[second]
            if self._row_weights is not None:
                residuals *= self._row_weights[rows, None]
            gradients[: self._n_columns] += _product(X.T, residuals)
            if self._intercept:
                gradients[-1] += residuals.sum(axis=0)
        return gradients

    def hessian(self, coefficients: np.ndarray, weighting: np.ndarray) -> np.ndarray:
        """(n_coefficients, n_coefficients) second derivatives, without the penalty, at ``coefficients``, (n,)."""
        hessian = np.zeros((self.n_coefficients, self.n_coefficients))
        weighted = np.empty((self._block, self.n_coefficients))
        for rows in self._blocks():
            misfit = self._misfits(rows, coefficients[:, None])[:, 0]
            curvature = weighting[self._second[rows]] * misfit * (1 - misfit)
            if self._row_weights is not None:
                curvature *= self._row_weights[rows]
            root = np.sqrt(curvature)
            Z = weighted[: len(root)]
            np.multiply(self._X[rows], root[:, None], out=Z[:, : self._n_columns])
            if self._intercept:
                Z[:, -1] = root
            hessian += Z.T @ Z  # of one matrix with itself, which costs half of a product
        return hessian

    def scores(self, coefficients: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
        """The number of the first row of a block, and the block's (n_block, k) scores, one block after the other."""
        for rows in self._blocks():
            yield rows.start, self._scores(rows, coefficients)

    def of(self, rows: np.ndarray) -> LogisticLoss:
        """The loss of ``rows``, numbers of some, each weighing so many times more that all weigh what they did."""
        weights = np.ones(len(rows)) if self._row_weights is None else self._row_weights[rows]
        return LogisticLoss(self._X[rows], self._second[rows], self.n_rows / len(rows) * weights, self._intercept)

    def with_ones(self, rows: np.ndarray | slice) -> np.ndarray:
        """(n, n_coefficients) ``rows`` of X, with a column of ones where there is an intercept."""
        X = self._X[rows]
        return np.column_stack([X, np.ones(len(X))]) if self._intercept else X

    def _misfits(self, rows: slice, coefficients: np.ndarray) -> np.ndarray:
        """(n_block, k) the probability of the class that a row is not of."""
        scores = self._scores(rows, coefficients)
        # the sign first, not 1 - p afterwards: that would leave no digits of small probabilities
        scores *= np.where(self._second[rows], 1.0, -1.0)[:, None]
        with np.errstate(over="ignore"):
            np.exp(scores, out=scores)  # three times as fast as expit
        scores += 1
        return np.reciprocal(scores, out=scores)

    def _scores(self, rows: slice, coefficients: np.ndarray) -> np.ndarray:
        scores = _product(self._X[rows], coefficients[: self._n_columns])
        if self._intercept:
            scores += coefficients[-1]
        return scores

    def _blocks(self) -> Iterator[slice]:
        for start in range(0, len(self._X), self._block):
            yield slice(start, start + self._block)


def _product(matrix: np.ndarray, columns: np.ndarray) -> np.ndarray:
    if columns.shape[1] > _FEW:
        return matrix @ columns
    product = np.empty((len(matrix), columns.shape[1]))
    for j, column in enumerate(columns.T):
        product[:, j] = matrix @ column
    return product


CLOSE_ENOUGH = 1e-11
"""Distance from the minimum in the norm of the mean loss's Hessian. scikit-learn's is about 1e-7 at tol=1e-8."""
_RATE_MARGIN = 10.0
"""By how many times less than the one before a step may bring the minimum closer."""
_MOST_GRADIENTS = 150
_SMALLEST_SHARE = 1e-4
"""Of a Newton step: where less of it is still too far, the search is given up."""
_MEMORY = 5
"""Steps that are mixed."""
_JITTER = 1e-14
"""Added to the scaled Hessian, so that it can be factored where columns are collinear. Scores do not notice."""


@dataclass
class Search:
    """Where the search for one minimum stands.

    ``weighting``: (2,) the weights of a row of each class, such that those of all rows sum to 1; ``penalties``:
    (n_coefficients,) of the squares; ``point``: (n_coefficients,) the next place to take the gradient at. While
    ``state`` is open, ``advance`` with the gradient there moves it on.
    """

    weighting: np.ndarray
    penalties: np.ndarray
    point: np.ndarray
    state: Literal["open", "done", "failed"] = "open"
    n_gradients: int = 0
    wants_hessian: bool = False
    owns_hessian: bool = False
    hessian: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    _length: float = math.inf
    _share: float = 1.0
    _points: list[np.ndarray] = field(default_factory=list)
    _steps: list[np.ndarray] = field(default_factory=list)

    @property
    def ratio(self) -> float:
        """The logarithm of the ratio of the two weights."""
        return math.log(self.weighting[1]) - math.log(self.weighting[0])

    def take_hessian(self, hessian: np.ndarray, *, own: bool) -> None:
        """Shape the steps by ``hessian``, without the penalty: that of ``point`` if it is ``own``, else a likeness."""
        self.hessian, self.owns_hessian, self.wants_hessian = hessian, own, False
        self._length, self._points, self._steps = math.inf, [], []
        full = hessian + np.diag(self.penalties)
        self._scale = np.sqrt(full.diagonal())
        self._scale[self._scale == 0] = 1
        full /= self._scale * self._scale[:, None]
        full.flat[:: len(full) + 1] += _JITTER
        try:
            self._factor = cho_factor(full, lower=True, overwrite_a=True, check_finite=False)
        except (LinAlgError, ValueError):
            self.state = "failed"

    def solve(self, right: np.ndarray) -> np.ndarray:
        """Inverse of the Hessian with the penalty, times ``right``, (n_coefficients,) or (n_coefficients, k)."""
        scale = self._scale if right.ndim == 1 else self._scale[:, None]
        return cho_solve(self._factor, right / scale, check_finite=False) / scale

    def length(self, offset: np.ndarray) -> float:
        """Of ``offset``, (n_coefficients,), in the norm of the Hessian with the penalty."""
        return math.sqrt(max(0.0, offset @ self.hessian @ offset + self.penalties @ offset**2))

    def advance(self, gradient: np.ndarray, hessian_cost: float) -> None:
        """Go on from ``gradient``, (n_coefficients,) without the penalty, at ``point``.

        ``hessian_cost``: of a new Hessian, in gradients; asked for where the steps left would cost more.
        """
        self.n_gradients += 1
        if self.n_gradients > _MOST_GRADIENTS or not np.isfinite(gradient).all():
            self.state = "failed"
            return
        step = -self.solve(gradient + self.penalties * self.point)
        # without the penalty: along collinear columns steps are rounding, and of no effect on scores
        length = math.sqrt(max(0.0, step @ self.hessian @ step))
        rate = length / self._length if math.isfinite(self._length) else 1.0
        if length * min(1.0, _RATE_MARGIN * rate) <= CLOSE_ENOUGH:
            self.point, self.state = self.point + step, "done"
        elif length > self._length:
            self._go_back()
        else:
            self._length, self._share = length, 1.0
            self._points.append(self.point)
            self._steps.append(step)
            steps_left = math.log(length / CLOSE_ENOUGH) / -math.log(min(max(rate, 1e-3), 0.999))
            self.wants_hessian = steps_left > hessian_cost + 2 and len(self._steps) > 1
            if not self.wants_hessian:
                self.point = self._mixed()

    def _go_back(self) -> None:
        last = self._points[-1]
        if not self.owns_hessian or len(self._points) > 1:
            self.point, self.wants_hessian = last, True
            return
        self._share /= 2
        self.point = last + self._share * self._steps[-1]
        if self._share < _SMALLEST_SHARE:
            self.state = "failed"

    def _mixed(self) -> np.ndarray:
        """Anderson (1965): the step from that mixture of the latest points whose own step would be shortest."""
        point, step = self._points[-1], self._steps[-1]
        if len(self._steps) == 1:
            return point + step
        changes = np.diff(np.column_stack(self._steps[-_MEMORY - 1 :]), axis=1)
        moves = np.diff(np.column_stack(self._points[-_MEMORY - 1 :]), axis=1)
        weighed = self.hessian @ changes
        mixture = np.linalg.lstsq(changes.T @ weighed, weighed.T @ step, rcond=1e-12)[0]
        return point + step - (moves + changes) @ mixture
