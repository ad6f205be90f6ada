"""Test that public docstrings have the sections of numpydoc, with a type and a text for each parameter."""

import importlib
import inspect
from dataclasses import is_dataclass

from numpydoc.validate import validate

MODULES = ("probcal", "probcal.metrics", "probcal.learners", "probcal.protection", "probcal.contract")
CODES = {"GL03", "GL05", "GL07", "PR01", "PR02", "PR03", "PR04", "PR05", "PR07", "PR08", "PR09", "PR10", "RT02", "RT03"}
CODES |= {"RT04", "RT05", "SS03", "SS04", "SS06", "YD01"}
"""Codes of numpydoc: sections and their order, names, types and texts of parameters and returns, first sentences."""


def public_objects():
    """Return import path -> object: public functions and classes, and the methods that probcal defines for them."""
    objects = {}
    for module in map(importlib.import_module, MODULES):
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.isfunction(value) or inspect.isclass(value):
                objects[f"{value.__module__}.{value.__qualname__}"] = value
            if inspect.isclass(value):
                methods = inspect.getmembers(value, inspect.isfunction)
                objects |= {
                    f"{method.__module__}.{method.__qualname__}": method
                    for method_name, method in methods
                    if not method_name.startswith("_") and method.__module__.startswith("probcal.")
                }
    return objects


def is_result(value):
    """Return whether users get objects of this class and never construct one. Its fields stand under Attributes."""
    return inspect.isclass(value) and (issubclass(value, tuple) or is_dataclass(value))


def test_public_docstrings_have_all_sections_of_numpydoc():
    faults = [
        (path, code, text)
        for path, value in public_objects().items()
        for code, text in validate(path)["errors"]
        if code in (CODES - {"PR01"} if is_result(value) else CODES)
    ]
    assert faults == []
