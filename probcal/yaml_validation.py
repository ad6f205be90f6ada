"""Validation of files with pydantic. Every fault gets its line, and words for the person who wrote the file."""

from __future__ import annotations

import re
import reprlib
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any, Generic, TypeVar

from pydantic import AfterValidator, BaseModel, ValidationError, ValidationInfo
from pydantic_core import InitErrorDetails, PydanticCustomError

from probcal.errors import FileProblems, Problem, did_you_mean
from probcal.yaml_file import MOST_REPORTED, KeyPath, YamlFile

Model = TypeVar("Model", bound=BaseModel)
Faults = Iterator[tuple[KeyPath, str]]
"""Key path and message of each fault. A validator gives the path relative to its field."""

_EXPECTED_FORMS = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_parsing_size": "a whole number of fewer digits",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "list_type": "a list, as in [a, b]",
    "dict_type": "a mapping, as in {{a: b}}",
    "model_type": "a mapping, as in {{a: b}}",
    "model_attributes_type": "a mapping, as in {{a: b}}",
    "greater_than": "more than {gt}",
    "greater_than_equal": "at least {ge}",
    "less_than": "less than {lt}",
    "less_than_equal": "at most {le}",
}
_FORM_ERRORS = {*_EXPECTED_FORMS, "literal_error"}


def validator_of(check: Callable[[Any, ValidationInfo], Faults]) -> AfterValidator:
    """Return the annotation of a field whose faults ``check`` yields, each with its key path in the field."""

    def validate(value: Any, info: ValidationInfo) -> Any:
        faults = [
            InitErrorDetails(type=PydanticCustomError("value_error", "{error}", {"error": message}), loc=path, input=0)
            for path, message in islice(check(value, info), MOST_REPORTED)
        ]
        if faults:
            raise ValidationError.from_exception_data("file", faults)
        return value

    return AfterValidator(validate)


class Validation(Generic[Model]):
    """Validate ``file`` as a ``model``, once. ``context`` is what the checks of its fields get.

    Further checks can look at ``faulty_paths`` and add problems to the file before ``finish``. Raises FileProblems if
    there are more faults than anybody reads.
    """

    def __init__(self, model: type[Model], file: YamlFile, context: Any = None) -> None:
        self._model, self._file = model, file
        self._error: ValidationError | None = None
        self._parsed: Model | None = None
        try:
            self._parsed = model.model_validate(file.data, context=context)
        except ValidationError as error:
            self._error = error
            if error.error_count() > MOST_REPORTED:
                raise self._problems(error) from None

    @property
    def faulty_paths(self) -> list[KeyPath]:
        """Return the key paths of all faults."""
        details = self._error.errors() if self._error else []
        return [_key_path(self._file.data, detail["loc"], detail["type"]) for detail in details]

    def finish(self) -> Model:
        """Return the file as a model. Raise FileProblems with its faults and the problems that the file has."""
        if self._error:
            raise self._problems(self._error) from None
        if self._file.problems:
            raise FileProblems(self._file.path, self._file.problems)
        assert self._parsed is not None  # there was no error
        return self._parsed

    def _problems(self, error: ValidationError) -> FileProblems:
        file = self._file
        problems = [Problem(file.line(path), message) for path, message in _faults(self._model, file.data, error)]
        return FileProblems(file.path, [*file.problems, *problems])


def validate_file(model: type[Model], file: YamlFile) -> Model:
    """Return ``file`` as a ``model``. Raise FileProblems with every fault of the file at once.

    Problems that the file has already are reported with the others.
    """
    return Validation(model, file).finish()


def _faults(model: type[BaseModel], data: Any, error: ValidationError) -> Faults:
    """Yield (key path in ``data``, message) of every fault, one where a value may have several forms."""
    details_by_path: dict[KeyPath, list[dict[str, Any]]] = {}
    for detail in islice(error.errors(), MOST_REPORTED):
        details_by_path.setdefault(_key_path(data, detail["loc"], detail["type"]), []).append(dict(detail))
    for key_path, details in details_by_path.items():
        if all(detail["type"] in _FORM_ERRORS and "[key]" not in detail["loc"] for detail in details):
            forms = " or ".join(dict.fromkeys(map(_form, details)))
            value = _value_text(details[0]["input"])
            yield key_path, f"{_path_text(key_path)} must be {forms}, not {value}" + _hint(details)
        else:
            yield from ((key_path, _message(model, key_path, detail)) for detail in details)


