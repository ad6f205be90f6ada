"""Write the generated files anew after a change of a model or of a registry: ``python -m probcal.config.schemas``.

These are the JSON Schemas, and the types of what ``probcal`` offers (``probcal/__init__.pyi``).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import probcal
from probcal.config.schemas import schema_path
from probcal.config.schemas.json_schema import card_schema, experiment_schema
from probcal.methods.registry import PUBLIC_CLASSES


def as_text(schema: dict[str, Any]) -> str:
    """Return the text of a schema's file."""
    return json.dumps(schema, indent=1, ensure_ascii=False) + "\n"


def stub_path() -> Path:
    """Return the place of the types of what ``probcal`` offers."""
    return Path(probcal.__file__).with_suffix(".pyi")


def stub_text() -> str:
    """Return the text of ``__init__.pyi``: every public class of the registry, imported."""
    modules: dict[str, list[str]] = {}
    for name, module in sorted(PUBLIC_CLASSES.items(), key=lambda one: (one[1], one[0])):
        modules.setdefault(module, []).append(name)
    lines = [
        f"from {module} import {', '.join(f'{name} as {name}' for name in names)}" for module, names in modules.items()
    ]
    return "\n".join(["# written by python -m probcal.config.schemas", *lines, "", "__version__: str", ""])


def main() -> None:
    """Write all generated files and print their places."""
    texts = {schema_path("experiment"): as_text(experiment_schema()), schema_path("card"): as_text(card_schema())}
    for path, text in {**texts, stub_path(): stub_text()}.items():
        path.write_text(text, encoding="utf-8")
        print(path)


if __name__ == "__main__":
    main()
