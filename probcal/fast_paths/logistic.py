"""The shortcut for scikit-learn's LogisticRegression, where its solver goes all the way to the minimum.

That is "newton-cholesky" at a tolerance of 1e-8 or less. The default, L-BFGS at 1e-4, stops so early that where it
stops decides hundreds of labels: no other solver says the same.

Which minima scikit-learn's own solver would not reach, or stops so far from that a label may differ.

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

from numbers import Real
from typing import Any

import numpy as np
import sklearn
from scipy.linalg.lapack import dpocon, dpotrf
from scipy.special import expit
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.utils.extmath import row_norms, safe_sparse_dot
from sklearn.utils.fixes import parse_version
from sklearn.utils.validation import validate_data

from probcal.fast_paths.logistic_loss import CLOSE_ENOUGH, AtZero, LogisticLoss, Search
from probcal.fast_paths.logistic_solver import LogisticSolver, Replay

_SINGULAR = 4 * np.finfo(np.float64).eps
"""Reciprocal condition numbers below which scikit-learn may find the Hessian singular; it draws the line at eps, of
numbers that rounding may change by a factor of 2 there."""
_FLAT = 1e4
"""A mean loss, or curvature, of so many times tol is one that scikit-learn's tolerance does not swallow."""
_LEADING_ORDER = 2.0
"""What the leading order of an error is multiplied by, for the orders left out."""
_LARGEST_BOUND = 1e5
"""Of the bound, in units of tol. Rows that are not nearly alone in what they tell of some coefficient stay below."""
_GRADIENT_ERROR = 5 * CLOSE_ENOUGH
"""Of a search's end, in the norm of the Hessian: a Hessian that is but a likeness may take a step for shorter than it
is."""
_DOUBT_ROUNDING = 1e-14
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
        own = _GRADIENT_ERROR * lengths  # by Cauchy and Schwarz
        scores = X @ search.point
        flatness = np.abs(1 - 2 * expit(self._sample @ search.point))
        loose = _LEADING_ORDER * (flatness[:, None] * np.abs(self._sample @ solved)).max(axis=0)
        bound = self._tol * np.minimum(loose, np.abs(solved).sum(axis=0))
        doubtful = np.abs(scores) - own <= bound
        if not doubtful.any():
            return False
        own += _DOUBT_ROUNDING * (np.abs(self._sample).mean(axis=0) @ np.abs(solved))
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


_TOLERANCES = (1e-12, 1e-8)
"""Below the first, rounding makes scikit-learn's solver give up where it is; above the second it stops too early."""
_FEWEST_STEPS = 100
"""scikit-learn's own ``max_iter``, which it does not need at these tolerances."""
_OWN_ERROR = 1e-9
_ROUNDING = 1e-13
"""Of a score, as a share of the product of the lengths of row and coefficients: some hundred times the machine's."""


def shortcut_of(estimator: LogisticRegression) -> LogisticShortcut | None:
    """A shortcut for a problem of ``estimator``'s, or None where it would not give the same labels."""
    return LogisticShortcut() if usable(estimator) else None


def usable(estimator: Any) -> bool:
    """Whether the fits of ``estimator`` are the minima that ``LogisticShortcut`` finds."""
    if type(estimator) is not LogisticRegression:
        return False
    tested = parse_version("1.6") <= parse_version(sklearn.__version__) < parse_version("1.10")
    least, most = _TOLERANCES
    own = estimator.get_params(deep=False)
    return (
        tested
        and own["solver"] == "newton-cholesky"
        and own["penalty"] in ("deprecated", "l2", None)
        and own["l1_ratio"] in (None, 0)
        and isinstance(own["C"], Real)
        and own["C"] > 0  # type: ignore[operator]
        and isinstance(own["tol"], Real)
        and least <= own["tol"] <= most  # type: ignore[operator]
        and own["max_iter"] >= _FEWEST_STEPS
        and own["class_weight"] is None
        and own["dual"] is False
        and own["warm_start"] is False
        and own["verbose"] == 0
        and own.get("multi_class", "deprecated") in ("deprecated", "auto")
    )


