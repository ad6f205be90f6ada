"""Tables for Weka: a frame becomes Weka's Instances in three calls, however many rows it has."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from probcal.learners.weka.jvm import java_class


@dataclass(frozen=True)
class Header:
    """Hold what Weka knows of a table before its rows: names, levels (None for a numeric column) and classes."""

    names: list[str]
    levels: list[list[Any] | None]
    classes: list[Any]

    @classmethod
    def of(cls, X: pd.DataFrame, classes: np.ndarray) -> Header:
        """Return the header of a frame. Raises TypeError for a column that is neither numbers nor categories.

        Declared categories that do not occur are levels too, as in the header of an ARFF file.
        """
        return cls([str(name) for name in X.columns], [_levels(*item) for item in X.items()], list(classes))

    def instances(self, X: pd.DataFrame, codes: np.ndarray | None = None, weights: np.ndarray | None = None) -> Any:
        """Return the Java ``Instances`` of the rows of X, with class ``codes`` and instance weights, (n_rows,) each.

        Missing values, and levels that are not in this header, are missing in Weka. Raises ValueError for infinite
        values.
        """
        values = np.empty((len(X), len(self.names) + 1))
        values[:, -1] = np.nan if codes is None else codes
        for place, ((_, column), levels) in enumerate(zip(X.items(), self.levels, strict=True)):
            values[:, place] = _numbers(column) if levels is None else _codes(column, levels)
        if np.isinf(values).any():
            column = self.names[int(np.flatnonzero(np.isinf(values).any(axis=0))[0])]
            raise ValueError(f"Weka takes no infinite values; column {column!r} has some")
        rows = java_class("weka.core.Instances")("probcal", self._attributes(), len(values))
        rows.setClassIndex(len(self.names))
        weights = np.ones(len(values)) if weights is None else np.ascontiguousarray(weights, dtype=np.float64)
        if len(values):
            _row_adder().invokeWithArguments([rows, _java_array(values), _java_array(weights)])
        return rows

    def _attributes(self) -> Any:
        attribute = java_class("weka.core.Attribute")
        attributes = java_class("java.util.ArrayList")()
        for name, levels in zip(_texts([*self.names, "class"]), [*self.levels, self.classes], strict=True):
            attributes.add(attribute(name) if levels is None else attribute(name, _texts(levels)))
        return attributes


def distributions(classifier: Any, rows: Any) -> np.ndarray:
    """Return Weka's class distribution of each row, (n_rows, n_classes) float64."""
    n = int(rows.numInstances())
    return np.array(classifier.distributionsForInstances(rows), dtype=np.float64).reshape(n, -1)


def _levels(name: Any, column: pd.Series) -> list[Any] | None:
    if isinstance(column.dtype, pd.CategoricalDtype):
        return list(column.cat.categories)
    if pd.api.types.is_bool_dtype(column.dtype):
        return [False, True]
    if pd.api.types.is_numeric_dtype(column.dtype) and not pd.api.types.is_complex_dtype(column.dtype):
        return None
    if pd.api.types.is_object_dtype(column.dtype) or pd.api.types.is_string_dtype(column.dtype):
        return sorted(column.dropna().unique(), key=str)
    raise TypeError(f"column {name!r} holds {column.dtype}; Weka takes numbers and categories here")


def _numbers(column: pd.Series) -> np.ndarray:
    numbers: np.ndarray = column.to_numpy(np.float64, na_value=np.nan)
    return numbers


def _codes(column: pd.Series, levels: list[Any]) -> np.ndarray:
    """Return the number of each value's level, or NaN for an unknown value."""
    if [type(level) for level in levels] == [bool, bool]:  # truth values may come as 0 and 1, in any kind of column
        numbers = pd.to_numeric(column.astype(object), errors="coerce").to_numpy(np.float64, na_value=np.nan)
        return np.where(np.isin(numbers, (0, 1)), numbers, np.nan)
    column = column.astype("category")
    place = pd.Index(levels, dtype=object).get_indexer(pd.Index(column.cat.categories, dtype=object))
    place = np.append(np.where(place < 0, np.nan, place), np.nan)  # code -1, a missing value, reads the last
    coded: np.ndarray = place[column.cat.codes.to_numpy()]
    return coded


def _texts(labels: list[Any]) -> Any:
    """Return Java strings, numbered if two labels have the same text, which Weka does not accept.

    Otherwise they stay unchanged, because Weka's random number generators start from the text of a row.
    """
    import jpype

    texts = [str(label) for label in labels]
    if len(set(texts)) < len(texts):
        texts = [f"{text} ({place})" for place, text in enumerate(texts, 1)]
    java_list = java_class("java.util.ArrayList")()
    for text in texts:
        java_list.add(jpype.JString(text))
    return java_list


def _java_array(values: np.ndarray) -> Any:
    import jpype

    return jpype.JArray.of(values)


@cache
def _row_adder() -> Any:
    """Return a Java handle (Instances rows, double[][] values, double[] weights) that adds one DenseInstance per row.

    It is composed of method handles, so that the loop runs in Java without any compiled Java of our own.
    """
    import jpype

    handles = java_class("java.lang.invoke.MethodHandles")
    type_of = java_class("java.lang.invoke.MethodType").methodType
    instances, instance = java_class("weka.core.Instances").class_, java_class("weka.core.Instance").class_
    number, whole, nothing = jpype.JDouble.class_, jpype.JInt.class_, java_class("java.lang.Void").TYPE
    row, table = jpype.JArray(jpype.JDouble).class_, jpype.JArray(jpype.JDouble, 2).class_
    lookup = handles.publicLookup()
    made = lookup.findConstructor(java_class("weka.core.DenseInstance").class_, type_of(nothing, [number, row]))
    made = handles.collectArguments(made, 1, handles.arrayElementGetter(table))
    made = handles.collectArguments(made, 0, handles.arrayElementGetter(row))
    made = made.asType(type_of(instance, [row, whole, table, whole]))
    add = lookup.findVirtual(instances, "add", type_of(java_class("java.lang.Boolean").TYPE, [instance]))
    added = handles.dropReturn(handles.collectArguments(add, 1, made))  # (rows, weights, i, values, i)
    body = handles.permuteArguments(added, type_of(nothing, [whole, instances, table, row]), [1, 3, 0, 2, 0])
    count = handles.dropArguments(handles.dropArguments(handles.arrayLength(table), 0, [instances]), 2, [row])
    return handles.countedLoop(count, None, body)
