"""The fast path of scikit-learn's LinearSVC: exact minima instead of liblinear's iterations.

It replaces a LinearSVC that finds the minimum up to a known error: the primal solver for the squared hinge at a
tolerance of 1e-8 or less. At the default 1e-4 the labels are not those of the minimum. Nor are those of the dual
solver, which the hinge needs, if it runs out of iterations.

Each minimum is searched from that of the nearest class weights. The function is piecewise quadratic and strongly
convex. So Newton's method with an exact line search ends after finitely many steps (Keerthi & DeCoste 2005, "A modified
finite Newton method for fast solution of large scale linear SVMs", section 3). A step costs one product of the rows
with a vector. The Hessian consists of the Gram matrices of the active rows of each class, which the class weights only
scale.
"""

from __future__ import annotations

from bisect import bisect, insort
from copy import copy
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.svm import LinearSVC
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import validate_data

from probcal.fast_paths.fast_path import SignedRows, signed_rows

# Rows that are copied at a time, so that memory does not grow with their number.
_BLOCK = 4096


class ActiveGrams:
    """Keep sum r x x' and sum r x over the active rows of each class, where r are the row weights.

    ``grams``: (2, d, d). ``sums``: (2, d).
    """

    def __init__(self, data: SignedRows) -> None:
        self._rows, self._weights = data.rows, data.weights
        n_rows, d = data.rows.shape
        self._classes = (slice(0, data.n_first), slice(data.n_first, n_rows))
        self._active = np.zeros(n_rows, dtype=bool)
        self.grams, self.sums = np.zeros((2, d, d)), np.zeros((2, d))

    def move(self, active: np.ndarray) -> None:
        """Set the active rows, (n_rows,) bool. Only changed rows are added or removed, unless most of them changed."""
        for place, rows in enumerate(self._classes):
            now, before = active[rows], self._active[rows]
            entered, left = np.flatnonzero(now & ~before), np.flatnonzero(before & ~now)
            # then a new sum takes fewer rows
            if len(entered) + len(left) > np.count_nonzero(now):
                self._recompute(place, now)
            else:
                self._add(place, entered + rows.start, 1)
                self._add(place, left + rows.start, -1)
        self._active = active

    def refresh(self) -> None:
        """Compute all sums again, without the rounding errors of rows that came and went."""
        for place, rows in enumerate(self._classes):
            self._recompute(place, self._active[rows])

    def _recompute(self, place: int, active: np.ndarray) -> None:
        self.grams[place], self.sums[place] = 0, 0
        self._add(place, np.flatnonzero(active) + self._classes[place].start, 1)

    def _add(self, place: int, indices: np.ndarray, sign: int) -> None:
        for start in range(0, len(indices), _BLOCK):
            block = indices[start : start + _BLOCK]
            rows = self._rows[block]
            if self._weights is None:
                self.sums[place] += sign * rows.sum(axis=0)
            else:
                self.sums[place] += sign * (self._weights[block] @ rows)
                rows *= np.sqrt(self._weights[block])[:, None]
            self.grams[place] += sign * (rows.T @ rows)


_MAX_STEPS = 200
# Size of the gradient at a minimum, relative to the largest possible sum of its terms.
_ROUNDING = 1e-13
# A whole step is taken unless the slope at its end is more than this part of that at its start.
_OVERSHOOT = 0.1


@dataclass(frozen=True, eq=False)
class Minimum:
    """Describe a minimum and its accuracy.

    ``w``: (d,). ``n_steps``: steps taken. ``value``: of the function. ``residual``: the Euclidean norm of the gradient
    at ``w``. ``hessian``: (d, d). ``margins``: (n_rows,) of the signed rows.
    """

    w: np.ndarray
    n_steps: int
    value: float
    residual: float
    hessian: np.ndarray
    margins: np.ndarray


