"""Read what a fitted learner predicts, in the order of given classes.

The columns of a learner follow its own ``classes_``, which need not be sorted: CatBoost has "9" before "10".
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline

from probcal._classes import places_among
from probcal._validation import count_rows

LARGEST_SUM_ERROR = 1e-3
"""How far the probabilities of a row may be from a sum of 1. Files often hold three digits."""


def learns_nothing(estimator: Any) -> bool:
    """Return whether ``fit`` leaves ``estimator`` as it is: a FrozenEstimator or a PrefitClassifier."""
    return isinstance(estimator, FrozenEstimator) or getattr(type(estimator), "learns_nothing", False)


def class_places(learner: Any, classes: np.ndarray) -> np.ndarray:
    """Return the place of each of ``classes`` in the learner's ``classes_``, and -1 for one that it has not seen.

    Raises ValueError for a learner without ``classes_``, or with one that is not among ``classes``.
    """
    known = getattr(learner, "classes_", None)
    name = type(learner).__name__
    if known is None:
        raise ValueError(
            f"{name} has no classes_, so the classes of its columns are unknown; let its fit set "
            "classes_ = np.unique(y), or the labels in the order of its columns"
        )
    if np.ndim(known) != 1:
        raise ValueError(f"classes_ of {name} must be one list of labels, not {known!r}")
    if np.array_equal(known, classes):
        return np.arange(len(classes))
    places = np.array(places_among(known, classes))
    if len(set(places.tolist()) - {-1}) != len(known):
        raise ValueError(
            f"{name} knows the classes {np.asarray(known).tolist()}, and y holds {classes.tolist()}; give rows of each "
            "class, and a learner whose classes_ are the labels of y"
        )
    return places


def every_class_place(learner: Any, classes: np.ndarray) -> np.ndarray:
    """Return what ``class_places`` does. Raises ValueError also where the learner has not seen one of the classes."""
    places = class_places(learner, classes)
    if -1 in places.tolist():
        raise ValueError(
            f"{type(learner).__name__} knows the classes {np.asarray(learner.classes_).tolist()}, and y holds "
            f"{classes.tolist()}; the learner must know every class of y"
        )
    return places


def in_class_order(learner: Any, columns: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return ``columns`` of the learner, one for each of its classes, in the order of ``classes``.

    Raises ValueError where its classes are others.
    """
    return _columns_at(columns, every_class_place(learner, classes))


def learner_probabilities(learner: Any, X: Any, classes: np.ndarray, *, unseen: bool = False) -> np.ndarray:
    """Return ``predict_proba`` as float64, (n_rows, n_classes), with a column for each of ``classes`` in their order.

    With ``unseen``, a class that the learner has not seen gets probability 0. Raises ValueError otherwise, and where
    the columns and the learner's ``classes_`` differ in number.
    """
    places = (class_places if unseen else every_class_place)(learner, classes)
    given = np.asarray(learner.predict_proba(X), dtype=np.float64)
    _check_columns(learner, "predict_proba", given, len(learner.classes_))
    if -1 not in places.tolist():
        return _columns_at(given, places)
    p = np.zeros((count_rows(X), len(classes)))
    p[:, places >= 0] = given[:, places[places >= 0]]
    return p


