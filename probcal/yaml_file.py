"""Safe reading of YAML files, with the line of every key, so that an error can name it.

Values are read as in YAML 1.2, while PyYAML still follows YAML 1.1. So ``no`` and ``2020-01-01`` are text, ``1e-3`` is
a number, ``010`` is ten, and names need no quotes. Only plain tags are allowed: text, numbers, true and false, null,
lists and mappings. Nothing here needs pydantic, which takes long to import.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import yaml
from yaml.composer import ComposerError
from yaml.constructor import ConstructorError, SafeConstructor

from probcal._io import is_shipped, refuse_cut_off, shortened
from probcal.errors import FileProblems, Problem

KeyPath = tuple[str | int, ...]

_LARGEST_FILE = 1_000_000
"""Largest file in bytes. Our largest has 13,000. The Python parser takes a minute for ten times this limit."""
_MOST_VALUES = 20_000
"""Largest number of values of a file. Aliases of aliases can stand for billions in ten lines."""
_DEEPEST_LEVEL = 50
"""Deepest nesting. A card takes six levels. Python's own limit is higher, but beyond it the program can crash."""
_LONGEST_KEY = 1024
"""Longest plain key that YAML allows."""
_LONGEST_NUMBER = 100
"""Longest number in characters. Millions of digits take minutes to read, and Python prints at most 4,300."""
MOST_REPORTED = 100
"""Largest number of reported faults. Nobody reads more, and each takes time to find similar names."""
_TAG = "tag:yaml.org,2002:"
_KINDS = {"int": "a whole number", "float": "a number", "bool": "true or false", "str": "text"}


# ruamel.yaml reads YAML 1.2 and keeps lines, too, but makes dates of text, needs seventeen times as long for the 228
# files that we ship, and the limits below would still be ours to write.
class Loader(yaml.SafeLoader):
    """Read YAML with restrictions on values, depth and size. Keys that are given twice are stored as ``problems``.

    Raises ConstructorError or ComposerError, with the place, for what it refuses. Aliases count as if they had been
    written out.
    """

    yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {}  # type: ignore[misc]  # PyYAML declares it per instance
    yaml_constructors: ClassVar[dict[Any, Any]] = {}

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.problems: list[Problem] = []
        self._level = 0
        self._extents: dict[yaml.Node, tuple[int, int]] = {}
        """Finished node -> number of values in it, and their depth."""

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        event = self.peek_event()  # type: ignore[no-untyped-call]  # PyYAML gives it no type
        mark, is_alias = event.start_mark, isinstance(event, yaml.AliasEvent)
        self._level += 1
        if self._level > _DEEPEST_LEVEL:
            raise ComposerError(None, None, f"it is nested more than {_DEEPEST_LEVEL} deep", mark)
        node = super().compose_node(parent, index)
        self._level -= 1
        if node is None:
            return None
        if is_alias and node not in self._extents:
            raise ComposerError(None, None, "an alias stands inside what it stands for", mark)
        is_key = index is None and isinstance(parent, yaml.MappingNode)
        if is_key and len(str(node.value)) > _LONGEST_KEY:
            raise ComposerError(None, None, f"a key has more than {_LONGEST_KEY} letters", mark)
        if not is_alias:
            self._extents[node] = self._extent(node)
        values, depth = self._extents[node]
        if values > _MOST_VALUES or len(self._extents) > 2 * _MOST_VALUES:  # keys are nodes, too
            raise ComposerError(None, None, f"it has more than {_MOST_VALUES:,} values", mark)
        if depth > _DEEPEST_LEVEL:
            raise ComposerError(None, None, f"it is nested more than {_DEEPEST_LEVEL} deep", mark)
        return node

    def _extent(self, node: yaml.Node) -> tuple[int, int]:
        children = node.value if isinstance(node, yaml.SequenceNode) else []
        if isinstance(node, yaml.MappingNode):
            children = [value for _, value in node.value]
        extents = [self._extents[child] for child in children]
        return 1 + sum(values for values, _ in extents), 1 + max((depth for _, depth in extents), default=0)

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        node = super().compose_mapping_node(anchor)
        first_lines: dict[str, int] = {}
        for key, _ in node.value:
            line, name = key.start_mark.line + 1, str(key.value)
            if name in first_lines:
                self.problems.append(Problem(line, f'the key "{name}" is already given on line {first_lines[name]}'))
            first_lines.setdefault(name, line)
        return node

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        kind = node.tag.removeprefix(_TAG)
        try:
            if kind in ("int", "float") and len(node.value) > _LONGEST_NUMBER:
                raise ValueError(node)
            value = super().construct_object(node, deep)
            if isinstance(value, str):
                value.encode()  # raises for half of a surrogate pair, which no file can hold
            return value
        except (ValueError, KeyError, IndexError):
            fault = f'"{_short_text(node.value)}" cannot be read as {_KINDS.get(kind, "a value")}'
            raise ConstructorError(None, None, fault, node.start_mark) from None

    def construct_whole_number(self, node: yaml.ScalarNode) -> int:
        text = self.construct_scalar(node)
        return int(text, 0) if text[:2] in ("0x", "0o") else int(text)

    def refuse(self, node: yaml.Node) -> None:
        tag = node.tag.replace(_TAG, "!!")
        raise ConstructorError(None, None, f'the tag "{_short_text(tag)}" is not allowed', node.start_mark)


