"""Tables, classifiers and predictions of Weka as Java objects, in any of its releases.

A frame becomes Weka's Instances in three calls, however many rows it has. Weka 3.7 renamed ``Instance`` to
``DenseInstance`` and replaced ``FastVector`` by Java's lists.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from probcal.learners.frame_columns import codes_of, levels_of, numbers_of
from probcal.learners.weka.allowed import full_name
from probcal.learners.weka.jvm import WekaError, java_class, java_errors, message_of


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
        return cls([str(name) for name in X.columns], [levels_of(*item) for item in X.items()], list(classes))

    def instances(self, X: pd.DataFrame, codes: np.ndarray | None = None, weights: np.ndarray | None = None) -> Any:
        """Return the Java ``Instances`` of the rows of X, with class ``codes`` and instance weights, (n_rows,) each.

        Missing values, and levels that are not in this header, are missing in Weka. Raises ValueError for infinite
        values.
        """
        import jpype

        values = np.empty((len(X), len(self.names) + 1))
        values[:, -1] = np.nan if codes is None else codes
        for place, ((name, column), levels) in enumerate(zip(X.items(), self.levels, strict=True)):
            if levels is None:
                values[:, place] = numbers_of(name, column)
            else:
                positions = codes_of(column, levels)
                values[:, place] = np.where(positions < 0, np.nan, positions)
        rows = java_class("weka.core.Instances")("probcal", self._attributes(), len(values))
        rows.setClassIndex(len(self.names))
        weights = np.ones(len(values)) if weights is None else np.ascontiguousarray(weights, dtype=np.float64)
        if len(values):
            row_adder().invokeWithArguments([rows, jpype.JArray.of(values), jpype.JArray.of(weights)])
        return rows

    def _attributes(self) -> Any:
        attribute = java_class("weka.core.Attribute")
        names, levels = _texts([*self.names, "class"]), [*self.levels, self.classes]
        return java_list(
            attribute(name) if of_name is None else attribute(name, java_list(_texts(of_name)))
            for name, of_name in zip(names, levels, strict=True)
        )


def _texts(labels: list[Any]) -> list[Any]:
    """Return Java strings, numbered if two labels have the same text, which Weka does not accept."""
    import jpype

    texts = [str(label) for label in labels]
    # only then, because Weka's random number generators start from the text of a row
    if len(set(texts)) < len(texts):
        texts = [f"{text} ({place})" for place, text in enumerate(texts, 1)]
    return [jpype.JString(text) for text in texts]


def make(name: str, options: str) -> Any:
    """Return the untrained Java classifier ``name`` (``trees.J48``, or with its whole package).

    Raises WekaError that names an unknown classifier, or an option that is unknown or has an invalid value.
    """
    throwable = java_class("java.lang.Throwable")
    full = full_name(name)
    try:
        words = [str(word) for word in java_class("weka.core.Utils").splitOptions(options)]
    except throwable as error:
        raise WekaError(f'options "{options}": {message_of(error)}') from None
    try:
        classifier = _new_classifier(full)
    except throwable as error:
        raise WekaError(
            f'Weka has no classifier "{name}" ({message_of(error)}); its names are such as trees.J48, bayes.NaiveBayes'
        ) from None
    if fault := _set_options(classifier, words):
        raise WekaError(f'{name} does not take the option "{_invalid_option(full, words)}": {fault}')
    return classifier


def _new_classifier(full: str) -> Any:
    return java_class("weka.core.Utils").forName(java_class("weka.classifiers.Classifier"), full, [])


def _set_options(classifier: Any, words: list[str]) -> str | None:
    """Set the options of ``classifier``, and return what is wrong with them, or None."""
    try:
        classifier.setOptions(list(words))
    except java_class("java.lang.Throwable") as error:
        return message_of(error)
    return None


def _invalid_option(full: str, words: list[str]) -> str:
    """Return the option that is invalid by itself, or all options if only their combination is invalid."""
    starts = [place for place, word in enumerate(words) if word.startswith("-") and not _is_number(word)]
    starts = starts if starts and starts[0] == 0 else [0, *starts]
    parts = [words[a:b] for a, b in zip(starts, [*starts[1:], len(words)], strict=True)]
    return " ".join(next((part for part in parts if _set_options(_new_classifier(full), part)), words))


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


@cache
def _is_before_3_7() -> bool:
    try:
        java_class("weka.core.DenseInstance")
    # JPype's error for a class that this release does not have
    except TypeError:
        return True
    return False


def java_list(items: Iterable[Any]) -> Any:
    """Return the list of Java that this release of Weka takes for attributes and for their values."""
    old = _is_before_3_7()
    made = java_class("weka.core.FastVector" if old else "java.util.ArrayList")()
    add = made.addElement if old else made.add
    for item in items:
        add(item)
    return made


def distributions(classifier: Any, rows: Any) -> np.ndarray:
    """Return Weka's class distribution of each row, (n_rows, n_classes) float64."""
    n = int(rows.numInstances())
    if _is_before_3_7():  # predicts row by row only
        found = [np.array(classifier.distributionForInstance(rows.instance(row))) for row in range(n)]
        return np.array(found, dtype=np.float64).reshape(n, -1)
    return np.array(classifier.distributionsForInstances(rows), dtype=np.float64).reshape(n, -1)


