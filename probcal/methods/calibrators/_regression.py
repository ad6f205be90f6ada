"""Logistic regression on a few features by Newton's method, for the maps that are one."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

_MOST_STEPS = 100
_CLOSE = 1e-14
"""Share of the loss. A step that promises less is the last."""
_LENGTHS = 0.5 ** np.arange(40)
_RIDGE = 1e-12
"""Share of the Hessian's trace that is added to it, because equal features make it singular."""


def smoothed_targets(positive: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return Platt's targets, (n,): (n1 + 1) / (n1 + 2) for positive rows and 1 / (n0 + 2) for the others.

    ``n1`` and ``n0`` are the total weights of the positive and the other rows (Platt 1999, section 2.2). With these
    targets the regression has a finite solution even where the classes are separated.
    """
    n1, n0 = float(weights[positive].sum()), float(weights[~positive].sum())
    return np.where(positive, (n1 + 1) / (n1 + 2), 1 / (n0 + 2))


def fit_logistic(
    features: np.ndarray, target: np.ndarray, weights: np.ndarray, penalty: np.ndarray | float = 0.0
) -> np.ndarray:
    """Return the coefficients b, (n_features,), of least penalised cross entropy.

    The loss is the sum of weight * cross entropy in nats between ``target`` and 1 / (1 + exp(-features b)), plus half
    the sum of ``penalty`` * b^2. ``features`` is (n, n_features), with a column of ones where an intercept is wanted.
    ``target`` is (n,) within [0, 1], ``weights`` (n,), ``penalty`` a number or (n_features,). A constant feature beside
    the column of ones gets the coefficient 0.
    """
    centre = np.zeros(features.shape[1])
    ones = np.flatnonzero((features == 1).all(axis=0))[:1]
    if len(ones):
        centre = np.average(features, axis=0, weights=weights)
        centre[ones] = 0.0
        features = np.where(np.ptp(features, axis=0) > 0, features - centre, 0.0)
        features[:, ones] = 1.0
    b = _fit_centred(features, target, weights, penalty)
    b[ones] -= centre @ b
    return b


def _fit_centred(
    features: np.ndarray, target: np.ndarray, weights: np.ndarray, penalty: np.ndarray | float
) -> np.ndarray:
    scale = np.sqrt(np.average(features**2, axis=0, weights=weights))
    scale[scale == 0] = 1.0
    scaled, ridge = features / scale, np.broadcast_to(penalty, scale.shape) / scale**2
    b = np.zeros(len(scale))
    loss = _loss(b, scaled, target, weights, ridge)
    for _ in range(_MOST_STEPS):
        p = expit(scaled @ b)
        gradient = scaled.T @ (weights * (p - target)) + ridge * b
        hessian = (scaled * (weights * p * (1 - p))[:, None]).T @ scaled + np.diag(ridge)
        step = np.linalg.solve(hessian + _RIDGE * np.trace(hessian) * np.eye(len(b)), gradient)
        promised = gradient @ step
        if promised <= _CLOSE * loss:
            b = b - step
            break
        for length in _LENGTHS:
            candidate = b - length * step
            candidate_loss = _loss(candidate, scaled, target, weights, ridge)
            if candidate_loss < loss - 1e-4 * length * promised:
                break
        else:
            break
        b, loss = candidate, candidate_loss
    return b / scale


def _loss(b: np.ndarray, features: np.ndarray, target: np.ndarray, weights: np.ndarray, ridge: np.ndarray) -> float:
    z = features @ b
    return float(weights @ (np.logaddexp(0, z) - target * z) + 0.5 * ridge @ b**2)
