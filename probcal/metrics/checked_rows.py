"""Checks of the labels, predictions and weights that a metric gets."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

from probcal._classes import column_names, places_among
from probcal._validation import label_positions, number_array, value_array
from probcal.metrics.label_columns import in_label_order

_UNITS = {"bits": 2.0, "nats": math.e}
_SUM_TOLERANCE = 1e-6
"""Ten roundings of float32."""


@dataclass(frozen=True)
class Rows:
    """Hold checked labels, predictions and weights.

    Attributes
    ----------
    y : ndarray of shape (n_rows,)
        Whole numbers from 0.
    p : ndarray of shape (n_rows,) or (n_rows, n_classes)
        Predicted P(y = 1) of two classes, or predicted probabilities of three or more classes.
    weight : ndarray of shape (n_rows,)
        Weights above 0 and below 1, or all 1.
    negative : ndarray of shape (n_rows,) or None
        Predicted P(y = 0) if two columns were given, and otherwise None.
    """

    y: np.ndarray
    p: np.ndarray
    weight: np.ndarray
    negative: np.ndarray | None = None

    @property
    def p_of_label(self) -> np.ndarray:
        """Return the predicted probability of each row's own label, (n,).

        A small P(y = 0) next to a P(y = 1) that rounds to 1 is kept, where 1 - P(y = 1) would be 0.
        """
        if self.p.ndim == 2:
            return np.asarray(self.p[np.arange(len(self.p)), self.y.astype(int)])
        negative = 1 - self.p if self.negative is None else self.negative
        return np.where(self.y == 1, self.p, negative)

    def mean(self, values: np.ndarray) -> float:
        """Return the weighted mean of ``values``, (n,)."""
        return float((self.weight * values).sum() / self.weight.sum())

    def against_the_rest(self) -> list[Rows]:
        """Return each class against all others as rows of two classes.

        Two classes give only the second one, because the first is its mirror image.
        """
        if self.p.ndim == 1:
            return [self]
        classes = range(self.p.shape[1])
        return [Rows((self.y == one).astype(np.float64), self.p[:, one], self.weight) for one in classes]


def checked(y: Any, p: Any, sample_weight: Any = None, pos_label: Any = None, labels: Any = None) -> Rows:
    """Return the rows of positive weight. Raises ValueError as every metric does."""
    return checked_numbers(*numbered(y, p, pos_label, labels), sample_weight)


def numbered(y: Any, p: Any, pos_label: Any = None, labels: Any = None) -> tuple[Any, Any]:
    """Return the labels as numbers of columns, and the probabilities with their columns in that order."""
    if labels is None:
        y, p = in_label_order(y, p, pos_label)
    return class_numbers(y, p, pos_label, labels)


def checked_numbers(y: Any, p: Any, sample_weight: Any = None) -> Rows:
    """Return what ``checked`` does, for labels that are known to be the numbers of the columns."""
    tolerance = _sum_tolerance(p)
    y, p = _numbers(y, "y"), _numbers(p, "p")
    if y.ndim != 1 or p.ndim not in (1, 2) or len(y) != len(p):
        shapes = f"{y.shape} and {p.shape}"
        raise ValueError(f"y must be of shape (n,), and p of shape (n,) or (n, n_classes) with equal n, not {shapes}")
    _check_not_empty(y)
    # one of several columns may exceed 1 by the tolerance of the row's sum
    most = 1 if p.ndim == 1 else 1 + tolerance
    refuse(~((p >= 0) & (p <= most)), p, "p must lie within [0, 1], with no missing values")
    p = np.minimum(p, 1)
    if p.ndim == 1:
        refuse(~((y == 0) | (y == 1)), y, "y must hold 0 and 1 only, with no missing values; or give pos_label")
    else:
        _check_classes(y, p, tolerance)
    negative = None
    if p.ndim == 2 and p.shape[1] == 2:
        negative, p = p[:, 0], p[:, 1]
    weight = _checked_weight(sample_weight, len(y))
    kept = weight > 0
    if kept.all():
        return Rows(y, p, weight, negative)
    return Rows(y[kept], p[kept], weight[kept], None if negative is None else negative[kept])


def checked_two_classes(y: Any, p: Any, sample_weight: Any = None, pos_label: Any = None, labels: Any = None) -> Rows:
    """Return what ``checked`` does, for a metric that is defined for two classes only."""
    rows = checked(y, p, sample_weight, pos_label, labels)
    if rows.p.ndim != 1:
        n_classes = rows.p.shape[1]
        raise ValueError(
            f"p must be of shape (n,) or (n, 2): this metric is for two classes, and p has {n_classes} columns; to "
            "compare one class with the others, give labels and pos_label"
        )
    return rows


def checked_pair(a: Any, b: Any, sample_weight: Any, names: tuple[str, str]) -> Rows:
    """Return what ``checked`` does, for two sets of probabilities, (n,) each."""
    a, b = (_numbers(values, name) for values, name in zip((a, b), names, strict=True))
    if a.ndim != 1 or a.shape != b.shape:
        raise ValueError(f"{names[0]} and {names[1]} must be of one shape (n,), not {a.shape} and {b.shape}")
    _check_not_empty(a)
    for values, name in zip((a, b), names, strict=True):
        refuse(~((values >= 0) & (values <= 1)), values, f"{name} must lie within [0, 1], with no missing values")
    weight = _checked_weight(sample_weight, len(a))
    kept = weight > 0
    return Rows(a[kept], b[kept], weight[kept])


def checked_base(base: float | str) -> float:
    """Return the base of a logarithm: 2 for ``"bits"``, e for ``"nats"``, and a number above 1 as it is."""
    if isinstance(base, str) and base in _UNITS:
        return _UNITS[base]
    if not (is_number(base) and 1 < float(base) < math.inf):
        rule = 'base, of the logarithm, must be "bits", "nats" or a finite number above 1, such as 2 or math.e'
        raise ValueError(f"{rule}, not {base!r}")
    return float(base)


def refuse(bad: np.ndarray, values: np.ndarray, rule: str) -> None:
    """Raise ValueError with the ``rule`` and the first row where ``bad`` is True."""
    if bad.any():
        where = np.unravel_index(int(np.argmax(bad)), bad.shape)
        place = f"row {where[0]}" + "".join(f", column {column}" for column in where[1:])
        raise ValueError(f"{rule} ({place}, counted from 0: {repr(float(values[where])).removesuffix('.0')})")


def is_number(value: Any) -> bool:
    """Return whether ``value`` is one real number, including NaN and infinity. True and False are not."""
    return isinstance(value, Real) and not isinstance(value, bool)


def is_count(value: Any) -> bool:
    """Return whether ``value`` is a whole number of at least 1. True is not."""
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 1


def class_numbers(y: Any, p: Any, pos_label: Any = None, labels: Any = None) -> tuple[Any, Any]:
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
    found = _labels(y)
    if found.dtype.kind not in "UTO" or found.ndim != 1 or np.ndim(p) != 2 or np.ma.is_masked(y):
        return y, p
    if not len(found) or not all(isinstance(one, str) for one in found.tolist()):
        return found, p
    classes, numbers = np.unique(found.astype(str), return_inverse=True)
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
    given = value_array(y, "y", "label")
    places = label_positions(given, classes)
    if (places < 0).any():
        raise ValueError(
            f"y holds the label {given[places < 0].tolist()[0]!r}, which is not one of labels "
            f"({_listed(classes.tolist())})"
        )
    columns = np.shape(p)[1] if np.ndim(p) == 2 else None
    if columns not in (None, len(classes)):
        raise ValueError(f"p must have a column for each of {len(classes)} labels, not {columns}")
    p = _in_order_of(classes, p)
    if pos_label is None:
        if columns is None and len(classes) > 2:
            raise ValueError(
                f"p is of shape (n,), and there are {len(classes)} labels; give pos_label, the label that p belongs to"
            )
        return places, p
    place = int(label_positions(np.array([pos_label], dtype=object), classes)[0])
    if place < 0:
        raise ValueError(f"pos_label {pos_label!r} is not one of labels ({_listed(classes.tolist())})")
    if columns is not None and (columns > 2 or place == 0):
        tolerance, matrix = _sum_tolerance(p), _numbers(p, "p")
        _check_sums(matrix, tolerance)
        p = matrix[:, place] if columns > 2 else np.asarray(p)[:, ::-1]
    return places == place, p


def _in_order_of(classes: np.ndarray, p: Any) -> Any:
    """Return the columns of a frame that are named after the classes in the order of these. Otherwise return ``p``."""
    places = places_among(column_names(p), classes)
    return p if -1 in places or places == sorted(places) else np.asarray(p)[:, places]


def _is_positive(y: Any, p: Any, pos_label: Any) -> np.ndarray:
    """Return whether each label is ``pos_label``, (n,). Labels of any kind are allowed, at most two of them."""
    labels = value_array(y, "y", "label")
    if np.ndim(p) == 2 and np.shape(p)[1] > 2:
        raise ValueError(
            f"pos_label is for two classes, and p has {np.shape(p)[1]} columns; name their labels with labels"
        )
    found = set(labels.tolist())
    if len(found | {pos_label}) > 2:
        reason = "more than two labels" if pos_label in found else f"no label {pos_label!r}"
        raise ValueError(
            f"y holds {reason} (it holds {_listed(found)}); for one class against the rest name all of them with "
            "labels, such as labels=model.classes_"
        )
    return np.asarray(labels == pos_label)


def _listed(labels: Collection[Any]) -> str:
    """Return the first five labels in order, for a message."""
    return ", ".join(sorted(map(repr, labels))[:5]) + (", ..." if len(labels) > 5 else "")


def _labels(y: Any) -> np.ndarray:
    """Return ``y`` as an array. Among texts a missing value stays one, which NumPy would make the text "nan"."""
    labels: np.ndarray = np.asarray(y)
    return np.asarray(y, dtype=object) if labels.dtype.kind == "U" and not isinstance(y, np.ndarray) else labels


def _check_classes(y: np.ndarray, p: np.ndarray, tolerance: float) -> None:
    n_classes = p.shape[1]
    if n_classes < 2:
        raise ValueError("p must be of shape (n,) or have a column for each of two or more classes, not one column")
    numbers = f"y must hold the whole numbers 0 to {n_classes - 1} only, the columns of p, with no missing values"
    refuse(~((y >= 0) & (y < n_classes) & (y == np.floor(y))), y, numbers)
    _check_sums(p, tolerance)


def _check_sums(p: np.ndarray, tolerance: float) -> None:
    sums = p.sum(axis=1)
    refuse(np.abs(sums - 1) > tolerance, sums, "each row of p must sum to 1")


def _sum_tolerance(p: Any) -> float:
    """Return the tolerance of the sum of a row of predictions: ten roundings of float16 or of float32."""
    is_half = not isinstance(p, list | tuple) and np.asarray(p).dtype == np.float16
    return 10 * float(np.finfo(np.float16).eps) if is_half else _SUM_TOLERANCE


def _check_not_empty(y: np.ndarray) -> None:
    if not len(y):
        raise ValueError("there are no rows to measure")


def _checked_weight(sample_weight: Any, n_rows: int) -> np.ndarray:
    if sample_weight is None:
        return np.ones(n_rows)
    weight = _numbers(sample_weight, "sample_weight")
    if weight.shape != (n_rows,):
        raise ValueError(f"sample_weight must be of shape ({n_rows},), a number for each row, not {weight.shape}")
    refuse(~(np.isfinite(weight) & (weight >= 0)), weight, "sample_weight must be finite and not negative")
    if not weight.any():
        raise ValueError("sample_weight must not be 0 in every row")
    if weight.max() == weight[weight > 0].min():
        return (weight > 0).astype(np.float64)  # to the last bit as without weights
    # Only ratios matter. A power of two changes none of them, and no sum can overflow any more.
    scaled: np.ndarray = np.ldexp(weight, -np.frexp(weight.max())[1])
    return scaled


def _numbers(values: Any, name: str) -> np.ndarray:
    if name != "y":
        return number_array(values, name)
    try:
        return number_array(values, name)
    except ValueError as error:
        if np.ma.is_masked(values):
            raise
        labels = _labels(values).ravel().tolist()
        if all(isinstance(one, str) for one in labels):
            raise ValueError(f"y holds texts ({_listed(set(labels))}); name the positive one with pos_label") from None
        raise ValueError(f"{error}; for labels of another kind give pos_label") from None
