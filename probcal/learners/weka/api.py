"""What Weka's releases call differently: lists, rows, predictions of many rows, and serialised objects.

Weka 3.7 renamed ``Instance`` to ``DenseInstance`` and replaced ``FastVector`` by Java's lists.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np

from probcal.learners.weka.jvm import java_class, java_errors


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