class SquaredHinge:
    """Minimise |w|^2 / 2 + sum over the signed rows x of cost(class of x) r max(0, 1 - x'w)^2, with row weights r.

    ``largest_norm``: the largest norm of a row.
    """

    def __init__(self, data: SignedRows) -> None:
        self.rows, self._n_first, self._weights = data.rows, data.n_first, data.weights
        self._grams = ActiveGrams(data)
        squares = np.einsum("ij,ij->i", data.rows, data.rows)
        r = np.ones(len(squares)) if data.weights is None else data.weights
        self._class_weights = np.array([r[: data.n_first].sum(), r[data.n_first :].sum()])
        self._class_squares = np.array([(r * squares)[: data.n_first].sum(), (r * squares)[data.n_first :].sum()])
        self._class_sums = np.array(
            [r[: data.n_first] @ data.rows[: data.n_first], r[data.n_first :] @ data.rows[data.n_first :]]
        )
        self.largest_norm = float(np.sqrt(squares.max()))

    @property
    def n_columns(self) -> int:
        return int(self.rows.shape[1])

    def minimise(self, costs: np.ndarray, start: np.ndarray) -> Minimum | None:
        """Return the minimum for the two classes' ``costs``, (2,) positive, starting from ``start``, (d,).

        The result is None if rounding keeps the gradient from vanishing.
        """
        tiny = _ROUNDING * 2 * np.sqrt((costs @ self._class_squares) * (costs @ self._class_weights))
        w, margins, refreshed = start, self.rows @ start, False
        for n_steps in range(_MAX_STEPS):
            self._grams.move(self._active(margins))
            hessian = np.eye(len(w)) + 2 * np.tensordot(costs, self._grams.grams, 1)
            gradient = hessian @ w - 2 * costs @ self._grams.sums
            if np.linalg.norm(gradient) <= tiny:
                residual = float(np.linalg.norm(w - 2 * (self._gaps(margins, costs) @ self.rows)))
                if residual <= tiny:
                    value = float(w @ w / 2 + self._gaps(margins, costs) @ np.maximum(1 - margins, 0))
                    return Minimum(w, n_steps, value, residual, hessian, margins)
                # the gradient of the sums is small, and that of the rows is not: the sums have gathered rounding errors
                if refreshed:
                    return None
                self._grams.refresh()
                refreshed = True
                continue
            try:
                step = -cho_solve(cho_factor(hessian, check_finite=False), gradient, check_finite=False)
            except np.linalg.LinAlgError:
                return None
            moved = self._moved(w, margins, step, costs, float(gradient @ step))
            if moved is None:
                return None
            w, margins = moved
        return None

    def gradient_at_zero(self, costs: np.ndarray) -> np.ndarray:
        """Return the gradient (d,) at 0, where liblinear starts."""
        gradient: np.ndarray = -2 * costs @ self._class_sums
        return gradient

    def value_of_intercept(self, costs: np.ndarray) -> float:
        """Return the least value, without |w|^2 / 2, of a constant margin."""
        first, second = costs * self._class_weights
        return float(4 * first * second / (first + second))

    def _active(self, margins: np.ndarray) -> np.ndarray:
        return margins < 1 if self._weights is None else (margins < 1) & (self._weights > 0)

    def _moved(
        self, w: np.ndarray, margins: np.ndarray, step: np.ndarray, costs: np.ndarray, slope: float
    ) -> tuple[np.ndarray, np.ndarray] | None:
        target = w + step
        ahead = self.rows @ target
        if self._slope(target, ahead, ahead - margins, step, costs)[0] <= _OVERSHOOT * -slope:
            return target, ahead
        # the difference of two products is too coarse for steps close to the minimum
        along = self.rows @ step
        if self._slope(target, ahead, along, step, costs)[0] <= _OVERSHOOT * -slope:
            return target, ahead
        low, high, at = 0.0, 1.0, 0.5
        for _ in range(60):
            rise, bend = self._slope(w + at * step, margins + at * along, along, step, costs)
            if abs(rise) <= _OVERSHOOT**2 * -slope:
                break
            low, high = (at, high) if rise < 0 else (low, at)
            at -= rise / bend
            if not low < at < high:
                at = (low + high) / 2
        else:  # the slope is rounding, as it is in every further step
            return None
        target = w + at * step
        return target, self.rows @ target

    def _slope(
        self, w: np.ndarray, margins: np.ndarray, along: np.ndarray, step: np.ndarray, costs: np.ndarray
    ) -> tuple[float, float]:
        gaps = self._gaps(margins, costs)
        bends = np.where(gaps > 0, along, 0)
        weighted = self._weighted(along * bends, costs)
        return float(w @ step - 2 * gaps @ along), float(step @ step + 2 * weighted.sum())

    def _gaps(self, margins: np.ndarray, costs: np.ndarray) -> np.ndarray:
        return self._weighted(np.maximum(1 - margins, 0), costs)

    def _weighted(self, values: np.ndarray, costs: np.ndarray) -> np.ndarray:
        values[: self._n_first] *= costs[0]
        values[self._n_first :] *= costs[1]
        return values if self._weights is None else values * self._weights


