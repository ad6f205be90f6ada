"""Regressions by Newton's method, for the maps that are one: logistic ones, and softmax ones of all classes.

Logits of all classes are (n_classes, n_rows), so that the numbers of a class lie together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal

import numpy as np
from scipy.linalg import lstsq
from scipy.optimize import minimize

from probcal._parts import row_parts

_MOST_STEPS = 100
_CLOSE = 1e-12
"""Share of the loss. A step that promises less is the last: its error is the square of its length."""
_LENGTHS = 0.5 ** np.arange(40)
_SUFFICIENT = 1e-4
"""A step must gain this part of what its length promised (Lin, Lin & Weng 2007)."""
_SINGULAR = 1e-13
"""Share of the greatest curvature. The parameters do not move in directions with less."""
Loss = Callable[[np.ndarray], tuple[float, np.ndarray, np.ndarray]]
"""From the parameters, (m,), to the loss, its gradient, (m,), and its Hessian, (m, m)."""


def minimise(loss: Loss, start: np.ndarray) -> np.ndarray:
    """Return the parameters, (m,), of the least convex loss, found from ``start``.

    A step is halved until it gains enough. Where the least loss is that of many parameters, these are the nearest to
    ``start``.
    """
    at = start
    value, gradient, hessian = loss(at)
    for _ in range(_MOST_STEPS):
        step = lstsq(hessian, gradient, cond=_SINGULAR, lapack_driver="gelsy")[0]
        promised = float(gradient @ step)
        if promised <= _CLOSE * value:
            return np.asarray(at - step)
        for length in _LENGTHS:
            candidate = at - length * step
            found = loss(candidate)
            if found[0] < value - _SUFFICIENT * length * promised:
                break
        else:
            return at  # the loss has no more digits to compare
        at, (value, gradient, hessian) = candidate, found
    return at


def smoothed_targets(positive: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return Platt's targets, (n,): (n1 + 1) / (n1 + 2) for positive rows and 1 / (n0 + 2) for the others.

    ``n1`` and ``n0`` are the total weights of the positive and the other rows (Platt 1999, section 2.2). With these
    targets the regression has a finite solution even where the classes are separated.
    """
    n1 = float(weights @ positive)
    n0 = float(weights.sum()) - n1
    return np.where(positive, (n1 + 1) / (n1 + 2), 1 / (n0 + 2))


