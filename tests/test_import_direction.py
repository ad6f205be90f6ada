"""Test that imports go in one direction: no part imports a later part, and no modules import each other in a circle.

An import inside a function or for types alone counts like any other.
"""

import ast
from collections.abc import Iterable
from functools import cache
from importlib import import_module
from itertools import combinations
from pathlib import Path

from tests.source_trees import PACKAGE, trees

GROUND = {
    "_classes", "_io", "_learner_output", "_lock", "_parts", "_validation", "distribution", "errors", "yaml_file",
    "yaml_validation",
}  # fmt: skip
"""The modules that any part may import."""
MAY_IMPORT = {
    "analysis": set(),
    "components": set(),
    "metrics": {"components.plugins"},
    "protection": set(),
    "fast_paths": set(),
    "methods": {"protection", "fast_paths", "components"},
    "learners": {"fast_paths", "components"},
    "data": set(),
    "papers": {"components.plugins", "analysis", "methods", "learners"},
    "config": {"components", "data", "learners", "methods", "metrics", "papers"},
    "store": {"metrics", "analysis"},
    "runner": {"components", "config", "data", "learners", "methods", "metrics", "fast_paths", "store"},
    "plots": {"metrics"},
    "papers.check": {"papers", "store", "metrics", "analysis"},
    "reporting": {"metrics", "plots", "papers", "papers.check", "store"},
    "reporting.check": {"papers", "papers.check", "reporting", "store", "metrics"},
    "reporting.comparison": {"papers", "papers.check", "reporting", "reporting.check", "store", "metrics", "analysis"},
    "reporting.html": {
        "reporting", "reporting.check", "reporting.comparison", "papers", "papers.check", "store", "metrics",
    },
    "reading": {"data"},
    "deploy": {"methods", "reading"},
    "measure": {"reading", "data", "methods", "metrics", "analysis", "reporting", "reporting.html"},
    "watch": {"methods", "metrics", "protection", "reading", "plots", "reporting", "reporting.html"},
    "try_table": {
        "reading", "components", "config", "data", "learners", "methods", "metrics", "runner", "store",
        "reporting", "reporting.html", "analysis",
    },
    "notebook": {"components", "config", "data", "runner", "store", "reporting", "reporting.comparison"},
    "contract": {"components", "learners", "methods"},
}  # fmt: skip
"""Part -> the earlier parts, or their modules, that it may import. ``cli`` comes last and may import all."""
MUTUAL_FOLDERS: set[tuple[str, str]] = set()


@cache
def imports() -> dict[str, set[str]]:
    """Return module -> modules of the package that it imports anywhere."""
    return {name_of(file): imports_of(ast.walk(tree)) - {name_of(file)} for file, tree in trees().items()}


def imports_of(nodes: Iterable[ast.AST]) -> set[str]:
    modules = set()
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module:
            named = {alias.name: f"{node.module}.{alias.name}" for alias in node.names}
            modules.update(path if is_module(path) else node.module for path in named.values())
        elif isinstance(node, ast.Import):
            modules.update(alias.name for alias in node.names)
    return {one.removeprefix("probcal.") for one in modules if one.partition(".")[0] == "probcal"}


def is_module(path: str) -> bool:
    place = PACKAGE.parent.joinpath(*path.split("."))
    return place.with_suffix(".py").is_file() or (place / "__init__.py").is_file()


def name_of(file: Path) -> str:
    parts = file.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts).removesuffix(".__init__").removeprefix("probcal.")


def part_of(module: str) -> str:
    return max((part for part in MAY_IMPORT if f"{module}.".startswith(f"{part}.")), key=len, default=module)


def test_parts_import_only_listed_parts():
    allowed = {part: {"probcal", part, *GROUND, *others} for part, others in MAY_IMPORT.items()}
    extra = {
        module: wrong
        for module, others in imports().items()
        if (part := part_of(module)) in MAY_IMPORT
        and (wrong := {one for one in others if not {one, part_of(one)} & allowed[part]})
    }
    assert extra == {}


def test_parts_list_only_earlier_parts():
    parts = list(MAY_IMPORT)
    late = {part: {part_of(one) for one in MAY_IMPORT[part]} - {*parts[:at]} for at, part in enumerate(parts)}
    assert {part: others for part, others in late.items() if others} == {}


def test_ground_modules_import_only_each_other():
    assert {other for module in GROUND for other in imports()[module]} <= GROUND


def test_every_folder_and_top_module_is_listed():
    parts = {file.parent.name for file in PACKAGE.glob("*/__init__.py")}
    assert parts == {part for part in MAY_IMPORT if "." not in part} | {"cli"}
    assert {file.stem for file in PACKAGE.glob("*.py")} == {"__init__", "__main__", *GROUND}


def test_no_modules_import_each_other_in_a_circle():
    left = imports()
    while free := {module for module, others in left.items() if not others & left.keys()}:
        left = {module: others for module, others in left.items() if module not in free}
    assert left == {}


def test_no_two_folders_import_each_other():
    folders = {file.parent.name for file in PACKAGE.glob("*/__init__.py")}
    arrows = {(part.partition(".")[0], one.partition(".")[0]) for part, others in imports().items() for one in others}
    assert {pair for pair in combinations(sorted(folders), 2) if arrows >= {pair, pair[::-1]}} == MUTUAL_FOLDERS


COMMANDS = sorted((PACKAGE / "cli").glob("*.py"))


def test_starting_the_command_line_imports_nothing_heavy():
    at_start = {
        name.partition(".")[0]
        for file in COMMANDS
        for node in trees()[file].body
        for name in (
            [node.module] if isinstance(node, ast.ImportFrom) else [a.name for a in getattr(node, "names", [])]
        )
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    assert not at_start & {"numpy", "pandas", "sklearn", "scipy", "pydantic", "openml", "tabulate", "matplotlib"}


def test_every_command_of_a_file_is_a_command_of_the_program():
    import click

    from probcal.cli.main import main

    modules = [import_module(f"probcal.cli.{one.stem}") for one in COMMANDS]
    of_files = {one for module in modules for one in vars(module).values() if isinstance(one, click.Command)}
    assert of_files == {main, *main.commands.values()}
