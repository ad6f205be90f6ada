"""The user's own modules that a cell may run: what they import, and a digest of what their code does.

These are modules that no installed package brought. Nobody declares numerics versions for them, so their source is part
of the identity of a result. The source of probcal is not read.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from typing import Any

from probcal.methods.registry import PUBLIC_CLASSES

_IMPORT_FUNCTIONS = ("import_module", "__import__")
_PARSE_ERRORS = (SyntaxError, ValueError, RecursionError, MemoryError)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def user_digests(*modules: str) -> dict[str, str]:
    """Return module -> digest of its code, for the user's modules among ``modules`` and those that they import.

    The digest covers the syntax tree without docstrings. So a comment or reformatting changes nothing.
    """
    return {name: source.digest for name, source in _reachable_sources(*modules).items()}


@cache
def user_imports(*modules: str) -> frozenset[str]:
    """Return the full names that the user's modules among ``modules``, and those behind them, import.

    A public class of probcal has its import path: ``probcal.ProbingClassifier`` is that of its module.
    """
    names = {name for source in _reachable_sources(*modules).values() for name in source.imports}
    public = (name.removeprefix("probcal.") for name in names)
    return frozenset(names | {f"{PUBLIC_CLASSES[name]}.{name}" for name in public if name in PUBLIC_CLASSES})


def _reachable_sources(*roots: str) -> dict[str, Source]:
    sources: dict[str, Source] = {}
    queue = list(roots)
    while queue:
        name = queue.pop()
        if name in sources or not _is_users(name):
            continue
        source = _source(name)
        if source is not None:
            sources[name] = source
            # Python runs the ``__init__.py`` of all parent packages first.
            parents = [name[:dot] for dot, letter in enumerate(name) if letter == "."]
            queue += [*source.imports, *parents]
    return dict(sorted(sources.items()))


@cache
def _source(name: str) -> Source | None:
    """Return the source of the module of that name, or None where it has no file."""
    spec = _spec(name)
    if spec is None or not spec.origin or not Path(spec.origin).is_file():
        return None
    is_package = spec.submodule_search_locations is not None
    return Source(Path(spec.origin), spec.name if is_package else spec.parent or "")


@cache
def _spec(name: str) -> ModuleSpec | None:
    """Return where a module is, without importing its parent packages, or None when it is no module."""
    parent = name.rpartition(".")[0]
    if not parent:
        with suppress(ValueError):  # a module that was created by hand has no spec
            return find_spec(name)
        return None
    parent_spec = _spec(parent)
    if parent_spec is None or parent_spec.submodule_search_locations is None:
        return None
    return PathFinder.find_spec(name, parent_spec.submodule_search_locations)


@cache
def _is_users(module: str) -> bool:
    """Return whether a module is the user's: not of probcal, of Python, or of an installed package."""
    top = _top(module)
    # __main__ is the program that runs, which is another one on a worker
    if top in ("probcal", "__main__", *sys.stdlib_module_names):
        return False
    spec = _spec(top)
    if spec is not None and not spec.origin:  # a folder without __init__.py may lie in several places
        spec = _spec(module)
    if spec is None or not spec.origin:
        return False
    # An installed package has a version, which a run records. Only code without one needs a digest.
    return not {"site-packages", "dist-packages"} & set(Path(spec.origin).parts)


class Source:
    """Hold the digest of a module's file and its ``imports``: the full names of modules that it may import.

    The digest covers the syntax tree without parts that change no number: docstrings, the order of imports, and
    annotations of undecorated functions and of their variables. For a compiled file, or one that cannot be parsed, it
    covers the bytes.
    """

    def __init__(self, path: Path, package: str) -> None:
        essence, self.imports = path.read_bytes(), []
        if path.suffix == ".py":
            with suppress(*_PARSE_ERRORS):
                tree = ast.parse(essence)
                self.imports = sorted(set(_imports(tree, package, path.name == "__init__.py")))
                essence = _essence(tree).encode()
        self.digest = hashlib.sha256(essence).hexdigest()[:12]


