"""JSON Schemas of experiment files and data cards, made from their models.

Each key is described by the text below it in the source. Parameters of our own learners and methods come from their
docstrings and annotations. Parameters of scikit-learn's classes differ between its versions, so a schema does not check
them.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator, Mapping
from typing import Any, get_type_hints

from pydantic import BaseModel, PydanticUserError, TypeAdapter

from probcal.config.components import Builtin, import_class
from probcal.config.experiment_file import CURVES, ENCODINGS, SETTINGS, ExperimentFile
from probcal.data.card import SOURCES, Card, card_names
from probcal.learners.registry import LEARNERS
from probcal.methods.registry import METHODS
from probcal.metrics import METHOD_METRICS, NAMED, metric_named
from probcal.papers.published import paper_names

Schema = dict[str, Any]

DIALECT = "http://json-schema.org/draft-07/schema#"
"""The dialect that the language servers of most editors read."""


_REDUNDANT = (("additionalProperties", True), ("default", None))


def schema_of(model: type[BaseModel]) -> Schema:
    """Return the schema of ``model`` from pydantic, in draft 7, with descriptions.

    What differs between versions of pydantic is left out.
    """
    schema = model.model_json_schema()
    models = {one.__name__: one for one in _models(model)}
    for name, part in {model.__name__: schema, **schema.get("$defs", {})}.items():
        texts = _texts(models[name])
        for key, key_schema in part.get("properties", {}).items():
            key_schema.update({"description": texts[key]} if key in texts else {})
    return {"$schema": DIALECT, **plain(schema)}


def plain(schema: Any) -> Any:
    """Return ``schema`` without titles, which repeat the keys, and without defaults of JSON Schema.

    A ``$ref`` with other keys becomes an ``allOf``.
    """
    if isinstance(schema, list):
        return [plain(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    kept: Schema = {
        key: {name: plain(one) for name, one in value.items()} if key in ("properties", "$defs") else plain(value)
        for key, value in schema.items()
        if key not in ("title", "discriminator") and (key, value) not in _REDUNDANT
    }
    if "const" in kept:
        kept.pop("enum", None)
    if "description" in kept:
        kept["description"] = as_prose(kept["description"])
    if "prefixItems" in kept:  # draft 7 calls it items
        kept["items"] = kept.pop("prefixItems")
    if "$ref" in kept and len(kept) > 1:
        return {"allOf": [{"$ref": kept.pop("$ref")}], **kept}
    return kept


def as_prose(text: str) -> str:
    """Return a docstring in one line, as an editor shows it."""
    return " ".join(text.replace("``", "`").replace("\\|", "|").split())


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    """Yield the models that an annotation names, and the models that these name."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
        for field in annotation.model_fields.values():
            yield from _models(field.annotation)
    for part in getattr(annotation, "__args__", ()):
        yield from _models(part)


def _texts(model: type[BaseModel]) -> dict[str, str]:
    """Return key -> the text below it in the source of the model or of its bases."""
    found: dict[str, str] = {}
    for one in reversed(model.__mro__):
        if one is not BaseModel and issubclass(one, BaseModel):
            [body] = ast.parse(textwrap.dedent(inspect.getsource(one))).body
            found.update(_texts_in(body))
    return found


def _texts_in(body: Any) -> Iterator[tuple[str, str]]:
    for field, below in zip(body.body, body.body[1:], strict=False):
        is_text = isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and is_text:
            yield field.target.id, inspect.cleandoc(below.value.value)


_OWN = ("name",)
"""What a card cannot take from the card that it is ``like``."""


