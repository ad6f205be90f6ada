"""What the OpenML API answers about data sets, as XML."""

from __future__ import annotations

import hashlib
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.openml_server import Served

_NAMESPACE = "http://openml.org/openml"
ET.register_namespace("oml", _NAMESPACE)

Facts = list[tuple[str, object]]


def description(dataset: Served, root: str) -> bytes:
    """The reply to ``data/ID``; ``root`` is where the server says that the files are."""
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


def error(code: int, message: str) -> bytes:
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
