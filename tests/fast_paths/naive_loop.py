"""Compare the votes of Probing with those of its naive loop, which fits each probe alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from probcal import ProbingClassifier


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