class LogisticShortcut:
    """The minima of all class weights found together, each from those found before.

    Declines, with None, a minimum that is not found or that scikit-learn may not find, and one beside which a row's
    score is so near 0 that its label may be another where scikit-learn stops. X of float32, in which scikit-learn would
    compute as well, sparse X and weights of rows that are not all above 0 are declined altogether.
    """

    def __init__(self) -> None:
        self._solver = LogisticSolver()
        self._at_zero: AtZero | None = None

    def fit(
        self, estimator: Any, X: Any, labels: np.ndarray, class_weights: np.ndarray, row_weights: np.ndarray | None
    ) -> list[LogisticRegression | None]:
        """A fitted LogisticRegression for each row of ``class_weights``, (k, 2), or None where it is declined."""
        declined: list[LogisticRegression | None] = [None] * len(class_weights)
        template = clone(estimator)
        classes, codes = np.unique(labels, return_inverse=True)
        rows = _checked(template, X)
        weights = np.ones(len(labels)) if row_weights is None else np.asarray(row_weights, dtype=np.float64)
        if rows is None or len(rows) != len(labels) or len(classes) != 2:
            return declined
        if not (weights > 0).all() or not np.isfinite(weights).all():
            return declined
        second = codes == 1
        loss = LogisticLoss(rows, second, None if row_weights is None else weights, template.fit_intercept)
        if self._at_zero is None:
            self._at_zero = loss.at_zero()
        totals = np.array([weights[~second].sum(), weights[second].sum()])
        searches = [_search(template, loss, pair, totals) for pair in class_weights]
        first = [np.tensordot(one.weighting, self._at_zero.hessians, axes=1) for one in searches]
        for one, hessian in zip(searches, first, strict=True):
            if one.state == "open" and is_singular(one, hessian):
                one.state = "failed"
        self._solver.solve(loss, searches, self._at_zero.hessians)
        for one, hessian in zip(searches, first, strict=True):
            if one.state == "done" and (is_singular(one, one.hessian) or is_flat(one, hessian, template.tol)):
                one.state = "failed"
        doubt = Doubt(loss, template.tol, self._at_zero)
        _refuse_doubtful(doubt, loss, [one for one in searches if one.state == "done"])
        template.classes_ = classes
        return [_classifier(template, one) if one.state == "done" else None for one in searches]

    def rows(self, classifiers: list[LogisticRegression], X: Any) -> Any:
        """X as LogisticRegression itself takes the rows it is asked about, refused or warned of as there."""
        return validate_data(classifiers[0], X, accept_sparse="csr", reset=False)

    def margins(self, classifiers: list[LogisticRegression], X: Any) -> tuple[np.ndarray, np.ndarray]:
        """((n_rows, k) scores, (n_rows, 1) a bound of the solver's error and of rounding).

        Where scikit-learn's tolerance might decide the label of a training row, ``fit`` has declined already.
        """
        coefficients = np.column_stack([one.coef_[0] for one in classifiers])
        intercepts = np.array([one.intercept_[0] for one in classifiers])
        sizes = np.linalg.norm(coefficients, axis=0) + np.abs(intercepts)
        errors = _OWN_ERROR + _ROUNDING * (1 + row_norms(X))[:, None] * sizes.max()
        margins = safe_sparse_dot(X, coefficients, dense_output=True)
        margins += intercepts
        return margins, errors


def _checked(template: LogisticRegression, X: Any) -> np.ndarray | None:
    """X as scikit-learn's fit has it, whose names it gives to ``template``; None where that is not float64."""
    try:
        rows = validate_data(template, X, accept_sparse="csr", dtype=[np.float64, np.float32], order="C")
    except (ValueError, TypeError):
        return None  # for the learner's own fit to refuse in its own words
    return rows if isinstance(rows, np.ndarray) and rows.dtype == np.float64 else None


def _search(template: LogisticRegression, loss: LogisticLoss, pair: np.ndarray, totals: np.ndarray) -> Search:
    total = float(pair @ totals)
    usual = np.isfinite(total) and (pair > 0).all()
    C = np.inf if template.penalty is None else template.C
    penalties = np.full(loss.n_coefficients, 1 / (C * total) if usual else 0.0)
    if template.fit_intercept:
        penalties[-1] = 0
    weighting = pair / total if usual else np.ones(2)
    return Search(weighting, penalties, np.zeros(loss.n_coefficients), state="open" if usual else "failed")


def _refuse_doubtful(doubt: Doubt, loss: LogisticLoss, searches: list[Search]) -> None:
    """The searches whose labels scikit-learn's tolerance may decide are failed."""
    if not searches:
        return
    near: list[list[np.ndarray]] = [[] for _ in searches]
    for first, scores in loss.scores(np.column_stack([one.point for one in searches])):
        rows, places = np.nonzero(np.abs(scores, out=scores) <= doubt.reach)
        for i in np.unique(places):
            near[i].append(first + rows[places == i])
    for one, rows_of in zip(searches, near, strict=True):
        if rows_of and doubt.decides(one, np.concatenate(rows_of)):
            one.state = "failed"


def _classifier(template: LogisticRegression, search: Search) -> LogisticRegression:
    fitted = clone(template)
    for name in ("classes_", "n_features_in_", "feature_names_in_"):
        if hasattr(template, name):
            setattr(fitted, name, getattr(template, name))
    point = search.point.copy()
    fitted.coef_ = point[None, : template.n_features_in_]
    fitted.intercept_ = point[-1:] if template.fit_intercept else np.zeros(1)
    fitted.n_iter_ = np.array([search.n_gradients], dtype=np.int32)
    return fitted
