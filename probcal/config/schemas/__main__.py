"""Write both schemas after a change of a model or of a name: ``python -m probcal.config.schemas``."""

from __future__ import annotations

import json
from typing import Any

from probcal.config.schemas import schema_path
from probcal.config.schemas.json_schema import card_schema, experiment_schema


def as_text(schema: dict[str, Any]) -> str:
    """Return the text of a schema's file."""
    return json.dumps(schema, indent=1, ensure_ascii=False) + "\n"


def main() -> None:
    for kind, schema in (("experiment", experiment_schema()), ("card", card_schema())):
        schema_path(kind).write_text(as_text(schema), encoding="utf-8")
        print(schema_path(kind))


if __name__ == "__main__":
    main()
