"""JSON Schemas of experiment files and data cards, with which editors complete, explain and check keys.

The schemas are made from the models that read the files, and stored beside this module, so that printing one imports
nothing heavy. ``python -m probcal.config.schemas`` writes them. ``probcal validate`` checks more than a schema can.
"""

from __future__ import annotations

from pathlib import Path

KINDS = ("experiment", "card")


def schema_path(kind: str) -> Path:
    """Return the path of the schema of a ``kind`` of file."""
    return Path(__file__).parent / f"{kind}.schema.json"