def fit_logistic(
    features: np.ndarray,
    target: np.ndarray,
    weights: np.ndarray,
    penalty: np.ndarray | float = 0.0,
    *,
    intercept: bool = True,
    standardised: bool = False,
) -> np.ndarray:
    """Return (c, *b), (1 + n_features,): the intercept and the coefficients of least penalised cross entropy.

    The loss is the sum of weight * cross entropy in nats between ``target`` and 1 / (1 + exp(-c - b features)), plus
    half the sum of ``penalty`` * b^2. ``features`` is (n_features, n), ``target`` (n,) within [0, 1], ``weights`` (n,),
    ``penalty`` a number or (n_features,). With ``standardised`` it is on the coefficients of features of variance 1. A
    constant feature has the coefficient 0. Without ``intercept`` c is 0, and a constant feature is as any other.
    """
    features = np.ascontiguousarray(features)  # or the last digit would depend on the order in memory
    n_features, n_rows = features.shape
    parts = row_parts(n_rows, n_features + 1)
    total = weights.sum()
    # centred, with a variance of 1, so that neither huge features nor features far from 0 upset the Hessian
    centre = features @ weights / total if intercept else np.zeros(n_features)
    spread = sum((features[:, rows] - centre[:, None]) ** 2 @ weights[rows] for rows in parts) / total
    varies = np.ptp(features, axis=1) > 0 if intercept else spread > 0
    scale = np.divide(1, np.sqrt(spread), where=varies, out=np.zeros(n_features))
    ridge = np.append(0.0, np.broadcast_to(penalty, n_features) * (1.0 if standardised else scale**2))

    def loss(parameters: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        value, gradient, hessian = 0.5 * ridge @ parameters**2, ridge * parameters, np.diag(ridge)
        for rows in parts:
            x = np.full((n_features + 1, len(weights[rows])), float(intercept))
            np.subtract(features[:, rows], centre[:, None], out=x[1:])
            x[1:] *= scale[:, None]
            w, t, z = weights[rows], target[rows], parameters @ x
            e = np.exp(-np.abs(z))
            p = np.where(z > 0, 1.0, e) / (1 + e)
            value += w @ (np.log1p(e) + np.maximum(z, 0) - t * z)
            gradient = gradient + x @ (w * (p - t))
            hessian += (x * (w * e / (1 + e) ** 2)) @ x.T
        return float(value), gradient, hessian

    found = minimise(loss, np.zeros(n_features + 1))
    b = found[1:] * scale
    return np.append(found[0] - centre @ b, b)


_COLDEST, _HOTTEST = 1e-3, 1e3
_CLOSE_TEMPERATURE = 1e-7
"""Share of 1 / T. A smaller step is the last: its error is about the square of this."""
_LARGEST_ROOT = 1e150
"""Its square is no overflow."""
_EVERY, _ENOUGH = 17, 2
"""A first search takes one row of so many, if there remain so many for each parameter. An odd step has no period in
common with pairs."""
_MOST_PARAMETERS = 700
"""For Newton's method, whose work for each row grows with their square. L-BFGS fits more."""
Form = Literal["vector", "matrix", "dirichlet"]
Penalty = Literal["structured", "none"]


def class_targets(codes: np.ndarray, n_classes: int, weights: np.ndarray) -> np.ndarray:
    """Return the targets of each class's rows, (n_classes, n_classes): (n_c + 1) / (n_c + 2) for class c itself.

    n_c is the total weight of the class. The other classes share the rest equally. Two classes have Platt's targets
    (1999, section 2.2). With them the fitted map stays finite on separated classes.
    """
    size = np.bincount(codes, weights, n_classes)
    targets = np.repeat(1 / (size + 2) / (n_classes - 1), n_classes).reshape(n_classes, n_classes)
    np.fill_diagonal(targets, (size + 1) / (size + 2))
    return targets


def logit_unit(logits: np.ndarray) -> float:
    """Return the root mean square of the (n_classes, n_rows) logits below the greatest of each row, or 1 if it is 0."""
    below = logits - logits.max(axis=0)
    most = float(np.abs(below).max(initial=0.0))
    return most * float(np.sqrt(np.mean((below / most) ** 2))) if most else 1.0


def fit_temperature(
    logits: np.ndarray, codes: np.ndarray, targets: np.ndarray, weights: np.ndarray, start: float = 1.0
) -> tuple[float, float]:
    """Return (T, loss): T in [.001, 1000] of least cross entropy of softmax(logits / T) (Guo et al. 2017, section 4.2).

    ``logits``: (n_classes, n_rows). ``codes``: the class number of each row, (n_rows,). ``targets``: those of the rows
    of each class, (n_classes, n_classes). ``weights``: (n_rows,). The loss, in nats and summed over the rows, is convex
    in b = 1 / T. Newton's method searches b from 1 / ``start``, and takes the middle of the interval where a step
    leaves it.
    """
    z = logits - logits.max(axis=0)  # at most 0
    b, loss = 1 / start, 0.0
    for rows in _searches(z.shape[1], 1):
        b, loss = _least_loss(z[:, rows], codes[rows], targets, weights[rows], b)
    return 1 / b, loss


def _least_loss(
    z: np.ndarray, codes: np.ndarray, targets: np.ndarray, weights: np.ndarray, b: float
) -> tuple[float, float]:
    """Return (b, loss): b = 1 / T of least loss of softmax(b z)."""
    aim = float((_class_sums(z, codes, weights, len(z)) * targets).sum())
    low, high = 1 / _HOTTEST, 1 / _COLDEST
    parts = row_parts(z.shape[1], len(z))
    for _ in range(_MOST_STEPS):
        loss, gradient, curve = -b * aim, -aim, 0.0
        for rows in parts:
            w, here = weights[rows], z[:, rows]
            e = np.exp(b * here)
            total = e.sum(axis=0)
            loss += float(w @ np.log(total))
            e *= here
            mean = e.sum(axis=0) / total
            gradient += float(w @ mean)
            e *= here
            curve += float(w @ (e.sum(axis=0) / total - mean**2))
        if gradient == 0:
            break  # all classes of each row have the same logit, or the rows are separated
        low, high = (low, b) if gradient > 0 else (b, high)
        after = b - gradient / curve if curve > 0 else 0.0
        after = after if low < after < high else float(np.sqrt(low * high))
        step, b = after - b, after
        if abs(step) <= _CLOSE_TEMPERATURE * b:
            break
    return b, loss


def fit_affine(
    logits: np.ndarray,
    codes: np.ndarray,
    targets: np.ndarray,
    weights: np.ndarray,
    form: Form,
    penalty: Penalty,
    unit: float = 1.0,
    start: float = 1.0,
) -> tuple[np.ndarray, np.ndarray]:
    """Return (W, b) of least penalised cross entropy of softmax(W logits + b).

    The arguments are those of ``fit_temperature``. ``"vector"``: W is diagonal (Guo et al. 2017, section 4.2).
    ``"matrix"``: W is full. With the penalty ``"structured"`` the loss is the mean cross entropy in nats plus (k |b|^2
    + k |diag W - 1|^2 + k (k - 1) |off W|^2) / n for k classes and n rows, which is structured matrix scaling (Berta et
    al. 2025). ``"dirichlet"`` leaves the diagonal free (Kull et al. 2019, section 3: off-diagonal and intercept
    regularisation). ``"none"``: no penalty but 1e-12, which chooses among equal solutions. A class whose logit is
    constant keeps its column of the unit matrix.

    ``unit``: what ``logits`` were divided by. W and its penalty are those of the logits before. Another unit than 1 is
    for ``"dirichlet"`` and ``"none"`` with logits of any size. The search then begins at ``start`` times the identity.
    """
    k, n = len(logits), float(weights.sum())
    diagonal, intercept = np.eye(k, k + 1, dtype=bool), np.arange(k + 1) == k
    varies = np.append(np.ptp(logits, axis=1) > 0, True)
    free = varies & (diagonal | intercept) if form == "vector" else np.tile(varies, (k, 1))
    strength = np.where(diagonal | intercept, k, k * (k - 1)) / n
    if form == "dirichlet":
        strength[diagonal] = 0.0
    if penalty == "none":
        strength[:] = 1e-12
    elif unit != 1:
        strength[:, :-1] /= min(unit, _LARGEST_ROOT) ** 2
    origin = np.eye(k, k + 1) * (start if unit != 1 else 1.0)  # the diagonal has no penalty where the unit is not 1
    change = np.zeros(np.count_nonzero(free))
    if len(change) > _MOST_PARAMETERS:
        loss = _AffineLoss(logits, codes, targets, weights, free, strength, origin)
        options = {"maxiter": 2000, "maxfun": 4000, "ftol": 1e-15, "gtol": 1e-9}
        found = loss.coefficients(minimize(loss.slope, change, jac=True, method="L-BFGS-B", options=options).x)
        return found[:, :-1] / unit, found[:, -1]
    for rows in _searches(len(codes), len(change)):
        loss = _AffineLoss(logits[:, rows], codes[rows], targets, weights[rows], free, strength, origin)
        change = minimise(loss, change)
    found = loss.coefficients(change)
    return found[:, :-1] / unit, found[:, -1]


class _AffineLoss:
    """Compute the mean cross entropy in nats plus the penalty, and its derivatives.

    It is a function of the free entries' differences from ``origin``, the (W, b) of no penalty. ``free`` and
    ``strength`` are (n_classes, n_classes + 1): which entries of (W, b) are parameters, and the strength of the penalty
    on the square of each difference. The other arguments are those of ``fit_temperature``.
    """

    def __init__(
        self,
        logits: np.ndarray,
        codes: np.ndarray,
        targets: np.ndarray,
        weights: np.ndarray,
        free: np.ndarray,
        strength: np.ndarray,
        origin: np.ndarray,
    ) -> None:
        self.origin = origin
        self.logits, self.roots, self.free, self.strength = logits, np.sqrt(weights), free, strength[free]
        self.total = float(weights.sum())
        sums = np.column_stack([_class_sums(logits, codes, weights, len(free)), np.bincount(codes, weights, len(free))])
        self.aim = targets.T @ sums / self.total
        """The part of the slope that no parameter changes: the mean of targets times logits."""

    def coefficients(self, change: np.ndarray) -> np.ndarray:
        """Return (W, b), (n_classes, n_classes + 1)."""
        found = self.origin.copy()
        found[self.free] += change
        return found

    def slope(self, change: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the loss and its gradient."""
        value, gradient, _ = self._sums(change, curved=False)
        return value, gradient

    def __call__(self, change: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """Return the loss, its gradient and its Hessian."""
        return self._sums(change, curved=True)

    def _sums(self, change: np.ndarray, *, curved: bool) -> tuple[float, np.ndarray, np.ndarray]:
        coefficients, (of_class, of_column) = self.coefficients(change), np.nonzero(self.free)
        value, slope, within, between = 0.0, np.zeros_like(coefficients), np.zeros(1), np.zeros(1)
        for rows in row_parts(len(self.roots), len(change) if curved else len(slope)):
            root = self.roots[rows]
            x = np.vstack([self.logits[:, rows], np.ones(len(root))])
            p = coefficients @ x
            top = p.max(axis=0)
            p = np.exp(p - top)
            total = p.sum(axis=0)
            value += root**2 @ (np.log(total) + top)
            p /= total
            x *= root
            slope += (p * root) @ x.T
            if curved:
                each = p[of_class] * x[of_column]
                within = within + each @ x.T
                between = between + each @ each.T
        value = value / self.total - (coefficients * self.aim).sum() + self.strength @ change**2
        gradient = (slope / self.total - self.aim)[self.free] + 2 * self.strength * change
        if not curved:
            return float(value), gradient, between
        hessian = np.where(of_class[:, None] == of_class, within[:, of_column], 0.0) - between
        return float(value), gradient, hessian / self.total + np.diag(2 * self.strength)


def scaled_probabilities(
    logits: np.ndarray, matrix: np.ndarray | float, intercept: np.ndarray | None, least: float
) -> np.ndarray:
    """Return softmax(matrix logits + intercept), (n_rows, n_classes). ``logits``: (n_classes, n_rows).

    A number in place of ``matrix`` is a factor of all logits. Without ``intercept`` nothing is added. No probability is
    below ``least`` before rows are divided by their sums.
    """
    n_classes, n_rows = logits.shape
    predicted = np.empty((n_rows, n_classes))
    for rows in row_parts(n_rows, n_classes):
        p = matrix * logits[:, rows] if isinstance(matrix, float) else matrix @ logits[:, rows]
        if intercept is not None:
            p += intercept[:, None]
        p -= p.max(axis=0)
        np.exp(p, out=p)
        p /= p.sum(axis=0)
        np.maximum(p, least, out=p)
        p /= p.sum(axis=0)
        predicted[rows] = p.T
    return predicted


def _searches(n_rows: int, n_parameters: int) -> Iterator[slice]:
    """Yield the rows of each search: some of very many, whose best parameters are a good start, and then all."""
    if n_rows >= _EVERY * _ENOUGH * n_parameters:
        yield slice(None, None, _EVERY)
    yield slice(None)


def _class_sums(rows: np.ndarray, codes: np.ndarray, weights: np.ndarray, n_classes: int) -> np.ndarray:
    """Return the weighted sums of each of the (n_sums, n_rows) ``rows`` over each class, (n_classes, n_sums)."""
    return np.column_stack([np.bincount(codes, weights * row, n_classes) for row in rows])
