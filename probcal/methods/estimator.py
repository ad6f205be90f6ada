"""What every method is: a scikit-learn meta-estimator that hands its inputs on untouched."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.utils import Tags, get_tags, indexable
from sklearn.utils.validation import check_is_fitted, validate_data

from probcal.methods.training_set import class_labels, row_weights


class ProbabilityMethod(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """A base learner turned into an estimator of class probabilities.

    Children have ``fit``, which begins with ``_begin``, and ``predict_proba``, which begins with
    ``_before_predicting``. X reaches the learner as it was given: a frame with its categories, a sparse
    matrix, texts.
    """

    estimator: Any
    classes_: np.ndarray

    def predict(self, X: Any) -> np.ndarray:
        """The likeliest class of each row, the first of equal ones: (n_rows,) labels."""
        probabilities = self.predict_proba(X)
        return self.classes_[np.argmax(probabilities, axis=1)]

    def check_parameters(self) -> None:
        """Raises ValueError for a parameter that is not as documented."""

    def _begin(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, np.ndarray, np.ndarray | None]:
        """(X, labels, weights), the latter (n_rows,) or None; sets what every fitted classifier has.

        X is as given, unless rows cannot be taken from it: a sparse matrix of another kind becomes CSR.
        """
        self.check_parameters()
        labels, self.classes_ = class_labels(X, y)
        validate_data(self, X, skip_check_array=True)
        (X,) = indexable(X)
        return X, labels, row_weights(sample_weight, len(labels))

    def _before_predicting(self, X: Any) -> None:
        check_is_fitted(self)
        if getattr(X, "ndim", 2) == 2:  # texts and the like have no columns; of what else is wrong the learner tells
            validate_data(self, X, reset=False, skip_check_array=True)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags
        return tags
