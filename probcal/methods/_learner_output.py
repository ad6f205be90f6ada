"""What a fitted learner predicts, with a column for each class in the order of the method's own classes."""

from __future__ import annotations

from typing import Any

import numpy as np


def in_class_order(learner: Any, columns: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return the learner's output of shape (n_rows, n_classes) with its columns in the order of ``classes``.

    The learner's own ``classes_`` name its columns. Raises ValueError where it has none, or others than ``classes``.
    """
    order = _column_order(learner, classes)
    return columns if order is None else columns[:, order]


def probabilities_of(learner: Any, X: Any, classes: np.ndarray) -> np.ndarray:
    """Return ``predict_proba`` of ``X`` as float64, (n_rows, n_classes), in the order of ``classes``.

    Raises ValueError for another number of columns, or if the learner's ``classes_`` do not fit.
    """
    given = np.asarray(learner.predict_proba(X), dtype=np.float64)
    _check_columns(learner, "predict_proba", given, len(classes), len(classes))
    return in_class_order(learner, given, classes)


def decisions_of(learner: Any, X: Any, classes: np.ndarray) -> np.ndarray:
    """Return ``decision_function`` of ``X`` as float64, in the order of ``classes``.

    The shape is (n_rows, 1) for the second of two classes, and (n_rows, n_classes) for several. Raises ValueError for
    another number of columns, for scores of pairs of classes, or if the learner's ``classes_`` do not fit.
    """
    two = len(classes) == 2
    if not two:
        _refuse_pairs(learner)
    given = np.asarray(learner.decision_function(X), dtype=np.float64)
    if two:
        given = given.reshape(len(given), -1)
    _check_columns(learner, "decision_function", given, 1 if two else len(classes), len(classes))
    order = _column_order(learner, classes)
    if order is None:
        return given
    return -given if two else given[:, order]


def labels_of(learner: Any, X: Any) -> np.ndarray:
    """Return the predicted labels, (n_rows,). Some learners return them as a column."""
    labels = np.asarray(learner.predict(X))
    return labels[:, 0] if labels.ndim == 2 and labels.shape[1] == 1 else labels


def _column_order(learner: Any, classes: np.ndarray) -> list[int] | None:
    """Return the place of each class among the learner's columns, or None where they have the same order."""
    known = getattr(learner, "classes_", None)
    if known is None:
        raise ValueError(
            f"{type(learner).__name__} has no classes_, so nobody knows which class each of its columns belongs to; "
            "set self.classes_ = np.unique(y) in its fit"
        )
    own = np.asarray(known).ravel().tolist()
    wanted = classes.tolist()
    if own == wanted:
        return None
    places = {label: place for place, label in enumerate(own)}
    if len(own) != len(wanted) or set(places) != set(wanted):
        raise ValueError(
            f"{type(learner).__name__} has the classes_ {own}, and y holds {wanted}; each class needs its column"
        )
    return [places[label] for label in wanted]


def _check_columns(learner: Any, source: str, given: np.ndarray, n_columns: int, n_classes: int) -> None:
    if given.ndim != 2 or given.shape[1] != n_columns:
        raise ValueError(
            f"{source} of {type(learner).__name__} gives an array of shape {given.shape} where {n_columns} columns "
            f"were expected, for {n_classes} classes"
        )


def _refuse_pairs(learner: Any) -> None:
    """Raise ValueError for scores of pairs of classes, which for three classes look like those of single classes."""
    parameters = learner.get_params(deep=True) if hasattr(learner, "get_params") else {}
    for name, value in parameters.items():
        if name.rpartition("__")[2] == "decision_function_shape" and value == "ovo":
            raise ValueError(
                f"decision_function of {type(learner).__name__} with {name}='ovo' gives a score for each pair of "
                f"classes, and one for each class is needed; set {name}='ovr'"
            )
