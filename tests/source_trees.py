"""Parse each module of the package once, for all tests that read its code."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "probcal"


@cache
def trees() -> dict[Path, ast.Module]:
    """Return a mapping: path of a module -> its syntax tree. Nobody may change a tree."""
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(PACKAGE.rglob("*.py"))}
