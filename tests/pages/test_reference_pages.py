"""Check that docs/reference has every public name, with a docstring, and that docstring examples are right."""

from __future__ import annotations

import doctest
import importlib
import inspect
import re
from pathlib import Path

import pytest

from probcal.methods.registry import FAMILIES, PUBLIC_CLASSES

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
PUBLIC = [
    (module, name)
    for module in ("probcal", "probcal.metrics", "probcal.learners", "probcal.protection", "probcal.contract")
    for name in importlib.import_module(module).__all__
]
CLASSES = [
    (module, name)
    for module, names in (
        ("probcal", PUBLIC_CLASSES),
        ("probcal.learners", importlib.import_module("probcal.learners").__all__),
        ("probcal.protection", ("Cox", "Quadratic")),
    )
    for name in names
]
"""Estimators, maps, displays, Jumpers, calibrating functions and learners."""
WITH_JAVA = [
    pytest.param(*one, marks=pytest.mark.java if one[1] == "WekaClassifier" else (), id=".".join(one)) for one in PUBLIC
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


def test_every_public_name_is_in_the_reference():
    there = entries()
    lost = {f"{module}.{name}" for module, name in PUBLIC} - there
    assert {one for one in lost if one.replace("probcal.", "probcal.protection.", 1) not in there} == set()


def test_every_public_class_and_function_has_a_docstring():
    without = []
    for module, name in PUBLIC:
        found = getattr(importlib.import_module(module), name)
        said = {name: found} if callable(found) else {}  # a constant is explained in the reference itself
        ours = [one for one in getattr(found, "__mro__", ()) if one.__module__.startswith("probcal.")]
        for member, value in (item for one in ours for item in vars(one).items()):
            if not member.startswith("_") and (inspect.isfunction(value) or isinstance(value, property | classmethod)):
                said.setdefault(f"{name}.{member}", value)
        without += [one for one, value in said.items() if not inspect.getdoc(value)]
    assert without == []


def test_docstring_of_every_public_class_has_examples_and_see_also_that_exist():
    for module, name in CLASSES:
        docstring = inspect.getdoc(getattr(importlib.import_module(module), name))
        assert {"See Also", "Examples"} <= set(re.findall(r"^(.+)\n-+$", docstring, re.MULTILINE)), name
        assert ">>> " in docstring.partition("Examples\n")[2], name
        section = docstring.partition("See Also\n--------\n")[2]
        for seen in re.findall(r"^([\w.]+) : ", section.partition("\n\n")[0], re.MULTILINE):
            place, _, last = (seen if "." in seen else f"{module}.{seen}").rpartition(".")
            assert hasattr(importlib.import_module(place), last), seen


@pytest.mark.timeout(300)  # numba compiles C45Classifier at its first fit on a machine
@pytest.mark.parametrize(("module", "name"), WITH_JAVA)
def test_docstring_examples_print_the_shown_output(module, name):
    if name == "C45Classifier":
        pytest.importorskip("numba", reason="needs the extra trees")
    found = getattr(importlib.import_module(module), name)
    for example in doctest.DocTestFinder(recurse=False).find(found, name, globs={name: found}):
        assert doctest.DocTestRunner().run(example).failed == 0
