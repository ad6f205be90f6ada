"""The fast path for scikit-learn's LogisticRegression, for fits whose solver reaches the minimum.

That is "newton-cholesky" at a tolerance of 1e-8 or less. The default, L-BFGS at 1e-4, stops so early that its stopping
point decides hundreds of labels. No other solver predicts the same.

Some minima are declined, because scikit-learn's own solver would not reach them, or stops so far away that a label may
differ. If the Hessian H is singular to working precision, newton-cholesky switches to L-BFGS, which may end anywhere.
Otherwise it stops after a Newton step from a point p at distance e from the minimum, with e H e / 2 <= tol and no entry
of the gradient above tol.

So the score of a row x is off by at most tol |H^-1 x|_1. To leading order, a Newton step leaves an error of e B e / 2,
where B is the change of H along H^-1 x. That is at most tol times the largest y B y of all y with y H y = 1. This
factor is at most max_i |1 - 2 sigma_i| |x H^-1 x_i| and costs almost nothing.

In most cases the solver stops far below tol, because the last step but one was too far and the last one squares what is
left. If the bound leaves a row in doubt, the solver's steps are repeated, on a sample if there are many rows. They show
on which side of the boundary the row is when they stop. Before they are repeated on all rows, the largest y B y itself
is computed, which is several times smaller and costs one more Hessian.

``SolverTrace`` repeats those steps, of scikit-learn's newton-cholesky from coefficients of 0. The solver takes whole
Newton steps until the last step s has s H s / 2 <= tol and no entry of the gradient is above tol. To leading order, the
error after a Newton step is the square of the error before it. Iterates known to a few per cent therefore give the next
one to a few per cent, and steps on a sample can replace those on all rows.

A sample does not show where the minimum is, but the minimum is known. So gradients are taken relative to the minimum on
the same rows, and the first step is that of all rows. The difference between two separate samples shows how far to
trust their mean. If that is not far enough, larger samples follow, and at last all rows, where only rounding remains.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import sklearn
from scipy.linalg.lapack import dpocon, dpotrf
from scipy.special import expit
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.utils.extmath import row_norms, safe_sparse_dot
from sklearn.utils.fixes import parse_version
from sklearn.utils.validation import validate_data

from probcal.fast_paths.logistic_solver import CLOSE_ENOUGH, AtZero, LogisticLoss, LogisticSolver, Search, run

# Reciprocal condition numbers below which scikit-learn may find the Hessian singular. Its own limit is eps, for numbers
# that rounding may change by a factor of 2.
_SINGULAR = 4 * np.finfo(np.float64).eps
# scikit-learn's tolerance is harmless for a mean loss, or curvature, above this many times tol.
_FLAT = 1e4
# Factor for the leading order of an error, which covers the higher orders.
_LEADING_ORDER = 2.0
# Largest bound, in units of tol. Only a row that almost alone determines a coefficient exceeds it.
_LARGEST_BOUND = 1e5
# Error at the end of a search, in units of its accuracy. An approximate Hessian can underestimate a step.
_STEPS_LEFT = 5.0
# Rounding error of a gradient, as a share of the mean size of a column: some fifty times the machine precision.
_DOUBT_ROUNDING = 1e-14
# Number of rows over which the largest term of the bound is taken.
_SAMPLE = 256
# Largest row length, in the norm of the inverse Hessian and in medians, for which samples are trusted. The few rows
# with a rare value may be in no sample.
_UNUSUAL = 3.0
# So many rows near the boundary are equal rows, or all scores are near 0. They are not looked at one by one.
_MOST_IN_REACH = 1 << 14
# Number of rows for which the bound itself is cheaper than the solver's steps.
_FEW_ROWS = 4


def is_singular(search: Search, hessian: np.ndarray) -> bool:
    """Return whether scikit-learn's solver may find ``hessian`` singular. It excludes the penalty of ``search``."""
    full = hessian + np.diag(search.penalties)
    # the routines by which scipy.linalg.solve, which newton-cholesky calls, notices a singular matrix
    factor, failed = dpotrf(full, lower=1)
    return bool(failed) or dpocon(factor, np.abs(full).sum(axis=0).max(), uplo="L")[0] < _SINGULAR


def is_flat(search: Search, at_zero: np.ndarray, tol: float) -> bool:
    """Return whether the loss is within ``tol`` of the minimum long before the solver reaches it.

    That happens for separable classes, for instance.

    ``at_zero``: the Hessian without the penalty at coefficients of 0.
    """
    return bool(np.trace(search.hessian) <= _FLAT * tol * np.trace(at_zero))


