"""A model as JSON Schema, each key described by the text below it in the source."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel

Schema = dict[str, Any]

DIALECT = "http://json-schema.org/draft-07/schema#"
"""What the language servers of most editors read."""


_SO_ANYWAY = (("additionalProperties", True), ("default", None))


def schema_of(model: type[BaseModel]) -> Schema:
    """As pydantic has it, in draft 7, with descriptions and without what pydantic's versions differ in."""
    schema = model.model_json_schema()
    models = {one.__name__: one for one in _models(model)}
    for name, part in {model.__name__: schema, **schema.get("$defs", {})}.items():
        texts = _texts(models[name])
        for key, told in part.get("properties", {}).items():
            told.update({"description": texts[key]} if key in texts else {})
    return {"$schema": DIALECT, **plain(schema)}


def plain(schema: Any) -> Any:
    """Without titles, which are the keys once more, and without what is so anyway; nothing beside a ``$ref``."""
    if isinstance(schema, list):
        return [plain(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    kept: Schema = {
        key: {name: plain(one) for name, one in value.items()} if key in ("properties", "$defs") else plain(value)
        for key, value in schema.items()
        if key not in ("title", "discriminator") and (key, value) not in _SO_ANYWAY
    }
    if "const" in kept:
        kept.pop("enum", None)
    if "description" in kept:
        kept["description"] = as_prose(kept["description"])
    if "prefixItems" in kept:  # which draft 7 calls items
        kept["items"] = kept.pop("prefixItems")
    if "$ref" in kept and len(kept) > 1:
        return {"allOf": [{"$ref": kept.pop("$ref")}], **kept}
    return kept


def as_prose(text: str) -> str:
    """A docstring in one line, as an editor shows it."""
    return " ".join(text.replace("``", "`").replace("\\|", "|").split())


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    """The models that an annotation names, and those that they name."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
        for field in annotation.model_fields.values():
            yield from _models(field.annotation)
    for part in getattr(annotation, "__args__", ()):
        yield from _models(part)


def _texts(model: type[BaseModel]) -> dict[str, str]:
    """Key -> the text under it in the source of the model, or of the one that it comes from."""
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
