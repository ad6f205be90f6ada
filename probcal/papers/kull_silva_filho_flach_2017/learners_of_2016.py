"""Learners of 2016, and isotonic regression as scikit-learn fitted and interpolated it then.

The scores of three learners are rounded as those of scikit-learn in 2017.

A score of naive Bayes is often within 1e-15 of 0 or 1, and two rows of a small table often have the same score. There
the last bits decide how large a clipped loss is, and which scores are equal for isotonic regression. The fitted models
are those of scikit-learn. ``LogisticSVC`` reads the scores of a support vector machine as log-odds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from scipy.special import expit
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC
from sklearn.utils.validation import check_is_fitted

from probcal._learner_output import learner_scores, normalised_rows
from probcal.methods.calibrators.isotonic import isotonic_values


class LegacyGaussianNB(GaussianNB):
    """Add the likelihoods of the classes before their logarithm is taken.

    Newer versions of SciPy take the logarithm of 1 plus the smaller ones, which has more digits.

    The parameters are those of ``sklearn.naive_bayes.GaussianNB``.
    """

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Predict the logarithm of the probability of each class, in nats, (n_rows, n_classes)."""
        joint = np.asarray(self.predict_joint_log_proba(X))
        most = joint.max(axis=1, keepdims=True)
        return np.asarray(joint - (np.log(np.exp(joint - most).sum(axis=1, keepdims=True)) + most))


class LegacyLogisticRegression(LogisticRegression):
    """Add the terms of a row's log-odds one after another, so that equal rows have equal scores.

    A product of matrices may round a row in another way at another place of the table. The class is for two
    classes.

    The parameters are those of ``sklearn.linear_model.LogisticRegression``.
    """

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the log-odds of the second class in nats, (n_rows,)."""
        check_is_fitted(self)
        # The last of the cumulative sums, because numpy's sum adds in an order that depends on the number of terms.
        return np.asarray((np.asarray(X) * self.coef_[0]).cumsum(axis=1)[:, -1] + self.intercept_[0])

    def predict_proba(self, X: Any) -> np.ndarray:
        """Predict the probability of each class, (n_rows, 2)."""
        # exp of large negative log-odds is infinite, and the probability 0.
        with np.errstate(over="ignore"):
            positive = 1 / (1 + np.exp(-self.decision_function(X)))
        return np.column_stack([1 - positive, positive])


class LegacyForestClassifier(RandomForestClassifier):
    """Round the limits of the trees to half of a number of single precision, which is where they were until 2018.

    A test row that lies on a limit may go to the other side.

    The parameters are those of ``sklearn.ensemble.RandomForestClassifier``.
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the forest, as ``sklearn.ensemble.RandomForestClassifier`` does."""
        super().fit(X, y, sample_weight)
        for one in self.estimators_:
            inner = one.tree_.children_left >= 0
            limits = one.tree_.threshold
            limits[inner] = (2 * limits[inner]).astype(np.float32).astype(np.float64) / 2
        return self


def legacy_isotonic(p: np.ndarray, y: np.ndarray, spline: bool) -> Callable[[np.ndarray], np.ndarray]:
    """Return a function from scores to isotonic values, as scikit-learn fitted it before version 0.20.

    ``p`` are scores and ``y`` labels 0 and 1, (n_rows,) each. Until version 0.19, all rows of one score together weigh
    as much as a single row of another score. Scores count as one only if they are equal to the last bit.

    With ``spline`` the function interpolates by a spline of degree 1, as version 0.17 did, and otherwise linearly, as
    0.18 did. Between two scores near 0 that differ by less than 1e-308, the spline is not a number, and Kull, Silva
    Filho & Flach (2017) take 1/2. It may also be infinite there.
    """
    knots, place, rows = np.unique(p, return_inverse=True, return_counts=True)
    means = np.bincount(place, weights=y) / rows
    values = _pooled(means) if spline else isotonic_values(means, np.ones(len(knots)))
    if len(knots) == 1 or not spline:
        return lambda p: np.interp(p, knots, values)

    def interpolated(p: np.ndarray) -> np.ndarray:
        p = np.clip(p, knots[0], knots[-1])
        left = np.clip(np.searchsorted(knots, p, side="right") - 1, 0, len(knots) - 2)
        # Nearly equal knots have a slope beyond the largest float. What becomes of it is told in the docstring.
        with np.errstate(over="ignore", invalid="ignore"):
            slope = 1 / (knots[left + 1] - knots[left])
            found = values[left] * (slope * (knots[left + 1] - p)) + values[left + 1] * (slope * (p - knots[left]))
        return np.where(np.isnan(found), 0.5, found)

    return interpolated


def _pooled(values: np.ndarray) -> np.ndarray:
    """Return isotonic values of equal weights, (n,), rounded as in version 0.17, which takes means of means.

    Every run that does not rise is replaced by its mean, until all do. Rounding decides on which side of 1/2 the mean
    of three predictions is, and so the accuracy.
    """
    values = values.copy()
    while True:
        ends = np.flatnonzero(np.diff(values) > 0) + 1
        runs = zip([0, *ends.tolist()], [*ends.tolist(), len(values)], strict=True)
        falling = [(start, end) for start, end in runs if values[start] != values[end - 1]]
        for start, end in falling:
            # Added one after the other, because a sum of numpy's adds pairs and rounds in another way.
            values[start:end] = values[start:end].cumsum()[-1] / (end - start)
        if not falling:
            return values


class LogisticSVC(SVC):
    """Read the decision function of scikit-learn's SVC as log-odds, without a fit of its own.

    ``SVC(probability=True)`` would fit a sigmoid on cross-validated scores. Here the scores stay what they are, so that
    methods can calibrate them. Kull, Silva Filho & Flach (2017) take the logistic function of the score for the
    uncalibrated probability. With more than two classes, each class's score against the rest is read so, and a row is
    divided by its sum.

    The parameters, such as ``C``, ``kernel`` and ``gamma``, are those of ``sklearn.svm.SVC``.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels in sorted order.
    """

    def predict_proba(self, X: Any) -> np.ndarray:
        """Predict the probability of each class, (n_rows, n_classes)."""
        check_is_fitted(self)
        scores = learner_scores(self, X, self.classes_)
        if scores.shape[1] == 1:
            return np.hstack([expit(-scores), expit(scores)])
        return normalised_rows(expit(scores))
