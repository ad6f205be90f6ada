"""Text as a quoted value of YAML, whatever is in it."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any


def quoted(text: str) -> str:
    """``text`` between quotation marks; what nobody sees, or YAML reads as the end of a line, by its number."""
    return f'"{"".join(map(_escaped, text))}"'


def flow(value: Any) -> str:
    """``value`` of texts, numbers, true and false, lists and mappings on one line of YAML."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key(name)}: {flow(one)}" for name, one in value.items()) + "}"
    if isinstance(value, Iterable):
        return "[" + ", ".join(map(flow, value)) + "]"
    return repr(value)


def key(name: str) -> str:
    """``name`` as a key, without quotation marks where it needs none."""
    return name if name.isidentifier() and name.isascii() and name.lower() not in _WORDS else quoted(name)


_WORDS = ("true", "false", "null")


def _escaped(one: str) -> str:
    if one in '"\\':
        return f"\\{one}"
    if one != " " and unicodedata.category(one)[0] in "CZ":
        number = ord(one)
        return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
    return one
