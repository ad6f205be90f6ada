"""Make the generated files anew after a change of a model or of a registry: ``python -m probcal.config.schemas``.

These are the JSON Schemas of experiment files and data cards, and the types of what ``probcal`` offers
(``probcal/__init__.pyi``). Pydantic makes the schemas from the models. Parameters of our own learners and methods come
from their docstrings and annotations. Parameters of scikit-learn's classes differ between its versions, so a schema
does not check them.
"""

from __future__ import annotations

import ast
import inspect
import itertools
import json
import re
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_type_hints

from pydantic import BaseModel, PydanticUserError, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

import probcal
from probcal.components.classes import import_class
from probcal.components.registry import Builtin
from probcal.config.experiment_file import SETTINGS, STAGE_METRICS, ExperimentFile, names_schema
from probcal.config.schemas import schema_path
from probcal.data.card import SOURCES, Card, card_names
from probcal.data.splits import EXPERIMENT_KINDS, KEYS, OPTIONAL, Kind
from probcal.learners.registry import LEARNERS
from probcal.methods.registry import METHODS
from probcal.metrics import NAMED, metric_named

Schema = dict[str, Any]

DIALECT = "http://json-schema.org/draft-07/schema#"
"""The dialect that the language servers of most editors read."""
_NULL: Schema = {"type": "null"}
_REDUNDANT_KEYS = (("additionalProperties", True), ("default", None))
"""What only some versions of pydantic write."""
_IMPORT_PATH: Schema = {
    "type": "string",
    "pattern": r"\.",
    "description": "an import path, such as package.module.Class",
}
"""An import path has a dot. No built-in name has one."""
_COST: Schema = {
    "type": "string",
    "pattern": r"^cost\(0\.\d+\)$",
    "description": "expected cost at a loss parameter, as cost(0.05)",
}
_CARD_PATH: Schema = {"type": "string", "pattern": r"\.ya?ml$", "description": "the path of your own card"}
_RANDOM_STATE = {"random_state": {"type": ["integer", "null"]}}
"""Its annotation also has numpy's generators, which no file can hold."""


class _Draft7(GenerateJsonSchema):
    schema_dialect = DIALECT

    def tuple_schema(self, schema: Any) -> Schema:
        fields = super().tuple_schema(schema)
        return {"items": fields.pop("prefixItems"), **fields} if "prefixItems" in fields else fields

    def model_schema(self, schema: Any) -> Schema:
        # Pydantic's own option reads the sources of all models at each import, which takes every command .2 s.
        described, cls = super().model_schema(schema), schema["cls"]
        for name, text in _attribute_docstrings(cls).items():
            field = cls.model_fields[name]
            # a field that the schema leaves out is not among the properties
            described["properties"].get(field.alias or name, {}).setdefault("description", text)
        return described


def _attribute_docstrings(model: type[BaseModel]) -> dict[str, str]:
    """Return field -> the text below it, of a model and its bases."""
    texts: dict[str, str] = {}
    for cls in reversed(model.__mro__[: model.__mro__.index(BaseModel)]):
        [body] = ast.parse(textwrap.dedent(inspect.getsource(cls))).body
        assert isinstance(body, ast.ClassDef)
        for field, below in itertools.pairwise(body.body):
            match field, below:
                case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                    texts[name] = inspect.cleandoc(text)
    return texts


def _model_schema(model: type[BaseModel]) -> Schema:
    return {"$schema": DIALECT, **_without_titles(model.model_json_schema(schema_generator=_Draft7))}


