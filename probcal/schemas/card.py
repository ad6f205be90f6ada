"""The schema of a data card: its model, with the shorthand that is read and the names that there are."""

from __future__ import annotations

from typing import Any

from probcal.data.card import SOURCES, Card, card_names
from probcal.schemas.described import Schema, schema_of

_OWN = ("name",)
"""What a card cannot have from the one that it is ``like``."""


def card_schema() -> Schema:
    """Accepts every card that is read, and flags what can be told from the card alone."""
    schema = schema_of(Card)
    keys, parts = schema["properties"], schema["$defs"]
    label: Schema = {"type": "string"}
    keys["positive"] = {
        "description": keys["positive"]["description"],
        "anyOf": [label, {"type": "array", "items": label}],
    }
    keys["name"].update(pattern=r"^[a-z0-9][a-z0-9_-]{0,99}$")
    for key in ("like", "reading_of"):
        keys[key].update(anyOf=[{"enum": card_names()}, {"type": "null"}])
    keys["columns"].update(minProperties=2)
    parts["Split"]["oneOf"] = [
        _split(("standard", "chronological"), "train", "train_fraction"),
        _split(("holdout",), "train_fraction", "train"),
        {"properties": {"kind": {"const": "same"}, "train": False, "train_fraction": False}},
    ]
    needed = [key for key in schema["required"] if key not in _OWN]
    schema["required"] = list(_OWN)
    schema["anyOf"] = [
        {"required": ["like"]},
        {"required": needed, "anyOf": [{"required": [key]} for key in SOURCES]},
    ]
    return dict(_numbers_too(schema))


def _split(kinds: tuple[str, ...], wanted: str, unwanted: str) -> Schema:
    return {"properties": {"kind": {"enum": list(kinds)}, unwanted: False}, "required": [wanted]}


def _numbers_too(schema: Any) -> Any:
    """A card takes a number where it wants text: labels, codes and levels look like numbers."""
    if isinstance(schema, list):
        return [_numbers_too(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    changed = {key: _numbers_too(value) for key, value in schema.items()}
    if schema.get("type") == "string" and "enum" not in schema and "const" not in schema:
        changed["type"] = ["string", "number"]
    return changed
