"""Where the files shipped with probcal are: in a checkout beside the package, in a wheel inside it."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).parent


def shipped(kind: str) -> Path:
    """The folder of shipped files of one ``kind``: ``"configs"`` or ``"datasets"``."""
    inside = _PACKAGE / kind
    return inside if inside.is_dir() else _PACKAGE.parent / kind
