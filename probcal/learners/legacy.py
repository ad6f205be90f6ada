"""Three learners whose scores are rounded as those of scikit-learn in 2017.

A score of naive Bayes is often within 1e-15 of 0 or 1, and two rows of a small table often have the same score. There
the last bits decide how large a clipped loss is, and which scores are equal for isotonic regression. The fitted models
are those of scikit-learn.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB


class LegacyGaussianNB(GaussianNB):
    """Add the likelihoods of the classes before their logarithm is taken.

    Newer versions of SciPy take the logarithm of 1 plus the smaller ones, which has more digits.
    """

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Return (n_rows, n_classes) natural logarithms of probabilities in the order of ``classes_``."""
        joint = np.asarray(self.predict_joint_log_proba(X))
        most = joint.max(axis=1, keepdims=True)
        return np.asarray(joint - (np.log(np.exp(joint - most).sum(axis=1, keepdims=True)) + most))


class LegacyLogisticRegression(LogisticRegression):
    """Add the terms of a row's log-odds one after another, so that equal rows have equal scores. For two classes.

    A product of matrices may round a row in another way at another place of the table.
    """

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the log-odds of the second class, (n_rows,), in nats."""
        return np.asarray((np.asarray(X) * self.coef_[0]).cumsum(axis=1)[:, -1] + self.intercept_[0])

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return (n_rows, 2) probabilities in the order of ``classes_``."""
        with np.errstate(over="ignore"):
            positive = 1 / (1 + np.exp(-self.decision_function(X)))
        return np.column_stack([1 - positive, positive])


class LegacyForestClassifier(RandomForestClassifier):
    """Round the limits of the trees to half of a number of single precision, which is where they were until 2018.

    A test row that lies on a limit may go to the other side.
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the forest, as ``sklearn.ensemble.RandomForestClassifier`` does."""
        super().fit(X, y, sample_weight)
        for one in self.estimators_:
            inner = one.tree_.children_left >= 0
            limits = one.tree_.threshold
            limits[inner] = (2 * limits[inner]).astype(np.float32).astype(np.float64) / 2
        return self