def _imports(tree: ast.AST, package: str, is_package: bool) -> list[str]:
    """Return the imported names, also those in quotes."""
    names: list[str] = []
    aliases: dict[str, str] = {}
    nodes = list(_executed_nodes(tree))
    for node in nodes:
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
            aliases |= dict(_bound_name(alias) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = _absolute_name("." * node.level + (node.module or ""), package)
            # ``from a import b`` gives a and a.b, because b may be a module.
            names += [base, *(f"{base}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Call) and _last_name(node.func) in _IMPORT_FUNCTIONS:
            names += [_absolute_name(text, package) for text in map(_text, node.args[:1]) if text]
        elif is_package and isinstance(node, ast.Assign) and "__all__" in map(_last_name, node.targets):
            # ``import *`` reads ``__all__``, and Python then imports the submodules among these names.
            names += [f"{package}.{text}" for text in map(_text, ast.walk(node.value)) if text]
    names += [_dotted(node, aliases) for node in nodes if isinstance(node, ast.Attribute)]
    return [name for name in names if name]


def _dotted(node: ast.AST, aliases: dict[str, str]) -> str:
    """Return ``package.part`` for an attribute of an imported package or its alias, otherwise an empty string."""
    if isinstance(node, ast.Name):
        return aliases.get(node.id, "")
    if not isinstance(node, ast.Attribute):
        return ""
    parent = _dotted(node.value, aliases)
    return parent and f"{parent}.{node.attr}"


def _executed_nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of ``tree`` without those that only type checkers read."""
    queue = [tree]
    while queue:
        node = queue.pop()
        yield node
        if isinstance(node, ast.If) and _is_for_type_checkers(node):
            queue += node.orelse
        else:
            queue += ast.iter_child_nodes(node)


def _is_for_type_checkers(node: Any) -> bool:
    return isinstance(node, ast.If) and _last_name(node.test) == "TYPE_CHECKING"


def _absolute_name(name: str, package: str) -> str:
    """Return the full name, or an empty string where ``name`` goes above the topmost package."""
    with suppress(ImportError, ValueError):
        return importlib.util.resolve_name(name, package)
    return ""


def _last_name(node: ast.AST) -> str:
    return getattr(node, "id", "") or getattr(node, "attr", "")


def _text(node: ast.AST) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _essence(node: Any, in_function: bool = False) -> str:
    if isinstance(node, list):
        return f"[{', '.join(_statements(node, in_function))}]"
    if not isinstance(node, ast.AST):
        return repr(node)
    is_plain = isinstance(node, _FUNCTIONS) and not node.decorator_list
    exclusions = _unread_fields(node, in_function)
    if is_plain:
        in_function = True
    elif isinstance(node, (ast.ClassDef, *_FUNCTIONS)):
        # A class, or a decorator, may read annotations.
        in_function = False
    # Empty fields are left out, because each version of Python adds some.
    fields = [
        f"{name}={_essence(value, in_function)}"
        for name, value in ast.iter_fields(node)
        if value not in (None, []) and name not in exclusions
    ]
    return f"{type(node).__name__}({', '.join(fields)})"


def _unread_fields(node: ast.AST, in_function: bool) -> tuple[str, ...]:
    """Return the fields of ``node`` that no running program reads."""
    if isinstance(node, _FUNCTIONS) and not node.decorator_list:
        return ("returns",)
    if in_function and isinstance(node, (ast.arg, ast.AnnAssign)):
        return ("annotation", "simple")
    return ()


def _statements(nodes: list[Any], in_function: bool) -> Iterator[str]:
    statements = [node for node in nodes if not _is_bare_text(node)]
    statements = [node for node in statements if not _is_for_type_checkers(node) or node.orelse]
    for is_import, group in groupby(statements, lambda node: isinstance(node, ast.Import | ast.ImportFrom)):
        block = list(group)
        yield from _sorted_imports(block) if is_import else (_essence(node, in_function) for node in block)


def _sorted_imports(block: list[ast.Import | ast.ImportFrom]) -> list[str]:
    """Return imports in a fixed order, unless a later one hides the name of an earlier one."""
    texts, bindings = [], defaultdict(set)
    for node in block:
        for alias in node.names:
            if isinstance(node, ast.ImportFrom):
                target = f"{'.' * node.level}{node.module or ''}:{alias.name}"
                bindings[alias.asname or alias.name].add(target)
            else:
                target = alias.name
                name, module = _bound_name(alias)
                bindings[name].add(module)
            texts.append(f"Import({target} as {alias.asname})")
    # The last of two imports of one name counts, so their order may change what runs.
    is_hidden = "*" in bindings or any(len(targets) > 1 for targets in bindings.values())
    return texts if is_hidden else sorted(set(texts))


def _bound_name(alias: ast.alias) -> tuple[str, str]:
    """Return the name that ``import`` binds, and its module."""
    return (alias.asname, alias.name) if alias.asname else (_top(alias.name), _top(alias.name))


def _is_bare_text(node: Any) -> bool:
    """Return whether a node is a docstring, or a text that documents an attribute."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _top(module: str) -> str:
    return module.partition(".")[0]
