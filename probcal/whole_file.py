"""A file that is there as a whole or as it was before, whenever its writing is cut short."""

from __future__ import annotations

import os
from pathlib import Path


def write_whole(path: Path, text: str) -> None:
    """Write ``text`` beside ``path`` and put it in its place; half of a surrogate pair becomes a question mark.

    Raises OSError where that cannot be done; ``path`` is then as it was.
    """
    new = path.with_name(f"{path.name}.new")
    try:
        new.write_text(text, encoding="utf-8", errors="replace", newline="\n")
        os.replace(new, path)
    except OSError:
        new.unlink(missing_ok=True)
        raise
