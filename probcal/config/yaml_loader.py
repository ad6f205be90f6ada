"""Load YAML as YAML 1.2 reads values. PyYAML itself still follows YAML 1.1."""

from __future__ import annotations

from typing import Any, ClassVar

import yaml
from yaml.composer import ComposerError
from yaml.constructor import ConstructorError

_TAG = "tag:yaml.org,2002:"


MERGE = f"{_TAG}merge"


_KINDS = {"int": "a whole number", "float": "a number", "bool": "true or false", "str": "text"}


DEEPEST = 50
"""A card takes six levels. Deeper ones than Python's own limit would end in it, or beyond it in a crash."""


_LONGEST_KEY = 1024
"""As long as YAML lets a plain key be."""


_LONGEST_NUMBER = 100
"""Letters. Digits by the million take minutes to read, and Python prints no number of more than 4,300."""


class Loader(yaml.SafeLoader):
    """Raises ConstructorError, with the place, for every value that is not what its tag says.

    And ComposerError for a file nested more than 50 deep, or with a key of more than 1,024 letters.
    """

    _depth = 0

    yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {}  # type: ignore[misc]  # of the class, in PyYAML too
    yaml_constructors: ClassVar[dict[Any, Any]] = {}

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        self._depth += 1
        if self._depth > DEEPEST:
            raise ComposerError(None, None, f"it is nested more than {DEEPEST} deep", self.peek_event().start_mark)  # type: ignore[no-untyped-call]
        node = super().compose_node(parent, index)
        if index is None and isinstance(parent, yaml.MappingNode) and len(str(node.value)) > _LONGEST_KEY:  # type: ignore[union-attr]  # a key is a node
            raise ComposerError(None, None, f"a key has more than {_LONGEST_KEY} letters", node.start_mark)  # type: ignore[union-attr]
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
        text.encode()  # raises for half of a surrogate pair, which no file could hold
        return text

    def refuse(self, node: yaml.Node) -> None:
        tag = node.tag.replace(_TAG, "!!")
        raise ConstructorError(None, None, f'the tag "{_short(tag)}" is not allowed', node.start_mark)


def _short(value: object) -> str:
    text = str(value).encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= 40 else text[:39] + "…"
