"""Variants: one entry of an experiment under several settings, each a component with its own cells.

Works on the plain parsed file and passes over what is malformed, of which pydantic speaks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Variant:
    """An entry under one of its settings, or as it is: then ``variant`` and ``params`` are empty."""

    entry: str
    variant: str
    params: dict[str, Any]
    """What is merged over the entry's parameters."""

    @property
    def name(self) -> str:
        """As cell ids have it: ``j48.pruned``."""
        return f"{self.entry}.{self.variant}" if self.variant else self.entry


def variants_of(name: str, entry: Mapping[str, Any]) -> list[Variant]:
    """The variants of the entry ``name`` in their order; an entry without any is its own only one."""
    listed = with_names(entry.get("variants"))
    return [Variant(name, one, with_names(params)) for one, params in listed.items()] or [Variant(name, "", {})]


def families(data: Mapping[str, Any], section: str) -> dict[str, list[str]]:
    """Entry -> the names that its variants have in cell ids."""
    return {name: [one.name for one in variants_of(name, entry)] for name, entry in entries(data, section).items()}


def entries(data: Mapping[str, Any], section: str) -> dict[str, dict[str, Any]]:
    """Name -> entry of a section that may be a list of names or a mapping; malformed entries left out."""
    value = data.get(section)
    if isinstance(value, list):
        return {name: {} for name in value if isinstance(name, str)}
    named = with_names(value)
    return {name: entry or {} for name, entry in named.items() if isinstance(entry, dict | None)}


def with_names(value: Any) -> dict[str, Any]:
    """What is well-formed of a mapping with names as keys."""
    return {name: item for name, item in value.items() if isinstance(name, str)} if isinstance(value, dict) else {}
