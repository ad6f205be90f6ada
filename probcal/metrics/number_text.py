"""How tables print numbers. Two numbers are tied where their text is equal."""

from __future__ import annotations

import math

INFINITY = "∞"
DECIMALS = 3
"""Number of decimals that most of the papers print."""


def format_number(number: float, decimals: int = DECIMALS) -> str:
    """Return the number with that many decimals. Numbers are tied where this text is equal."""
    return INFINITY if math.isinf(number) else f"{number:.{decimals}f}"
