"""The linear support vector machine of the papers (Weka's SMO), solved exactly.

The solver uses multipliers and semismooth Newton steps.

The problem is min |w|^2 / 2 + sum c max(0, 1 - y (x'w + b)), where b is not penalised. Each row has a multiplier a in
[0, c]. At the minimum w = sum a y x and sum a y = 0. Each round of the method of multipliers has a given penalty. It
finds the (w, b) for which the new multipliers clip(a + penalty (1 - y (x'w + b)), 0, c) sum to w and to 0, and starts
again from those.

A small cost of moving b makes every round's minimum unique and vanishes with the movement (Rockafellar 1976, "Augmented
Lagrangians and applications of the proximal point algorithm in convex programming", section 5). The Newton steps and
their stopping rule follow Li, Sun & Toh 2018 ("A highly efficient semismooth Newton augmented Lagrangian method for
solving Lasso problems", section 3). Only the rows strictly between 0 and c enter the Hessian, and near the minimum
those are the few of margin 1. A Newton step costs two products of the rows with a vector.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any
from warnings import warn

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from probcal.fast_paths.shortcut import SignedRows, signed_rows
from probcal.methods._base import row_weights, two_classes

_MAX_ROUNDS, _MAX_STEPS = 60, 100
_FIRST, _GROWTH, _MOST = 0.1, 6.0, 1e11
"""The first penalty, its growth from round to round and its maximum, in units of the mean c for rows of mean length."""
_ROUNDING = 1e-13
"""Rounding error of a gradient, relative to the sum of the lengths of its terms."""
_SLACK = 0.1
"""End of a round: the gradient, relative to the movement of the multipliers over the root of the penalty."""
_EXACT = 1e-11
"""Accuracy of the margins at the minimum that should be 1."""
_BALANCED = 1e-10
"""Accuracy of the sum of a y, relative to that of a."""
_OVERSHOOT = 0.1
_INSIDE = 1
_ON_THE_MARGIN = 1e-7
_LEVEL = 1e-10
"""Limit for the slope along b, relative to the sum of c. Below it, b is free up to the next row's margin of 1."""


@dataclass(frozen=True, eq=False)
class Solution:
    """Hold a solution.

    ``w``: (d,), b the last. ``margins``: (n_rows,) of the signed rows. ``n_steps``: Newton steps. ``residual``: the
    largest error of the margin of a row whose multiplier lies strictly inside its range.
    """

    w: np.ndarray
    margins: np.ndarray
    n_steps: int
    residual: float
    converged: bool


class Hinge:
    """Minimise |w|^2 / 2 + sum over the signed rows of c max(0, 1 - margin), c the cost times the row's weight.

    ``data``: the signed rows, with a constant column of ones.
    """

    def __init__(self, data: SignedRows, cost: float) -> None:
        self._rows, self._n_first = data.rows, data.n_first
        limits = np.full(len(data.rows), cost)
        self._limits = limits if data.weights is None else limits * data.weights
        squares = np.einsum("ij,ij->i", data.rows, data.rows)
        self._largest_norm = float(np.sqrt(squares.max()))
        self._mean_square = float(squares.mean())

    def minimise(self) -> Solution:
        """Return the minimum, searched from 0. ``converged`` is False if the result is not close enough."""
        rows, limits = self._rows, self._limits
        w, margins, a = np.zeros(rows.shape[1]), np.zeros(len(rows)), limits
        mean = float(limits.mean())
        unit = mean / self._mean_square
        penalty, n_steps, converged = _FIRST * unit, 0, False
        for n_rounds in range(_MAX_ROUNDS):
            inertia = mean * max(_GROWTH**-n_rounds, 1 / _MOST)
            w, steps = self._round(a, penalty, w, margins, inertia)
            margins, n_steps = rows @ w, n_steps + steps
            new = np.clip(a + penalty * (1 - margins), 0, limits)
            residual, a = float(np.abs(new - a).max()) / penalty, new
            close = residual <= _EXACT
            converged = close and abs(float(a @ rows[:, -1])) <= _BALANCED * float(a.sum())
            if converged:
                break
            # the rounding of margins enters the multipliers times the penalty
            penalty = penalty / _GROWTH if close else min(penalty * _GROWTH, _MOST * unit)
        return Solution(w, margins, n_steps, residual, converged)

    def room(self, solution: Solution) -> tuple[float, float]:
        """Return how far b can move down and up at no cost. It is (0, 0) unless the costs on both sides are equal."""
        margins, limits = solution.margins, self._limits
        second = np.arange(len(margins)) >= self._n_first
        on = np.abs(margins - 1) <= _ON_THE_MARGIN
        short = margins < 1
        signed = np.where(second, limits, -limits)
        beside = -float(signed[short & ~on].sum())
        level = _LEVEL * float(limits.sum())
        apart = np.abs(margins - 1)
        others = (limits > 0) & ~on
        up = down = 0.0
        if abs(beside + float(limits[on & ~second].sum())) <= level:
            up = float(apart[others & (second == short)].min(initial=np.inf))
        if abs(beside - float(limits[on & second].sum())) <= level:
            down = float(apart[others & (second != short)].min(initial=np.inf))
        return down, up

    def _round(
        self, a: np.ndarray, penalty: float, w: np.ndarray, margins: np.ndarray, inertia: float
    ) -> tuple[np.ndarray, int]:
        rows, limits = self._rows, self._limits
        curvature, start = np.append(np.ones(len(w) - 1), inertia), np.append(np.zeros(len(w) - 1), w[-1])
        piece, part = np.zeros(0, dtype=np.int8), 0.0
        for n_steps in range(_MAX_STEPS):
            raw = a + penalty * (1 - margins)
            new = np.clip(raw, 0, limits)
            gradient = curvature * (w - start) - new @ rows
            moved = float(np.linalg.norm(new - a))
            terms = new.sum() * self._largest_norm + np.linalg.norm(w)
            if np.linalg.norm(gradient) <= max(_SLACK * moved / np.sqrt(penalty), _ROUNDING * terms):
                return w, n_steps
            before, piece = piece, np.where(raw <= 0, 0, np.where(raw < limits, _INSIDE, 2)).astype(np.int8)
            # a whole step within one parabola ends at its minimum
            if part == 1.0 and np.array_equal(before, piece):
                return w, n_steps
            inside = rows[piece == _INSIDE]
            hessian = np.diag(curvature) + penalty * (inside.T @ inside)
            step = -cho_solve(cho_factor(hessian, check_finite=False), gradient, check_finite=False)
            along = rows @ step
            of_w = float((curvature * (w - start)) @ step), float((curvature * step) @ step)
            part = _part(raw, limits, penalty, of_w, penalty * along, -float(gradient @ step))
            w, margins = w + part * step, margins + part * along
        return w, _MAX_STEPS


