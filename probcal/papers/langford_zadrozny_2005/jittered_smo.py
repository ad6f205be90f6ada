"""Weka's SMO on weights that differ in their last digits, which tells how far rounding moves its numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from probcal.learners.weka.classifier import WekaClassifier


class JitteredSMO(WekaClassifier):
    """Fit Weka's SMO with weights w (1 + jitter u), u uniform in [-1, 1].

    SMO stops near its minimum, and where it stops depends on the last bits of the weights. Another seed therefore
    gives other labels for rows near the boundary. The numbers of many seeds show what rounding alone does.

    Parameters
    ----------
    options : str, default=""
        Weka's own command-line options.
    jitter : float, default=1e-12
        Largest relative change of a weight, at least 0.
    random_state : int, RandomState instance or None, default=None
        Seed of the changes.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels in sorted order.
    n_features_in_ : int
        Number of columns of ``X``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns of ``X``, if it has names.
    java_ : object
        Trained Java object.
    """

    def __init__(
        self, options: str = "", *, jitter: float = 1e-12, random_state: int | np.random.RandomState | None = None
    ) -> None:
        super().__init__("functions.SMO", options, random_state=random_state)
        self.jitter = jitter

    def fit(self, X: Any, y: Any, sample_weight: np.ndarray | None = None) -> JitteredSMO:
        """Train SMO on jittered weights. Raise ValueError if ``jitter`` is negative, or as ``WekaClassifier``."""
        if not self.jitter >= 0:
            raise ValueError(f"jitter must be at least 0, not {self.jitter!r}")
        weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        moved = weights * (1 + self.jitter * check_random_state(self.random_state).uniform(-1, 1, len(weights)))
        super().fit(X, y, moved)
        return self
