"""Safe reading of YAML files, with the line of every key, so that an error can name it.

Values are read as in YAML 1.2, while PyYAML still follows YAML 1.1. So ``no`` and ``2020-01-01`` are text, ``1e-3`` is
a number, ``010`` is ten, and names need no quotes. Only plain tags are allowed: text, numbers, true and false, null,
lists and mappings.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from probcal.config.yaml_loader import DEEPEST, MERGE, Loader
from probcal.config.yaml_problems import model_faults
from probcal.errors import FileProblems, Problem

Place = tuple[str | int, ...]
Model = TypeVar("Model", bound=BaseModel)

_LARGEST = 1_000_000
"""Largest file in bytes. Our largest has 13,000. The Python parser takes a minute for ten times this limit."""
_MOST_VALUES = 20_000
"""Largest number of values of a file. Aliases of aliases can stand for billions in ten lines."""


class YamlFile:
    """Hold a parsed file: ``data`` as plain Python values, and ``line(place)`` for any place in it.

    Raises FileProblems when ``text`` is not YAML, not a mapping, or too large. Keys that are given twice are stored as
    ``problems``, to be reported with all others.
    """

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        self.text = text
        self.problems: list[Problem] = []
        self._lines: dict[tuple[str, ...], int] = {(): 1}
        self._visits = 0
        _refuse_too_large(path, len(text))
        self.data: dict[str, Any] = self._parse()

    @classmethod
    def read(cls, path: Path | str) -> YamlFile:
        """Read ``path``. Raise FileProblems when it is missing, not text or not YAML."""
        path = Path(path)
        try:
            with path.open("rb") as opened:
                content = opened.read(_LARGEST + 1)
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
        return cls(path, text)

    def line(self, place: Place) -> int:
        """Return the line of ``place``, or of the nearest enclosing place in the file."""
        keys = tuple(map(str, place))
        while keys not in self._lines:
            keys = keys[:-1]
        return self._lines[keys]

    def _parse(self) -> dict[str, Any]:
        try:
            loader = Loader(self.text)
            node = loader.get_single_node()
            if node is not None:
                self._walk(node, (), [])
            value = None if node is None else loader.construct_document(node)
        except yaml.YAMLError as error:
            raise FileProblems(self.path, _tabs(self.text) or [_syntax_fault(self.text, error)]) from None
        if not isinstance(value, dict):
            found = {type(None): "is empty", list: "is a list"}.get(type(value), "is a single value")
            raise FileProblems(
                self.path, [Problem(1, f'the file {found}; it must hold keys with values, as in "name: uci"')]
            )
        return value

    def _walk(self, node: yaml.Node, place: tuple[str, ...], around: list[yaml.Node]) -> None:
        if any(node is one for one in around):
            raise yaml.MarkedYAMLError(problem="an alias stands inside what it stands for", problem_mark=_start(around))
        if len(around) > DEEPEST:  # the loader does not see how deep aliases nest their values
            raise yaml.MarkedYAMLError(problem=f"it is nested more than {DEEPEST} deep", problem_mark=_start(around))
        self._visits += 1
        if self._visits > _MOST_VALUES:
            raise yaml.MarkedYAMLError(problem=f"it has more than {_MOST_VALUES:,} values", problem_mark=_start(around))
        if isinstance(node, yaml.SequenceNode):
            for index, item in enumerate(node.value):
                self._lines[(*place, str(index))] = item.start_mark.line + 1
                self._walk(item, (*place, str(index)), [*around, node])
        elif isinstance(node, yaml.MappingNode):
            self._note_keys_given_twice(node)
            for key, value in _merged_last(node):
                below = place if key.tag == MERGE else (*place, str(key.value))
                if key.tag == MERGE or below not in self._lines:
                    self._lines.setdefault(below, key.start_mark.line + 1)
                    self._walk(value, below, [*around, node])

    def _note_keys_given_twice(self, node: yaml.MappingNode) -> None:
        first_seen: dict[str, int] = {}
        for key, _ in node.value:
            line, name = key.start_mark.line + 1, str(key.value)
            if name in first_seen:
                self.problems.append(Problem(line, f'the key "{name}" is already given on line {first_seen[name]}'))
            first_seen.setdefault(name, line)


def _refuse_too_large(path: Path, size: int) -> None:
    if size > _LARGEST:
        fault = f"has more than {_LARGEST:,} bytes, and no experiment or card has so many; is this the right file?"
        raise FileProblems(path, [Problem(0, fault)])


def validated(model: type[Model], file: YamlFile, more: list[Problem] | None = None) -> Model:
    """Return ``file`` as a ``model``. Raise FileProblems with every fault of the file at once.

    ``more`` holds faults from the caller's own checks, which are reported with the others.
    """
    problems = [*file.problems, *(more or [])]
    try:
        parsed = model.model_validate(file.data)
    except ValidationError as error:
        faults = model_faults(model, file.data, error)
        problems += [Problem(file.line(place), message) for place, message in faults]
        raise FileProblems(file.path, problems) from None
    if problems:
        raise FileProblems(file.path, problems)
    return parsed


def _merged_last(node: yaml.MappingNode) -> Iterator[tuple[yaml.Node, yaml.Node]]:
    """Yield key and value. Those of ``<<: *other`` come after the mapping's own, which override them.

    A list of merged mappings is read as if each were merged by a line of its own.
    """
    yield from ((key, value) for key, value in node.value if key.tag != MERGE)
    for key, value in node.value:
        if key.tag == MERGE:
            several = value.value if isinstance(value, yaml.SequenceNode) else [value]
            yield from ((key, one) for one in several)


def _start(nodes: list[yaml.Node]) -> yaml.Mark | None:
    return nodes[-1].start_mark if nodes else None


def _tabs(text: str) -> list[Problem]:
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
    last = text.rstrip().count("\n") + 1
    if start is not None and (mark is None or mark.line >= last):
        return Problem(start.line + 1, f"is not valid YAML: what begins here has no end ({fault})")
    return Problem(mark.line + 1 if mark else 0, f"is not valid YAML: {fault}")


def one_or_more(value: Any) -> Any:
    """Return a list unchanged, and any other value in a list, for keys that take one name or several."""
    return value if isinstance(value, list) or value is None else [value]


def texts(value: Any) -> list[str]:
    """Return the texts among one value or several."""
    return [one for one in one_or_more(value) or [] if isinstance(one, str)]
