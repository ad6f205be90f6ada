"""Checks of parameters, labels and groups, and the private functions of scikit-learn that the package uses.

scikit-learn is imported on first use, because commands that only read results do not need it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, TypeVar

import numpy as np

_Method = TypeVar("_Method", bound=Callable[..., Any])


def available_if(holds: Callable[[Any], bool]) -> Callable[[_Method], _Method]:
    """Return scikit-learn's decorator, with types, of a method that exists only where ``holds`` of its object does."""
    from sklearn.utils import metaestimators

    decorator: Callable[[_Method], _Method] = metaestimators.available_if(holds)
    return decorator


def take_rows(X: Any, rows: Any) -> Any:
    """Return the rows of an array, a sparse matrix or a frame. ``rows``: indices, a mask or a slice."""
    from sklearn.utils import _safe_indexing

    return _safe_indexing(X, rows)


def count_rows(X: Any) -> int:
    """Return the number of rows of ``X``. Raises TypeError if it has none."""
    from sklearn.utils.validation import _num_samples

    return int(_num_samples(X))


def label_array(labels: Any, name: str = "y") -> np.ndarray:
    """Return labels as an array (n_rows,) of texts, whole numbers, floats, booleans or dates. None changes its value.

    The types of pandas, polars and pyarrow are read as well as arrays of objects. Raises ValueError for missing labels,
    for labels of several types, and for labels of a type that scikit-learn cannot learn.
    """
    array = value_array(labels, name, "label")
    if array.dtype.kind == "O" and (strange := [kind for kind in set(map(type, array)) if not issubclass(kind, str)]):
        kinds = " and ".join(sorted(kind.__name__ for kind in strange))
        raise ValueError(f"{name} holds labels of the type {kinds}; give texts, whole numbers, or True and False")
    if array.dtype.kind == "S":
        raise ValueError(f"{name} holds bytes; give texts, such as {name}.astype(str)")
    return array


def group_array(groups: Any, n_rows: int, what: str = "group") -> np.ndarray:
    """Return the group of each row, (n_rows,), as values of one type that can be sorted.

    ``what`` names a value in messages. Raises ValueError for missing groups, groups of several types and another number
    of groups than ``n_rows``.
    """
    array = value_array(groups, "groups", what)
    if len(array) != n_rows:
        raise ValueError(f"groups holds {len(array)} values for {n_rows} rows; give the {what} of each row")
    return array


def number_array(values: Any, name: str) -> np.ndarray:
    """Return ``values`` as float64, in their shape. An array of float64 is returned itself.

    Raises ValueError for texts, and for missing values but NaN.
    """
    if np.ma.is_masked(values):  # the array would show the values under the mask
        masked = np.count_nonzero(np.ma.getmaskarray(values))
        raise ValueError(f"{name} must hold numbers, and no missing values ({masked} are masked)")
    array: np.ndarray = np.asarray(values)
    if array.dtype == object:  # a pandas extension type, or values of any type
        array = np.array(array.tolist())
    if array.dtype.kind not in "biuf" and array.size:
        raise ValueError(f"{name} must hold numbers, and no missing values")
    return array.astype(np.float64, copy=False)


