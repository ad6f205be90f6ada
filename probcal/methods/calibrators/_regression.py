"""Logistic regression on a few features by Newton's method, for the maps that are one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import lstsq

_MOST_STEPS = 100
_CLOSE = 1e-12
"""Share of the loss. A step that promises less is the last: its error is the square of its length."""
_LENGTHS = 0.5 ** np.arange(40)
_SUFFICIENT = 1e-4
"""A step must gain this part of what its length promised (Lin, Lin & Weng 2007)."""
_SINGULAR = 1e-13
"""Share of the greatest curvature. The parameters do not move in directions with less."""
_PART = 2**15
"""Numbers of the largest array of a part of the rows, so that all of them fit into the processor's cache."""
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


def row_parts(n_rows: int, n_numbers: int) -> list[slice]:
    """Return consecutive parts of ``n_rows`` rows. Arrays with ``n_numbers`` for each row of a part stay in cache."""
    size = max(_PART // n_numbers, 256)
    return [slice(first, first + size) for first in range(0, n_rows, size)]


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
