"""Minima of the logistic loss under many weights of the two classes, found together.

The loss of a weighting is, as in scikit-learn's solver, sum_i v_i log(1 + exp(-s_i m_i)) + penalty / 2 |w|^2. The
margins are m = X w + b, the s_i are signs, and the row weights v_i sum to 1. The intercept b is not penalised.

The minimum moves smoothly with the logarithm of the ratio of the weights. So a search starts from a polynomial through
the minima found before, with a Hessian between theirs. The Hessian shapes its steps. The gradients are exact, and
common matrix products compute those of all searches. A search gets its own Hessian if that is cheaper than the
remaining steps.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigvalsh, solve_triangular
from scipy.sparse import csc_array, csr_array

# Numbers in a block of rows. Such a block stays in the processor's cache, whatever the number of rows.
_BLOCK = 1 << 17
# Least number of rows in a block, so that matrix products are efficient.
_FEWEST = 256
# Up to this many columns are multiplied one by one. For a product of two matrices BLAS first copies them.
_FEW = 6


class AtZero(NamedTuple):
    """Hold derivatives at coefficients of 0 for the rows of each class, without the penalty.

    ``gradients``: (n_coefficients, 2). ``hessians``: (2, n_coefficients, n_coefficients).
    """

    gradients: np.ndarray
    hessians: np.ndarray


class _DenseTable:
    """Multiply blocks of the rows of X, with a column of ones if there is an ``intercept``."""

    def __init__(self, X: np.ndarray, intercept: bool) -> None:
        self._X, self._intercept = X, intercept
        self.block = max(_FEWEST, _BLOCK // max(1, X.shape[1]))

    @property
    def gram_cost(self) -> float:
        """Return the cost of ``gram``, in gradients of one weighting.

        It takes n d^2 sums, against 4 n d and about 40 more per probability.
        """
        n_columns = self._X.shape[1]
        return float(n_columns**2 / (4 * n_columns + 150))

    def scores(self, coefficients: np.ndarray, rows: slice) -> np.ndarray:
        """Return the scores of ``rows``, (n, k), by ``coefficients``, (n_coefficients, k)."""
        scores = _product(self._X[rows], coefficients[: self._X.shape[1]])
        if self._intercept:
            scores += coefficients[-1]
        return scores

    def sums(self, values: np.ndarray, rows: slice) -> np.ndarray:
        """Return the sums over ``rows`` of the rows times ``values``, (n, k): (n_coefficients, k)."""
        sums = _product(self._X[rows].T, values)
        return np.vstack([sums, values.sum(axis=0)]) if self._intercept else sums

    def gram(self, values: np.ndarray, rows: slice) -> np.ndarray:
        """Return the sum over ``rows`` of the outer products of a row with itself times ``values``, (n,), from 0."""
        roots = np.sqrt(values)
        Z = np.empty((len(roots), self._X.shape[1] + self._intercept))
        np.multiply(self._X[rows], roots[:, None], out=Z[:, : self._X.shape[1]])
        if self._intercept:
            Z[:, -1] = roots
        # Z holds the rows times the roots of the values: a matrix times itself costs half of a product of two matrices
        gram: np.ndarray = Z.T @ Z
        return gram


class _SparseTable:
    """Do the same for rows of X that are mostly 0, such as indicators of levels.

    A Gram matrix is a sum of each row's products of two columns. These products are computed once.
    """

    gram_cost = 3.0

    def __init__(self, X: np.ndarray, intercept: bool) -> None:
        self._shape = (X.shape[1] + intercept, X.shape[1] + intercept)
        self.block = max(_FEWEST, _BLOCK * len(X) // int(np.count_nonzero(X) + len(X)))
        # one matrix for each block, because a slice of a sparse matrix is a copy
        self._rows = []
        for first in range(0, len(X), self.block):
            part = X[first : first + self.block]
            self._rows.append(csr_array(np.column_stack([part, np.ones(len(part))]) if intercept else part))
        self._columns = [part.T for part in self._rows]
        self._products: list[csc_array] = []

    def scores(self, coefficients: np.ndarray, rows: slice) -> np.ndarray:
        scores: np.ndarray = self._rows[rows.start // self.block] @ coefficients
        return scores

    def sums(self, values: np.ndarray, rows: slice) -> np.ndarray:
        sums: np.ndarray = self._columns[rows.start // self.block] @ values
        return sums

    def gram(self, values: np.ndarray, rows: slice) -> np.ndarray:
        if not self._products:
            self._products = [_products(part) for part in self._rows]
        lower = (self._products[rows.start // self.block] @ values).reshape(self._shape)
        # the products hold each pair of columns once, because a Gram matrix is symmetric
        gram: np.ndarray = lower + np.tril(lower, -1).T
        return gram


def _products(X: csr_array) -> csc_array:
    """Return the products of two columns, the second not after the first, for each row of X: (n_columns^2, n_rows)."""
    lengths = np.diff(X.indptr)
    ranks = np.arange(X.nnz) - np.repeat(X.indptr[:-1], lengths)  # of an entry in its row
    left = np.repeat(np.arange(X.nnz), ranks + 1)
    right = np.arange(len(left)) - np.repeat(np.cumsum(ranks + 1) - ranks - 1, ranks + 1) + (left - ranks[left])
    places = X.indices[left] * X.shape[1] + X.indices[right]
    ends = np.concatenate([[0], np.cumsum(lengths * (lengths + 1) // 2)])
    return csc_array((X.data[left] * X.data[right], places, ends), shape=(X.shape[1] ** 2, X.shape[0]))


def _table(X: np.ndarray, intercept: bool) -> _DenseTable | _SparseTable:
    """Return the table whose Gram matrices cost less. The sparse one needs no more memory than two copies of X."""
    lengths = np.count_nonzero(X, axis=1) + intercept
    # a row has length (length + 1) / 2 products, and each takes two numbers: its value and its place
    few = (lengths * (lengths + 1)).sum() <= 2 * X.size
    return _SparseTable(X, intercept) if few else _DenseTable(X, intercept)


class LogisticLoss:
    """Compute the loss on the rows of ``X``.

    ``X``: (n_rows, n_columns) float64. ``second``: (n_rows,) bool, the rows of the second class. ``row_weights``:
    (n_rows,) positive, or None. Coefficients have one row per column of X, and one more for the intercept if
    ``intercept`` is True. A "weighting" is a pair: the weights of a row of the first and of the second class.
    """

    def __init__(self, X: np.ndarray, second: np.ndarray, row_weights: np.ndarray | None, intercept: bool) -> None:
        self._X, self._row_weights, self._intercept = X, row_weights, intercept
        self._second, self._signs = second.astype(np.intp), np.where(second, 1.0, -1.0)
        self._table = _table(X, intercept)
        self.n_rows = len(X)
        self.n_coefficients = X.shape[1] + intercept

    @property
    def hessian_cost(self) -> float:
        """Return the cost of a Hessian, in gradients of one weighting."""
        return 1 + self._table.gram_cost

    def at_zero(self) -> AtZero:
        """Return the derivatives at 0. Their weighted sums are the gradient and the Hessian of every weighting."""
        zero = np.zeros((self.n_coefficients, 2))
        hessians = [self.hessian(zero[:, 0], weighting) for weighting in np.eye(2)]
        return AtZero(self.gradients(zero, np.eye(2)), np.stack(hessians))

    def gradients(self, coefficients: np.ndarray, weightings: np.ndarray) -> np.ndarray:
        """Return the gradients (n_coefficients, k) of the unpenalised loss for ``weightings``, (k, 2)."""
        signed = weightings.T * np.array([[1.0], [-1.0]])
        gradients = np.zeros_like(coefficients)
        for rows in self.blocks():
            residuals = _misfits(self.margins(coefficients, rows))
            residuals *= signed.take(self._second[rows], axis=0)
            if self._row_weights is not None:
                residuals *= self._row_weights[rows, None]
            gradients += self._table.sums(residuals, rows)
        return gradients

    def hessian(self, coefficients: np.ndarray, weighting: np.ndarray) -> np.ndarray:
        """Return the Hessian (n_coefficients, n_coefficients) of the unpenalised loss at ``coefficients``, (n,)."""
        hessian = np.zeros((self.n_coefficients, self.n_coefficients))
        for rows in self.blocks():
            misfits = _misfits(self.margins(coefficients[:, None], rows))[:, 0]
            hessian += self._table.gram(self._weights(weighting, rows) * misfits * (1 - misfits), rows)
        return hessian

    def margins(self, coefficients: np.ndarray, rows: slice) -> np.ndarray:
        """Return the margins of one of the blocks, (n, k). They are above 0 where the class is right."""
        margins = self._table.scores(coefficients, rows)
        # change the sign first: computing 1 - p afterwards would lose the digits of small probabilities
        margins *= self._signs[rows, None]
        return margins

    def bend(self, coefficients: np.ndarray, weighting: np.ndarray, direction: np.ndarray) -> np.ndarray:
        """Return the change of the Hessian along ``direction``. Its size, not its sign, is that of a unit step.

        ``coefficients``, ``direction``: (n_coefficients,).
        """
        bend = np.zeros((self.n_coefficients, self.n_coefficients))
        both = np.column_stack([coefficients, direction])
        for rows in self.blocks():
            margins = self.margins(both, rows)
            # a copy, because _misfits writes over the margins
            moved, misfits = margins[:, 1].copy(), _misfits(margins)[:, 0]
            changes = self._weights(weighting, rows) * misfits * (1 - misfits) * (1 - 2 * misfits) * moved
            # the sum takes square roots of the values, so those of each sign are summed by themselves
            bend += self._table.gram(np.maximum(changes, 0), rows) - self._table.gram(np.maximum(-changes, 0), rows)
        return bend

    def of(self, rows: np.ndarray) -> LogisticLoss:
        """Return the loss of some rows by number, with row weights scaled up so that they weigh as much as all rows."""
        weights = np.ones(len(rows)) if self._row_weights is None else self._row_weights[rows]
        return LogisticLoss(self._X[rows], self._second[rows] == 1, self.n_rows / len(rows) * weights, self._intercept)

    def with_ones(self, rows: np.ndarray | slice) -> np.ndarray:
        """Return ``rows`` of X, (n, n_coefficients), with a column of ones if there is an intercept."""
        X = self._X[rows]
        return np.column_stack([X, np.ones(len(X))]) if self._intercept else X

    def blocks(self) -> Iterator[slice]:
        """Yield the blocks of rows that are computed at once."""
        for start in range(0, self.n_rows, self._table.block):
            yield slice(start, start + self._table.block)

    def _weights(self, weighting: np.ndarray, rows: slice) -> np.ndarray:
        weights: np.ndarray = weighting[self._second[rows]]
        return weights if self._row_weights is None else weights * self._row_weights[rows]


def _misfits(margins: np.ndarray) -> np.ndarray:
    """Return the probabilities of the wrong class in the place of ``margins``."""
    # beyond a margin of 709 exp is infinite, and its reciprocal 0 is the right share
    with np.errstate(over="ignore"):
        np.exp(margins, out=margins)  # three times as fast as expit
    margins += 1
    shares: np.ndarray = np.reciprocal(margins, out=margins)
    return shares


def _product(matrix: np.ndarray, columns: np.ndarray) -> np.ndarray:
    if columns.shape[1] > _FEW:
        product: np.ndarray = matrix @ columns
        return product
    product = np.empty((len(matrix), columns.shape[1]))
    for j, column in enumerate(columns.T):
        product[:, j] = matrix @ column
    return product


NEAR = 1e-9
"""Distance from the minimum where a search first ends, in the norm of the mean loss's Hessian.