@cache
def row_adder() -> Any:
    """Return a Java handle (Instances rows, double[][] values, double[] weights) that adds one instance per row."""
    import jpype

    # composed of method handles, so that the loop runs in Java without any compiled Java of our own
    handles = java_class("java.lang.invoke.MethodHandles")
    type_of = java_class("java.lang.invoke.MethodType").methodType
    instances, instance = java_class("weka.core.Instances").class_, java_class("weka.core.Instance").class_
    number, whole, nothing = jpype.JDouble.class_, jpype.JInt.class_, java_class("java.lang.Void").TYPE
    row, table = jpype.JArray(jpype.JDouble).class_, jpype.JArray(jpype.JDouble, 2).class_
    lookup = handles.publicLookup()
    row_class = java_class("weka.core.Instance" if _is_before_3_7() else "weka.core.DenseInstance")
    made = lookup.findConstructor(row_class.class_, type_of(nothing, [number, row]))
    made = handles.collectArguments(made, 1, handles.arrayElementGetter(table))
    made = handles.collectArguments(made, 0, handles.arrayElementGetter(row))
    made = made.asType(type_of(instance, [row, whole, table, whole]))
    told = nothing if _is_before_3_7() else java_class("java.lang.Boolean").TYPE
    add = lookup.findVirtual(instances, "add", type_of(told, [instance]))
    added = handles.dropReturn(handles.collectArguments(add, 1, made))  # (rows, weights, i, values, i)
    body = handles.permuteArguments(added, type_of(nothing, [whole, instances, table, row]), [1, 3, 0, 2, 0])
    count = handles.dropArguments(handles.dropArguments(handles.arrayLength(table), 0, [instances]), 2, [row])
    return handles.countedLoop(count, None, body)


@cache
def _helper() -> Any:
    """Return Weka's class that reads and writes objects, or None in a release before 3.5.5."""
    try:
        return java_class("weka.core.SerializationHelper")
    except TypeError:
        return None


def to_bytes(trained: Any) -> bytes:
    """Return the trained object as bytes. Raises WekaError if Java cannot serialise it."""
    stream = java_class("java.io.ByteArrayOutputStream")()
    with java_errors("the trained classifier cannot be pickled"):
        if _helper():
            _helper().write(stream, trained)
        else:
            java_class("java.io.ObjectOutputStream")(stream).writeObject(trained)
    return bytes(stream.toByteArray())


def from_bytes(content: bytes) -> Any:
    """Return the object that ``to_bytes`` wrote. Use it only for bytes that you trust, as with ``pickle``."""
    import jpype

    array = jpype.JArray(jpype.JByte)(content)
    with java_errors("the pickled classifier cannot be read; was it written by another release of Weka?"):
        if _helper():
            return _helper().read(java_class("java.io.ByteArrayInputStream")(array))
        return _read_by_weka(array)


def _read_by_weka(content: Any) -> Any:
    # by Weka's own code, because Java looks for classes where that of the reader is
    holder = java_class("weka.core.SerializedObject")("")
    field = holder.getClass().getDeclaredField("m_storedObjectArray")
    field.setAccessible(True)
    field.set(holder, content)
    return holder.getObject()
