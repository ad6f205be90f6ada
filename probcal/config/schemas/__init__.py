"""JSON Schemas of experiment files and data cards, for editors: completion, help on every key, faults as one types.

They are made from the models that read the files, and kept beside this file, so that printing one imports nothing
heavy; ``python -m probcal.config.schemas`` makes them anew. ``probcal validate`` sees more than a schema can say.
"""

from __future__ import annotations

from pathlib import Path

KINDS = ("experiment", "card")


def schema_path(kind: str) -> Path:
    """Where the schema of a ``kind`` of file is."""
    return Path(__file__).parent / f"{kind}.schema.json"