def card_schema() -> Schema:
    """Return a schema that accepts every valid card and flags what the card alone shows to be wrong."""
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
    """Return ``schema`` with numbers allowed for text: labels, codes and levels can look like numbers."""
    if isinstance(schema, list):
        return [_numbers_too(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    changed = {key: _numbers_too(value) for key, value in schema.items()}
    if schema.get("type") == "string" and "enum" not in schema and "const" not in schema:
        changed["type"] = ["string", "number"]
    return changed


_DRAWN = {"random_state": {"type": ["integer", "null"]}}
"""Its annotation also has numpy's generators, which no file can hold."""


def parameters_of(table: Mapping[str, Builtin]) -> dict[str, tuple[list[str], Schema]]:
    """Return class -> its short names and the schema of its ``params``, for our own classes."""
    found: dict[str, tuple[list[str], Schema]] = {}
    for name, builtin in table.items():
        module, _, called = builtin.path.rpartition(".")
        if module.startswith("probcal."):
            found.setdefault(called, ([], _parameters(import_class(builtin.path))))[0].append(name)
    return found


def _parameters(component: type) -> Schema:
    # mypy forbids reading __init__ of a class, because a subclass may change its signature
    texts, hints = _parameter_texts(component), get_type_hints(component.__init__)  # type: ignore[misc]
    properties = {}
    for name, parameter in inspect.signature(component).parameters.items():
        if name == "estimator":
            continue
        one = _DRAWN.get(name) or _kind(hints[name])
        if parameter.default not in (None, inspect.Parameter.empty):
            one = {**one, "default": parameter.default}
        properties[name] = {**one, "description": texts[name]}
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _kind(hint: Any) -> Schema:
    """Return the schema of ``hint``. It is empty, and accepts anything, for a type that no file can hold."""
    try:
        return dict(plain(TypeAdapter(hint).json_schema()))
    except PydanticUserError:
        return {}


def _parameter_texts(component: type) -> dict[str, str]:
    """Return parameter -> its description in the docstring of ``component``."""
    text = inspect.getdoc(component) or ""
    section = re.search(r"Parameters\n-+\n(.*?)(\n\n|\Z)", text, re.S)
    entries = re.findall(r"^(\w[\w, ]*) : (.*?)(?=^\w|\Z)", section[1] if section else "", re.M | re.S)
    return {name: as_prose(text) for names, text in entries for name in names.split(", ")}


_IMPORT_PATH = r"\."
"""Pattern of an import path, which has a dot. No built-in name has one."""
_COST = r"^cost\(0\.\d+\)$"


def experiment_schema() -> Schema:
    """Return a schema that accepts every valid file and flags what the file alone shows to be wrong."""
    schema = schema_of(ExperimentFile)
    keys, parts = schema["properties"], schema["$defs"]
    _allow_single_names(parts["OverrideEntry"])
    for section, part, table in (("learners", "LearnerEntry", LEARNERS), ("methods", "MethodEntry", METHODS)):
        del parts[part]["description"]  # an editor would show it instead of the description of the name
        parts[part]["properties"]["variants"] = _variants(parts[part]["properties"]["variants"])
        parts[part]["properties"]["type"].update(anyOf=[_named(table), _import_path(), {"type": "null"}])
        parts.update(_kinds(part, table, parts))
        keys[section] = _section(keys[section]["description"], part, table)
    keys["name"].update(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$")
    keys["paper"].update(anyOf=[{"enum": list(paper_names())}, {"type": "null"}])
    keys["datasets"].update(items=_card())
    keys["metrics"].update(items=_metrics({name: metric_named(name).help for name in NAMED}))
    keys["stages"].update(
        items=_metrics({name: metric_named(name).help for name in NAMED if name not in METHOD_METRICS})
    )
    keys["curves"].update(items={"enum": list(CURVES)})
    for key in ("datasets", "metrics", "stages", "curves"):
        keys[key]["uniqueItems"] = True
    keys["combinations"].update(additionalProperties={"type": "array", "minItems": 1, "items": _method_here()})
    parts["LearnerEntry"]["properties"]["encoding"].update(anyOf=[{"enum": list(ENCODINGS)}, {"type": "null"}])
    return schema


def _section(description: str, part: str, table: Mapping[str, Builtin]) -> Schema:
    """Return the schema of a list of names, or of a mapping.

    The keys of the mapping are built-in names, import paths, or any name with a ``type``.
    """
    nothing_or_entry = {"anyOf": [{"type": "null"}, {"$ref": f"#/$defs/{part}"}]}
    with_type = {"required": ["type"], "properties": {"type": {"type": "string"}}}
    other = {"errorMessage": f"not a built-in name: give its type, such as {next(iter(table))}", "type": "object"}
    named = {name: {"description": one.about, **_entry(part, name, table)} for name, one in table.items()}
    return {
        "description": description,
        "anyOf": [
            {"type": "array", "minItems": 1, "uniqueItems": True, "items": {"anyOf": [_named(table), _import_path()]}},
            {
                "type": "object",
                "minProperties": 1,
                "properties": named,
                "patternProperties": {_IMPORT_PATH: nothing_or_entry},
                "additionalProperties": {**other, "allOf": [{"$ref": f"#/$defs/{part}"}, with_type]},
            },
        ],
    }


def _entry(part: str, name: str, table: Mapping[str, Builtin]) -> Schema:
    """Return the schema of the value of a built-in name: nothing or an entry.

    An entry without a type takes the parameters of the built-in.
    """
    own = [{"$ref": f"#/$defs/{called}"} for called, (names, _) in parameters_of(table).items() if name in names]
    entry: Schema = {"$ref": f"#/$defs/{part}"}
    if own:
        entry = {"allOf": [entry, {"if": {"required": ["type"]}, "else": _with_parameters(own[0])}]}
    return {"anyOf": [{"type": "null"}, entry]}


def _kinds(part: str, table: Mapping[str, Builtin], parts: Schema) -> Schema:
    """Return the schema of the parameters of each class, and make the entry's ``type`` choose among them."""
    found = parameters_of(table)
    parts[part]["allOf"] = [
        {
            "if": {"required": ["type"], "properties": {"type": {"enum": names}}},
            "then": _with_parameters({"$ref": f"#/$defs/{called}"}),
        }
        for called, (names, _) in found.items()
    ]
    return {called: parameters for called, (_, parameters) in found.items()}


def _with_parameters(own: Schema) -> Schema:
    each = {"additionalProperties": {"anyOf": [{"type": "null"}, own]}}
    return {"properties": {"params": own, "variants": each}}


def _variants(given: Schema) -> Schema:
    settings = {"type": ["object", "null"]}
    return {
        "description": given["description"],
        "anyOf": [{"type": "object", "minProperties": 1, "additionalProperties": settings}, {"type": "null"}],
    }


def _named(table: Mapping[str, Builtin]) -> Schema:
    return {"enum": list(table), "enumDescriptions": [one.about for one in table.values()]}


def _import_path() -> Schema:
    about = "an import path, such as package.module.Class"
    return {"type": "string", "pattern": _IMPORT_PATH, "description": about}


def _card() -> Schema:
    own = {"type": "string", "pattern": r"\.ya?ml$", "description": "the path of your own card"}
    return {"anyOf": [{"enum": card_names()}, own]}


def _metrics(about: Mapping[str, str]) -> Schema:
    cost = {"type": "string", "pattern": _COST, "description": "expected cost at a loss parameter, as cost(0.05)"}
    return {"anyOf": [{"enum": list(about), "enumDescriptions": list(about.values())}, cost]}


def _method_here() -> Schema:
    """Return the schema of a method of the file, alone or with parameters for one learner.

    Editors offer the built-ins.
    """
    offered: dict[str, Any] = {
        name: {"description": METHODS[name].about, "type": ["object", "null"]} for name in METHODS
    }
    alone = {"type": "string", "examples": list(METHODS)}
    with_parameters = {
        "type": "object",
        "minProperties": 1,
        "properties": offered,
        "additionalProperties": {"type": ["object", "null"]},
    }
    return {"anyOf": [alone, with_parameters]}


def _allow_single_names(part: Schema) -> None:
    """Require data sets and a setting in an exception, and allow a single name in place of a list."""
    keys = part["properties"]
    several = {"type": "array", "minItems": 1, "items": {"type": "string"}}
    for key in ("dataset", "datasets", "learner", "method"):
        keys[key] = {"description": keys[key]["description"], "anyOf": [{"type": "string"}, several]}
    keys["card"].update(anyOf=[_card(), {"type": "null"}])
    keys["use"].update(anyOf=[_named(LEARNERS), {"type": "null"}])
    part["allOf"] = [
        {"anyOf": [{"required": [key]} for key in ("dataset", "datasets")]},
        {"anyOf": [{"required": [key]} for key in SETTINGS]},
    ]