# Rows in the smallest samples.
_FEWEST_ROWS = 1 << 12
# Growth factor of the number of rows in the next samples.
_LARGER = 4
# Largest share of all rows in a sample. Above it, all rows are as cheap.
_LARGEST = 1 / 8
# With fewer coefficients, two samples may agree by chance.
_FEWEST_COEFFICIENTS = 8
# Relative error allowed for steps on all rows, far above rounding.
_EXACT = 1e-6
# If the distances of two samples from the minimum differ by more than their mean, they are useless.
_ROUGHEST = 1.0
# Largest slope at the end of a step, as a share of the negative slope at its start, for which the whole step is taken.
# The loss then falls by far more than the 1/2048 of the slope that the solver requires.
_LEFT_OF_SLOPE = 0.25
_MOST_STEPS = 30


class StoppingPoint(NamedTuple):
    """Describe a point where scikit-learn may stop.

    ``offset``: (n_coefficients,) from the minimum. ``error``: of the offset, in the norm of the Hessian.
    """

    offset: np.ndarray
    error: float


class _Step(NamedTuple):
    """Hold a step. ``over``: how many times it exceeds the tolerance. ``whole``: whether the solver takes all of it."""

    offset: np.ndarray
    over: float
    whole: bool


class SolverTrace:
    """Repeat the steps of scikit-learn's solver on the rows of ``loss``.

    ``tol``: that of the learner. ``at_zero``: that of ``loss``.
    """

    def __init__(self, loss: LogisticLoss, tol: float, at_zero: AtZero) -> None:
        self._loss, self._tol, self._at_zero = loss, tol, at_zero
        self._sizes = _sizes(loss)
        self._drawn: list[list[LogisticLoss]] = []

    def stopping_points(self, search: Search) -> list[StoppingPoint]:
        """Return all points where the solver may stop, relative to ``search``'s minimum. None are known if it is empty.

        All rows are used.
        """
        return self._stopping_points(search, [self._loss])

    def sampled_stopping_points(self, search: Search) -> Iterator[list[StoppingPoint]]:
        """Yield the same by samples of rows, with growing accuracy. It is empty if the rows are few."""
        for number in range(len(self._sizes)):
            yield self._stopping_points(search, self._samples(number))

    def _samples(self, number: int) -> list[LogisticLoss]:
        """Return two samples that share no row."""
        if number == len(self._drawn):
            random, n_rows = np.random.default_rng(number), self._sizes[number]
            # random, because every 10th row might be of one kind
            rows = random.choice(self._loss.n_rows, 2 * n_rows, replace=False)
            self._drawn.append([self._loss.of(np.sort(part)) for part in (rows[:n_rows], rows[n_rows:])])
        return self._drawn[number]

    def _stopping_points(self, search: Search, parts: list[LogisticLoss]) -> list[StoppingPoint]:
        found = []
        for steps in zip(*(self._steps(search, part) for part in parts), strict=False):
            offset = np.mean([step.offset for step in steps], axis=0)
            size = max(search.length(offset), CLOSE_ENOUGH)
            error = search.length(steps[0].offset - steps[-1].offset) if len(parts) > 1 else _EXACT * size
            if error > _ROUGHEST * size or not all(step.whole for step in steps):
                return []
            margin, over = (1 + error / size) ** 3, max(step.over for step in steps)
            if over <= margin:
                found.append(StoppingPoint(offset, error))
            if over * margin <= 1:
                return found
        return []

    def _steps(self, search: Search, loss: LogisticLoss) -> Iterator[_Step]:
        point, weighting = search.point, search.weighting
        # at the minimum of all rows the gradient of the loss is that of the penalty with the other sign
        at_minimum = -search.penalties * point
        if loss is not self._loss:
            at_minimum = loss.gradients(point[:, None], weighting[None])[:, 0]
        place = Search(weighting, search.penalties, point)
        place.take_hessian(np.tensordot(weighting, self._at_zero.hessians, axes=1), own=True)
        # the solver starts from 0, where the derivatives on all rows are known: no sample is needed for its first step
        gradient = self._at_zero.gradients @ weighting
        step = -place.solve(gradient)
        offset = step - point
        for _ in range(_MOST_STEPS):
            decrement = -float(step @ gradient)
            gradient = loss.gradients((point + offset)[:, None], weighting[None])[:, 0] - at_minimum
            gradient += search.penalties * offset
            over = max(decrement / 2, float(np.abs(gradient).max())) / self._tol
            yield _Step(offset, over, float(step @ gradient) <= _LEFT_OF_SLOPE * decrement)
            place.take_hessian(loss.hessian(point + offset, weighting), own=True)
            if place.state == "failed":
                return
            step = -place.solve(gradient)
            offset = offset + step


