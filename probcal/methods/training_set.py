"""The labels and weights that a method is given, checked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, column_or_1d


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
