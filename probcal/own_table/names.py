"""Names of columns as a card can have them: each another, none empty, nothing in them that nobody sees."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from probcal.visible import visible

_LONGEST = 80


def card_names(names: Iterable[object]) -> list[str]:
    """``names`` in their order, each once: what comes twice has its place behind it, as what is empty is called by it.

    A card reads ``a1..a3`` as three columns and ``*`` as all others, so neither stays as it is.
    """
    found: list[str] = []
    taken: set[str] = set()
    for place, name in enumerate(names, 1):
        clean = cleaned(str(name))
        if not clean or clean == "*":
            clean = f"column {place}"
        while clean in taken:
            clean = f"{clean} ({place})"
        taken.add(clean)
        found.append(clean)
    return found


def cleaned(name: str) -> str:
    """A name as cards have it, if it stands alone; what is longer than 80 letters is cut in the middle."""
    bare = "".join(" " if unicodedata.category(one)[0] in "CZ" else one for one in name)
    return visible(re.sub(r"\.\.+", ".", " ".join(bare.split())), _LONGEST)


def slug(text: str, otherwise: str) -> str:
    """``text`` as the name of a card and of a folder: small letters, digits, ``-`` and ``_``."""
    ascii_only = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9_]+", "-", ascii_only).strip("-_")[:40].strip("-_") or otherwise
