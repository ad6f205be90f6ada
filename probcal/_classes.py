"""Classes: those of the labels of a fit, and their places among others, so that columns get the order of the classes.

scikit-learn is imported on first use, because metrics do not need it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from probcal._validation import label_array

_LARGEST_COUNTED = 1000
"""Largest label of which a table of counts is made."""


def class_labels(X: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return (labels, classes): ``y`` as an array (n_rows,), and its sorted distinct labels.

    Raises ValueError when X and y differ in length, a label is missing, y does not hold labels, or there is only one
    class.
    """
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_consistent_length

    check_consistent_length(X, y)
    labels = label_array(y)
    if (classes := _small_integers(labels)) is None:
        check_classification_targets(labels)
        classes = np.unique(labels)
    if not len(classes):
        raise ValueError("there are no rows to learn from")
    if len(classes) < 2:
        raise ValueError(f"y holds one class only, {classes.tolist()[0]!r}; give rows of at least two classes")
    return labels, classes


def _small_integers(labels: np.ndarray) -> np.ndarray | None:
    """Return the sorted distinct labels of an array of small whole numbers, or None for all other labels.

    Counting them takes a tenth of the time of two hash tables, which is most of the fit of a simple map.
    """
    if labels.ndim != 1 or labels.dtype.kind not in "biu" or not len(labels):
        return None
    if labels.dtype == bool:
        return np.unique(labels[[labels.argmin(), labels.argmax()]])
    low, high = int(labels.min()), int(labels.max())
    if low < 0 or high > _LARGEST_COUNTED:
        return None
    return np.flatnonzero(np.bincount(labels)).astype(labels.dtype)


def two_classes(X: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return what ``class_labels`` returns. Raises ValueError for more than two classes."""
    labels, classes = class_labels(X, y)
    if len(classes) > 2:
        raise ValueError(f"two classes are needed, y holds {len(classes)}: {classes[:5].tolist()}")
    return labels, classes


def require_weight_of_each_class(classes: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> None:
    """Raise ValueError if a class has no row of positive weight."""
    if len(lost := np.setdiff1d(classes, labels[weights > 0])):
        raise ValueError(f"class {lost[0]} has no row of positive weight; give more rows of it, or leave it out")


def places_among(known: Iterable[Any], wanted: Iterable[Any]) -> list[int]:
    """Return the place of each of the ``wanted`` classes among the ``known`` ones, and -1 where there is none.

    Classes match by value, as 9 and 9.0 do. Where more of them match by name, as 9 and "9" do, names decide.
    """
    known, wanted = _values(known), _values(wanted)
    readings: list[Callable[[Any], Any]] = [lambda one: one, str, _name]
    found = [_places([read(one) for one in known], [read(one) for one in wanted]) for read in readings]
    # min takes the first of equals, so names decide only where they match more classes.
    return min(found, key=lambda places: places.count(-1))


def column_names(frame: Any) -> list[Any]:
    """Return the names of the columns of a frame. Those that pandas gives by default, from 0 on, name nothing."""
    names = list(getattr(frame, "columns", []))
    default = type(getattr(frame, "columns", None)).__name__ == "RangeIndex" and names == list(range(len(names)))
    return [] if default else names


def _values(classes: Iterable[Any]) -> list[Any]:
    return [one.item() if isinstance(one, np.generic) else one for one in classes]


def _places(known: list[Any], wanted: list[Any]) -> list[int]:
    place = {one: number for number, one in enumerate(known)}
    # Two known classes with one name, such as 9 and "9", cannot be told apart by it.
    return [place.get(one, -1) for one in wanted] if len(place) == len(known) else [-1] * len(wanted)


def _name(one: Any) -> str:
    return str(int(one)) if isinstance(one, float) and one.is_integer() else str(one)
