"""Fitted maps as JSON: a version, the parameters, the classes and the fitted numbers. Loading runs no code of the file.

A file of version 1 is read by every later version of probcal. Floats are written with all their digits, so a map that
is read predicts the same to the last bit. Infinite numbers and NaN are the texts "inf", "-inf" and "nan".
"""

from __future__ import annotations

import json
import math
from dataclasses import fields
from typing import Any

import numpy as np

from probcal import __version__
from probcal.components.classes import import_class
from probcal.methods.registry import FAMILIES, PUBLIC_CLASSES

FORMAT, VERSION = "probcal map", 1
_COMMON = {"n_features_in_": "columns", "smallest_": "smallest", "_exponent": "exponent"}
_KINDS_OF_CLASSES = "biufUO"


def map_to_json(calibrator: Any, audit: dict[str, Any] | None = None) -> str:
    """Return a fitted calibrator as JSON text, with a line for each part, and ``audit`` if it is given."""
    kind: Any = type(calibrator)
    name = kind.__name__
    if FAMILIES.get(f"{kind.__module__}.{name}") != "maps":
        raise TypeError(f"{name} is no map of probcal, so it has no JSON form")
    classes = calibrator.classes_
    kind_of_labels = classes.dtype.kind
    if kind_of_labels not in "biufUO" or (kind_of_labels == "O" and not all(isinstance(one, str) for one in classes)):
        raise TypeError("only classes that are numbers, booleans or texts have a JSON form; write dates as texts")
    fitted: dict[str, Any] = {part: _plain(getattr(calibrator, attribute)) for attribute, part in _COMMON.items()}
    if hasattr(kind, "map_class"):
        maps = calibrator.maps_
        fitted["maps"] = [{field.name: _plain(getattr(one, field.name)) for field in fields(one)} for one in maps]
    fitted |= {attribute.rstrip("_"): _plain(getattr(calibrator, attribute)) for attribute in kind.fitted_attributes}
    content = {
        "format": FORMAT,
        "version": VERSION,
        "probcal": __version__,
        "map": name,
        "parameters": {key: _plain(value) for key, value in calibrator.get_params(deep=False).items()},
        "classes": {"type": classes.dtype.str, "labels": _plain(classes)},
        "names": _plain(getattr(calibrator, "feature_names_in_", None)),
        "fitted": fitted,
    }
    content |= {} if audit is None else {"audit": audit}
    return _lines(content, " ") + "\n"


def _lines(content: dict[str, Any], indent: str) -> str:
    """Return JSON with a line for each key, and in the record, which people read, for each of its metrics."""
    lines = []
    for key, value in content.items():
        is_record = key == "audit" or (key == "metrics" and len(indent) == 2)
        text = _lines(value, indent + " ") if is_record and value else json.dumps(value, allow_nan=False)
        lines.append(f"{indent}{json.dumps(key)}: {text}")
    return "{\n" + ",\n".join(lines) + f"\n{indent[1:]}}}"


def map_from_json(text: str) -> Any:
    """Return the calibrator that ``map_to_json`` wrote. Raise ValueError for a text that holds none."""
    try:
        content = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"the text is no JSON: {error}") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ValueError('the text is no map: it lacks "format": "probcal map"')
    version, writer = content.get("version"), content.get("probcal", "of a later version")
    if type(version) is not int or version < 1:  # true is an int, too
        raise ValueError('the map is damaged: the "version" of its form is a whole number from 1')
    if version > VERSION:
        raise ValueError(
            f"the map was written by probcal {writer!s:.20}, in version {version!s:.20} of the form, and this is "
            f"probcal {__version__}; install a newer one"
        )
    try:
        calibrator = _read(content)
        _try_out(calibrator)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError, ZeroDivisionError) as error:
        reason = f"lacks {error}" if isinstance(error, KeyError) else str(error)
        raise ValueError(f"the text holds no sound map: {reason:.200}") from None
    return calibrator


def _read(content: dict[str, Any]) -> Any:
    name, fitted = content["map"], content["fitted"]
    path = f"{PUBLIC_CLASSES.get(str(name))}.{name}"
    if FAMILIES.get(path) != "maps":
        raise ValueError(f"this version does not know the map {name!r:.60}")
    kind_of_map: Any = import_class(path)
    parameters = {str(key): _tuple(value) for key, value in content["parameters"].items()}
    calibrator = kind_of_map(**parameters)
    calibrator.check_parameters()
    kind = np.dtype(str(content["classes"]["type"]))
    labels = content["classes"]["labels"]
    if kind.kind not in _KINDS_OF_CLASSES or not all(isinstance(label, str | int | float) for label in labels):
        raise ValueError("its classes are neither numbers nor texts")
    calibrator.classes_ = np.array(labels, dtype=kind)
    if len(np.unique(calibrator.classes_)) != len(labels) or len(labels) < 2:
        raise ValueError("it needs two different classes at least")
    calibrator.n_features_in_ = int(fitted["columns"])
    names = content["names"]
    if names is not None:
        if not isinstance(names, list) or len(names) != calibrator.n_features_in_ or {*map(type, names)} != {str}:
            raise ValueError("its names are not those of its columns")
        calibrator.feature_names_in_ = np.array(names, dtype=object)
    calibrator.smallest_, calibrator._exponent = float(fitted["smallest"]), int(fitted["exponent"])
    if map_class := getattr(kind_of_map, "map_class", None):
        calibrator.maps_ = [
            map_class(**{field.name: _fitted(one[field.name], field.type) for field in fields(map_class)})
            for one in fitted["maps"]
        ]
        if len(calibrator.maps_) != (1 if len(labels) == 2 else len(labels)):
            raise ValueError("it needs a map for each class")
    for attribute in kind_of_map.fitted_attributes:
        setattr(calibrator, attribute, _fitted(fitted[attribute.rstrip("_")], "float | np.ndarray"))
    return calibrator


def _try_out(calibrator: Any) -> None:
    """Raise ValueError where the map gives no probabilities, because its parts do not fit each other."""
    n_columns = calibrator.n_features_in_
    if n_columns not in (1, len(calibrator.classes_)):
        raise ValueError(f"it has {n_columns} columns for {len(calibrator.classes_)} classes")
    rows = np.full((1, n_columns), 1 / max(n_columns, 2))
    p = calibrator._calibrated(calibrator._read(rows))
    if p.shape != (1, len(calibrator.classes_)) or not (np.isfinite(p).all() and (p >= 0).all() and (p <= 1).all()):
        raise ValueError("it predicts no probabilities")


def _plain(value: Any) -> Any:
    """Return a value of plain Python that JSON has."""
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, str | bool | int | float):
        return value
    raise TypeError(f"{type(value).__name__} has no JSON form")


def _fitted(value: Any, kind: Any) -> Any:
    """Return a number, a pair of numbers or an array of a fitted map, by the annotation of its field."""
    if isinstance(value, list) and str(kind).startswith("tuple"):
        return tuple(float(one) for one in value)
    if isinstance(value, list):
        return np.array(value, dtype=np.float64)  # also reads "inf"
    return value if isinstance(value, bool) else float(value)


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")
