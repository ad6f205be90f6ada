"""Load YAML as YAML 1.2 reads values. PyYAML itself still follows YAML 1.1."""

from __future__ import annotations

import re
from typing import Any, ClassVar

import yaml
from yaml.composer import ComposerError
from yaml.constructor import ConstructorError, SafeConstructor

_TAG = "tag:yaml.org,2002:"
MERGE = f"{_TAG}merge"
_KINDS = {"int": "a whole number", "float": "a number", "bool": "true or false", "str": "text"}


DEEPEST = 50
"""Deepest nesting. A card takes six levels. Python's own limit is higher, but beyond it the program can crash."""
_LONGEST_KEY = 1024
"""Longest plain key that YAML allows."""
_LONGEST_NUMBER = 100
"""Longest number in characters. Millions of digits take minutes to read, and Python prints at most 4,300."""


class Loader(yaml.SafeLoader):
    """Read YAML with restrictions on values, depth and size.

    Raises ConstructorError, with the place, for a value that does not match its tag. Raises ComposerError for a file
    nested more than 50 deep, or with a key of more than 1,024 letters.
    """

    _depth = 0

    yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {}  # type: ignore[misc]  # PyYAML declares it per instance
    yaml_constructors: ClassVar[dict[Any, Any]] = {}

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        self._depth += 1
        if self._depth > DEEPEST:
            mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]  # PyYAML gives it no type
            raise ComposerError(None, None, f"it is nested more than {DEEPEST} deep", mark)
        node = super().compose_node(parent, index)
        is_key = index is None and isinstance(parent, yaml.MappingNode)
        if is_key and node is not None and len(str(node.value)) > _LONGEST_KEY:
            raise ComposerError(None, None, f"a key has more than {_LONGEST_KEY} letters", node.start_mark)
        self._depth -= 1
        return node

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        try:
            return super().construct_object(node, deep)
        except (ValueError, KeyError, IndexError):
            fault = f'"{_short(node.value)}" cannot be read as {_KINDS.get(node.tag.removeprefix(_TAG), "a value")}'
            raise ConstructorError(None, None, fault, node.start_mark) from None

    def construct_whole_number(self, node: yaml.ScalarNode) -> int:
        text = self.construct_scalar(node)
        if len(text) > _LONGEST_NUMBER:
            raise ValueError(text)
        return int(text, 0) if text[:2] in ("0x", "0o") else int(text)

    def construct_number(self, node: yaml.ScalarNode) -> float:
        if len(self.construct_scalar(node)) > _LONGEST_NUMBER:
            raise ValueError(node)
        return self.construct_yaml_float(node)

    def construct_text(self, node: yaml.ScalarNode) -> str:
        text = self.construct_scalar(node)
        text.encode()  # raises for half of a surrogate pair, which no file can hold
        return text

    def refuse(self, node: yaml.Node) -> None:
        tag = node.tag.replace(_TAG, "!!")
        raise ConstructorError(None, None, f'the tag "{_short(tag)}" is not allowed', node.start_mark)


for _tag, _pattern, _first in (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("int", r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", "-+0123456789"),
    (
        "float",
        r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)",
        "-+.0123456789",
    ),
    ("merge", "<<", "<"),
):
    Loader.add_implicit_resolver(_TAG + _tag, re.compile(rf"(?:{_pattern})\Z"), list(_first))

for _tag, _construct in {
    "null": SafeConstructor.construct_yaml_null,
    "bool": SafeConstructor.construct_yaml_bool,
    "int": Loader.construct_whole_number,
    "float": Loader.construct_number,
    "str": Loader.construct_text,
    "seq": SafeConstructor.construct_yaml_seq,
    "map": SafeConstructor.construct_yaml_map,
}.items():
    Loader.add_constructor(_TAG + _tag, _construct)
Loader.add_constructor(None, Loader.refuse)


def _short(value: object) -> str:
    text = str(value).encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= 40 else text[:39] + "…"
