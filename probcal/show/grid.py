"""A table before it has a format."""

from __future__ import annotations

import math
from dataclasses import dataclass

NOT_RUN = "\N{EN DASH}"
INFINITY = "∞"
INCOMPLETE = "†"


@dataclass(frozen=True)
class Text:
    """What stands in one cell: ``main``, which may be bold, and then ``rest``, which never is."""

    main: str = ""
    rest: str = ""
    bold: bool = False
    minor: bool = False
    """Belongs to the line above it: the sd, the published number."""


@dataclass(frozen=True)
class Grid:
    """``rows`` have as many cells as ``header``; ``notes`` stand beneath, a line each."""

    number: int
    name: str
    explanation: str
    header: list[str]
    rows: list[list[Text]]
    notes: list[str]


DECIMALS = 3
"""As most of the papers print."""


def printed(number: float, decimals: int = DECIMALS) -> str:
    """With that many decimals; ties are ties of this text."""
    return INFINITY if math.isinf(number) else f"{number:.{decimals}f}"
