"""Java's exceptions as Python's, told in the words of whoever wrote the options."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from probcal.errors import ProbcalError
from probcal.learners.weka.jvm import java_class


class WekaError(ProbcalError, ValueError):
    """Weka refused: an unknown classifier, an option it does not take, or data it cannot learn from."""


@contextmanager
def told(what: str) -> Iterator[None]:
    """Raises WekaError, ``what`` and then Java's own message, in the place of any Java exception."""
    throwable = java_class("java.lang.Throwable")
    try:
        yield
    except throwable as error:
        if isinstance(error, java_class("java.lang.OutOfMemoryError")):
            raise WekaError(f"{what}: Java's memory ran out; give it more with PROBCAL_JAVA_MEMORY=4g") from None
        raise WekaError(f"{what}: {message_of(error)}") from None


def message_of(error: Any) -> str:
    """The first line of Java's message, or the kind of exception where it has none."""
    text = str(error.getMessage() or "").strip()
    kind = str(error.getClass().getSimpleName())
    return text.splitlines()[0] if text else kind
