"""One bad input: what is put where, what is typed, and what has to come out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Case:
    """``files``: path below the folder of the case -> content, or what makes it there. ``says``: part of the message.

    The folder holds ``small.yaml``, ``mine.yaml`` with ``mine/mine.csv``, and ``results``, which
    ``small.yaml`` gave; ``drawn`` are results with a curve.
    """

    kind: str
    what: str
    words: str
    code: int
    says: str
    files: dict[str, str | bytes | Callable[[Path], Any]] = field(default_factory=dict)
    never: tuple[str, ...] = ()
    """What must not be printed."""
    absent: tuple[str, ...] = ()
    """Files that must not be there afterwards."""
    environment: dict[str, str] = field(default_factory=dict)

    def put(self, folder: Path) -> None:
        for name, content in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if callable(content):
                content(path)
            else:
                path.write_bytes(content.encode() if isinstance(content, str) else content)


def link_to(target: str) -> Callable[[Path], None]:
    """Makes a link in place of what is there; ``target``: relative to the link."""

    def make(path: Path) -> None:
        path.unlink(missing_ok=True)
        path.symlink_to(target)

    return make


def with_text(old: str, new: str) -> Callable[[Path], None]:
    """Changes a text of the file that is there, wherever it stands."""

    def change(path: Path) -> None:
        text = path.read_text(encoding="utf-8")
        assert old in text, f"{path.name} does not hold {old}"
        path.write_text(text.replace(old, new), encoding="utf-8")

    return change
