"""Draw mutants for ``mutation.py``: cosmic-ray's changes of one operator, number or keyword, at random places."""

from __future__ import annotations

import ast
import random
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

from cosmic_ray import plugins
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code


def sample(root: Path, parts: dict, is_wanted: Callable[[dict], bool], size: int, chance: random.Random) -> list[dict]:
    """Return wanted mutants at random places: as many of each part, and at most one of each place."""
    rows = []
    for number, (name, part) in enumerate(parts.items()):
        places = defaultdict(list)
        for path in modules_of(root, part):
            module = str(path.relative_to(root))
            for row in mutants(path.read_text(), {"part": name, "module": module}):
                if is_wanted(row):
                    places[module, row["line"], row["column"]].append(row)
        share = size // len(parts) + (number < size % len(parts))
        picks = chance.sample(sorted(places), min(share, len(places)))
        rows += [chance.choice(places[place]) for place in sorted(picks)]
    return [row for row in rows if compiles(mutant_of(root, row))]


def modules_of(root: Path, part: dict) -> list[Path]:
    return sorted({path for pattern in part["modules"] for path in root.glob(pattern)})


def mutants(code: str, names: dict) -> list[dict]:
    """Return every mutant of ``code`` that is no annotation, message or ``__all__``, with ``names`` in its row."""
    tree, spans = ast.parse(code), set()
    for node in ast.walk(tree):
        exclusions = [getattr(node, "annotation", None), getattr(node, "returns", None)]
        if isinstance(node, ast.Raise):
            exclusions.append(node.exc)
        if isinstance(node, ast.JoinedStr) or ast.unparse(node).startswith("__all__ ="):
            exclusions.append(node)
        spans |= {((n.lineno, n.col_offset), (n.end_lineno, n.end_col_offset)) for n in exclusions if n}
    nodes, rows = list(ast_nodes(get_ast(code))), []
    for name in plugins.operator_names():
        operator = plugins.get_operator(name)
        if operator.arguments():
            continue
        positions = [start for node in nodes for start, _ in operator().mutation_positions(node)]
        for occurrence, start in enumerate(positions):
            if not any(first <= start < last for first, last in spans):
                place = {"line": start[0], "column": start[1]}
                rows.append(names | place | {"operator": name.removeprefix("core/"), "occurrence": occurrence})
    return rows


def mutant_of(root: Path, row: dict) -> str:
    operator = plugins.get_operator(f"core/{row['operator']}")()
    return mutate_code((root / row["module"]).read_text(), operator, int(row["occurrence"]))


def compiles(code: str) -> bool:
    try:
        compile(code, "mutant", "exec")
    except SyntaxError:
        return False
    return True