# If the minimum is below this part of the value with an intercept only, liblinear may run out of iterations.
_NEAR_SEPARABLE = 0.02


class SquaredHingePath:
    """Find the minima for one pair of class weights after the other.

    ``tol``: the tolerance of liblinear's primal solver, which the minima replace.
    """

    def __init__(self, data: SignedRows, tol: float) -> None:
        self._problem, self._share, self._tol = SquaredHinge(data), data.smallest_share(), tol
        self._solved: list[tuple[float, np.ndarray]] = []

    def solve(self, costs: np.ndarray) -> tuple[np.ndarray, int, float] | None:
        """Return the minimum (d,), its number of steps and the error of the margins, for ``costs``, (2,) above 0."""
        ratio = float(np.log(costs[1]) - np.log(costs[0]))
        minimum = self._problem.minimise(costs, self._start(ratio))
        if minimum is None:
            return None
        # a minimum that is declined below is still a start for others
        insort(self._solved, (ratio, minimum.w), key=lambda pair: pair[0])
        error = self._margin_error(costs, minimum)
        return None if error is None else (minimum.w, minimum.n_steps, error)

    def _start(self, ratio: float) -> np.ndarray:
        """Return a point on the line between the solutions of the nearest lower and higher ratio of the weights."""
        if not self._solved:
            return np.zeros(self._problem.n_columns)
        place = bisect(self._solved, ratio, key=lambda pair: pair[0])
        (low, below), (high, above) = self._solved[max(place - 1, 0)], self._solved[min(place, len(self._solved) - 1)]
        part = (ratio - low) / (high - low) if low < ratio < high else float(ratio >= high)
        between: np.ndarray = below + part * (above - below)
        return between

    def _margin_error(self, costs: np.ndarray, minimum: Minimum) -> float | None:
        """Return the largest error of those training margins that liblinear might put on the other side.

        The result is None if liblinear is likely to run out of iterations.
        """
        problem = self._problem
        if minimum.value < _NEAR_SEPARABLE * problem.value_of_intercept(costs):
            return None
        at_zero = float(np.linalg.norm(problem.gradient_at_zero(costs)))
        curvature = np.trace(minimum.hessian) / problem.n_columns
        # liblinear stops at a gradient g with |g| at most tol times the share of the rarer class times the gradient at
        # 0. It also stops after a step that gains less than 1e-12 of the value. |g| before that step can be
        # sqrt(2e-12 value curvature), and a tenth of it afterwards (tron.cpp). The mean curvature stands for its own.
        liblinear = max(self._tol * self._share * at_zero, 0.1 * np.sqrt(2e-12 * minimum.value * curvature))
        gradient = liblinear + minimum.residual
        # to first order a margin is off by x' H^-1 g, so by at most |H^-1 x| |g|
        inverse = cho_solve(cho_factor(minimum.hessian), np.eye(problem.n_columns))
        distances = np.abs(minimum.margins)
        # a bound for all rows first: most rows are beyond it, and need no product with the inverse
        near = np.flatnonzero(distances <= gradient * np.linalg.norm(inverse) * problem.largest_norm)
        largest = 0.0
        for at in range(0, len(near), _BLOCK):
            block = near[at : at + _BLOCK]
            errors = gradient * np.linalg.norm(problem.rows[block] @ inverse, axis=1)
            largest = max(largest, errors[distances[block] <= errors].max(initial=0.0))
        rounding = 4 * np.finfo(float).eps * problem.n_columns * problem.largest_norm * np.linalg.norm(minimum.w)
        return float(largest + rounding)


# at a larger tolerance, or with fewer rounds, liblinear may stop before its minimum
_TIGHT = 1e-8
_MIN_ROUNDS = 100_000
# Limit for numbers in X and the constant column. liblinear's tolerance applies to the whole gradient and value. Beyond
# this limit it can leave the coefficients of smaller columns undetermined.
_FAR = 100.0
_NUMBERS = ("tol", "max_iter", "C", "intercept_scaling")