scikit-learn's is about 1e-7 at tol=1e-8.
"""
CLOSE_ENOUGH = 1e-11
"""Distance where a search ends if a row is so near the boundary that it matters."""
# Factor by which a step may converge worse than the one before.
_RATE_MARGIN = 10.0
_MOST_GRADIENTS = 150
# Share of a Newton step. If even this share is too far, the search fails.
_SMALLEST_SHARE = 1e-4
# Number of steps that are mixed.
_MEMORY = 5
# Added to the scaled Hessian, so that collinear columns do not prevent its factorisation. Scores do not change.
_JITTER = 1e-14


@dataclass
class Search:
    """Search the minimum of one weighting by mixed quasi-Newton steps. The Hessian need not be exact.

    ``weighting``: (2,) the weights of a row of each class, scaled so that the weights of all rows sum to 1.
    ``penalties``: (n_coefficients,) of the squares. ``point``: (n_coefficients,) where the next gradient is needed.
    While ``state`` is "open", call ``advance`` with that gradient.
    """

    weighting: np.ndarray
    penalties: np.ndarray
    point: np.ndarray
    state: Literal["open", "done", "failed"] = "open"
    n_gradients: int = 0
    wants_hessian: bool = False
    owns_hessian: bool = False
    hessian: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    accuracy: float = NEAR
    _length: float = math.inf
    _share: float = 1.0
    _points: list[np.ndarray] = field(default_factory=list)
    _steps: list[np.ndarray] = field(default_factory=list)

    @property
    def ratio(self) -> float:
        """Return the logarithm of the ratio of the two weights."""
        return math.log(self.weighting[1]) - math.log(self.weighting[0])

    def take_hessian(self, hessian: np.ndarray, *, own: bool) -> None:
        """Use ``hessian``, without the penalty, for the next steps. ``own`` tells that it is exact at ``point``."""
        self.hessian, self.owns_hessian, self.wants_hessian = hessian, own, False
        # lengths and steps of another Hessian cannot be compared or mixed with the next ones
        self._length, self._points, self._steps = math.inf, [], []
        full = hessian + np.diag(self.penalties)
        self._scale = np.sqrt(full.diagonal())
        # a column of zeros without a penalty
        self._scale[self._scale == 0] = 1
        full /= self._scale * self._scale[:, None]
        full.flat[:: len(full) + 1] += _JITTER
        try:
            self._factor = cho_factor(full, lower=True, overwrite_a=True, check_finite=False)
        except (LinAlgError, ValueError):
            self.state = "failed"

    def solve(self, right: np.ndarray) -> np.ndarray:
        """Return the inverse of the penalised Hessian times ``right``, (n_coefficients,) or (n_coefficients, k)."""
        scale = self._scale if right.ndim == 1 else self._scale[:, None]
        solved: np.ndarray = cho_solve(self._factor, right / scale, check_finite=False) / scale
        return solved

    def largest(self, matrix: np.ndarray) -> float:
        """Return the largest size of y M y for symmetric M = ``matrix`` and y of length 1."""
        scaled = solve_triangular(self._factor[0], matrix / (self._scale * self._scale[:, None]), lower=True)
        turned = solve_triangular(self._factor[0], scaled.T, lower=True)
        return float(np.abs(eigvalsh(turned)).max())

    def length(self, offset: np.ndarray) -> float:
        """Return the length of ``offset``, (n_coefficients,), in the norm of the penalised Hessian."""
        return math.sqrt(max(0.0, offset @ self.hessian @ offset + self.penalties @ offset**2))

    def advance(self, gradient: np.ndarray, hessian_cost: float) -> None:
        """Take the next step from ``gradient``, (n_coefficients,) without the penalty, at ``point``.

        ``hessian_cost``: the cost of a new Hessian, in gradients. One is requested if the remaining steps would cost
        more.
        """
        self.n_gradients += 1
        if self.n_gradients > _MOST_GRADIENTS or not np.isfinite(gradient).all():
            self.state = "failed"
            return
        step = -self.solve(gradient + self.penalties * self.point)
        # without the penalty: steps along collinear columns are rounding and do not change scores
        length = math.sqrt(max(0.0, step @ self.hessian @ step))
        rate = length / self._length if math.isfinite(self._length) else 1.0
        # the end of this step is about its length times the rate from the minimum
        if length * min(1.0, _RATE_MARGIN * rate) <= self.accuracy:
            self.point, self.state = self.point + step, "done"
        elif length > self._length:
            self._go_back()
        else:
            self._length, self._share = length, 1.0
            self._points.append(self.point)
            self._steps.append(step)
            # the limits keep the logarithm of the rate away from 0
            steps_left = math.log(length / self.accuracy) / -math.log(min(max(rate, 1e-3), 0.999))
            # before the second step of a Hessian its rate is not known
            self.wants_hessian = steps_left > hessian_cost + 2 and len(self._steps) > 1
            if not self.wants_hessian:
                self.point = self._mixed()

    def _go_back(self) -> None:
        last = self._points[-1]
        # the Hessian of another point may be what is wrong. Only a step by its own one is shortened.
        if not self.owns_hessian or len(self._points) > 1:
            self.point, self.wants_hessian = last, True
            return
        self._share /= 2
        self.point = last + self._share * self._steps[-1]
        if self._share < _SMALLEST_SHARE:
            self.state = "failed"

    def _mixed(self) -> np.ndarray:
        """Return the step from the mixture of the latest points whose own step would be shortest (Anderson 1965)."""
        point, step = self._points[-1], self._steps[-1]
        if len(self._steps) == 1:
            moved: np.ndarray = point + step
            return moved
        changes = np.diff(np.column_stack(self._steps[-_MEMORY - 1 :]), axis=1)
        moves = np.diff(np.column_stack(self._points[-_MEMORY - 1 :]), axis=1)
        weighed = self.hessian @ changes
        mixture = np.linalg.lstsq(changes.T @ weighed, weighed.T @ step, rcond=1e-12)[0]
        mixed: np.ndarray = point + step - (moves + changes) @ mixture
        return mixed


# Number of minima for an interpolated start. Beyond the outermost minimum half as many are used, because polynomials
# diverge there.
_NODES = 8
# Largest distance beyond the outermost minimum, in the log ratio, at which a search may start.
_NEAR = 1.0
# Log ratios that are closer than this would spoil an interpolation.
_SAME = 1e-6
# One row in this many gives a start that saves some Hessians of all rows.
_SHARE = 16
# Number of rows above which such a start pays.
_MANY = 1 << 16
# After this many failures without a success the rest is not tried, for instance for separable data.
_MAX_FAILURES = 3


class LogisticSolver:
    """Find minima on the rows of one problem, and remember them as starting points."""

    def __init__(self) -> None:
        self._minima: list[tuple[float, np.ndarray]] = []
        self._hessians: list[tuple[float, np.ndarray]] = []
        self._n_failed = 0

    def solve(self, loss: LogisticLoss, searches: list[Search], at_zero: np.ndarray) -> None:
        """Finish the open searches.

        ``at_zero``: (2, n_coefficients, n_coefficients) Hessians of the rows of each class at coefficients of 0.
        """
        # from equal weights outwards, so that minima nearby are known
        waiting = sorted((one for one in searches if one.state == "open"), key=lambda one: abs(one.ratio))
        while waiting:
            if not self._minima and self._n_failed >= _MAX_FAILURES:
                for one in waiting:
                    one.state = "failed"
                return
            now = self._next(waiting)
            # by identity, because == of two searches compares their arrays
            waiting = [one for one in waiting if not any(one is other for other in now)]
            for one in now:
                self._start(one, loss, at_zero)
            run(loss, now)
            self._store(now)

    def _next(self, waiting: list[Search]) -> list[Search]:
        """Return the searches near the minima found, and the nearest one beyond them at either end."""
        if not self._minima:
            return waiting[:1]
        near = [one for one in waiting if self._distance(one.ratio) <= _NEAR]
        low, high = self._minima[0][0] - _NEAR, self._minima[-1][0] + _NEAR
        below = [one for one in waiting if one.ratio < low]
        above = [one for one in waiting if one.ratio > high]
        return near + [min(far, key=lambda one: self._distance(one.ratio)) for far in (below, above) if far]

    def _distance(self, ratio: float) -> float:
        """Return the distance of ``ratio`` from the range of the minima found."""
        if not self._minima:
            return 0.0
        return max(self._minima[0][0] - ratio, ratio - self._minima[-1][0], 0.0)

    def _start(self, search: Search, loss: LogisticLoss, at_zero: np.ndarray) -> None:
        if not self._hessians:
            # the Hessian at 0 costs no pass over the rows, whatever the weighting
            search.take_hessian(np.tensordot(search.weighting, at_zero, axes=1), own=True)
            if loss.n_rows >= _MANY:
                _start_from_sample(search, loss)
            return
        search.point = self._interpolated_point(search.ratio)
        search.take_hessian(self._hessian_between(search.ratio), own=False)

    def _interpolated_point(self, ratio: float) -> np.ndarray:
        n_nodes = _NODES if self._distance(ratio) == 0 else _NODES // 2
        nodes: list[tuple[float, np.ndarray]] = []
        for node in sorted(self._minima, key=lambda node: abs(node[0] - ratio)):
            if len(nodes) < n_nodes and all(abs(node[0] - other) > _SAME for other, _ in nodes):
                nodes.append(node)
        places = np.array([place for place, _ in nodes])
        # the identity keeps the diagonal, which is no factor, from dividing by 0
        factors = (ratio - places) / (places[:, None] - places + np.eye(len(places)))
        np.fill_diagonal(factors, 1)
        offset: np.ndarray = factors.prod(axis=1) @ np.array([point for _, point in nodes])
        return offset

    def _hessian_between(self, ratio: float) -> np.ndarray:
        places = np.array([place for place, _ in self._hessians])
        after = int(np.searchsorted(places, ratio))
        if after in (0, len(places)):
            return self._hessians[max(after - 1, 0)][1]
        (left, low), (right, high) = self._hessians[after - 1 : after + 1]
        share = (ratio - left) / (right - left)
        return (1 - share) * low + share * high

    def _store(self, searches: list[Search]) -> None:
        for one in searches:
            if one.state == "failed":
                self._n_failed += 1
                continue
            self._minima.append((one.ratio, one.point))
            # a Hessian between two others adds nothing to them
            if one.owns_hessian:
                self._hessians.append((one.ratio, one.hessian))
        self._minima.sort(key=lambda node: node[0])
        self._hessians.sort(key=lambda node: node[0])


def _start_from_sample(search: Search, loss: LogisticLoss) -> None:
    # a fixed seed: the same rows always give the same minimum, to the last bit
    rows = np.random.default_rng(0).choice(loss.n_rows, loss.n_rows // _SHARE, replace=False)
    rough = Search(search.weighting, search.penalties, search.point)
    rough.take_hessian(search.hessian, own=True)
    run(loss.of(np.sort(rows)), [rough])
    if rough.state == "done":
        search.point = rough.point
        search.take_hessian(loss.hessian(search.point, search.weighting), own=True)


def run(loss: LogisticLoss, searches: list[Search]) -> None:
    """Finish the open searches from where they are."""
    cost = loss.hessian_cost
    while searches := [one for one in searches if one.state == "open"]:
        points = np.column_stack([one.point for one in searches])
        gradients = loss.gradients(points, np.array([one.weighting for one in searches]))
        for one, gradient in zip(searches, gradients.T, strict=True):
            one.advance(gradient, cost)
            if one.wants_hessian:
                one.take_hessian(loss.hessian(one.point, one.weighting), own=True)