def _without_titles(schema: Any) -> Any:
    """Return ``schema`` with descriptions in one line, and without titles, which repeat the keys."""
    if isinstance(schema, list):
        return [_without_titles(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    result: Schema = {
        key: {name: _without_titles(part) for name, part in value.items()}
        if key in ("properties", "$defs")
        else _without_titles(value)
        for key, value in schema.items()
        if key not in ("title", "discriminator") and (key, value) not in _REDUNDANT_KEYS
    }
    return {**result, "description": as_prose(result["description"])} if "description" in result else result


def as_prose(text: str) -> str:
    """Return a docstring in one line, as an editor shows it."""
    return " ".join(text.replace("``", "`").replace("\\|", "|").split())


def card_schema() -> Schema:
    """Return a schema that accepts every valid card and flags what the card alone shows to be wrong."""
    schema = _model_schema(Card)
    keys, parts = schema["properties"], schema["$defs"]
    keys["name"]["pattern"] = r"^[a-z0-9][a-z0-9_-]{0,99}$"
    for key in ("like", "reading_of"):
        keys[key]["anyOf"] = [names_schema(card_names()), _NULL]
    keys["columns"]["minProperties"] = 2
    parts["Split"]["oneOf"] = [*map(_split, KEYS)]
    # A card has its own name, even if it is like another.
    card_keys = [key for key in schema["required"] if key != "name"]
    schema["required"] = ["name"]
    schema["anyOf"] = [
        {"required": ["like"]},
        {"required": card_keys, "anyOf": [{"required": [key]} for key in SOURCES]},
    ]
    return dict(_allow_numbers(schema))


def _split(kind: Kind) -> Schema:
    kind_keys = {*KEYS[kind], OPTIONAL.get(kind)}
    other_keys = {key: False for keys in (*KEYS.values(), OPTIONAL.values()) for key in keys if key not in kind_keys}
    return {"properties": {"kind": {"const": kind}, **other_keys}, "required": ["kind", *KEYS[kind]]}


def _allow_numbers(schema: Any) -> Any:
    """Return ``schema`` with numbers allowed for text: labels, codes and levels can look like numbers."""
    if isinstance(schema, list):
        return [_allow_numbers(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    result = {key: _allow_numbers(value) for key, value in schema.items()}
    if schema.get("type") == "string" and "enum" not in schema and "const" not in schema:
        result["type"] = ["string", "number"]
    return result


def experiment_schema() -> Schema:
    """Return a schema that accepts every valid file and flags what the file alone shows to be wrong."""
    schema = _model_schema(ExperimentFile)
    keys, parts = schema["properties"], schema["$defs"]
    for section, part, table in (("learners", "LearnerEntry", LEARNERS), ("methods", "MethodEntry", METHODS)):
        # An editor would show it in place of the description of the name.
        del parts[part]["description"]
        parts[part]["properties"]["type"]["anyOf"] = [names_schema(table), _IMPORT_PATH, _NULL]
        keys[section] = {"description": keys[section]["description"], "anyOf": _section_schemas(part, table, parts)}
    parts["Value"] = _value_schema()
    for part in ("LearnerEntry", "MethodEntry"):
        parts[part]["properties"]["params"]["additionalProperties"] = {"$ref": "#/$defs/Value"}
    keys["name"]["pattern"] = r"^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$"
    card = {"anyOf": [names_schema(card_names()), _CARD_PATH]}
    keys["datasets"]["items"] = card
    for key, metrics in (("metrics", NAMED), ("stages", STAGE_METRICS)):
        keys[key]["items"] = {"anyOf": [names_schema({name: metric_named(name).help for name in metrics}), _COST]}
    for key in ("datasets", "metrics", "stages", "curves"):
        keys[key]["uniqueItems"] = True
    parts["Split"]["oneOf"] = [*map(_split, EXPERIMENT_KINDS)]
    parts["OverrideEntry"]["properties"]["card"]["anyOf"] = [card, _NULL]
    parts["OverrideEntry"]["allOf"] = [
        {"anyOf": [{"required": [key]} for key in keys]} for keys in (("dataset", "datasets"), SETTINGS)
    ]
    return schema


def _value_schema() -> Schema:
    """Return the schema of a parameter, which may be, or hold, components with ``type`` and ``params``."""
    value = {"$ref": "#/$defs/Value"}
    names = names_schema({**LEARNERS, **METHODS})
    component = {
        "properties": {
            "type": {"anyOf": [names, _IMPORT_PATH], "description": "The class of a nested component."},
            "params": {
                "type": ["object", "null"],
                "description": "Parameters of its constructor.",
                "additionalProperties": value,
            },
        }
    }
    is_component = {
        "type": "object",
        "required": ["type"],
        "properties": {"type": {"type": "string"}},
        "propertyNames": {"enum": ["type", "params"]},
    }
    parts = {"items": value, "additionalProperties": value}
    return {"if": is_component, "then": component, "else": parts}


def _section_schemas(part: str, table: Mapping[str, Builtin], parts: Schema) -> list[Schema]:
    """Return the schemas of a list of names, and of a mapping.

    The keys of the mapping are built-in names, import paths, or any name with a ``type``. The parameters of each of our
    own classes become a part. The entry's ``type`` chooses among them, and without one its name.
    """
    entry = {"$ref": f"#/$defs/{part}"}
    properties: dict[str, Schema] = {}
    parts[part]["allOf"] = []
    for name, builtin in table.items():
        properties[name] = {"description": builtin.about, "anyOf": [_NULL, entry]}
        module, _, class_name = builtin.path.rpartition(".")
        if module.startswith("probcal."):
            parts[class_name] = _parameters(import_class(builtin.path))
            params = {"$ref": f"#/$defs/{class_name}"}
            settings = {
                "properties": {"params": params, "variants": {"additionalProperties": {"anyOf": [_NULL, params]}}}
            }
            properties[name].update({"if": {"required": ["type"]}, "else": settings})
            condition = {"required": ["type"], "properties": {"type": {"const": name}}}
            parts[part]["allOf"].append({"if": condition, "then": settings})
    fallback = {"errorMessage": f"not a built-in name: give its type, such as {next(iter(table))}", "type": "object"}
    type_key = {"required": ["type"], "properties": {"type": {"type": "string"}}}
    names = {"anyOf": [names_schema(table), _IMPORT_PATH]}
    mapping = {
        "properties": properties,
        "patternProperties": {_IMPORT_PATH["pattern"]: {"anyOf": [_NULL, entry]}},
        "additionalProperties": {**fallback, "allOf": [entry, type_key]},
    }
    return [
        {"type": "array", "minItems": 1, "uniqueItems": True, "items": names},
        {"type": "object", "minProperties": 1, **mapping},
    ]


def _parameters(component: type) -> Schema:
    """Return the schema of ``params``: kinds from the annotations, descriptions from the docstring."""
    text = inspect.getdoc(component) or ""
    section = re.search(r"Parameters\n-+\n(.*?)(?=\n\n\w+\n--|\Z)", text, re.DOTALL)
    entries = re.findall(
        r"^(\w[\w, ]*) : [^\n]*\n(.*?)(?=^\w|\Z)", section[1] if section else "", re.MULTILINE | re.DOTALL
    )
    texts = {name: as_prose(description) for names, description in entries for name in names.split(", ")}
    # mypy forbids reading __init__ of a class, because a subclass may change its signature
    hints = get_type_hints(component.__init__)  # type: ignore[misc]  # __init__ of a class
    properties = {}
    for name, parameter in inspect.signature(component).parameters.items():
        if name != "estimator":
            default = {} if parameter.default in (None, inspect.Parameter.empty) else {"default": parameter.default}
            properties[name] = {
                **(_RANDOM_STATE.get(name) or _type_schema(hints[name])),
                **default,
                "description": texts[name],
            }
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _type_schema(hint: Any) -> Schema:
    """Return the schema of ``hint``. It is empty, and accepts anything, for a type that no file can hold."""
    try:
        return dict(_without_titles(TypeAdapter(hint).json_schema(schema_generator=_Draft7)))
    except PydanticUserError:
        return {}


_WIDTH = 120
"""Longest line, as in pyproject.toml."""


def as_text(schema: Schema) -> str:
    """Return the text of a schema's file."""
    return json.dumps(schema, indent=1, ensure_ascii=False) + "\n"


def stub_path() -> Path:
    """Return the place of the types of what ``probcal`` offers."""
    return Path(probcal.__file__).with_suffix(".pyi")


def stub_text() -> str:
    """Return the text of ``__init__.pyi``: every public class and function, imported."""
    modules = {name: getattr(probcal, name).__module__ for name in dir(probcal) if name != "__version__"}
    classes = sorted(modules.items(), key=lambda item: (item[1], item[0]))
    lines = [f"from {module} import {name} as {name}" for name, module in classes]
    lines = [line if len(line) <= _WIDTH else line.replace("import ", "import (\n    ") + ",\n)" for line in lines]
    return "\n".join(["# written by python -m probcal.config.schemas", *lines, "", "__version__: str", ""])


def main() -> None:
    """Write all generated files and print their places."""
    texts = {schema_path("experiment"): as_text(experiment_schema()), schema_path("card"): as_text(card_schema())}
    for path, text in {**texts, stub_path(): stub_text()}.items():
        path.write_text(text, encoding="utf-8")
        print(path)


if __name__ == "__main__":
    main()