def label_positions(labels: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return the place of each label in ``classes``, (n_rows,), and -1 for a label that is none of them."""
    # Arrays of whole numbers with and without a sign are compared as floats, which merges labels from 2^53 on.
    places = {label: place for place, label in enumerate(classes.tolist())}
    return np.array([places.get(label, -1) for label in labels.tolist()], dtype=np.int64)


def value_array(values: Any, name: str, what: str) -> np.ndarray:
    """Return ``values`` as an array (n_rows,) of one type in which none is missing. One column of a frame is allowed.

    Whole numbers never become floats, which have only 53 bits. ``what`` is the word for one of the values. Raises
    ValueError for missing values, values of several types, and another shape.
    """
    from scipy.sparse import issparse
    from sklearn.utils.validation import column_or_1d

    if issparse(values):
        raise ValueError(f"{name} is a sparse matrix; give an array with the {what} of each row")
    if np.ma.is_masked(values):
        _refuse_missing(np.ma.getmaskarray(values), what)
    if hasattr(values, "columns") and np.ndim(values) == 2 and np.shape(values)[1] == 1:
        # a frame of pandas or polars: as an array, its column could lose its type
        values = values.iloc[:, 0] if hasattr(values, "iloc") else values.to_series()
    try:
        array = np.asarray(values)
    except ValueError:  # rows of unequal lengths
        raise ValueError(f"{name} must be of shape (n_rows,), with one {what} for each row") from None
    if values is not None and array.ndim != 1 and not (array.ndim == 2 and array.shape[1] == 1):
        raise ValueError(f"{name} must be of shape (n_rows,), with one {what} for each row, not {array.shape}")
    typed = isinstance(values, np.ndarray) or isinstance(getattr(values, "dtype", None), np.dtype)
    column: np.ndarray = array if array.dtype.kind == "T" else column_or_1d(array, warn=name == "y")
    if column.dtype.kind in "OT" or (not typed and array.ndim == 1 and array.dtype.kind in "fU"):
        # NumPy makes whole numbers beside a missing value floats, and numbers beside texts texts
        objects = np.empty(len(column), dtype=object)
        is_array = array.ndim == 2 or isinstance(values, np.ndarray)
        objects[:] = column if is_array else values.to_pylist() if hasattr(values, "to_pylist") else list(values)
        _refuse_missing(_is_missing(objects), what)
        column = _of_one_type(objects, column, name, what)
    if column.dtype.kind in "fmM":
        _refuse_missing(_is_missing(column), what)
    if column.dtype == np.float16:
        return column.astype(np.float64)
    # scikit-learn's compiled code reads the order of bytes of this machine only.
    return column if column.dtype.isnative else column.astype(column.dtype.newbyteorder("="))


def _of_one_type(objects: np.ndarray, array: np.ndarray, name: str, what: str) -> np.ndarray:
    """Return ``objects``, (n_rows,), as booleans or numbers if they are. Texts are returned as ``array`` has them."""
    kinds = set(map(_kind, set(map(type, objects))))
    if kinds == {"str"}:
        return objects if array.dtype.kind == "T" else array
    if kinds == {"bool"}:
        return objects.astype(bool)
    if kinds == {"int"}:
        whole: np.ndarray = np.array([int(one) for one in objects])
        if whole.dtype.kind in "iu":
            return whole
        raise ValueError(f"{name} holds whole numbers that have more than 64 bits; give each {what} as a text")
    if kinds <= {"int", "float"}:
        floats = objects.astype(np.float64)
        if any(one != number for one, number in zip(objects, floats.tolist(), strict=True)):
            raise ValueError(f"{name} holds floats beside whole numbers too large for floats; give only whole numbers")
        return floats
    if len(kinds) > 1:
        raise ValueError(f"{name} mixes {what}s of the types {' and '.join(sorted(kinds))}; give {what}s of one type")
    return objects


def _kind(kind: type) -> str:
    """Return "bool", "int", "float" or "str" for such a type of Python or NumPy, otherwise the name of the type."""
    for name, types in (("bool", (bool, np.bool_)), ("int", Integral), ("float", (float, np.floating)), ("str", str)):
        if issubclass(kind, types):  # type: ignore[arg-type]  # Integral is abstract
            return name
    return kind.__name__


def _is_missing(values: np.ndarray) -> np.ndarray:
    from pandas import isna

    return np.asarray(isna(values))


def _refuse_missing(missing: np.ndarray, what: str) -> None:
    """Raise ValueError with the number of ``missing`` values and the first row, if there are any."""
    if n := int(np.count_nonzero(missing)):
        are = f"{what}s are" if len(missing) > 1 else f"{what} is"
        first = int(np.argmax(missing))
        raise ValueError(
            f"{n} of {len(missing)} {are} missing, the first in row {first} (counted from 0); remove those rows first"
        )


def count_threads() -> int:
    """Return how many threads compiled code may use, as scikit-learn counts them."""
    from sklearn.utils._openmp_helpers import _openmp_effective_n_threads

    return int(_openmp_effective_n_threads())


def is_count(value: Any) -> bool:
    """Return whether ``value`` is a whole number from 1. True and False are not."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and int(value) >= 1


def is_range(clip: Any) -> bool:
    """Return whether ``clip`` is two rising numbers within [0, 1]."""
    try:
        low, high = clip
        return bool(0 <= low < high <= 1)
    except (TypeError, ValueError):
        return False


@dataclass(frozen=True)
class Rule:
    """Say which values a parameter takes: those for which ``holds`` is true, and ``words`` for them in a message."""

    holds: Callable[[Any], object]
    words: str


COUNT = Rule(is_count, "a whole number from 1")
FLAG = Rule(lambda value: isinstance(value, bool | np.bool_), "True or False")
CLIP = Rule(is_range, "two rising numbers within [0, 1]")
CLIP_OR_ROWS = Rule(
    lambda value: is_range(value) or (isinstance(value, str) and value == "rows"), f'{CLIP.words} or "rows"'
)
Constraint = Rule | tuple[Any, ...]
"""A rule, or the allowed values."""


# scikit-learn's tables (_parameter_constraints) are private, change between its versions, and cannot say what holds for
# a value beyond its type and range, such as two rising numbers. Components of other packages may have them.
class CheckedParameters:
    """Check constructor parameters against ``constraints``, to which each class adds those of its own parameters.

    Where a subclass names a parameter again, its own constraint counts.
    """

    constraints: ClassVar[dict[str, Constraint]] = {}

    def check_parameters(self) -> None:
        """Check the constructor parameters.

        Raises
        ------
        ValueError
            If a parameter is invalid.
        """
        constraints = dict[str, Constraint]()
        for kind in reversed(type(self).__mro__):
            constraints |= vars(kind).get("constraints", {})
        for name, constraint in constraints.items():
            rule = _one_of(constraint) if isinstance(constraint, tuple) else constraint
            if not rule.holds(value := getattr(self, name)):
                raise ValueError(f"{name} must be {rule.words}, not {value!r}")


def _one_of(choices: tuple[Any, ...]) -> Rule:
    def holds(value: Any) -> bool:
        return any(value is one or (isinstance(value, str) and value == one) for one in choices)

    return Rule(holds, f"one of {choices}")


def row_weights(sample_weight: Any, n_rows: int) -> np.ndarray | None:
    """Return ``sample_weight`` as float64 array (n_rows,), or None if it is None.

    Raises ValueError unless it holds one finite number per row, none of them negative and not all 0.
    """
    if sample_weight is None:
        return None
    weights = number_array(sample_weight, "sample_weight")
    if weights.shape != (n_rows,):
        raise ValueError(f"sample_weight must hold a weight for each of {n_rows} rows, its shape is {weights.shape}")
    if not np.isfinite(weights).all():
        raise ValueError("sample_weight holds missing or infinite values")
    if (weights < 0).any():
        raise ValueError(f"sample_weight must not be negative, the least is {weights.min()}")
    if not weights.any():
        raise ValueError("sample_weight is zero for all rows, so there is nothing to learn from")
    return weights


_WEIGHT_DIGITS = 2.0**40
"""Rescaled weights keep 12 digits, so that weights of any scale become the same numbers: the last digits of a quotient
would decide ties.
"""
_ROUNDING = 1e-12


def fit_weights(weights: np.ndarray, frequency_weights: Any) -> np.ndarray:
    """Return the weights with which a fit counts, (n_rows,): the relative ones, or the given ones if they are counts.

    ``weights`` are finite, not negative and not all 0. Raises ValueError if ``frequency_weights`` is no bool, or if it
    is True and a weight is no whole number.
    """
    if not isinstance(frequency_weights, bool | np.bool_):
        raise ValueError(f"frequency_weights must be True or False, not {frequency_weights!r}")
    if not frequency_weights:
        return relative_weights(weights)
    if len(rows := np.flatnonzero(weights != np.floor(weights))):
        raise ValueError(
            f"frequency_weights=True needs whole weights, which say how often a row occurs, and row {rows[0]} (counted "
            f"from 0) has the weight {weights[rows[0]]:.4g}; leave frequency_weights out for weights of another kind"
        )
    return weights


def relative_weights(weights: np.ndarray) -> np.ndarray:
    """Return the weights, (n_rows,), times a factor that makes 1 the mean of those above 0.

    Only ratios of weights count. The number of rows with a positive weight says how much data there is, whether the
    weights are shares, costs or means of 1. So pseudo-counts, penalties and bounds keep their strength. Kish's
    effective number of rows would also do, but it would change fits with unequal weights of mean 1.

    Weights whose mean is 1 are returned unchanged. Weights w and c w give the same numbers to 12 digits, and to the
    last bit if they are equal or if c is a power of two.
    """
    counted = weights[weights > 0]
    if counted.min() == counted.max():
        return (weights > 0).astype(np.float64)
    scale = int(np.frexp(counted.max())[1])  # no sum of weights below 1 overflows
    mean = float(np.ldexp(counted, -scale).sum()) / len(counted)
    shift = round(float(np.log2(mean)))
    mean, scaled = mean / 2.0**shift, np.ldexp(weights, -scale - shift)
    if abs(mean - 1) <= _ROUNDING:
        return np.asarray(scaled)
    fraction, exponent = np.frexp(scaled / mean)
    return np.asarray(np.ldexp(np.round(fraction * _WEIGHT_DIGITS) / _WEIGHT_DIGITS, exponent))


def unset_seeds(estimator: Any) -> list[str]:
    """Return the parameters ``random_state`` that are None, nested ones too, sorted. Every fit draws them again."""
    return sorted(
        name
        for name, value in estimator.get_params(deep=True).items()
        if value is None and name.rpartition("__")[2] == "random_state"
    )
