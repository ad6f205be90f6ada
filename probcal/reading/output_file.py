"""Files that an option of a command names: may they be written, and writing them as a whole."""

from __future__ import annotations

from pathlib import Path

from probcal._io import write_atomic
from probcal.errors import ProbcalError


def refuse_path(option: str, path: Path, force: bool) -> None:
    """Raise ProbcalError unless ``path`` can be written. ``option`` names it in messages."""
    if path.is_dir():
        raise ProbcalError(f"{option}: {path} is a folder; name a file")
    if not path.parent.is_dir():
        raise ProbcalError(f"{option}: the folder {path.parent} does not exist; create it first, or choose another")
    if path.exists() and not path.is_file():
        raise ProbcalError(f"{option}: {path} is not a regular file; name another")
    if path.exists() and not force:
        raise ProbcalError(f"{option}: {path} already exists and is not overwritten; add --force or choose another")


def write_output(option: str, path: Path, content: str | bytes) -> None:
    """Write ``content`` to ``path`` in one step. Raise ProbcalError where that fails."""
    try:
        write_atomic(path, content)
    except OSError as error:
        raise ProbcalError(f"{option}: cannot write {path}: {error.strerror or error}; choose another place") from None
