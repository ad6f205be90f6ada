"""Provide cards for the small data sets that a test writes itself."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from probcal.data.card import Card, find_card, read_card


def make_card(columns: dict[str, str], *files: str | dict[str, Any], **more: Any) -> Card:
    """Make a card called ``small`` for ``files``; ``more`` replaces fields of the card or of its one source."""
    source = {"format": "delimited", "files": [{"name": f} if isinstance(f, str) else f for f in files]}
    for name in ("format", "separator", "header", "missing", "comment", "label_until", "rename",
                 "column_names", "first_rows"):  # fmt: skip
        if name in more:
            source[name] = more.pop(name)
    fields = {
        "name": "small",
        "title": "Small",
        "columns": columns,
        "positive": "yes",
        "split": {"kind": "holdout", "train_fraction": 0.5},
        "expect": {"rows": 4, "columns": 1},
        "files": [source],
    }
    return Card.model_validate(fields | more)


def changed(card: Card, **fields: Any) -> Card:
    """Return ``card`` with other fields, validated again."""
    return Card.model_validate(card.model_dump() | fields)


@cache
def shipped_card(name: str) -> Card:
    return read_card(find_card(name))


def put(folder: Path, name: str, content: str | bytes) -> Path:
    """Write a file of the data set ``small`` and return the data directory that holds it."""
    path = folder / "small" / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder
