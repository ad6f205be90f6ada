"""The key of a cell: digests of all that can change its numbers, and what changed when they differ."""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import json
from functools import cache, cached_property
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from probcal.run.plan import Cell
    from probcal.store import CellResult

NUMERIC_PACKAGES = ("numpy", "pandas", "scikit-learn", "scipy")
_NOT_NUMBERS = ("probcal.data.load", "probcal.errors", "probcal.store", "probcal.run.plan")
"""Modules whose effect on a cell is in its key already (the data, by fingerprint) or that have none."""


class Fingerprints:
    """Makes the keys of many cells, each shared part worked out once."""

    def key(self, cell: Cell) -> dict[str, str]:
        """Part -> digest; the data by their fingerprint, or by all the card says where it gives none."""
        learner, method = cell.column.learner, cell.column.method
        code = code_of(_module(learner.path), _module(method.path))
        versions = versions_of(_module(learner.path), _module(method.path))
        return {
            "data": (cell.card.expect.fingerprint or cell.card.digest)[:12],
            "split": _digest(cell.card.split.model_dump(), cell.seed, cell.repetition, cell.max_rows),
            "learner": _digest(learner.path, learner.params, learner.encoding),
            "method": _digest(method.path, method.params),
            "code": _digest(code),
            "versions": _digest(versions),
        }

    def why_stale(self, cell: Cell, key: dict[str, str], result: CellResult, run: dict[str, Any]) -> str:
        """Which part changed since ``result`` was made by ``run`` (its provenance), in words."""
        changed = [part for part in key if result.key.get(part) != key[part]]
        reasons = []
        for part in changed:
            if part == "code":
                now = code_of(_module(cell.column.learner.path), _module(cell.column.method.path))
                files = [name for name, digest in now.items() if run.get("code", {}).get(name) != digest]
                reasons.append(f"code changed: {', '.join(files) or 'a module was removed'}")
            elif part == "versions":
                reasons.append(_changed_versions(cell, run))
            elif part == "split":
                reasons.append("the split or the seed changed")
            elif part == "data":
                reasons.append("the data changed")
            else:
                name = cell.column.learner.name if part == "learner" else cell.column.method.name
                reasons.append(f"the settings of {name} changed")
        return "; ".join(reasons)


def _changed_versions(cell: Cell, run: dict[str, Any]) -> str:
    now = versions_of(_module(cell.column.learner.path), _module(cell.column.method.path))
    before = run.get("versions", {})
    changed = [f"{name} {before.get(name, '?')} -> {new}" for name, new in now.items() if before.get(name) != new]
    return ", ".join(changed) or "package versions changed"


def _module(path: str) -> str:
    return path.rpartition(".")[0]


def _digest(*parts: Any) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()[:12]


@cache
def versions_of(*modules: str) -> dict[str, str]:
    """Package -> version: the numeric packages, and those that ``modules`` belong to."""
    packages = {*NUMERIC_PACKAGES}
    for module in modules:
        top = module.partition(".")[0]
        if top not in ("probcal", "sklearn"):
            packages.update(_distributions().get(top, []))
    return {name: _version(name) for name in sorted(packages)}


@cache
def _distributions() -> dict[str, list[str]]:
    return dict(packages_distributions())


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


@cache
def code_of(*modules: str) -> dict[str, str]:
    """Module -> digest of its code, for ``modules``, what runs a cell, and all of ours they import.

    The digest is of the syntax tree without docstrings: a comment or a reformatting changes nothing.
    """
    found: dict[str, str] = {}
    waiting = ["probcal.run.execute", *modules]
    while waiting:
        module = waiting.pop()
        if module in found or module in _NOT_NUMBERS:
            continue
        source = _our_source(module)
        if source is not None:
            code = _Code(source)
            found[module] = code.digest
            waiting += code.imports
    return dict(sorted(found.items()))


@cache
def _our_source(module: str) -> Path | None:
    """The file of a module of probcal or of the user; None for an installed package."""
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        return None
    if spec is None or not spec.origin or not spec.origin.endswith(".py"):
        return None
    path = Path(spec.origin)
    installed = {"site-packages", "dist-packages"} & set(path.parts)
    return path if module.partition(".")[0] == "probcal" or not (installed or _in_standard_library(path)) else None


def _in_standard_library(path: Path) -> bool:
    return Path(ast.__file__).parent in path.parents


class _Code:
    def __init__(self, path: Path) -> None:
        self._tree = ast.parse(path.read_text(encoding="utf-8"))

    @cached_property
    def imports(self) -> list[str]:
        """The modules it may import: for ``from a import b`` both a and a.b, for b may be one."""
        names = []
        for node in ast.walk(self._tree):
            if isinstance(node, ast.Import):
                names += [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        ours = {"probcal"}
        return [name for name in names if name.partition(".")[0] in ours]

    @cached_property
    def digest(self) -> str:
        for node in ast.walk(self._tree):
            body = getattr(node, "body", None)
            if isinstance(body, list) and body and _is_docstring(body[0]):
                body[0] = ast.Pass()
        return hashlib.sha256(ast.dump(self._tree).encode()).hexdigest()[:12]


def _is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
