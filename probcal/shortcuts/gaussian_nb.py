"""The shortcut for scikit-learn's GaussianNB."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from sklearn.naive_bayes import GaussianNB

from probcal.shortcuts.prior_shift import PriorShift


def shortcut_of(estimator: GaussianNB) -> PriorShift | None:
    """Its means and variances are those of the rows of one class, and what it adds to the latter is of all rows alike.

    None with ``priors`` of the user's, which class weights leave as they are.
    """
    return PriorShift(log_odds, _log_prior_odds) if estimator.priors is None else None


_ROUNDING = 1e-10
"""Far above what rounding does to a sum of squares, as a share of it, and to means under other weights."""


def log_odds(fitted: GaussianNB, X: Any) -> tuple[np.ndarray, np.ndarray]:
    """((n_rows,) log-odds of the second class in nats, (n_rows,) how far off rounding may be)."""
    joint = fitted.predict_joint_log_proba(X)
    return joint[:, 1] - joint[:, 0], _ROUNDING * (1 + np.abs(joint).max(axis=1))


def _log_prior_odds(first: float, second: float) -> float:
    return math.log(second) - math.log(first)
