"""Which import paths of an experiment file may be imported: an import runs the code of a module.

Those of probcal and scikit-learn may, and what the user names: by ``--trust`` and ``--allow-imports`` on the command
line, by ``trusting`` in Python, or by the environment variable PROBCAL_TRUSTED, names with ``:`` or ``,`` between them.
The name ``weka`` also stands for options of Weka that read or write files (``probcal.learners.weka.allowed``).
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager

EVERYTHING = "*"
"""In place of a name: any import path."""
_ALWAYS = ("probcal", "sklearn")
_VARIABLE = "PROBCAL_TRUSTED"


def is_trusted(path: str) -> bool:
    """Whether ``path`` is, or lies below, a name that is trusted: ``mine`` trusts mine.trees, not mine2."""
    names = {*_ALWAYS, *_from_the_environment()}
    return EVERYTHING in names or any(path == name or path.startswith(f"{name}.") for name in names)


def refusal(path: str) -> str:
    """Why ``path`` is not imported, and what to write to have it imported."""
    name = path.partition(".")[0]
    return (
        f'"{path}" is not imported: an import runs code, and only that of probcal and scikit-learn is trusted unasked; '
        f"if you trust {name} too, add  --trust {name}  (or  --allow-imports  for any import path, or set "
        "PROBCAL_TRUSTED)"
    )


@contextmanager
def trusting(*names: str) -> Iterator[None]:
    """Within it, import paths below each of ``names`` may be imported; ``*`` stands for all.

    Modules may then lie in the current folder, which is searched last. It is not searched without such a name: a
    package that looks for an optional one would run whatever file of that name lies beside a config.
    """
    before = os.environ.get(_VARIABLE)
    if names:  # in the environment: threads and processes that are started meanwhile trust the same
        os.environ[_VARIABLE] = ":".join((*_from_the_environment(), *names))
    try:
        if _from_the_environment() and os.getcwd() not in sys.path:
            sys.path.append(os.getcwd())
        yield
    finally:
        if before is not None:
            os.environ[_VARIABLE] = before
        elif names:
            os.environ.pop(_VARIABLE, None)


def _from_the_environment() -> list[str]:
    return [name for name in re.split(r"[:,\s]+", os.environ.get(_VARIABLE, "")) if name]
