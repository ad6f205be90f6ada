"""Base class of the methods, and the scores that calibrators use.

Arrays of probabilities have the shape (n_rows, n_classes), and each row sums to 1.
"""

from __future__ import annotations

import warnings
from typing import Any, Literal

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, RegressorMixin
from sklearn.utils import Tags, get_tags, indexable
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import check_is_fitted, validate_data

from probcal._classes import class_labels, require_weight_of_each_class
from probcal._learner_output import learner_probabilities, learner_scores, normalised_rows
from probcal._validation import CheckedParameters, fit_weights, row_weights, take_rows


def renamed_attribute(old: str, new: str) -> property:
    """Return a property that warns of its ``old`` name and returns the attribute ``new``."""

    def get(owner: Any) -> Any:
        value = getattr(owner, new)
        warnings.warn(f"{old} is now called {new}; version 1.0 removes {old}", FutureWarning, stacklevel=2)
        return value

    return property(get, doc=f"Return ``{new}``, of which this is the earlier name.")


class ProbabilityMethod(CheckedParameters, MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Turn a base learner into a classifier that predicts class probabilities.

    Subclasses define ``fit``, which calls ``_begin`` first, and ``predict_proba``, which calls ``_before_predicting``
    first. The learner gets X as it was given, such as a frame with categories, a sparse matrix or texts.
    """

    estimator: Any
    classes_: np.ndarray
    forwards_sample_weight = True
    """Whether ``fit`` passes the row weights to the learner."""

    def predict(self, X: Any) -> np.ndarray:
        """Predict the most probable class of each row.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_rows, n_columns)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n_rows,)
            Labels. The first class wins a tie.
        """
        probabilities = self.predict_proba(X)
        labels: np.ndarray = self.classes_[np.argmax(probabilities, axis=1)]
        return labels

    def _begin(
        self, X: Any, y: Any, sample_weight: Any, frequency_weights: bool = False
    ) -> tuple[Any, np.ndarray, np.ndarray | None]:
        """Return what ``_checked`` does, without the rows of weight 0. So these are as rows left out."""
        X, labels, weights = self._checked(X, y, sample_weight, frequency_weights)
        if weights is None or weights.all():
            return X, labels, weights
        rows = np.flatnonzero(weights)
        return take_rows(X, rows), labels[rows], weights[rows]

    def _checked(
        self, X: Any, y: Any, sample_weight: Any, frequency_weights: bool
    ) -> tuple[Any, np.ndarray, np.ndarray | None]:
        """Check the arguments of ``fit``, set the fitted attributes of classifiers, and return (X, labels, weights).

        ``weights`` is (n_rows,), on the scale of ``fit_weights``, or None. X is returned unchanged unless its rows
        cannot be indexed. A sparse matrix of another format becomes CSR.
        """
        if isinstance(self.estimator, RegressorMixin) or not hasattr(self.estimator, "fit"):
            raise ValueError(f"estimator must be a classifier, not {self.estimator!r}")
        self.check_parameters()
        labels, self.classes_ = class_labels(X, y)
        # only names and number of columns: the learner itself checks the values, in whatever form it takes them
        validate_data(self, X, skip_check_array=True)
        (X,) = indexable(X)
        weights = row_weights(sample_weight, len(labels))
        if weights is not None:
            weights = fit_weights(weights, frequency_weights)
            require_weight_of_each_class(self.classes_, labels, weights)
        return X, labels, weights

    def _before_predicting(self, X: Any) -> None:
        check_is_fitted(self)
        if type(X) is np.ndarray and X.ndim == 2 and self._has_columns_of(X):
            return  # scikit-learn's check would take as long as mapping a row
        if getattr(X, "ndim", 2) == 2:  # texts have no columns, and the learner checks everything else
            validate_data(self, X, reset=False, skip_check_array=True)

    def _has_columns_of(self, X: np.ndarray) -> bool:
        """Return whether ``X`` surely has the columns of ``fit``, which were as many and had no names."""
        return X.shape[1] == getattr(self, "n_features_in_", None) and not hasattr(self, "feature_names_in_")

    def get_metadata_routing(self) -> MetadataRouter:
        """Return the metadata routing.

        Returns
        -------
        MetadataRouter
            It holds the method itself and, if the method passes row weights on, the learner.
        """
        router = MetadataRouter(owner=self).add_self_request(self)
        if self.forwards_sample_weight:
            router.add(estimator=self.estimator, method_mapping=MethodMapping().add(caller="fit", callee="fit"))
        return router

    def _weights_for_learner(self, weights: np.ndarray | None) -> np.ndarray | None:
        """Return the weights, or None if metadata routing is on and the learner did not request them."""
        if weights is None or not get_config()["enable_metadata_routing"]:
            return weights
        routed = process_routing(self, "fit", sample_weight=weights)
        requested: np.ndarray | None = routed.estimator.fit.get("sample_weight")
        return requested

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags
        return tags


Scores = Literal["auto", "decision_function", "log_odds", "probability"]
SCORES = ("auto", "decision_function", "log_odds", "probability")


def scored_classes(classes: np.ndarray) -> np.ndarray:
    """Return the classes of the columns of ``class_scores``: the second of two classes, or all of several."""
    return classes[1:] if len(classes) == 2 else classes


def class_scores(learner: Any, X: Any, wanted: Scores, classes: np.ndarray) -> np.ndarray:
    """Return the learner's scores as float64, in the order of ``classes``.

    The shape is (n_rows, 1) for the second of two classes. For several classes it is (n_rows, n_classes), each class
    against the rest.

    ``"decision_function"`` is the learner's own. ``"log_odds"`` is ln p - ln (1 - p) of its ``predict_proba``, in nats
    and within +-708. ``"probability"`` is p itself. ``"auto"`` is the decision function if the learner has one, and the
    log-odds otherwise.

    The columns are in the order of ``classes``, whatever the order of the learner's own ``classes_`` is. Raises
    ValueError when the learner has no such scores, not one for each class, or other classes.
    """
    if wanted == "auto":
        wanted = "decision_function" if hasattr(learner, "decision_function") else "log_odds"
    source = "decision_function" if wanted == "decision_function" else "predict_proba"
    if not hasattr(learner, source):
        raise ValueError(f"{type(learner).__name__} has no {source} to read the {wanted.replace('_', ' ')} from")
    if wanted == "decision_function":
        return learner_scores(learner, X, classes)
    given = learner_probabilities(learner, X, classes)
    numbers = range(1, 2) if len(classes) == 2 else range(len(classes))
    if wanted == "probability":
        return given[:, list(numbers)]
    return np.column_stack([log_odds(given, column) for column in numbers])


_TINY = np.finfo(np.float64).tiny


def log_odds(probabilities: np.ndarray, column: int) -> np.ndarray:
    """Return the log-odds (n_rows,) of one column against the sum of the others, in nats."""
    # not from 1 - p: for p near 1 the subtraction loses digits that the other columns still have.
    # The floor keeps the log-odds of an exact 0 or 1 finite, at -708 and 708.
    both = np.empty((2, len(probabilities)))
    both[0] = probabilities[:, column]
    if probabilities.shape[1] == 2:
        both[1] = probabilities[:, 1 - column]
    else:
        both[1] = np.delete(probabilities, column, axis=1).sum(axis=1)
    log_p, log_rest = np.log(np.maximum(both, _TINY))
    log_odds: np.ndarray = log_p - log_rest
    return log_odds


def two_columns(p: np.ndarray) -> np.ndarray:
    """Return (n_rows, 2) probabilities from the (n_rows,) probabilities of the second class."""
    columns = np.empty((len(p), 2))  # column_stack takes three times as long for one row
    columns[:, 0], columns[:, 1] = 1 - p, p
    return columns


def combine_classes(probabilities: list[np.ndarray]) -> np.ndarray:
    """Return (n_rows, n_classes) probabilities from the (n_rows,) probabilities of each class against the rest.

    A single array belongs to the second of two classes. Several arrays are normalised.
    """
    return two_columns(probabilities[0]) if len(probabilities) == 1 else normalised_rows(np.column_stack(probabilities))


def clipped_rows(probabilities: np.ndarray, clip: tuple[float, float]) -> np.ndarray:
    """Return the probabilities clipped to a range. With more than two classes each row is then divided by its sum."""
    if tuple(clip) == (0, 1):
        return probabilities
    # a row inside the range keeps both columns, because 1 - p would lose the digits of a small one
    if probabilities.shape[1] == 2:
        p = probabilities[:, 1]
        inside = (p >= clip[0]) & (p <= clip[1])
        return np.where(inside[:, None], probabilities, two_columns(np.clip(p, *clip)))
    return normalised_rows(np.clip(probabilities, *clip))
