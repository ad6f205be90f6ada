"""The parameters of the built-in learners and methods that are our own, as their docstrings and annotations have them.

Those of scikit-learn's classes differ with its version, so a schema leaves them open.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from typing import Any, get_type_hints

from pydantic import PydanticUserError, TypeAdapter

from probcal.components import Builtin, import_class
from probcal.schemas.described import Schema, as_prose, plain

_DRAWN = {"random_state": {"type": ["integer", "null"]}}
"""Annotated with numpy's generators too, which no file holds."""


def parameters_of(table: Mapping[str, Builtin]) -> dict[str, tuple[list[str], Schema]]:
    """Class -> its short names, and the schema of ``params`` under them; of our own classes."""
    found: dict[str, tuple[list[str], Schema]] = {}
    for name, builtin in table.items():
        module, _, called = builtin.path.rpartition(".")
        if module.startswith("probcal."):
            found.setdefault(called, ([], _parameters(import_class(builtin.path))))[0].append(name)
    return found


def _parameters(component: type) -> Schema:
    texts, hints = _told(component), get_type_hints(component.__init__)  # type: ignore[misc]
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
    """Anything where the annotation says things that no file can hold."""
    try:
        return dict(plain(TypeAdapter(hint).json_schema()))
    except PydanticUserError:
        return {}


def _told(component: type) -> dict[str, str]:
    """Parameter -> what the docstring says of it."""
    text = inspect.getdoc(component) or ""
    section = re.search(r"Parameters\n-+\n(.*?)(\n\n|\Z)", text, re.S)
    entries = re.findall(r"^(\w[\w, ]*) : (.*?)(?=^\w|\Z)", section[1] if section else "", re.M | re.S)
    return {name: as_prose(said) for names, said in entries for name in names.split(", ")}
