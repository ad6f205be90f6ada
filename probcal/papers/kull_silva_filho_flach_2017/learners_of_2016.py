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
from sklearn.utils.validation import check_is_fitted


class LegacyGaussianNB(GaussianNB):
    """Add the likelihoods of the classes before their logarithm is taken.

    Newer versions of SciPy take the logarithm of 1 plus the smaller ones, which has more digits.

    The parameters are those of ``sklearn.naive_bayes.GaussianNB``.
    """

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Predict the logarithm of the probability of each class.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_rows, n_columns)
            Numbers.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Log probabilities in nats, in the order of ``classes_``.
        """
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
        """Return the log-odds of the second class.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_rows, n_columns)
            Numbers.

        Returns
        -------
        ndarray of shape (n_rows,)
            Log-odds in nats.
        """
        check_is_fitted(self)
        # The last of the cumulative sums, because numpy's sum adds in an order that depends on the number of terms.
        return np.asarray((np.asarray(X) * self.coef_[0]).cumsum(axis=1)[:, -1] + self.intercept_[0])

    def predict_proba(self, X: Any) -> np.ndarray:
        """Predict the probability of each class.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_rows, n_columns)
            Numbers.

        Returns
        -------
        ndarray of shape (n_rows, 2)
            Probabilities, in the order of ``classes_``.
        """
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
        """Fit the forest, as ``sklearn.ensemble.RandomForestClassifier`` does.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_rows, n_columns)
            Numbers.
        y : array-like of shape (n_rows,)
            Labels.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows. None means equal weights.

        Returns
        -------
        Self
            The forest itself.
        """
        super().fit(X, y, sample_weight)
        for one in self.estimators_:
            inner = one.tree_.children_left >= 0
            limits = one.tree_.threshold
            limits[inner] = (2 * limits[inner]).astype(np.float32).astype(np.float64) / 2
        return self
