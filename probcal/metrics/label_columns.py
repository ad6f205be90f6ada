"""Match the labels of rows to the columns of their predicted probabilities."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np

from probcal._classes import column_names, places_among

_MOST_SHOWN = 5


def in_label_order(y: Any, p: Any, pos_label: Any = None) -> tuple[Any, Any]:
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
    found, codes = _distinct(y)
    named = found if pos_label is None or pos_label in found else [*found, pos_label]
    places = places_among(names, named)
    if max(places) < 0 or (codes < 0).any():
        if pos_label is None:
            _refuse_count_from_one(y, np.shape(p)[1])
        elif np.shape(p)[1] == 2 and len(named) <= 2 and (codes >= 0).all():
            _refuse_unsorted(named, pos_label)
        return y, p
    if -1 in places:
        raise ValueError(
            f"p has the columns {_listed(names)}, and none is named after the label {named[places.index(-1)]!r}; name "
            "each column after its label, or give an array with the columns in sorted order of the labels"
        )
    order, values = _sorted_places(names, as_texts=all(isinstance(one, str) for one in found)), np.asarray(p)
    if pos_label is not None:
        last = places[named.index(pos_label)]
        return y, values[:, [*(place for place in order if place != last), last]]
    return np.array([order.index(place) for place in places])[codes], values[:, order]


def _distinct(y: Any) -> tuple[list[Any], np.ndarray]:
    """Return the distinct labels, and the place of each row's label among them, which is -1 for a missing one."""
    from pandas import factorize

    codes, found = factorize(np.asarray(y, dtype=object))
    return [one.item() if isinstance(one, np.generic) else one for one in found], codes


def _sorted_places(names: list[Any], *, as_texts: bool) -> list[int]:
    """Return the order of the columns by their names: as texts, or as numbers where all of them are numbers."""
    keys: list[Any] = [str(name) for name in names]
    if not as_texts:
        with suppress(ValueError):
            keys = [float(name) for name in names]
    return sorted(range(len(names)), key=keys.__getitem__)


def _refuse_unsorted(labels: list[Any], pos_label: Any) -> None:
    """Raise ValueError unless ``pos_label`` is the last of two labels, whose column is the second by every reading."""
    others = [one for one in labels if one != pos_label]
    try:
        last = all(one < pos_label for one in others) if others else pos_label == 1
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
            f"y holds {_listed(np.unique(numbers).tolist())} and no 0, and p has {n_columns} columns, so y may count "
            "them from 0 or from 1; give a DataFrame whose columns are named after the labels, such as "
            "pd.DataFrame(p, columns=model.classes_)"
        )


def _listed(values: list[Any]) -> str:
    return ", ".join(repr(one) for one in values[:_MOST_SHOWN]) + (", ..." if len(values) > _MOST_SHOWN else "")
