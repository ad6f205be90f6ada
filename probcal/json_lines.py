"""The lines of a file of JSON, read one at a time, however long somebody made them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

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