def learner_scores(learner: Any, X: Any, classes: np.ndarray) -> np.ndarray:
    """Return ``decision_function`` as float64: (n_rows, 1) for the second of two classes, or (n_rows, n_classes).

    The columns of several ``classes`` are in their order, each class against the rest. Scores of pairs of classes, as
    of ``SVC(decision_function_shape="ovo")``, become such scores as scikit-learn makes them. Raises ValueError for
    other scores of pairs, and for scores that do not fit the classes.
    """
    places = every_class_place(learner, classes)
    given = np.asarray(learner.decision_function(X), dtype=np.float64)
    if (n_classes := len(classes)) == 2:
        given = given.reshape(len(given), -1)
        _check_columns(learner, "decision_function", given, 1, n_classes)
        return given if places[1] == 1 else -given
    if getattr(_scoring(learner), "decision_function_shape", None) == "ovo":
        _check_columns(learner, "decision_function", given, n_classes * (n_classes - 1) // 2, n_classes)
        return _columns_at(_against_the_rest(given, n_classes), places)
    _check_columns(learner, "decision_function", given, n_classes)
    if n_classes == 3 and _may_score_pairs(learner):
        _refuse_pairs(learner, X, given)
    return _columns_at(given, places)


def predicted_classes(learner: Any, X: Any, classes: np.ndarray) -> np.ndarray:
    """Return the place in ``classes`` of each label that the learner predicts, (n_rows,) int.

    Raises ValueError for labels out of ``classes``, and for another shape than (n_rows,) or (n_rows, 1).
    """
    given = np.asarray(learner.predict(X))
    if given.ndim == 2 and given.shape[1] == 1:  # as CatBoost gives labels of several classes
        given = given[:, 0]
    if given.ndim != 1:
        raise ValueError(f"predict of {type(learner).__name__} gives an array of shape {given.shape}, not of labels")
    if len(classes) == 2:
        second = np.asarray(given == classes[1])
        if (second | (given == classes[0])).all():
            return second.astype(np.intp)
    # Each distinct label is looked up once, since rows are many and labels few.
    place, found = pd.factorize(given, use_na_sentinel=False)
    places = np.array(places_among(classes, found), dtype=np.intp)
    if (places < 0).any():
        raise ValueError(
            f"predict of {type(learner).__name__} gives the label {found[places < 0].tolist()[0]!r}, which is none of "
            f"the classes of y, {classes.tolist()}; a learner must predict the labels that it was fitted with"
        )
    numbers: np.ndarray = places[place]
    return numbers


def normalised_rows(probabilities: np.ndarray) -> np.ndarray:
    """Return each row divided by its sum. A row of zeros becomes uniform."""
    total = probabilities.sum(axis=1, keepdims=True)
    normalised = np.full_like(probabilities, 1 / probabilities.shape[1])
    np.divide(probabilities, total, out=normalised, where=total > 0)
    return normalised


def last_step(estimator: Any) -> Any:
    """Return the classifier at the end of a Pipeline, also of one inside another, or ``estimator`` itself."""
    while isinstance(estimator, Pipeline):
        estimator = estimator.steps[-1][1]
    return estimator


def _columns_at(columns: np.ndarray, places: np.ndarray) -> np.ndarray:
    in_order = places.tolist() == list(range(columns.shape[1]))
    return columns if in_order else np.ascontiguousarray(columns[:, places])


def _check_columns(learner: Any, source: str, given: np.ndarray, columns: int, n_classes: int | None = None) -> None:
    if given.ndim != 2 or given.shape[1] != columns:
        raise ValueError(
            f"{source} of {type(learner).__name__} gives an array of shape {given.shape} where {columns} columns "
            f"were expected, for {n_classes or columns} classes"
        )


def _scoring(learner: Any) -> Any:
    """Return the classifier whose decision function is that of ``learner``: inside pipelines and searches."""
    while True:
        inner = learner.estimator if isinstance(learner, FrozenEstimator) else last_step(learner)
        inner = getattr(inner, "best_estimator_", inner)
        if inner is learner:
            return learner
        learner = inner


def _against_the_rest(pairs: np.ndarray, n_classes: int) -> np.ndarray:
    """Return the scores of the classes from those of their pairs, as scikit-learn's SVC has them with "ovr".

    A class gets its number of votes. The sum of its scores, squeezed into (-1/3, 1/3), decides between equal numbers.
    """
    votes, sums = (np.zeros((len(pairs), n_classes)) for _ in range(2))
    for number, (one, other) in enumerate(zip(*np.triu_indices(n_classes, 1), strict=True)):
        column = pairs[:, number]
        sums[:, one] += column
        sums[:, other] -= column
        votes[:, one] += column >= 0
        votes[:, other] += column < 0
    scores: np.ndarray = votes + sums / (3 * (np.abs(sums) + 1))
    return scores


_FEWEST_ROWS = 10
"""In fewer rows, labels may agree with a wrong reading of the scores by chance."""


def _may_score_pairs(learner: Any) -> bool:
    """Return whether the three scores of ``learner`` may be those of pairs of classes, of which there are three too."""
    scoring = _scoring(learner)
    if type(scoring).__module__.split(".")[0] not in ("sklearn", "probcal"):
        return True
    parameters = scoring.get_params(deep=True).items()
    return any(value == "ovo" for name, value in parameters if name.endswith("decision_function_shape"))


def _refuse_pairs(learner: Any, X: Any, given: np.ndarray) -> None:
    """Raise ValueError where the labels of ``learner`` fit its three scores better if they are those of pairs."""
    if len(given) < _FEWEST_ROWS or not hasattr(learner, "predict"):
        return
    labels = predicted_classes(learner, X, np.asarray(learner.classes_))
    of_pairs = np.argmax(_against_the_rest(given, 3), axis=1)
    if np.mean(of_pairs == labels) > np.mean(np.argmax(given, axis=1) == labels):
        raise ValueError(
            f"decision_function of {type(learner).__name__} seems to score pairs of classes; set "
            "decision_function_shape='ovr', or let it return a score for each class against the rest"
        )
