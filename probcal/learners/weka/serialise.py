"""A trained Java object as bytes and back, by Java's own serialisation."""

from __future__ import annotations

from typing import Any

from probcal.learners.weka.java_errors import told
from probcal.learners.weka.jvm import java_class


def to_bytes(trained: Any) -> bytes:
    """Raises WekaError for an object that Java cannot serialise."""
    stream = java_class("java.io.ByteArrayOutputStream")()
    with told("the trained classifier cannot be pickled"):
        java_class("weka.core.SerializationHelper").write(stream, trained)
    return bytes(stream.toByteArray())


def from_bytes(content: bytes) -> Any:
    """The object that ``to_bytes`` wrote. Only for bytes that are trusted, as with ``pickle`` itself."""
    import jpype

    stream = java_class("java.io.ByteArrayInputStream")(jpype.JArray(jpype.JByte)(content))
    with told("the pickled classifier cannot be read; was it written by another release of Weka?"):
        return java_class("weka.core.SerializationHelper").read(stream)
