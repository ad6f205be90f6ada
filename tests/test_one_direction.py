"""The way of the data has one direction: no part knows of one that comes after it."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "probcal"
COMMON = {
    "errors", "resources", "yaml_file", "yaml_faults", "yaml_loader", "components", "seeds", "visible", "trust",
    "links", "whole_file", "interruption", "csv_text",
}  # fmt: skip
MAY_KNOW = {
    "data": {"data"},
    "metrics": {"metrics"},
    "shortcuts": {"shortcuts"},
    "methods": {"methods", "protection", "shortcuts"},
    "protection": {"protection"},
    "learners": {"learners", "methods", "shortcuts"},
    "contract": {"contract", "learners", "methods"},
    "schemas": {
        "schemas",
        "experiment_file",
        "departures",
        "check_names",
        "check_components",
        "data",
        "learners",
        "methods",
        "metrics",
        "paper",
    },
    "predictions": set(),
    "curves": set(),
    "json_lines": set(),
    "row_faults": {"metrics"},
    "cell_result": {"curves", "row_faults"},
    "other_versions": {"store"},
    "store": {"store", "predictions", "json_lines", "other_versions", "row_faults"},
    "paper": {"paper"},
    "show": {"show", "metrics", "paper", "store"},
    "check": {"check", "show", "metrics", "paper", "store"},
    "compare": {"compare", "check", "show", "metrics", "paper", "store"},
    "report": {"report", "check", "compare", "show", "metrics", "paper", "store"},
    "verify": {"verify", "run", "show", "metrics", "store"},
    "variants": set(),
    "departures": {"data"},
    "experiment_file": {"departures", "metrics"},
    "config": {
        "check_names",
        "check_combinations",
        "check_components",
        "check_exceptions",
        "variants",
        "departures",
        "experiment_file",
        "data",
        "learners",
        "methods",
        "metrics",
    },
    "own_table": {
        "own_table",
        "config",
        "data",
        "learners",
        "methods",
        "run",
        "store",
        "show",
        "compare",
        "report",
    },
    "run": {"run", "config", "data", "learners", "methods", "metrics", "shortcuts", "store", "curves"},
}


def parts_imported_by(file: Path) -> set[str]:
    modules = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            modules.add(node.module)
        elif isinstance(node, ast.Import):
            modules.update(alias.name for alias in node.names)
    parts = {module.split(".")[1] for module in modules if module.startswith("probcal.")}
    return {"store" if part == "cell_result" else part for part in parts}  # what it keeps goes with it


@pytest.mark.parametrize("part", MAY_KNOW)
def test_a_part_imports_only_what_comes_before_it(part):
    files = list((PACKAGE / part).rglob("*.py")) or [PACKAGE / f"{part}.py"]
    known = {file.relative_to(PACKAGE).as_posix(): parts_imported_by(file) - COMMON for file in files}
    assert {file: extra for file, parts in known.items() if (extra := parts - MAY_KNOW[part])} == {}


COMMANDS = sorted((PACKAGE / "commands").glob("*.py"))


@pytest.mark.parametrize("file", ["cli.py", *(f"commands/{one.name}" for one in COMMANDS)])
def test_starting_the_command_line_imports_nothing_heavy(file):
    tree = ast.parse((PACKAGE / file).read_text(encoding="utf-8"))
    at_start = {
        name.partition(".")[0]
        for node in tree.body
        for name in (
            [node.module] if isinstance(node, ast.ImportFrom) else [a.name for a in getattr(node, "names", [])]
        )
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    assert not at_start & {"numpy", "pandas", "sklearn", "scipy", "pydantic", "openml", "tabulate", "matplotlib"}


def test_every_command_is_reached():
    from probcal.cli.main import main

    shared = {"__init__", "options", "manual", "complete"}
    assert {one.stem.removesuffix("_") for one in COMMANDS if one.stem not in shared} == set(main.commands)


def test_the_formats_that_the_command_line_offers_are_those_of_the_tables():
    from probcal.cli.table import FORMATS as offered
    from probcal.reporting.tables import FORMATS

    assert sorted(offered) == sorted(FORMATS)
