"""The scores that a fitted learner gives to rows: what a calibrating map turns into probabilities."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

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
