"""What every method is: a scikit-learn meta-estimator that hands its inputs on untouched."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, RegressorMixin
from sklearn.utils import Tags, get_tags, indexable
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
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
    hands_weights_on = True
    """Whether ``fit`` gives the weights of the rows to the learner as they are."""

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
        if isinstance(self.estimator, RegressorMixin) or not hasattr(self.estimator, "fit"):
            raise ValueError(f"estimator must be a classifier, not {self.estimator!r}")
        self.check_parameters()
        labels, self.classes_ = class_labels(X, y)
        validate_data(self, X, skip_check_array=True)
        (X,) = indexable(X)
        return X, labels, row_weights(sample_weight, len(labels))

    def _before_predicting(self, X: Any) -> None:
        check_is_fitted(self)
        if getattr(X, "ndim", 2) == 2:  # texts and the like have no columns; of what else is wrong the learner tells
            validate_data(self, X, reset=False, skip_check_array=True)

    def get_metadata_routing(self) -> MetadataRouter:
        """Who gets ``sample_weight`` where scikit-learn's metadata routing is switched on."""
        router = MetadataRouter(owner=self).add_self_request(self)
        if self.hands_weights_on:
            router.add(estimator=self.estimator, method_mapping=MethodMapping().add(caller="fit", callee="fit"))
        return router

    def _weights_for_learner(self, weights: np.ndarray | None) -> np.ndarray | None:
        """The weights, or None where metadata routing is switched on and the learner asked for none."""
        if weights is None or not get_config()["enable_metadata_routing"]:
            return weights
        return process_routing(self, "fit", sample_weight=weights).estimator.fit.get("sample_weight")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags
        return tags
