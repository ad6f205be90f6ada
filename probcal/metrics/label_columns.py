"""Match the labels of rows to the columns of their predicted probabilities: by names, by ``labels``, or by order."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np

from probcal._classes import column_names, places_among
from probcal._validation import label_positions, number_array, value_array

# Ten roundings of float32.
_SUM_TOLERANCE = 1e-6
_MOST_SHOWN = 5


def number_labels(y: Any, p: Any, pos_label: Any = None, labels: Any = None) -> tuple[Any, Any]:
    """Return the labels as numbers of columns, and the probabilities with their columns in that order."""
    if labels is None:
        y, p = _in_label_order(y, p, pos_label)
    return _class_numbers(y, p, pos_label, labels)


def class_names(y: Any, p: Any, labels: Any = None) -> list[Any]:
    """Return the label of each column of ``number_labels``, or its number from 0 where nothing names it."""
    if labels is not None:
        return [*np.asarray(labels).tolist()]
    distinct, names = _distinct(y)[0], column_names(p)
    is_text = all(isinstance(label, str) for label in distinct)
    if names and -1 not in places_among(names, distinct):
        return [names[place] for place in _sorted_places(names, as_texts=is_text)]
    return sorted(distinct) if is_text else [*range(np.shape(p)[1])]


def _in_label_order(y: Any, p: Any, pos_label: Any = None) -> tuple[Any, Any]:
    """Return the labels, and the probabilities with their columns in the order of the labels.

    Where the columns of a frame are named after the labels, the names decide: ``y`` becomes the numbers of its columns,
    and of two columns the one of ``pos_label`` comes last. Otherwise both are returned as they are.

    Raises ValueError where some labels have a column of their name and others have none. Without names, it raises
    ValueError for numbers that may count three or more columns from 0 or from 1, and for a ``pos_label`` that is not
    the last label in sorted order, because then either of two columns may be its own.
    """
    if np.ndim(p) != 2 or np.ndim(y) != 1 or np.shape(y)[0] != np.shape(p)[0] or np.ma.is_masked(y):
        return y, p  # the other checks explain what is wrong
    names = column_names(p)
    if not names and pos_label is None:
        _refuse_count_from_one(y, np.shape(p)[1])
        return y, p
    labels, codes = _distinct(y)
    named = labels if pos_label is None or pos_label in labels else [*labels, pos_label]
    places = places_among(names, named)
    if max(places) < 0 or (codes < 0).any():
        if pos_label is None:
            _refuse_count_from_one(y, np.shape(p)[1])
        elif np.shape(p)[1] == 2 and len(named) <= 2 and (codes >= 0).all():
            _refuse_unsorted(named, pos_label)
        return y, p
    if -1 in places:
        raise ValueError(
            f"p has the columns {listed(names)}, and none is named after the label {named[places.index(-1)]!r}; name "
            "each column after its label, or give an array with the columns in sorted order of the labels"
        )
    order, values = _sorted_places(names, as_texts=all(isinstance(label, str) for label in labels)), np.asarray(p)
    if pos_label is not None:
        last = places[named.index(pos_label)]
        return y, values[:, [*(place for place in order if place != last), last]]
    return np.array([order.index(place) for place in places])[codes], values[:, order]


def _distinct(y: Any) -> tuple[list[Any], np.ndarray]:
    """Return the distinct labels, and the place of each row's label among them, which is -1 for a missing one."""
    from pandas import factorize

    codes, labels = factorize(np.asarray(y, dtype=object))
    return [label.item() if isinstance(label, np.generic) else label for label in labels], codes


def _sorted_places(names: list[Any], *, as_texts: bool) -> list[int]:
    """Return the order of the columns by their names: as texts, or as numbers where all of them are numbers."""
    keys: list[Any] = [str(name) for name in names]
    if not as_texts:
        with suppress(ValueError):
            keys = [float(name) for name in names]
    return sorted(range(len(names)), key=keys.__getitem__)


def _refuse_unsorted(labels: list[Any], pos_label: Any) -> None:
    """Raise ValueError unless ``pos_label`` is the last of two labels, whose column is the second by every reading."""
    others = [label for label in labels if label != pos_label]
    try:
        last = all(label < pos_label for label in others) if others else pos_label == 1
    except TypeError:
        last = False
    if not last:
        raise ValueError(
            f"p has two columns without names, and {pos_label!r} is not the last label in sorted order, so either may "
            "be its own; give that column alone, or a DataFrame whose columns are named after the labels"
        )


def _refuse_count_from_one(y: Any, n_columns: int) -> None:
    """Raise ValueError for numbers without a 0 beside three or more columns, which may be labels or columns."""
    numbers: np.ndarray = np.asarray(y)
    if numbers.dtype == object:  # a pandas extension type
        numbers = np.array(numbers.tolist())
    if n_columns < 3 or numbers.dtype.kind not in "iuf" or not len(numbers):
        return
    if numbers.min() >= 1 and numbers.max() < n_columns:
        raise ValueError(
            f"y holds {listed(np.unique(numbers).tolist())} and no 0, and p has {n_columns} columns, so y may count "
            "them from 0 or from 1; give a DataFrame whose columns are named after the labels, such as "
            "pd.DataFrame(p, columns=model.classes_)"
        )


