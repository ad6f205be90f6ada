"""Test that imports go in one direction: no part imports a later part."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "probcal"
SHARED = {"_class_order", "distribution", "errors", "_io", "_lock", "_validation"}
MAY_IMPORT = {
    "metrics": set(),
    "plots": {"metrics"},
    "protection": set(),
    "data": {"config.validation", "config.yaml_file"},
    "fast_paths": set(),
    "methods": {"protection", "fast_paths", "config.components"},
    "learners": {"methods", "fast_paths", "config.components"},
    "contract": {"learners", "methods", "config"},
    "papers": {"config.validation", "config.yaml_file", "config.plugins", "analysis"},
    "config": {"data", "learners", "methods", "metrics", "papers"},
    "reading": {"data"},
    "store": {"metrics", "config.plugins", "analysis"},
    "runner": {"config", "data", "learners", "methods", "metrics", "fast_paths", "store"},
    "reporting": {"metrics", "plots", "papers", "store", "config.yaml_file"},
    "analysis": set(),
    "papers.check": {"papers", "reporting", "store", "metrics", "analysis"},
    "reporting.comparison": {"papers", "papers.check", "reporting", "store", "metrics", "analysis"},
    "reporting.html": {"reporting", "reporting.comparison", "papers", "papers.check", "analysis", "store", "metrics"},
    "try_table": {
        "reading", "config", "data", "learners", "methods", "metrics", "plots", "runner", "store", "reporting",
        "reporting.html", "analysis",
    },
    "notebook": {"config", "data", "runner", "store", "reporting", "reporting.comparison"},
    "measure": {"reading", "data", "methods", "metrics", "plots", "reporting", "reporting.html"},
}  # fmt: skip
"""Part -> the parts, or single modules, that it may import. ``cli`` may import all."""


def modules_imported_by(file: Path) -> set[str]:
    modules = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            modules.add(node.module)
            modules.update(f"{node.module}.{alias.name}" for alias in node.names if is_module(node.module, alias.name))
        elif isinstance(node, ast.Import):
            modules.update(alias.name for alias in node.names)
    return {one.removeprefix("probcal.") for one in modules if one.startswith("probcal.")}


def is_module(package: str, name: str) -> bool:
    place = PACKAGE.parent.joinpath(*package.split("."), name)
    return place.with_suffix(".py").is_file() or (place / "__init__.py").is_file()


def part_of(module: str) -> str:
    return max((part for part in MAY_IMPORT if f"{module}.".startswith(f"{part}.")), key=len, default=module)


@pytest.mark.parametrize("part", MAY_IMPORT)
def test_parts_import_only_earlier_parts(part):
    files = [file for file in PACKAGE.rglob("*.py") if part_of(name_of(file)) == part]
    allowed = {part, *SHARED, *MAY_IMPORT[part]}
    extra = {
        name_of(file): wrong
        for file in files
        if (wrong := {one for one in modules_imported_by(file) if not {one, part_of(one)} & allowed})
    }
    assert files and extra == {}


def name_of(file: Path) -> str:
    return ".".join(file.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__")


def test_every_folder_and_top_module_is_listed():
    parts = {file.parent.name for file in PACKAGE.glob("*/__init__.py")}
    assert parts == {part for part in MAY_IMPORT if "." not in part} | {"cli"}
    assert {file.stem for file in PACKAGE.glob("*.py")} == {"__init__", "__main__", *SHARED}


def test_imports_have_no_cycle():
    imports = {name_of(file): top_level_imports(file) for file in PACKAGE.rglob("*.py")}
    while free := {name for name, others in imports.items() if not others & imports.keys()}:
        imports = {name: others for name, others in imports.items() if name not in free}
    assert imports == {}


def top_level_imports(file: Path) -> set[str]:
    body = [node for node in ast.parse(file.read_text(encoding="utf-8")).body if isinstance(node, ast.ImportFrom)]
    pairs = {(str(node.module), alias.name) for node in body for alias in node.names}
    named = {f"{package}.{name}" if is_module(package, name) else package for package, name in pairs}
    return {one.removeprefix("probcal.") for one in named} - {name_of(file)}


COMMANDS = sorted((PACKAGE / "cli").glob("*.py"))


@pytest.mark.parametrize("file", [one.name for one in COMMANDS])
def test_starting_the_command_line_imports_nothing_heavy(file):
    tree = ast.parse((PACKAGE / "cli" / file).read_text(encoding="utf-8"))
    at_start = {
        name.partition(".")[0]
        for node in tree.body
        for name in (
            [node.module] if isinstance(node, ast.ImportFrom) else [a.name for a in getattr(node, "names", [])]
        )
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    assert not at_start & {"numpy", "pandas", "sklearn", "scipy", "pydantic", "openml", "tabulate", "matplotlib"}


def test_every_command_file_is_a_command():
    from probcal.cli.main import main

    shared = {"__init__", "main", "options", "suggestions"}
    of_files = {one.stem.removesuffix("_") for one in COMMANDS if one.stem not in shared}
    assert of_files | {"help", "version"} == set(main.commands)


def test_command_line_offers_all_table_formats():
    from probcal.cli.table import FORMATS as offered
    from probcal.reporting.tables import FORMATS

    assert sorted(offered) == sorted(FORMATS)
