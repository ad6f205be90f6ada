"""Which import paths of an experiment file may be imported: an import runs the code of a module.

Those of probcal and scikit-learn may, and what the user names: by ``--trust`` and ``--allow-imports`` on the command
line, by ``trusting`` in Python, or by the environment variable PROBCAL_TRUSTED, names with ``:`` or ``,`` between them.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

EVERYTHING = "*"
"""In place of a name: any import path."""
_ALWAYS = ("probcal", "sklearn")
_READS_OBJECTS = re.compile(r"SerializedClassifier|InputMappedClassifier|-serialized\b", re.IGNORECASE)
"""What in Weka reads a Java object from a file: as with a pickle, the file says which code runs."""
_named: ContextVar[tuple[str, ...]] = ContextVar("named", default=())


def is_trusted(path: str) -> bool:
    """Whether ``path`` is, or lies below, a name that is trusted: ``mine`` trusts mine.trees, not mine2."""
    names = {*_ALWAYS, *_from_the_environment(), *_named.get()}
    return EVERYTHING in names or any(path == name or path.startswith(f"{name}.") for name in names)


def refusal(path: str) -> str:
    """Why ``path`` is not imported, and what to write to have it imported."""
    name = path.partition(".")[0]
    return (
        f'"{path}" is not imported: an import runs code, and only that of probcal and scikit-learn is trusted unasked; '
        f"if you trust {name} too, add  --trust {name}  (or  --allow-imports  for any import path, or set "
        "PROBCAL_TRUSTED)"
    )


def untrusted_objects(value: Any, place: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """(place, why) of every text in ``value`` that would have Weka read a Java object from a file."""
    if isinstance(value, str) and _READS_OBJECTS.search(value) and not is_trusted("weka"):
        yield place, (
            "Weka would read a Java object from a file here, which runs whatever code the file names; "
            "if you trust that file, add  --trust weka"
        )
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield from untrusted_objects(value[key], (*place, key))


@contextmanager
def trusting(*names: str) -> Iterator[None]:
    """Within it, import paths below each of ``names`` may be imported; ``*`` stands for all.

    Modules may then lie in the current folder, which is searched last. It is not searched without such a name: a
    package that looks for an optional one would run whatever file of that name lies beside a config.
    """
    before = _named.set((*_named.get(), *names))
    try:
        if (_named.get() or _from_the_environment()) and os.getcwd() not in sys.path:
            sys.path.append(os.getcwd())
        yield
    finally:
        _named.reset(before)


def _from_the_environment() -> list[str]:
    return [name for name in re.split(r"[:,\s]+", os.environ.get("PROBCAL_TRUSTED", "")) if name]
