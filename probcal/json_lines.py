"""The lines of a file of JSON: read one at a time, however long somebody made them, and added to its end."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO

_LONGEST = 50_000_000
"""Bytes of a line; the curves of a cell take some thousands, of the largest experiments a million."""
_PIECE = 1 << 20


def lines_of(path: Path) -> Iterator[tuple[int, str | None]]:
    """(number, text) of every line of ``path`` that has its end, counted from 1; None for text of more than 50 MB.

    What has no newline behind it was cut off by a kill, even where it reads well. Nothing where there is no such file.
    """
    if not path.is_file():
        return
    with path.open("rb") as file:
        number = 0
        while line := file.readline(_LONGEST):
            number += 1
            too_long = len(line) == _LONGEST and not line.endswith(b"\n")
            while too_long and line and not line.endswith(b"\n"):
                line = file.readline(_PIECE)
            if line.endswith(b"\n"):
                yield number, None if too_long else line[:-1].decode("utf-8", "replace")


def appending(path: Path) -> IO[str]:
    """``path`` opened to append whole lines; a line torn by an earlier kill is cut off first."""
    if path.is_file() and path.stat().st_size:
        with path.open("rb+") as file:
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":
                content = path.read_bytes()
                file.truncate(content.rfind(b"\n") + 1)
    return path.open("a", encoding="utf-8")


def what_became_of(file: IO[str]) -> str:
    """``removed`` or ``moved`` when ``file``, which is open, is no longer where it was opened; empty when it is."""
    held = os.fstat(file.fileno())
    if held.st_nlink == 0:
        return "removed"
    try:
        return "" if os.path.samestat(held, os.stat(file.name)) else "moved"
    except (FileNotFoundError, NotADirectoryError):
        return "moved"