def make_fast_path(estimator: LinearSVC) -> LinearSVCFastPath | None:
    """Return a fast path for one problem of ``estimator``, or None if its labels could differ."""
    usable = (
        estimator.penalty == "l2"
        and estimator.loss == "squared_hinge"
        and (estimator.dual is False or estimator.dual == "auto")
        and estimator.multi_class == "ovr"
        and estimator.class_weight is None
        and estimator.verbose == 0
        and all(isinstance(getattr(estimator, name), Real) for name in _NUMBERS)
        and 0 < estimator.tol <= _TIGHT
        and estimator.max_iter >= _MIN_ROUNDS
        and 0 < estimator.C < np.inf
        and (not estimator.fit_intercept or 0 < estimator.intercept_scaling < np.inf)
    )
    return LinearSVCFastPath() if usable else None


class LinearSVCFastPath:
    """Fit LinearSVC for many class weights, each from the nearest earlier solution."""

    def __init__(self) -> None:
        self._template: LinearSVC | None = None

    def fit(
        self, estimator: LinearSVC, X: Any, labels: np.ndarray, class_weights: np.ndarray, row_weights: Any
    ) -> list[LinearSVC | None]:
        """Return a fitted LinearSVC for each row of ``class_weights``, (k, 2), or None if its labels are not certain.

        X: (n_rows, n_columns) frame or array. labels: (n_rows,) of two classes. row_weights: (n_rows,) or None.
        ``margin_error_`` of each is the possible difference from liblinear's margin for a training row close to 0.
        Raises ValueError with LinearSVC's message for an X that LinearSVC rejects.
        """
        if issparse(X):
            return [None] * len(class_weights)
        if self._template is None:
            self._prepare(estimator, X, labels, row_weights)
        solved: list[LinearSVC | None] = [None] * len(class_weights)
        # for more columns than rows "auto" is the dual solver, which may run out of iterations
        if self._is_far or not self._has_both or (self._is_wide and estimator.dual == "auto"):
            return solved
        solvable = np.flatnonzero(np.all((class_weights > 0) & np.isfinite(class_weights), axis=1))
        # in the order of the ratios, so that each starts from its neighbour
        ratios = np.log(class_weights[solvable, 1]) - np.log(class_weights[solvable, 0])
        for place in solvable[np.argsort(ratios, kind="stable")].tolist():
            solved[place] = self._classifier(estimator, class_weights[place])
        return solved

    def rows(self, classifiers: list[LinearSVC], X: Any) -> Any:
        """Return X as LinearSVC itself checks it for prediction, with its errors and warnings."""
        return validate_data(classifiers[0], X, accept_sparse="csr", reset=False)

    def margins(self, classifiers: list[LinearSVC], X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return the (n_rows, k) margins of the rows of X, (n_rows, n_columns), and their errors (k,)."""
        coefficients = np.concatenate([one.coef_ for one in classifiers])
        intercepts = np.array([np.ravel(one.intercept_)[0] for one in classifiers])
        errors = np.array([one.margin_error_ for one in classifiers])
        return safe_sparse_dot(X, coefficients.T, dense_output=True) + intercepts, errors

    def _prepare(self, estimator: LinearSVC, X: Any, labels: np.ndarray, row_weights: Any) -> None:
        template = clone(estimator)
        checked = validate_data(template, X, dtype=np.float64, order="C")
        template.classes_ = np.unique(labels)
        constant = float(estimator.intercept_scaling) if estimator.fit_intercept else None
        data = signed_rows(checked, np.asarray(labels) == template.classes_[1], row_weights, constant)
        # not by absolute values, which would be a copy of X
        self._is_far = max(checked.max(), -checked.min(), constant or 0.0) > _FAR
        self._is_wide, self._has_both = len(checked) < checked.shape[1], data.smallest_share() > 0
        self._path = SquaredHingePath(data, estimator.tol)
        self._template = template

    def _classifier(self, estimator: LinearSVC, class_weights: np.ndarray) -> LinearSVC | None:
        solved = self._path.solve(estimator.C * class_weights)
        if solved is None:
            return None
        w, n_steps, error = solved
        classifier: Any = copy(self._template)
        n_columns = classifier.n_features_in_
        # a copy, because the path starts from w again
        classifier.coef_ = w[None, :n_columns].copy()
        # without an intercept LinearSVC has a float here, and no array
        classifier.intercept_ = estimator.intercept_scaling * w[n_columns:] if estimator.fit_intercept else 0.0
        classifier.n_iter_ = n_steps
        classifier.margin_error_ = error
        return classifier
