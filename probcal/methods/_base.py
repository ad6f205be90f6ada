"""What every method is: a scikit-learn meta-estimator that hands its inputs on untouched.

The labels and weights that a method is given, checked.

The scores that a fitted learner gives to rows: what a calibrating map turns into probabilities.

Arrays of estimates: (n_rows, n_classes), each row summing to 1.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pandas as pd
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, RegressorMixin
from sklearn.utils import Tags, get_tags, indexable
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d, validate_data


def class_labels(X: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
    """(labels, classes): y as (n_rows,) array and its labels, two kinds at least, in sorted order.

    Raises ValueError when X and y differ in length, a label is missing, y is no list of labels, or there is
    one class only.
    """
    check_consistent_length(X, y)
    labels = column_or_1d(y, warn=True)
    missing = pd.isna(labels)
    if missing.any():
        raise ValueError(f"{int(missing.sum())} of {len(labels)} labels are missing; remove those rows first")
    check_classification_targets(labels)
    try:
        classes = np.unique(labels)
    except TypeError:
        kinds = sorted({type(label).__name__ for label in labels})
        raise ValueError(f"labels of one kind are needed, y mixes {' and '.join(kinds)}") from None
    if not len(classes):
        raise ValueError("there are no rows to learn from")
    if len(classes) < 2:
        raise ValueError(f"y holds one class only, {classes.tolist()[0]!r}; two are needed at least")
    return labels, classes


def two_classes(X: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
    """As ``class_labels``, of exactly two classes."""
    labels, classes = class_labels(X, y)
    if len(classes) > 2:
        raise ValueError(f"two classes are needed, y holds {len(classes)}: {classes[:5].tolist()}")
    return labels, classes


def row_weights(sample_weight: Any, n_rows: int) -> np.ndarray | None:
    """``sample_weight`` as (n_rows,) float64, or None where there is none.

    Raises ValueError unless it holds one finite number for each row, none negative and not all 0.
    """
    if sample_weight is None:
        return None
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (n_rows,):
        raise ValueError(f"sample_weight must hold a weight for each of {n_rows} rows, its shape is {weights.shape}")
    if not np.isfinite(weights).all():
        raise ValueError("sample_weight holds missing or infinite values")
    if (weights < 0).any():
        raise ValueError(f"sample_weight must not be negative, the least is {weights.min()}")
    if not weights.any():
        raise ValueError("sample_weight is zero for all rows, so there is nothing to learn from")
    return weights


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


Scores = Literal["auto", "decision_function", "log_odds", "probability"]
SCORES = ("auto", "decision_function", "log_odds", "probability")


def scored_classes(classes: np.ndarray) -> np.ndarray:
    """The classes that the columns of ``class_scores`` are of: the second of two, or each of several."""
    return classes[1:] if len(classes) == 2 else classes


def class_scores(learner: Any, X: Any, wanted: Scores, n_classes: int) -> np.ndarray:
    """(n_rows, 1) float64 scores of the second of two classes; of more, (n_rows, n_classes), each against the rest.

    ``"decision_function"`` is that of the learner. ``"log_odds"`` are ln p - ln (1 - p) of its ``predict_proba``, in
    nats and within +-708. ``"probability"`` is p itself. ``"auto"`` is the decision function where there is one and
    the log-odds elsewhere.

    Raises ValueError when the learner has no such scores, or not one for each class.
    """
    if wanted == "auto":
        wanted = "decision_function" if hasattr(learner, "decision_function") else "log_odds"
    source = "decision_function" if wanted == "decision_function" else "predict_proba"
    if not hasattr(learner, source):
        raise ValueError(f"{type(learner).__name__} has no {source} to read the {wanted.replace('_', ' ')} from")
    given = np.asarray(getattr(learner, source)(X), dtype=np.float64)
    if source == "decision_function" and n_classes == 2:
        given = given.reshape(len(given), -1)
    columns = 1 if source == "decision_function" and n_classes == 2 else n_classes
    if given.ndim != 2 or given.shape[1] != columns:
        raise ValueError(
            f"{source} of {type(learner).__name__} gives an array of shape {given.shape} where {columns} columns "
            f"were expected, for {n_classes} classes"
        )
    if wanted == "decision_function":
        return given
    of = range(1, 2) if n_classes == 2 else range(n_classes)
    if wanted == "probability":
        return given[:, list(of)]
    return np.column_stack([_log_odds(given, column) for column in of])


def _log_odds(estimates: np.ndarray, column: int) -> np.ndarray:
    """(n_rows,) of one column against the sum of the others."""
    # not from 1 - p: a probability next to 1 has lost the digits that its complement still has;
    # the floor keeps the log-odds of an exact 0 and 1 finite, at -708 and 708
    rest = np.delete(estimates, column, axis=1).sum(axis=1)
    of, against = np.log(np.maximum([estimates[:, column], rest], np.finfo(np.float64).tiny))
    return of - against


def two_columns(p: np.ndarray) -> np.ndarray:
    """(n_rows, 2) probabilities from the (n_rows,) probabilities of the second class."""
    return np.column_stack([1 - p, p])


def one_against_rest(estimates: list[np.ndarray]) -> np.ndarray:
    """(n_rows, n_classes) probabilities from the (n_rows,) estimates of each class put against the rest.

    One estimate is of the second of two classes; several are normalised.
    """
    return two_columns(estimates[0]) if len(estimates) == 1 else normalised(np.column_stack(estimates))


def clipped(estimates: np.ndarray, clip: tuple[float, float]) -> np.ndarray:
    """(n_rows, n_classes) estimates projected to a range; of more than two classes each row is divided by its sum."""
    if tuple(clip) == (0, 1):
        return estimates
    if estimates.shape[1] == 2:  # a row within the range keeps both columns: 1 - p loses the digits of a small one
        p = estimates[:, 1]
        inside = (p >= clip[0]) & (p <= clip[1])
        return np.where(inside[:, None], estimates, two_columns(np.clip(p, *clip)))
    return normalised(np.clip(estimates, *clip))


def normalised(estimates: np.ndarray) -> np.ndarray:
    """Each row divided by its sum, (n_rows, n_classes); a row of zeros says that all classes are as likely."""
    total = estimates.sum(axis=1, keepdims=True)
    return np.divide(estimates, total, out=np.full_like(estimates, 1 / estimates.shape[1]), where=total > 0)