def _sizes(loss: LogisticLoss) -> list[int]:
    """Return the numbers of rows of the samples. There are none if the rows are few."""
    if loss.n_coefficients < _FEWEST_COEFFICIENTS:
        return []
    sizes, size = [], _FEWEST_ROWS
    while size <= _LARGEST * loss.n_rows:
        sizes.append(size)
        size *= _LARGER
    return sizes


class BoundaryTolerance:
    """Decide whether a row lies so near the boundary that scikit-learn's tolerance decides its label.

    ``tol``: that of the learner. ``at_zero``: that of ``loss``.
    """

    def __init__(self, loss: LogisticLoss, tol: float, at_zero: AtZero) -> None:
        self._loss, self._tol = loss, tol
        self._sample = loss.with_ones(slice(None, None, max(1, loss.n_rows // _SAMPLE)))
        self._trace = SolverTrace(loss, tol, at_zero)

    @property
    def reach(self) -> float:
        """Return the absolute score above which no row is in doubt."""
        return _LARGEST_BOUND * self._tol

    def possible(self, search: Search, rows: np.ndarray) -> np.ndarray:
        """Return those of ``rows`` whose labels the tolerance, or the error of ``search``, may decide.

        ``rows``: numbers of the rows in reach. All are returned if they are very many, such as equal rows or scores
        that are all near 0.
        """
        if len(rows) > _MOST_IN_REACH:
            return rows
        X = self._loss.with_ones(rows)
        solved = search.solve(X.T)
        own = _STEPS_LEFT * search.accuracy * _lengths(X, solved)  # by Cauchy and Schwarz
        flatness = np.abs(1 - 2 * expit(self._sample @ search.point))
        loose = _LEADING_ORDER * (flatness[:, None] * np.abs(self._sample @ solved)).max(axis=0)
        # both bounds of the module's docstring hold, and either may be the smaller one
        bound = self._tol * np.minimum(loose, np.abs(solved).sum(axis=0))
        doubtful: np.ndarray = rows[np.abs(X @ search.point) - own <= bound]
        return doubtful

    def decides(self, search: Search, rows: np.ndarray) -> bool:
        """Return whether the tolerance, or the error of ``search``, may decide the label of one of ``rows``."""
        if len(rows) > _MOST_IN_REACH:
            return True
        X = self._loss.with_ones(rows)
        solved = search.solve(X.T)
        lengths, scores = _lengths(X, solved), X @ search.point
        own = _STEPS_LEFT * search.accuracy * lengths
        own += _DOUBT_ROUNDING * (np.abs(self._sample).mean(axis=0) @ np.abs(solved))
        usual = np.median(_lengths(self._sample, search.solve(self._sample.T)))
        # from cheap to dear: samples of rows, one more Hessian, and the solver's steps on all rows
        sampled = self._trace.sampled_stopping_points(search) if lengths.max() <= _UNUSUAL * usual else ()
        for ends in sampled:
            if (decided := _decided(search, ends, X, scores, own, lengths)) is not None:
                return decided
        if not self._in_doubt(search, solved, np.abs(scores) - own):
            return False
        return _decided(search, self._trace.stopping_points(search), X, scores, own, lengths) is not False

    def _in_doubt(self, search: Search, solved: np.ndarray, distances: np.ndarray) -> bool:
        """Return whether a row may be in doubt by the largest y B y itself. ``distances``: (n,) of rows' scores from 0.

        ``solved``: the inverse Hessian times the rows, (n_coefficients, n).
        """
        if len(distances) > _FEW_ROWS:
            return True
        bends = (self._loss.bend(search.point, search.weighting, one) for one in solved.T)
        bounds = (self._tol * search.largest(bend) for bend in bends)
        return any(distance <= _LEADING_ORDER * bound for distance, bound in zip(distances, bounds, strict=True))


def _decided(
    search: Search, ends: list[StoppingPoint], X: np.ndarray, scores: np.ndarray, own: np.ndarray, lengths: np.ndarray
) -> bool | None:
    """Return whether the tolerance decides the label of a row of X, or None if the ``ends`` do not tell."""
    # how far the score is on the side of the minimum's score, where scikit-learn stops
    reserve = [np.sign(scores) * (X @ (search.point + one.offset)) for one in ends]
    error = [own + one.error * lengths for one in ends]
    if ends and all((left > off).all() for left, off in zip(reserve, error, strict=True)):
        return False
    return True if len(ends) == 1 and (reserve[0] < -error[0]).any() else None


def _lengths(X: np.ndarray, solved: np.ndarray) -> np.ndarray:
    """Return the lengths (n,) of rows of X in the norm of the inverse Hessian. ``solved`` is that inverse times X.T."""
    lengths: np.ndarray = np.sqrt(np.abs(np.einsum("ij,ji->i", X, solved)))
    return lengths


# Below the first, rounding stops scikit-learn's solver early. Above the second it stops too far from the minimum.
_TOLERANCES = (1e-12, 1e-8)
# scikit-learn's default max_iter, which it does not reach at these tolerances.
_FEWEST_STEPS = 100
# Rounding error of a score, as a share of the product of the lengths of row and coefficients: some hundred times the
# machine precision.
_ROUNDING = 1e-13


def make_fast_path(estimator: LogisticRegression) -> LogisticFastPath | None:
    """Return a fast path for one problem of ``estimator``, or None if its fits may not be the minima."""
    # another version of scikit-learn may take other steps and stop elsewhere
    tested = parse_version("1.6") <= parse_version(sklearn.__version__) < parse_version("1.10")
    least, most = _TOLERANCES
    own = estimator.get_params(deep=False)
    usable = (
        tested
        and own["solver"] == "newton-cholesky"
        # how l2 and no penalty are spelt depends on the version
        and own["penalty"] in ("deprecated", "l2", None)
        and own["l1_ratio"] in (None, 0)
        and all(isinstance(own[name], Real) for name in ("C", "tol"))
        and own["C"] > 0
        and least <= own["tol"] <= most
        and own["max_iter"] >= _FEWEST_STEPS
        and own["class_weight"] is None
        and own["dual"] is False
        and own["warm_start"] is False
        and own["verbose"] == 0
        and own.get("multi_class", "deprecated") in ("deprecated", "auto")
    )
    return LogisticFastPath() if usable else None


class LogisticFastPath:
    """Find the minima of all class weights together, each from those found before.

    A minimum is declined, with None, if it is not found or scikit-learn may not find it. It is also declined if a row's
    score is so near 0 that its label may differ where scikit-learn stops. Three inputs are declined altogether: X of
    float32 (scikit-learn would also compute in float32), sparse X, and row weights that are not all above 0.
    """

    def __init__(self) -> None:
        self._solver = LogisticSolver()
        self._template: LogisticRegression | None = None
        self._loss: LogisticLoss | None = None

    def fit(
        self, estimator: Any, X: Any, labels: np.ndarray, class_weights: np.ndarray, row_weights: np.ndarray | None
    ) -> list[LogisticRegression | None]:
        """Return a fitted LogisticRegression for each row of ``class_weights``, (k, 2), or None if it is declined."""
        if self._template is None:
            self._template = clone(estimator)
            self._prepare(self._template, X, labels, row_weights)
        template, loss = self._template, self._loss
        if loss is None:
            return [None] * len(class_weights)
        searches = [_search(template, loss, pair, self._totals) for pair in class_weights]
        first = [np.tensordot(one.weighting, self._at_zero.hessians, axes=1) for one in searches]
        for one, hessian in zip(searches, first, strict=True):
            if one.state == "open" and is_singular(one, hessian):
                one.state = "failed"
        self._solver.solve(loss, searches, self._at_zero.hessians)
        for one, hessian in zip(searches, first, strict=True):
            if one.state == "done" and (is_singular(one, one.hessian) or is_flat(one, hessian, template.tol)):
                one.state = "failed"
        _refuse_doubtful(self._doubt, loss, [one for one in searches if one.state == "done"])
        return [_classifier(template, one) if one.state == "done" else None for one in searches]

    def _prepare(
        self, template: LogisticRegression, X: Any, labels: np.ndarray, row_weights: np.ndarray | None
    ) -> None:
        """Check the rows. Without a loss everything is declined. ``template`` gets its classes and feature names."""
        template.classes_ = np.unique(labels)
        rows = _checked(template, X)
        weights = np.ones(len(labels)) if row_weights is None else np.asarray(row_weights, dtype=np.float64)
        if rows is None or len(rows) != len(labels) or len(template.classes_) != 2:
            return
        if not (weights > 0).all() or not np.isfinite(weights).all():
            return
        second = np.asarray(labels) == template.classes_[1]
        self._loss = LogisticLoss(rows, second, None if row_weights is None else weights, template.fit_intercept)
        self._totals = np.array([weights[~second].sum(), weights[second].sum()])
        self._at_zero = self._loss.at_zero()
        self._doubt = BoundaryTolerance(self._loss, template.tol, self._at_zero)

    def rows(self, classifiers: list[LogisticRegression], X: Any) -> Any:
        """Return X as LogisticRegression itself checks it for prediction, with its errors and warnings."""
        return validate_data(classifiers[0], X, accept_sparse="csr", reset=False)

    def margins(self, classifiers: list[LogisticRegression], X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return ((n_rows, k) scores, (n_rows, 1) bounds of their rounding errors).

        ``fit`` has already declined classifiers for which the distance of a solver from the minimum might decide the
        label of a training row.
        """
        coefficients = np.column_stack([one.coef_[0] for one in classifiers])
        intercepts = np.array([one.intercept_[0] for one in classifiers])
        sizes = np.linalg.norm(coefficients, axis=0) + np.abs(intercepts)
        errors = _ROUNDING * (1 + row_norms(X))[:, None] * sizes.max()
        margins = safe_sparse_dot(X, coefficients, dense_output=True)
        margins += intercepts
        return margins, errors


def _checked(template: LogisticRegression, X: Any) -> np.ndarray | None:
    """Return X as scikit-learn's fit checks it, or None if it is not float64. ``template`` gets its feature names."""
    try:
        rows = validate_data(template, X, accept_sparse="csr", dtype=[np.float64, np.float32], order="C")
    except (ValueError, TypeError):
        return None  # the learner's own fit rejects it with its own message
    return rows if isinstance(rows, np.ndarray) and rows.dtype == np.float64 else None


def _search(template: LogisticRegression, loss: LogisticLoss, pair: np.ndarray, totals: np.ndarray) -> Search:
    total = float(pair @ totals)
    usual = np.isfinite(total) and (pair > 0).all()
    C = np.inf if template.penalty is None else template.C
    # the loss is a mean here and a sum in scikit-learn
    penalties = np.full(loss.n_coefficients, 1 / (C * total) if usual else 0.0)
    if template.fit_intercept:
        penalties[-1] = 0
    weighting = pair / total if usual else np.ones(2)
    return Search(weighting, penalties, np.zeros(loss.n_coefficients), state="open" if usual else "failed")


def _refuse_doubtful(doubt: BoundaryTolerance, loss: LogisticLoss, searches: list[Search]) -> None:
    """Mark the searches as failed whose labels scikit-learn's tolerance may decide."""
    if not searches:
        return
    near: list[list[np.ndarray]] = [[] for _ in searches]
    points = np.column_stack([one.point for one in searches])
    for block in loss.blocks():
        margins = loss.margins(points, block)
        rows, places = np.nonzero(np.abs(margins, out=margins) <= doubt.reach)
        for i in np.unique(places):
            near[i].append(block.start + rows[places == i])
    found = [(one, doubt.possible(one, np.concatenate(rows))) for one, rows in zip(searches, near, strict=True) if rows]
    doubtful = [(one, rows) for one, rows in found if len(rows)]
    for one, _ in doubtful:
        # the steps to a closer point pay only for a search that has a row in doubt
        one.state, one.accuracy = "open", CLOSE_ENOUGH
    run(loss, [one for one, _ in doubtful])
    for one, rows in doubtful:
        if one.state == "done" and len(rows := doubt.possible(one, rows)) and doubt.decides(one, rows):
            one.state = "failed"


def _classifier(template: LogisticRegression, search: Search) -> LogisticRegression:
    fitted = copy(template)  # with its classes and feature names
    # later searches start from the point itself
    point = search.point.copy()
    fitted.coef_ = point[None, : template.n_features_in_]
    fitted.intercept_ = point[-1:] if template.fit_intercept else np.zeros(1)
    # an array of this type, as scikit-learn's fit sets it
    fitted.n_iter_ = np.array([search.n_gradients], dtype=np.int32)
    return fitted
