"""The schema of an experiment file: its model, with the shorthand that is read and the names that there are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from probcal.check_components import ENCODINGS
from probcal.check_names import CURVES
from probcal.components import Builtin
from probcal.data.card import card_names
from probcal.departures import SETTINGS
from probcal.experiment_file import ExperimentFile
from probcal.learners.registry import LEARNERS
from probcal.methods.registry import METHODS
from probcal.metrics import ABOUT, ABOUT_ASKED, ABOUT_METHODS
from probcal.paper.published import paper_names
from probcal.schemas.described import Schema, schema_of
from probcal.schemas.parameters import parameters_of

_NO_NAME_OF_OURS = r"\."
"""An import path has a dot, and no built-in name has."""
_COST = r"^cost\(0\.\d+\)$"


def experiment_schema() -> Schema:
    """Accepts every file that is read, and flags what can be told from the file alone, without an import."""
    schema = schema_of(ExperimentFile)
    keys, parts = schema["properties"], schema["$defs"]
    _one_of_several_names(parts["DepartureEntry"])
    for section, part, table in (("learners", "LearnerEntry", LEARNERS), ("methods", "MethodEntry", METHODS)):
        del parts[part]["description"]  # an editor would show it in the place of what the name stands for
        parts[part]["properties"]["variants"] = _variants(parts[part]["properties"]["variants"])
        parts[part]["properties"]["type"].update(anyOf=[_named(table), _import_path(), {"type": "null"}])
        parts.update(_kinds(part, table, parts))
        keys[section] = _section(keys[section]["description"], part, table)
    keys["name"].update(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$")
    keys["paper"].update(anyOf=[{"enum": list(paper_names())}, {"type": "null"}])
    keys["datasets"].update(items=_card())
    keys["metrics"].update(items=_metrics({**ABOUT, **ABOUT_ASKED, **ABOUT_METHODS}))
    keys["stages"].update(items=_metrics({**ABOUT, **ABOUT_ASKED}))
    keys["curves"].update(items={"enum": list(CURVES)})
    for key in ("datasets", "metrics", "stages", "curves"):
        keys[key]["uniqueItems"] = True
    keys["combinations"].update(additionalProperties={"type": "array", "minItems": 1, "items": _method_here()})
    parts["LearnerEntry"]["properties"]["encoding"].update(anyOf=[{"enum": list(ENCODINGS)}, {"type": "null"}])
    return schema


def _section(description: str, part: str, table: Mapping[str, Builtin]) -> Schema:
    """A list of names, or a mapping whose keys are built-in names, import paths, or anything with a ``type``."""
    nothing_or_entry = {"anyOf": [{"type": "null"}, {"$ref": f"#/$defs/{part}"}]}
    with_type = {"required": ["type"], "properties": {"type": {"type": "string"}}}
    other = {"errorMessage": f"no built-in name: it needs a type, such as {next(iter(table))}", "type": "object"}
    named = {name: {"description": one.about, **_entry(part, name, table)} for name, one in table.items()}
    return {
        "description": description,
        "anyOf": [
            {"type": "array", "minItems": 1, "uniqueItems": True, "items": {"anyOf": [_named(table), _import_path()]}},
            {
                "type": "object",
                "minProperties": 1,
                "properties": named,
                "patternProperties": {_NO_NAME_OF_OURS: nothing_or_entry},
                "additionalProperties": {**other, "allOf": [{"$ref": f"#/$defs/{part}"}, with_type]},
            },
        ],
    }


def _entry(part: str, name: str, table: Mapping[str, Builtin]) -> Schema:
    """What may stand under a built-in name: nothing, or an entry; without a type, its parameters are the built-in's."""
    own = [{"$ref": f"#/$defs/{called}"} for called, (names, _) in parameters_of(table).items() if name in names]
    entry: Schema = {"$ref": f"#/$defs/{part}"}
    if own:
        entry = {"allOf": [entry, {"if": {"required": ["type"]}, "else": _with_parameters(own[0])}]}
    return {"anyOf": [{"type": "null"}, entry]}


def _kinds(part: str, table: Mapping[str, Builtin], parts: Schema) -> Schema:
    """The definition of the parameters of each class; makes the entry's ``type`` choose among them."""
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
    said = "an import path, such as package.module.Class"
    return {"type": "string", "pattern": _NO_NAME_OF_OURS, "description": said}


def _card() -> Schema:
    own = {"type": "string", "pattern": r"\.ya?ml$", "description": "the path of a card of your own"}
    return {"anyOf": [{"enum": card_names()}, own]}


def _metrics(about: Mapping[str, str]) -> Schema:
    cost = {"type": "string", "pattern": _COST, "description": "expected cost at a loss parameter, as cost(0.05)"}
    return {"anyOf": [{"enum": list(about), "enumDescriptions": list(about.values())}, cost]}


def _method_here() -> Schema:
    """A method of the file, by its name, alone or with parameters that hold for one learner; ours are offered."""
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


def _one_of_several_names(part: Schema) -> None:
    """An exception names data sets, and says what departs; a name may stand for a list of one."""
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