def _class_numbers(y: Any, p: Any, pos_label: Any = None, labels: Any = None) -> tuple[Any, Any]:
    """Return (y, p). ``y`` tells whether each label is ``pos_label``, or without one which column of ``p`` it has.

    The columns are in the order of ``labels``, or without them in the sorted order of the texts in ``y``, as
    scikit-learn has them. Other labels are returned as they are. With both ``labels`` and ``pos_label``, ``p`` is
    returned with the columns of that class and of the others. Raises ValueError for missing and for unknown labels, and
    where labels and columns differ in number.
    """
    if labels is not None:
        return _among_labels(y, p, pos_label, labels)
    if pos_label is not None:
        return _is_positive(y, p, pos_label), p
    values = label_values(y)
    if values.dtype.kind not in "UTO" or values.ndim != 1 or np.ndim(p) != 2 or np.ma.is_masked(y):
        return y, p
    if not len(values) or not all(isinstance(label, str) for label in values.tolist()):
        return values, p
    classes, numbers = np.unique(values.astype(str), return_inverse=True)
    if len(classes) != np.shape(p)[1]:
        raise ValueError(
            f"y holds {len(classes)} different labels, and p has {np.shape(p)[1]} columns; name the label of each "
            "column with labels, such as labels=model.classes_"
        )
    return numbers, p


def _among_labels(y: Any, p: Any, pos_label: Any, labels: Any) -> tuple[np.ndarray, Any]:
    classes = value_array(labels, "labels", "label")
    if len(classes) < 2 or not (classes[:-1] < classes[1:]).all():
        raise ValueError(
            f"labels must be two or more different labels in rising order, the order of the columns of p, not "
            f"{classes.tolist()}"
        )
    values = value_array(y, "y", "label")
    columns = label_positions(values, classes)
    if (columns < 0).any():
        raise ValueError(
            f"y holds the label {values[columns < 0].tolist()[0]!r}, which is not one of labels "
            f"({listed(sorted(classes.tolist(), key=repr))})"
        )
    n_columns = np.shape(p)[1] if np.ndim(p) == 2 else None
    if n_columns not in (None, len(classes)):
        raise ValueError(f"p must have a column for each of {len(classes)} labels, not {n_columns}")
    p = _in_order_of(classes, p)
    if pos_label is None:
        if n_columns is None and len(classes) > 2:
            raise ValueError(
                f"p is of shape (n,), and there are {len(classes)} labels; give pos_label, the label that p belongs to"
            )
        return columns, p
    column = int(label_positions(np.array([pos_label], dtype=object), classes)[0])
    if column < 0:
        raise ValueError(f"pos_label {pos_label!r} is not one of labels ({listed(sorted(classes.tolist(), key=repr))})")
    if n_columns is not None and (n_columns > 2 or column == 0):
        matrix = number_array(p, "p")
        check_sums(matrix, sum_tolerance(p))  # which nobody can check once the other columns are left out
        p = matrix[:, column] if n_columns > 2 else np.asarray(p)[:, ::-1]
    return columns == column, p


def _in_order_of(classes: np.ndarray, p: Any) -> Any:
    """Return the columns of a frame that are named after the classes in the order of these. Otherwise return ``p``."""
    columns = places_among(column_names(p), classes)
    return p if -1 in columns or columns == sorted(columns) else np.asarray(p)[:, columns]


def _is_positive(y: Any, p: Any, pos_label: Any) -> np.ndarray:
    """Return whether each label is ``pos_label``, (n,). Labels of any kind are allowed, at most two of them."""
    labels = value_array(y, "y", "label")
    if np.ndim(p) == 2 and np.shape(p)[1] > 2:
        raise ValueError(
            f"pos_label is for two classes, and p has {np.shape(p)[1]} columns; name their labels with labels"
        )
    distinct = set(labels.tolist())
    if len(distinct | {pos_label}) > 2:
        reason = "more than two labels" if pos_label in distinct else f"no label {pos_label!r}"
        raise ValueError(
            f"y holds {reason} (it holds {listed(sorted(distinct, key=repr))}); for one class against the rest name "
            "all of them with labels, such as labels=model.classes_"
        )
    return np.asarray(labels == pos_label)


def label_values(y: Any) -> np.ndarray:
    """Return ``y`` as an array. Among texts a missing value stays one, which NumPy would make the text "nan"."""
    values: np.ndarray = np.asarray(y)
    return np.asarray(y, dtype=object) if values.dtype.kind == "U" and not isinstance(y, np.ndarray) else values


def check_sums(p: np.ndarray, tolerance: float) -> None:
    sums = p.sum(axis=1)
    refuse(np.abs(sums - 1) > tolerance, sums, "each row of p must sum to 1")


def sum_tolerance(p: Any) -> float:
    """Return the tolerance of the sum of a row of predictions: ten roundings of float16 or of float32."""
    is_half = not isinstance(p, list | tuple) and np.asarray(p).dtype == np.float16
    return 10 * float(np.finfo(np.float16).eps) if is_half else _SUM_TOLERANCE


def refuse(bad: np.ndarray, values: np.ndarray, rule: str) -> None:
    """Raise ValueError with the ``rule`` and the first row where ``bad`` is True."""
    if bad.any():
        where = np.unravel_index(int(np.argmax(bad)), bad.shape)
        place = f"row {where[0]}" + "".join(f", column {column}" for column in where[1:])
        raise ValueError(f"{rule} ({place}, counted from 0: {repr(float(values[where])).removesuffix('.0')})")


def listed(values: list[Any]) -> str:
    """Return the first five values for a message."""
    return ", ".join(repr(value) for value in values[:_MOST_SHOWN]) + (", ..." if len(values) > _MOST_SHOWN else "")
