"""Parts of the rows, so that the arrays of a step stay in the processor's cache and take no memory for each row."""

from __future__ import annotations

_PART = 2**15
"""Numbers of the largest array of a part."""


def row_parts(n_rows: int, n_numbers: int = 1) -> list[slice]:
    """Return consecutive parts of ``n_rows`` rows. Arrays with ``n_numbers`` for each row of a part stay in cache."""
    size = max(_PART // n_numbers, 256)
    return [slice(first, first + size) for first in range(0, n_rows, size)]
