"""YAML files read safely, with the line of every key kept so that an error can name it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from probcal.errors import FileProblems, Problem, did_you_mean

Path_ = tuple[str | int, ...]
Model = TypeVar("Model", bound=BaseModel)


class YamlFile:
    """A parsed file: ``data`` as plain Python values and ``line(path)`` for any place in it."""

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        self.text = text
        self.problems: list[Problem] = []
        self._lines: dict[Path_, int] = {(): 1}
        self.data: Any = self._parse()

    @classmethod
    def read(cls, path: Path | str) -> YamlFile:
        """Read ``path``; raises FileProblems when it is not there, not text or not YAML."""
        path = Path(path)
        try:
            text = path.read_text(encoding="utf-8")
        except FileNotFoundError:
            raise FileProblems(path, [Problem(0, "there is no such file")]) from None
        except UnicodeDecodeError as error:
            raise FileProblems(path, [Problem(0, f"is not UTF-8 text ({error.reason})")]) from None
        except OSError as error:
            raise FileProblems(path, [Problem(0, f"cannot be read: {error.strerror}")]) from None
        file = cls(path, text)
        if not isinstance(file.data, dict):
            raise FileProblems(path, [Problem(1, 'must be a mapping of keys to values, as in "name: uci"')])
        return file

    def line(self, path: Path_) -> int:
        """The line of ``path``, or of the nearest thing around it that the file holds."""
        while path not in self._lines:
            path = path[:-1]
        return self._lines[path]

    def _parse(self) -> Any:
        tabbed = [
            Problem(number, "a tab stands in the indentation; YAML allows only spaces there")
            for number, line in enumerate(self.text.splitlines(), 1)
            if "\t" in line[: len(line) - len(line.lstrip())] and line.strip()
        ]
        if tabbed:
            raise FileProblems(self.path, tabbed)
        try:
            node = yaml.compose(self.text, Loader=yaml.SafeLoader)
            value = yaml.safe_load(self.text)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            raise FileProblems(
                self.path, [Problem(mark.line + 1 if mark else 0, f"is not valid YAML: {error.problem}")]
            ) from None
        except yaml.YAMLError as error:
            raise FileProblems(self.path, [Problem(0, f"is not valid YAML: {error}")]) from None
        if node is not None:
            self._walk(node, ())
        return value

    def _walk(self, node: yaml.Node, path: Path_) -> None:
        if isinstance(node, yaml.MappingNode):
            first_seen: dict[str, int] = {}
            for key, value in node.value:
                line = key.start_mark.line + 1
                if key.value in first_seen:
                    self.problems.append(
                        Problem(line, f'the key "{key.value}" is already given on line {first_seen[key.value]}')
                    )
                first_seen.setdefault(key.value, line)
                self._lines[(*path, key.value)] = line
                self._walk(value, (*path, key.value))
        elif isinstance(node, yaml.SequenceNode):
            for index, item in enumerate(node.value):
                self._lines[(*path, index)] = item.start_mark.line + 1
                self._walk(item, (*path, index))


def validated(model: type[Model], file: YamlFile, more: list[Problem] | None = None, context: Any = None) -> Model:
    """``file`` as a ``model``; raises FileProblems with every fault of the file at once.

    ``more`` are faults that the caller found by its own checks and wants reported with the others.
    """
    problems = [*file.problems, *(more or [])]
    try:
        parsed = model.model_validate(file.data, context=context)
    except ValidationError as error:
        problems += [_problem(model, file, dict(detail)) for detail in error.errors()]
        raise FileProblems(file.path, problems) from None
    if problems:
        raise FileProblems(file.path, problems)
    return parsed


def _problem(model: type[BaseModel], file: YamlFile, detail: dict[str, Any]) -> Problem:
    path = tuple(detail["loc"])
    named = ".".join(str(part) for part in path)
    if detail["type"] == "extra_forbidden":
        known = _keys_around(model, path[:-1])
        message = f'unknown key "{path[-1]}"{did_you_mean(str(path[-1]), known)}'
        if not did_you_mean(str(path[-1]), known) and known:
            message += f" (known here: {', '.join(known)})"
    elif detail["type"] == "missing":
        message = f'the key "{named}" is missing'
    elif detail["type"] == "value_error":
        message = str(detail["ctx"]["error"])
    else:
        text = detail["msg"][0].lower() + detail["msg"][1:]
        message = f"{named}: {text}, not {detail['input']!r}"
    return Problem(file.line(path), message)


def _keys_around(model: type[BaseModel], path: Path_) -> list[str]:
    """The keys that ``model`` knows at ``path``; empty where the place is not a model of ours."""
    current: Any = model
    for part in path:
        fields = getattr(current, "model_fields", {})
        if part in fields:
            current = _model_within(fields[part].annotation)
    return sorted(field.alias or name for name, field in getattr(current, "model_fields", {}).items())


def _model_within(annotation: Any) -> Any:
    """The first pydantic model named in an annotation such as ``dict[str, Thing] | None``."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    found = (_model_within(part) for part in getattr(annotation, "__args__", ()))
    return next((model for model in found if model is not None), None)
