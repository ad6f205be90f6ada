"""Test that the scripts of research/ can be imported, and that benchmarks/ does not need them."""

import ast
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted(path.stem for path in (ROOT / "research").glob("*.py"))


@pytest.mark.parametrize("name", SCRIPTS)
def test_every_script_can_be_imported(name):
    try:
        import_module(f"research.{name}")
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] not in ("jpype", "numba", "weka"):
            raise
        pytest.skip(f"needs {error.name}")


def test_readme_has_a_line_for_each_script():
    readme = (ROOT / "research" / "README.md").read_text(encoding="utf-8")
    assert [name for name in SCRIPTS if f"`{name}`" not in readme and f"research.{name}" not in readme] == []


def test_benchmarks_import_no_research():
    imported = {
        node.module
        for path in (ROOT / "benchmarks").glob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom)
    }
    assert not {module for module in imported if module and module.partition(".")[0] == "research"}
