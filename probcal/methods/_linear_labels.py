"""Labels of many linear classifiers of scikit-learn by one product of matrices, instead of one ``predict`` for each.

Most of the time of ``predict`` for one row goes into checks of the same row. The rows are checked once here. A product
of matrices may round in another way than a product with one vector, which matters only for a score next to 0. The
classifiers of such scores predict for themselves, so each label is that of ``predict``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.linear_model._base import LinearClassifierMixin
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import validate_data

_SCORES_PER_BLOCK = 1 << 22


def has_plain_scores(classifier: Any, classes: np.ndarray) -> bool:
    """Return whether the labels of a classifier of two ``classes`` are the signs of ``X @ coef_ + intercept_``."""
    kind = type(classifier)
    is_plain = (
        isinstance(classifier, LinearClassifierMixin)
        and getattr(kind, "predict", None) is LinearClassifierMixin.predict
        and getattr(kind, "decision_function", None) is LinearClassifierMixin.decision_function
        and np.array_equal(getattr(classifier, "classes_", ()), classes)
    )
    coefficients = getattr(classifier, "coef_", None)
    return is_plain and type(coefficients) is np.ndarray and coefficients.ndim == 2 and len(coefficients) == 1


def linear_labels(classifiers: list[Any], X: Any) -> Iterator[np.ndarray]:
    """Yield whether each classifier predicts the second class, for blocks of rows: (n_block, n_classifiers) bool.

    All ``classifiers`` have plain scores (``has_plain_scores``) and were fitted with the same columns.
    """
    X = validate_data(classifiers[0], X, accept_sparse="csr", reset=False)
    coefficients = np.concatenate([one.coef_ for one in classifiers])
    intercepts = np.concatenate([np.ravel(one.intercept_) for one in classifiers])
    # a sum of n products is off by at most n eps of their sizes, in each of the two ways to compute it
    rounding = (2 * coefficients.shape[1] + 8) * np.finfo(coefficients.dtype).eps
    if X.dtype.kind == "f":
        rounding = max(rounding, (2 * coefficients.shape[1] + 8) * float(np.finfo(X.dtype).eps))
    step = max(1, _SCORES_PER_BLOCK // len(classifiers))
    for start in range(0, X.shape[0], step):
        rows = X[start : start + step]
        # an overflow leaves a score that is not sure, so its classifier predicts for itself
        with np.errstate(over="ignore", invalid="ignore"):
            scores = safe_sparse_dot(rows, coefficients.T, dense_output=True) + intercepts
            sizes = safe_sparse_dot(abs(rows), abs(coefficients).T, dense_output=True) + abs(intercepts)
            is_sure = abs(scores) > rounding * sizes
        labels = scores > 0
        for index in np.flatnonzero(~is_sure.all(axis=0)):
            labels[:, index] = classifiers[index].decision_function(rows) > 0
        yield labels
