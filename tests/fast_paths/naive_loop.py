"""Provide the naive loop for the comparison with shortcuts: each probe is cloned, weighted and fitted separately."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from probcal import ProbingClassifier
from probcal.methods.probing import importance_weights


def labels_one_by_one(learner: Any, X: Any, y: np.ndarray, thresholds: Any, asked: Any, **how: Any) -> np.ndarray:
    """Return (n_rows, n) bool: whether the learner fitted for each threshold predicts class 2 for each row of asked."""
    positive = y == np.unique(y)[1]
    fits = (clone(learner).fit(X, y, sample_weight=importance_weights(positive, p, **how)) for p in thresholds)
    return np.column_stack([one.predict(asked) == np.unique(y)[1] for one in fits])


def assert_no_vote_changes(
    learner: Any, X: Any, y: np.ndarray, asked: Any = None, **parameters: Any
) -> ProbingClassifier:
    """Check that Probing gives the same votes with and without shortcuts, on X and on ``asked``; return the former."""
    parameters = {"n_probes": 40, "weighting": "weight", "random_state": 0, **parameters}
    fast = ProbingClassifier(learner, **parameters).fit(X, y)
    slow = ProbingClassifier(learner, **parameters, shortcuts=False).fit(X, y)
    for quick, one in zip(fast.threshold_models_, slow.threshold_models_, strict=True):
        assert quick.thresholds.tolist() == one.thresholds.tolist()
        assert quick.order.tolist() == one.order.tolist()
        assert not one.batched.any()
        for rows in (X,) if asked is None else (X, asked):
            assert (quick.predicted_labels(rows) == one.predicted_labels(rows)).all()
            assert (quick.votes(rows) == one.votes(rows)).all()
    return fast
