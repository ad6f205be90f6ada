"""How large a data file may be: what is packed or sent can be without end."""

from __future__ import annotations

import os
from collections.abc import Iterable

from probcal.errors import DataError

_MB = 1_000_000
_USUAL = 4_000
"""Megabytes; the largest of the papers' files, KDD Cup 98's, has 118."""


def largest_data() -> int:
    """Bytes that a data file may have, unpacked: 4 GB, or as many megabytes as PROBCAL_LARGEST_MB says.

    Raises DataError when it says no number.
    """
    said = os.environ.get("PROBCAL_LARGEST_MB") or str(_USUAL)
    if not (said.isascii() and said.isdigit() and 0 < len(said) < 10 and int(said)):
        raise DataError(f"PROBCAL_LARGEST_MB is {said!r}; it must be a whole number of megabytes")
    return int(said) * _MB


def at_most(pieces: Iterable[bytes], what: object) -> bytes:
    """``pieces`` put together. Raises DataError, naming ``what``, as soon as they are too large."""
    most, found, size = largest_data(), [], 0
    for piece in pieces:
        size += len(piece)
        if size > most:
            raise DataError(
                f"{what}: is larger than {most // _MB:,} MB unpacked; if it is meant to be, set PROBCAL_LARGEST_MB to "
                "as many megabytes as it may have"
            )
        found.append(piece)
    return b"".join(found)
