"""Provide the XML replies of the OpenML API about data sets."""

from __future__ import annotations

import hashlib
import xml.etree.ElementTree as ET
from collections.abc import Iterable
from typing import TYPE_CHECKING

import arff

if TYPE_CHECKING:
    from tests.openml_server import Served

_NAMESPACE = "http://openml.org/openml"
ET.register_namespace("oml", _NAMESPACE)

Facts = list[tuple[str, object]]


def description(dataset: Served, root: str) -> bytes:
    """Return the reply to ``data/ID``. ``root`` is the server address of the files."""
    id_ = dataset.id
    facts: Facts = [
        ("id", id_),
        ("name", dataset.name),
        ("version", dataset.version),
        ("description", f"{dataset.name}, as a test wants it"),
        ("format", dataset.format),
        ("url", f"{root}/data/v1/download/{id_}/{dataset.name}.arff"),
        ("default_target_attribute", dataset.target),
        *(("row_id_attribute", name) for name in dataset.row_id),
        *(("ignore_attribute", name) for name in dataset.ignore),
        ("visibility", "public"),
        ("status", "active"),
        ("md5_checksum", hashlib.md5(dataset.arff or b"").hexdigest()),
    ]
    if dataset.parquet is not None:
        facts.append(("parquet_url", f"{root}/datasets/{id_ // 10000:04}/{id_:04}/dataset_{id_}.pq"))
    return _document("data_set_description", facts)


def listed(datasets: Iterable[Served], filters: list[str]) -> tuple[int, bytes]:
    """Return status and reply to ``data/list/FILTER/VALUE/...``."""
    wanted = dict(zip(filters[::2], filters[1::2], strict=True))
    found: Facts = [
        ("dataset", [("did", d.id), ("name", d.name), ("version", d.version), ("status", "active")])
        for d in datasets
        if wanted.get("data_name") in (None, d.name)
        if wanted.get("data_version") in (None, str(d.version))
    ]
    return (200, _document("data", found)) if found else (412, error(372, "No results"))


def features(dataset: Served) -> bytes:
    """Return the reply to ``data/features/ID``."""
    decoded = arff.loads(dataset.arff.decode())
    found: Facts = []
    for index, (name, kind) in enumerate(decoded["attributes"]):
        levels = kind if isinstance(kind, list) else []
        found.append(
            (
                "feature",
                [
                    ("index", index),
                    ("name", name),
                    ("data_type", "nominal" if levels else "numeric"),
                    *(("nominal_value", level) for level in levels),
                    ("is_target", str(name == dataset.target).lower()),
                    ("is_ignore", str(name in dataset.ignore).lower()),
                    ("is_row_identifier", str(name in dataset.row_id).lower()),
                    ("number_of_missing_values", sum(row[index] is None for row in decoded["data"])),
                ],
            )
        )
    return _document("data_features", found)


def qualities(dataset: Served) -> bytes:
    """Return the reply to ``data/qualities/ID``."""
    decoded = arff.loads(dataset.arff.decode())
    counts = {"NumberOfInstances": len(decoded["data"]), "NumberOfFeatures": len(decoded["attributes"])}
    return _document(
        "data_qualities", [("quality", [("name", name), ("value", float(count))]) for name, count in counts.items()]
    )


def error(code: int, message: str) -> bytes:
    """Return an error reply with this code and message."""
    return _document("error", [("code", code), ("message", message)])


def _document(name: str, facts: Facts) -> bytes:
    return ET.tostring(_element(name, facts), encoding="utf-8", xml_declaration=True)


def _element(name: str, value: object) -> ET.Element:
    element = ET.Element(f"{{{_NAMESPACE}}}{name}")
    if isinstance(value, list):
        element.extend(_element(*fact) for fact in value)
    else:
        element.text = str(value)
    return element
