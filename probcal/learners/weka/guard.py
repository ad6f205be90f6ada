"""What Java itself refuses, whatever is trusted: objects of strange classes and what XML fetches from elsewhere.

It stands behind ``allowed``: a config that is trusted may name files, and those may come from somebody else.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Any

from probcal.trust import is_trusted

SERIAL_FILTER = ";".join((
    "maxdepth=10000",
    "!weka.core.converters.**", "!weka.core.scripting.**", "!weka.core.packageManagement.**",
    "weka.core.**", "weka.classifiers.**", "weka.filters.**", "weka.attributeSelection.**", "weka.clusterers.**",
    "weka.estimators.**", "no.uib.cipr.matrix.**",
    "java.lang.*", "java.math.*", "java.text.*", "java.util.*", "java.util.concurrent.atomic.*", "java.io.File",
    "sun.util.calendar.*",
    "!*",
))  # fmt: skip
"""The classes that a trained classifier of Weka is made of, and no others: a pattern of ``jdk.serialFilter``."""

_XML = ("javax.xml.accessExternalDTD", "javax.xml.accessExternalSchema", "javax.xml.accessExternalStylesheet")
"""Which protocols XML may use to fetch what it names: none, not even ``file``."""

OPTIONS = (f"-Djdk.serialFilter={SERIAL_FILTER}", *(f"-D{name}=" for name in _XML))

_OBEYED = ("Capabilities.props", "Logging.props")
"""Read by Weka from the current folder: the first turns checks off, the second names a class and a file to delete."""


def guard_running_java(jpype: Any) -> None:
    """Set the same in a Java that somebody else started. A filter of theirs stays."""
    for name in _XML:
        jpype.java.lang.System.setProperty(name, "")
    config = jpype.JClass("java.io.ObjectInputFilter$Config")
    if config.getSerialFilter() is None:
        with suppress(jpype.java.lang.IllegalStateException):  # set by another thread meanwhile
            config.setSerialFilter(config.createFilter(SERIAL_FILTER))


def obeyed_files() -> str | None:
    """Return why Weka is not to be started in the current folder, or None where it may be."""
    there = [name for name in _OBEYED if os.path.lexists(name)]
    if not there or is_trusted("weka"):
        return None
    return (
        f"the current folder holds {' and '.join(there)}, which Weka would obey; start in another folder, or if you "
        "trust it, add  --trust weka  (or set PROBCAL_TRUSTED=weka)"
    )
