"""Keys of results that were stored before components had numerics versions.

Such a key holds digests of source code and package versions. ``first_keys.json`` lists those of the code that made the
witnesses. A result with one of them has version 1 of every component, because the witnesses showed that this code and
the next one compute the same numbers. Any other result counts as made by unknown code, and is stale.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

UNKNOWN = "unknown"
"""The numerics of a result whose code no witness proves."""
_OLD_PARTS = ("code", "versions")


def present_key(key: Mapping[str, str]) -> Mapping[str, str]:
    """Return the key in its present form. A key that has it already is returned as it is."""
    if "code" not in key:
        return key
    known = _known_keys()
    new = {part: digest for part, digest in key.items() if part not in _OLD_PARTS}
    if key["code"] not in known["code"]:
        new["numerics"] = UNKNOWN
    if new.get("metrics") in known["metrics"]:
        del new["metrics"]
    for part in ("stages", "curves"):
        if part in new:
            new[part] = known[part].get(new[part], new[part])
    if release := known["weka"].get(key.get("versions")):
        new["weka"] = release
    return new


@cache
def _known_keys() -> dict[str, Any]:
    known: dict[str, Any] = json.loads(Path(__file__).with_name("first_keys.json").read_text(encoding="utf-8"))
    return known
