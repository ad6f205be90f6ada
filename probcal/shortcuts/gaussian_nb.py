"""The shortcut for scikit-learn's GaussianNB."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from sklearn.naive_bayes import GaussianNB

from probcal.shortcuts.prior_shift import PriorShift

_ROUNDING = 1e-10
"""Far above what rounding does to a sum of squares, as a share of it."""
_OF_MEANS = 1e-13
"""Far above what rounding does to a mean under other weights, as a share of it."""
_TOO_LIGHT = 1e-6
"""scikit-learn does not learn from a class whose rows weigh less than 1e-8 together."""


def shortcut_of(estimator: GaussianNB) -> PriorShift | None:
    """Its means and variances are those of the rows of one class, and what it adds to the latter is of all rows alike.

    None with ``priors`` of the user's, which class weights leave as they are.
    """
    return PriorShift(log_odds, _log_prior_odds, _holds) if estimator.priors is None else None


def log_odds(fitted: GaussianNB, X: Any) -> tuple[np.ndarray, np.ndarray]:
    """((n_rows,) log-odds of the second class in nats, (n_rows,) how far off rounding may be).

    A mean that is off by e moves the log-density of a row z standard deviations away by z e / sd, summed over the
    columns: at most |z| |e / sd|, and |z|^2 / 2 is how far the row's log-density is from the highest.
    """
    joint = fitted.predict_joint_log_proba(X)
    highest = np.log(fitted.class_prior_) - np.log(2 * np.pi * fitted.var_).sum(axis=1) / 2
    z = np.sqrt(2 * np.maximum(highest - joint, 0))
    means = np.linalg.norm(fitted.theta_ / np.sqrt(fitted.var_), axis=1)
    error = _ROUNDING * (1 + np.abs(joint)) + _OF_MEANS * z * means
    return joint[:, 1] - joint[:, 0], error.sum(axis=1)


def _log_prior_odds(first: float, second: float) -> float:
    return math.log(second) - math.log(first)


def _holds(X: Any, first: float, second: float) -> bool:
    # of float32 scikit-learn sums in float32, and then the weights' rounding tells
    kinds = X.dtypes.tolist() if hasattr(X, "dtypes") else [getattr(X, "dtype", np.dtype(float))]
    narrow = all(getattr(kind, "kind", "") == "f" and kind.itemsize < 8 for kind in kinds)
    return not narrow and min(first, second) > _TOO_LIGHT
