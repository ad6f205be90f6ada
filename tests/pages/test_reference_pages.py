"""Check that docs/reference has every public name, with a docstring, and that docstring examples are right."""

from __future__ import annotations

import doctest
import importlib
import inspect
import re
from pathlib import Path

import pytest

from probcal.methods.registry import FAMILIES

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
PUBLIC = [
    pytest.param(module, name, id=f"{module}.{name}")
    for module in ("probcal", "probcal.metrics", "probcal.learners", "probcal.protection", "probcal.contract")
    for name in importlib.import_module(module).__all__
]


def entries():
    """Return the full names that the pages document."""
    found = set()
    for page in REFERENCE.glob("*.md"):
        module = ""
        for kind, name in re.findall(r"^\.\. ([\w:-]+):: (\S+)$", page.read_text(encoding="utf-8"), re.MULTILINE):
            if kind == "currentmodule":
                module = f"{name}."
            if kind == "methods-of":
                found |= {f"probcal.{path.rpartition('.')[2]}" for path, family in FAMILIES.items() if family == name}
            else:
                found.add(name if name.startswith("probcal") else module + name)
    return found


@pytest.mark.parametrize(("module", "name"), PUBLIC)
def test_every_public_name_is_in_the_reference(module, name):
    there = {f"{module}.{name}"} | ({f"probcal.protection.{name}"} if module == "probcal" else set())
    assert there & entries()


@pytest.mark.parametrize(("module", "name"), PUBLIC)
def test_every_public_class_and_function_has_a_docstring(module, name):
    found = getattr(importlib.import_module(module), name)
    said = {name: found} if callable(found) else {}  # a constant is explained in the reference itself
    ours = [one for one in getattr(found, "__mro__", ()) if one.__module__.startswith("probcal.")]
    for member, value in (item for one in ours for item in vars(one).items()):
        if not member.startswith("_") and (inspect.isfunction(value) or isinstance(value, property | classmethod)):
            said.setdefault(f"{name}.{member}", value)
    assert [one for one, value in said.items() if not inspect.getdoc(value)] == []


@pytest.mark.parametrize(("module", "name"), PUBLIC)
def test_docstring_examples_print_the_shown_output(module, name):
    found = getattr(importlib.import_module(module), name)
    for example in doctest.DocTestFinder(recurse=False).find(found, name, globs={name: found}):
        assert doctest.DocTestRunner().run(example).failed == 0