def _key_path(data: Any, loc: KeyPath, kind: str) -> KeyPath:
    """Return ``loc`` without what pydantic inserts: the names of a union's branches and ``[key]``."""
    key_path: list[str | int] = []
    # A part of ``loc`` that is no key or index of the data was inserted by pydantic.
    for part in loc:
        if isinstance(data, Mapping):
            keys = [part] if part in data else [key for key in data if str(key) == str(part)]
            if keys:
                data = data[keys[0]]
                key_path.append(str(part))
        elif isinstance(data, list) and isinstance(part, int) and part < len(data):
            data = data[part]
            key_path.append(part)
    return (*key_path, loc[-1]) if kind == "missing" else tuple(key_path)


def _message(model: type[BaseModel], path: KeyPath, detail: Mapping[str, Any]) -> str:
    kind = detail["type"]
    if kind == "invalid_key" or "[key]" in detail["loc"]:
        return f"the key {_value_text(detail['input'])} must be text" + _hint([{**detail, "type": "string_type"}])
    if kind == "extra_forbidden":
        keys = _known_keys(model, path[:-1], detail["loc"])
        hint = did_you_mean(str(path[-1]), keys)
        return f'unknown key "{path[-1]}"{hint}' + (f" (known here: {', '.join(keys)})" if keys and not hint else "")
    if kind == "missing":
        return f'the key "{_path_text(path)}" is missing'
    if kind.startswith("union_tag"):
        key = _path_text((*path, str(detail["ctx"]["discriminator"]).strip("'")))
        if kind == "union_tag_not_found":
            return f'the key "{key}" is missing'
        tags, tag = detail["ctx"]["expected_tags"], detail["ctx"]["tag"]
        alternatives = tags.replace("'", '"').replace(", ", " or ")
        hint = _hint([{"input": tag, "ctx": {"expected": tags}}])
        return f"{key} must be {alternatives}, not {_value_text(tag)}{hint}"
    if kind == "value_error":
        return str(detail["ctx"]["error"])
    if kind == "too_short":
        return f"{_path_text(path)} must not be empty"
    text = detail["msg"][0].lower() + detail["msg"][1:]
    return f"{_path_text(path)}: {text}, not {_value_text(detail['input'])}"


def _form(detail: Mapping[str, Any]) -> str:
    if detail["type"] == "literal_error":
        return str(detail["ctx"]["expected"]).replace("'", '"')
    return _EXPECTED_FORMS[detail["type"]].format_map(detail.get("ctx", {}))


def _hint(details: list[dict[str, Any]]) -> str:
    value = details[0]["input"]
    if isinstance(value, str):
        names = [
            word for detail in details for word in re.findall(r"'([^']*)'", detail.get("ctx", {}).get("expected", ""))
        ]
        return did_you_mean(value, names)
    wants_text = any(detail.get("type") == "string_type" for detail in details)
    return "; put it in quotes" if wants_text and isinstance(value, int | float) else ""


def _path_text(key_path: KeyPath) -> str:
    """Return ``learners.tree.params``, and ``datasets[1]`` for the first item of a list."""
    words = "".join(f"[{part + 1}]" if isinstance(part, int) else f".{part}" for part in key_path)
    return words.lstrip(".") or "the file"


def _value_text(value: Any) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    return reprlib.repr(value)


def _known_keys(model: type[BaseModel], key_path: KeyPath, loc: KeyPath) -> list[str]:
    """Return the keys that ``model`` knows at ``key_path``. Return none where the path leads to none of our models.

    ``loc`` is the same path in pydantic's words, with the tags of its unions.
    """
    branch: Any = model
    for part in key_path:
        fields = getattr(branch, "model_fields", {})
        if part in fields:
            models = list(_models_within(fields[part].annotation))
            branch = next((candidate for candidate in models if _tag(candidate) in loc), models[0] if models else None)
    return sorted(getattr(branch, "model_fields", {}))


def _models_within(annotation: Any) -> Iterator[type[BaseModel]]:
    """Yield the pydantic models named in an annotation such as ``dict[str, Thing] | None``."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in getattr(annotation, "__args__", ()):
        yield from _models_within(part)


def _tag(model: type[BaseModel]) -> Any:
    """Return the only ``kind`` that a model allows. Return None if it allows several or has no kind."""
    kinds: tuple[Any, ...] = getattr(getattr(model.model_fields.get("kind"), "annotation", None), "__args__", ())
    return kinds[0] if len(kinds) == 1 else None
