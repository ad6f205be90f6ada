"""Checks of the labels, predictions and weights that a metric gets."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

from probcal._parts import row_parts
from probcal._validation import number_array
from probcal.metrics.label_columns import check_sums, label_values, listed, number_labels, refuse, sum_tolerance

_UNITS = {"bits": 2.0, "nats": math.e}


@dataclass(frozen=True)
class Rows:
    """Hold checked labels, predictions and weights.

    Attributes
    ----------
    y : ndarray of shape (n_rows,)
        Whole numbers from 0, as int64 or float64.
    p : ndarray of shape (n_rows,) or (n_rows, n_classes)
        Predicted P(y = 1) of two classes, or predicted probabilities of three or more classes.
    weight : ndarray of shape (n_rows,)
        Weights above 0 and below 1, or all 1. Those are one number in memory, as ``equal_weights`` returns them.
    negative : ndarray of shape (n_rows,) or None
        Predicted P(y = 0) if two columns were given, and otherwise None.
    cluster : ndarray of shape (n_rows,) or None
        Whole numbers from 0. Rows of one number belong together and are not independent. None: all are.
    """

    y: np.ndarray
    p: np.ndarray
    weight: np.ndarray
    negative: np.ndarray | None = None
    cluster: np.ndarray | None = None

    @property
    def p_of_label(self) -> np.ndarray:
        """Return the predicted probability of each row's own label, (n,).

        A small P(y = 0) next to a P(y = 1) that rounds to 1 is kept, where 1 - P(y = 1) would be 0.
        """
        if self.p.ndim == 2:
            return np.asarray(self.p[np.arange(len(self.p)), self.y.astype(int)])
        if self.negative is not None:
            return np.where(self.y == 1, self.p, self.negative)
        return np.asarray(np.abs((1 - self.y) - self.p))  # p or 1 - p to the last bit, without a choice for each row

    @property
    def has_equal_weights(self) -> bool:
        """Return whether all weights are known to be 1, so that nothing needs to be multiplied by them."""
        return self.weight.strides == (0,)

    def mean(self, values: np.ndarray) -> float:
        """Return the weighted mean of ``values``, (n,)."""
        if self.has_equal_weights:
            return float(values.sum() / len(values))
        return float((self.weight * values).sum() / self.weight.sum())

    def mean_of(self, loss: Callable[[Rows], np.ndarray]) -> float:
        """Return the weighted mean of ``loss``, which gives a number for each of the rows that it gets."""
        values = np.empty(len(self.y))
        for rows in row_parts(len(values), self.p[:1].size):
            values[rows] = loss(self.part(rows))
        return self.mean(values)  # of all rows at once: the sum of an array rounds less than that of its parts

    def part(self, rows: Any) -> Rows:
        """Return some rows: a slice shares their memory, a mask copies them."""
        weight = self.weight[rows]
        negative = None if self.negative is None else self.negative[rows]
        cluster = None if self.cluster is None else self.cluster[rows]
        if self.has_equal_weights and weight.strides != (0,):  # a mask has copied it
            weight = equal_weights(len(weight))
        return Rows(self.y[rows], self.p[rows], weight, negative, cluster)

    def against_the_rest(self) -> list[Rows]:
        """Return each class against all others as rows of two classes.

        Two classes give only the second one, because the first is its mirror image.
        """
        if self.p.ndim == 1:
            return [self]
        classes = range(self.p.shape[1])
        return [Rows((self.y == label).astype(np.int64), self.p[:, label], self.weight) for label in classes]


def equal_weights(n_rows: int) -> np.ndarray:
    """Return the weight 1 of each row, (n_rows,), which is read from one number in memory and cannot be changed."""
    return np.broadcast_to(np.ones(1), n_rows)


def checked(y: Any, p: Any, sample_weight: Any = None, pos_label: Any = None, labels: Any = None) -> Rows:
    """Return the rows of positive weight. Raises ValueError as every metric does."""
    return checked_numbers(*number_labels(y, p, pos_label, labels), sample_weight)


def checked_numbers(y: Any, p: Any, sample_weight: Any = None) -> Rows:
    """Return what ``checked`` does, for labels that are known to be the numbers of the columns."""
    tolerance = sum_tolerance(p)
    whole = isinstance(y, np.ndarray) and y.dtype == np.int64 and not np.ma.isMaskedArray(y)
    y, p = y if whole else _numbers(y, "y"), _numbers(p, "p")
    if y.ndim != 1 or p.ndim not in (1, 2) or len(y) != len(p):
        shapes = f"{y.shape} and {p.shape}"
        raise ValueError(f"y must be of shape (n,), and p of shape (n,) or (n, n_classes) with equal n, not {shapes}")
    _check_not_empty(y)
    # one of several columns may exceed 1 by the tolerance of the row's sum
    most = 1 if p.ndim == 1 else 1 + tolerance
    _check_within(p, most, "p must lie within [0, 1], with no missing values")
    if p.ndim == 1:
        rule = "y must hold 0 and 1 only, with no missing values; or give pos_label"
        _check_within(y, 1, rule)
        if y.dtype != np.int64:
            refuse((y != 0) != y, y, rule)
    else:
        p = np.minimum(p, 1)
        _check_classes(y, p, tolerance)
    negative = None
    if p.ndim == 2 and p.shape[1] == 2:
        negative, p = p[:, 0], p[:, 1]
    weight = _checked_weight(sample_weight, len(y))
    rows = Rows(y, p, weight, negative)
    return rows if rows.has_equal_weights or weight.all() else rows.part(weight > 0)


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
        _check_within(values, 1, f"{name} must lie within [0, 1], with no missing values")
    rows = Rows(a, b, _checked_weight(sample_weight, len(a)))
    return rows if rows.has_equal_weights else rows.part(rows.weight > 0)


def checked_base(base: float | str) -> float:
    """Return the base of a logarithm: 2 for ``"bits"``, e for ``"nats"``, and a number above 1 as it is."""
    if isinstance(base, str) and base in _UNITS:
        return _UNITS[base]
    if not (is_number(base) and 1 < float(base) < math.inf):
        rule = 'base, of the logarithm, must be "bits", "nats" or a finite number above 1, such as 2 or math.e'
        raise ValueError(f"{rule}, not {base!r}")
    return float(base)


def is_number(value: Any) -> bool:
    """Return whether ``value`` is one real number, including NaN and infinity. True and False are not."""
    return isinstance(value, Real) and not isinstance(value, bool)


def is_count(value: Any) -> bool:
    """Return whether ``value`` is a whole number of at least 1. True is not."""
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 1


def _check_classes(y: np.ndarray, p: np.ndarray, tolerance: float) -> None:
    n_classes = p.shape[1]
    if n_classes < 2:
        raise ValueError("p must be of shape (n,) or have a column for each of two or more classes, not one column")
    numbers = f"y must hold the whole numbers 0 to {n_classes - 1} only, the columns of p, with no missing values"
    refuse(~((y >= 0) & (y < n_classes) & (y == np.floor(y))), y, numbers)
    check_sums(p, tolerance)


def _check_within(values: np.ndarray, most: float, rule: str) -> None:
    """Raise ValueError with the ``rule`` unless all values lie within [0, ``most``]."""
    if not (values.min(initial=0) >= 0 and values.max(initial=0) <= most):  # two fast passes, and NaN is neither
        refuse(~((values >= 0) & (values <= most)), values, rule)


def _check_not_empty(y: np.ndarray) -> None:
    if not len(y):
        raise ValueError("there are no rows to measure")


def _checked_weight(sample_weight: Any, n_rows: int) -> np.ndarray:
    if sample_weight is None:
        return equal_weights(n_rows)
    weight = _numbers(sample_weight, "sample_weight")
    if weight.shape != (n_rows,):
        raise ValueError(f"sample_weight must be of shape ({n_rows},), a number for each row, not {weight.shape}")
    refuse(~(np.isfinite(weight) & (weight >= 0)), weight, "sample_weight must be finite and not negative")
    if not weight.any():
        raise ValueError("sample_weight must not be 0 in every row")
    if weight.max() == weight[weight > 0].min():
        # to the last bit as without weights
        return equal_weights(n_rows) if weight.all() else (weight > 0).astype(np.float64)
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
        labels = label_values(values).ravel().tolist()
        if all(isinstance(label, str) for label in labels):
            texts = listed(sorted(set(labels), key=repr))
            raise ValueError(f"y holds texts ({texts}); name the positive one with pos_label") from None
        raise ValueError(f"{error}; for labels of another kind give pos_label") from None


def cluster_sums(values: np.ndarray, cluster: np.ndarray | None) -> np.ndarray:
    """Return the sum of ``values``, (n_rows,), in each cluster. Without clusters each row is one."""
    return values if cluster is None else np.bincount(cluster, values)


def effective_rows(weight: np.ndarray, squares: np.ndarray) -> float:
    """Return Kish's effective number of rows, ``(sum w)^2 / sum w^2``, or 0 without rows."""
    if not len(weight):
        return 0.0
    return float(weight.sum() ** 2 / squares.sum()) * (1 + 1e-12)  # 20 equal rows are 20