for _tag, _pattern, _letters in (
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
    Loader.add_implicit_resolver(_TAG + _tag, re.compile(rf"(?:{_pattern})\Z"), list(_letters))

for _tag in ("null", "bool", "float", "str", "seq", "map"):
    Loader.add_constructor(_TAG + _tag, getattr(SafeConstructor, f"construct_yaml_{_tag}"))
Loader.add_constructor(_TAG + "int", Loader.construct_whole_number)
Loader.add_constructor(None, Loader.refuse)


class YamlFile:
    """Hold a parsed file: ``data`` as plain Python values, and ``line(key_path)`` for any of its keys and items.

    Raises FileProblems when ``text`` is not YAML, not a mapping, or too large. ``problems`` holds the faults found so
    far, first the keys that are given twice.
    """

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        self.text = text
        self._root: yaml.Node | None = None
        _refuse_too_large(path, len(text))
        try:
            loader = Loader(text)
            self._root = loader.get_single_node()
            data = None if self._root is None else loader.construct_document(self._root)
        except yaml.YAMLError as error:
            raise FileProblems(path, _tab_problems(text) or [_syntax_fault(text, error)]) from None
        if not isinstance(data, dict):
            state = {type(None): "is empty", list: "is a list"}.get(type(data), "is a single value")
            raise FileProblems(
                path, [Problem(1, f'the file {state}; it must hold keys with values, as in "name: uci"')]
            )
        self.data: dict[str, Any] = data
        self.problems = loader.problems

    @classmethod
    def read(cls, path: Path | str) -> YamlFile:
        """Read ``path``. Raise FileProblems when it is missing, not text or not YAML."""
        path = Path(path)
        try:
            with path.open("rb") as stream:
                # One byte more tells a file that is too large, and no more of it takes memory.
                content = stream.read(_LARGEST_FILE + 1)
        except FileNotFoundError:
            raise FileProblems(path, [Problem(0, "there is no such file")]) from None
        except OSError as error:
            raise FileProblems(path, [Problem(0, f"cannot be read: {error.strerror}")]) from None
        except ValueError:  # the path is impossible, for example with a null character
            raise FileProblems(ascii(str(path)), [Problem(0, "there is no such file")]) from None
        _refuse_too_large(path, len(content))
        try:
            text = content.decode("utf-8")
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            raise FileProblems(path, [Problem(line, "is not UTF-8 text; save the file as UTF-8")]) from None
        if is_shipped(path):  # an editor may leave the last line break out of a user's file
            refuse_cut_off(path, text)
        return cls(path, text)

    def line(self, key_path: KeyPath) -> int:
        """Return the line of ``key_path``, or of the nearest key in the file that encloses it.

        A text in ``key_path`` is a key, or a name in a list of names.
        """
        node, line = self._root, 1
        for part in key_path:
            match = _child(node, part)
            if match is None:
                break
            line, node = match
        return line

    def report(self, key_path: KeyPath, message: str) -> None:
        """Add a problem at the line of ``key_path``. Raise FileProblems if there are more than anybody reads."""
        self.problems.append(Problem(self.line(key_path), message))
        if len(self.problems) > MOST_REPORTED:
            raise FileProblems(self.path, self.problems)


def _child(node: yaml.Node | None, part: str | int) -> tuple[int, yaml.Node] | None:
    """Return line and node of a key or item of ``node``."""
    if isinstance(node, yaml.MappingNode):
        # Of merged keys, the last one counts.
        for key, value in reversed(node.value):
            if key.value == str(part):
                return key.start_mark.line + 1, value
    if isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            if part in (index, item.value):
                return item.start_mark.line + 1, item
    return None


def _refuse_too_large(path: Path, size: int) -> None:
    if size > _LARGEST_FILE:
        fault = f"has more than {_LARGEST_FILE:,} bytes, and no experiment or card has so many; is this the right file?"
        raise FileProblems(path, [Problem(0, fault)])


def _tab_problems(text: str) -> list[Problem]:
    """Return a problem for every line that is indented with a tab, the most frequent fault in YAML."""
    return [
        Problem(number, "the line is indented with a tab; use spaces")
        for number, line in enumerate(text.split("\n"), 1)
        if "\t" in line[: len(line) - len(line.lstrip())] and line.strip()
    ]


def _syntax_fault(text: str, error: yaml.YAMLError) -> Problem:
    if isinstance(error, yaml.reader.ReaderError):
        line = text.count("\n", 0, error.position) + 1
        return Problem(line, f"is not valid YAML: the character {error.character:#x} is not allowed")
    if not isinstance(error, yaml.MarkedYAMLError):
        return Problem(0, f"is not valid YAML: {error}")
    mark, start = error.problem_mark, error.context_mark
    fault = str(error.problem or error.context)
    if "another document" in fault:
        fault = "a second document begins here; a file holds one"
    elif "'\\t'" in fault:
        fault = "there is a tab where only a space is allowed"
    elif "mapping values are not allowed" in fault:
        fault = 'a ":" is not allowed here; put a text that holds ": " in quotes'
    elif "cannot start any token" in fault:
        fault += "; put a text that starts with it in quotes"
    last_line = text.rstrip().count("\n") + 1
    if start is not None and (mark is None or mark.line >= last_line):
        return Problem(start.line + 1, f"is not valid YAML: what begins here has no end ({fault})")
    return Problem(mark.line + 1 if mark else 0, f"is not valid YAML: {fault}")


def _short_text(value: object) -> str:
    return shortened(str(value).encode("utf-8", "backslashreplace").decode(), 40)


def as_list(value: Any) -> Any:
    """Return a list unchanged, and any other value in a list, for keys that take one name or several."""
    return value if isinstance(value, list) or value is None else [value]


def texts(value: Any) -> list[str]:
    """Return the texts among one value or several."""
    return [item for item in as_list(value) or [] if isinstance(item, str)]


def entries(data: Mapping[str, Any], section: str) -> dict[str, dict[str, Any]]:
    """Return name -> entry of a section that is a list of names or a mapping. Malformed entries are left out."""
    value = data.get(section)
    if isinstance(value, list):
        return {name: {} for name in value if isinstance(name, str)}
    items = named_items(value)
    return {name: entry or {} for name, entry in items.items() if isinstance(entry, dict | None)}


def named_items(value: Any) -> dict[str, Any]:
    """Return the items of a mapping whose keys are text. Anything but a mapping gives an empty one."""
    return {name: item for name, item in value.items() if isinstance(name, str)} if isinstance(value, dict) else {}
