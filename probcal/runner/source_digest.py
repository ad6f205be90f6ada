"""What one source file says: the modules it may import, and a digest of what it does."""

from __future__ import annotations

import ast
import hashlib
import importlib.util
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from itertools import groupby
from pathlib import Path
from typing import Any

_IMPORTERS = ("import_module", "__import__")
_UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Source:
    """A module's file. ``imports``: the modules that it may import, each in full.

    The digest is of the syntax tree without what no number hangs on: docstrings, the order of imports, the
    annotations of undecorated functions and of their variables. Of a compiled file, and of one that cannot
    be parsed, it is of the bytes.
    """

    def __init__(self, path: Path, package: str) -> None:
        essence, self.imports = path.read_bytes(), []
        if path.suffix == ".py":
            with suppress(*_UNREADABLE):
                tree = ast.parse(essence)
                self.imports = sorted(set(_imports(tree, package, path.name == "__init__.py")))
                essence = _essence(tree).encode()
        self.digest = hashlib.sha256(essence).hexdigest()[:12]


def _imports(tree: ast.AST, package: str, is_package: bool) -> list[str]:
    """For ``from a import b`` both a and a.b, for b may be a module; also those imported by a name in quotes."""
    names: list[str] = []
    called: dict[str, str] = {}
    nodes = list(_running(tree))
    for node in nodes:
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
            called |= dict(_bound(alias) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = _absolute("." * node.level + (node.module or ""), package)
            names += [base, *(f"{base}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Call) and _name_of(node.func) in _IMPORTERS:
            names += [_absolute(text, package) for text in map(_text, node.args[:1]) if text]
        elif is_package and isinstance(node, ast.Assign) and "__all__" in map(_name_of, node.targets):
            names += [f"{package}.{text}" for text in map(_text, ast.walk(node.value)) if text]  # import * imports them
    names += [_dotted(node, called) for node in nodes if isinstance(node, ast.Attribute)]
    return [name for name in names if name]


def _dotted(node: ast.AST, called: dict[str, str]) -> str:
    """``package.part`` for what is written so, or under another name of the package; empty for anything else."""
    if isinstance(node, ast.Name):
        return called.get(node.id, "")
    above = _dotted(node.value, called) if isinstance(node, ast.Attribute) else ""
    return above and f"{above}.{node.attr}"  # type: ignore[attr-defined]  # an Attribute, as above is not empty


def _running(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes of ``tree`` but for what only type checkers read."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += node.orelse if _is_for_type_checkers(node) else ast.iter_child_nodes(node)  # type: ignore[attr-defined]


def _is_for_type_checkers(node: Any) -> bool:
    return isinstance(node, ast.If) and _name_of(node.test) == "TYPE_CHECKING"


def _absolute(name: str, package: str) -> str:
    """Empty where ``name`` goes above the topmost package: running it would be an error."""
    with suppress(ImportError, ValueError):
        return importlib.util.resolve_name(name, package)
    return ""


def _name_of(node: ast.AST) -> str:
    """``f`` of ``f`` and of ``module.f``."""
    return getattr(node, "id", "") or getattr(node, "attr", "")


def _text(node: ast.AST) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _essence(node: Any, in_function: bool = False) -> str:
    """A syntax tree as text; fields that are empty left out, for each Python adds some of its own."""
    if isinstance(node, list):
        return f"[{', '.join(_statements(node, in_function))}]"
    if not isinstance(node, ast.AST):
        return repr(node)
    plain = isinstance(node, _FUNCTIONS) and not node.decorator_list
    unread = _unread(node, in_function)
    if plain:
        in_function = True
    elif isinstance(node, (ast.ClassDef, *_FUNCTIONS)):  # a class, or a decorator, may read annotations
        in_function = False
    fields = [
        f"{name}={_essence(value, in_function)}"
        for name, value in ast.iter_fields(node)
        if value not in (None, []) and name not in unread
    ]
    return f"{type(node).__name__}({', '.join(fields)})"


def _unread(node: ast.AST, in_function: bool) -> tuple[str, ...]:
    """The fields of ``node`` that nothing reads when the program runs."""
    if isinstance(node, _FUNCTIONS) and not node.decorator_list:
        return ("returns",)
    if in_function and isinstance(node, (ast.arg, ast.AnnAssign)):
        return ("annotation", "simple")
    return ()


def _statements(nodes: list[Any], in_function: bool) -> Iterator[str]:
    kept = [node for node in nodes if not _is_bare_text(node)]
    kept = [node for node in kept if not _is_for_type_checkers(node) or node.orelse]
    for importing, run in groupby(kept, lambda node: isinstance(node, ast.Import | ast.ImportFrom)):
        block = list(run)
        yield from _in_any_order(block) if importing else (_essence(node, in_function) for node in block)


def _in_any_order(block: list[ast.Import | ast.ImportFrom]) -> list[str]:
    """Imports in one order, whichever they were written in, unless a later one hides an earlier one's name."""
    texts, bound = [], defaultdict(set)
    for node in block:
        for alias in node.names:
            if isinstance(node, ast.ImportFrom):
                thing = f"{'.' * node.level}{node.module or ''}:{alias.name}"
                bound[alias.asname or alias.name].add(thing)
            else:
                thing = alias.name
                name, module = _bound(alias)
                bound[name].add(module)
            texts.append(f"Import({thing} as {alias.asname})")
    hidden = "*" in bound or any(len(things) > 1 for things in bound.values())
    return texts if hidden else sorted(set(texts))


def _bound(alias: ast.alias) -> tuple[str, str]:
    """(the name that ``import`` gives, the module behind it)"""
    return (alias.asname, alias.name) if alias.asname else (_top(alias.name), _top(alias.name))


def _is_bare_text(node: Any) -> bool:
    """A docstring, or a text under an attribute that documents it."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _top(module: str) -> str:
    return module.partition(".")[0]
