"""A support vector machine with a kernel, whose scores are read as log-odds."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.svm import SVC
from sklearn.utils.validation import check_is_fitted

from probcal._learner_output import learner_scores, normalised_rows


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
        """Predict the probability of each class.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_rows, n_columns)
            Whatever ``sklearn.svm.SVC`` accepts.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Probabilities, in the order of ``classes_``.
        """
        check_is_fitted(self)
        scores = learner_scores(self, X, self.classes_)
        if scores.shape[1] == 1:
            return np.hstack([expit(-scores), expit(scores)])
        return normalised_rows(expit(scores))