def _part(
    raw: np.ndarray,
    limits: np.ndarray,
    penalty: float,
    of_w: tuple[float, float],
    fall: np.ndarray,
    slope: float,
) -> float:
    """Return the part of the Newton step to take: all of it, unless the function rises steeply at its end.

    ``of_w``: the slope along the step, and its growth, of the function without the rows' loss.
    """

    def rise(part: float) -> tuple[float, float]:
        there = raw - part * fall
        inside = fall[(there > 0) & (there < limits)]
        slope_there = of_w[0] + part * of_w[1] - np.clip(there, 0, limits) @ fall / penalty
        return float(slope_there), float(of_w[1] + inside @ inside / penalty)

    low, high, at = 0.0, 1.0, 1.0
    for _ in range(40):
        up, bend = rise(at)
        if up <= _OVERSHOOT * slope and (at == 1.0 or up >= -_OVERSHOOT * slope):
            return at
        low, high = (at, high) if up < 0 else (low, at)
        at -= up / bend
        if not low < at < high:
            at = (low + high) / 2
    return at


class HingeSVM(ClassifierMixin, BaseEstimator):
    """Fit a linear support vector machine for two classes, with an intercept that is not penalised.

    It minimises |w|^2 / 2 + C sum_i weight_i max(0, 1 - y_i (x_i'w + b)), y_i = -1 or 1. Weka's SMO and sklearn's
    SVC(kernel="linear") do not penalise the intercept b either, but LinearSVC does. If b is free between two bounds,
    the midpoint is taken. Scale columns of different ranges first.

    Parameters
    ----------
    C : number above 0, the cost of a margin that is 1 too small.

    Attributes
    ----------
    classes_ : (2,) labels in sorted order.
    coef_ : (1, n_columns) weights.
    intercept_ : (1,) intercept.
    n_iter_ : Newton steps.
    n_features_in_, feature_names_in_ : number and names of the columns of X, if it has them.
    """

    classes_: np.ndarray
    coef_: np.ndarray
    intercept_: np.ndarray

    def __init__(self, C: float = 1.0) -> None:
        self.C = C

    def fit(self, X: Any, y: Any, sample_weight: np.ndarray | None = None) -> HingeSVM:
        """Fit the machine.

        The margins of the rows that determine the boundary are exact to 1e-11. If that is not reached, a
        ConvergenceWarning says so and the nearest point is kept. Rows of very different size can cause that.

        Parameters
        ----------
        X : rows, (n_rows, n_columns).
        y : labels, (n_rows,).
        sample_weight : weights, (n_rows,), not negative, or None for 1 each.

        Raises
        ------
        ValueError
            For a C not above 0, missing or infinite values, sparse X, invalid weights or a class without weight, and
            any number of classes but two.
        """
        if not isinstance(self.C, Real) or not 0 < self.C < np.inf:
            raise ValueError(f"C must be a number above 0, not {self.C!r}")
        checked = validate_data(self, X, dtype=np.float64, order="C")
        labels, self.classes_ = two_classes(checked, y)
        second = labels == self.classes_[1]
        weights = row_weights(sample_weight, len(labels))
        for of_class, name in ((~second, self.classes_[0]), (second, self.classes_[1])):
            if weights is not None and not weights[of_class].any():
                raise ValueError(f"sample_weight is zero for all rows of class {name}, so y holds one class only")
        problem = Hinge(signed_rows(checked, second, weights, 1.0), float(self.C))
        solution = problem.minimise()
        if not solution.converged:
            warn(
                f"HingeSVM did not reach its minimum: margins are off by up to {solution.residual:.1e}; scale the "
                "columns of X, or take a smaller C",
                ConvergenceWarning,
                stacklevel=2,
            )
        down, up = problem.room(solution)
        self.coef_, self.intercept_ = solution.w[None, :-1].copy(), solution.w[-1:] + (up - down) / 2
        self.n_iter_ = solution.n_steps
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the margins, (n_rows,). They are above 0 for the second class."""
        check_is_fitted(self)
        checked = validate_data(self, X, dtype=np.float64, reset=False)
        margins: np.ndarray = checked @ self.coef_[0] + self.intercept_[0]
        return margins

    def predict(self, X: Any) -> np.ndarray:
        """Return the predicted labels, (n_rows,). A margin of 0 goes to the first class."""
        is_second = self.decision_function(X) > 0
        labels: np.ndarray = self.classes_[is_second.astype(int)]
        return labels

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
