"""The identity of a cell: digests of what decides its numbers, and the reasons when they differ.

These are the data, the split, the settings, the seeds, and the numerics versions of the components that it uses. The
source of the user's own modules counts, too, because nobody declares versions for them. The versions of packages are
recorded with each run. They make a result stale only where the user asks for that (``--strict``).
"""

from __future__ import annotations

import hashlib
import json
import sys
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution, packages_distributions
from typing import TYPE_CHECKING, Any

from probcal.components.classes import comes_with_probcal, import_class
from probcal.components.nested import canonical
from probcal.components.numerics import numerics
from probcal.components.registry import plugin_package
from probcal.data.load import known_fingerprint
from probcal.metrics.plugins import metric_modules
from probcal.metrics.registry import METRICS
from probcal.runner.package_versions import WEKA_JAR, installed_version, named_weka, python_version
from probcal.runner.stale_data import data_change
from probcal.runner.user_code import user_digests, user_imports
from probcal.store.first_keys import UNKNOWN, present_key

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from probcal.config.columns import ExperimentColumn
    from probcal.config.experiment import Component
    from probcal.data.card import Card
    from probcal.data.splits import Split
    from probcal.runner.cell import Cell
    from probcal.store.cell_result import CellResult


NUMERIC_PACKAGES = ("numpy", "pandas", "scikit-learn", "scipy")
_WEKA = "python-weka-wrapper3"
_NEUTRAL_PACKAGES = frozenset(("cloudpickle", "joblib", "loky", "pydantic", "threadpoolctl"))
"""Packages that start, limit, transfer and check settings, but compute nothing."""


def used_components(cell: Cell) -> tuple[str, ...]:
    """Return the names of the components that the cell uses, as ``probcal/numerics.toml`` declares them."""
    rows = "nested split" if cell.used_split.nested else "folds" if cell.has_fold_rows else ""
    drawn = "generated rows" if cell.card.generator else ""
    return _components(cell.column.class_paths, tuple(filter(None, ("cell", rows, drawn))))


@cache
def _components(class_paths: tuple[str, ...], parts: tuple[str, ...]) -> tuple[str, ...]:
    imported = (name for module in map(_module, class_paths) for name in user_imports(module))
    return numerics().used((*class_paths, *imported), parts, any_learner=_may_have_any_learner(class_paths))


def used_modules(column: ExperimentColumn) -> tuple[str, ...]:
    """Return the modules of the learner's and method's classes, of nested components, and of their fast paths."""
    return _modules(column.class_paths)


@cache
def _modules(class_paths: tuple[str, ...]) -> tuple[str, ...]:
    modules = (*map(_module, class_paths),)
    if "class weights" not in _components(class_paths, ()):
        return modules
    from probcal.fast_paths.fast_path import modules_for  # commands that only read results need no scikit-learn

    if _may_have_any_learner(class_paths):
        from sklearn.pipeline import Pipeline

        # Those of a pipeline are the fast paths of all learners, since any learner may be its last step.
        fast_paths = modules_for(Pipeline)
    else:
        fast_paths = modules_for(import_class(class_paths[0]))
    return (*modules, *fast_paths)


def _may_have_any_learner(class_paths: tuple[str, ...]) -> bool:
    """Return whether a class of the user, or nested components, may pass on any learner to a fast path."""
    return len(class_paths) > 2 or not all(map(comes_with_probcal, class_paths))


def used_packages(cell: Cell) -> dict[str, str]:
    """Return package -> version: Python, the numeric packages, and those that compute for the cell's components."""
    return _packages(cell.column.class_paths)


@cache
def _packages(class_paths: tuple[str, ...]) -> dict[str, str]:
    names = numerics().used(class_paths)
    packages = {package for name in names for package in numerics().components[name].packages}
    imports = (name for module in map(_module, class_paths) for name in user_imports(module))
    modules = {name.partition(".")[0] for name in (*class_paths, *imports)}
    modules -= {"probcal", "sklearn", *_NEUTRAL_PACKAGES, *sys.stdlib_module_names}
    packages.update(package for module in modules for package in _distributions_of(module))
    versions = {name: installed_version(name) for name in sorted({*NUMERIC_PACKAGES, *packages})}
    if release := named_weka() if _WEKA in versions else None:
        del versions[_WEKA]  # another jar file computes
        versions[WEKA_JAR] = release
    return {"python": python_version(), **versions}


@cache
def _distributions_of(module: str) -> list[str]:
    # Finding a package by its modules reads all that are installed, so its name is tried first.
    with suppress(PackageNotFoundError):
        package = distribution(module)
        if any(file.parts[0] == module for file in package.files or ()):
            return [package.metadata["Name"]]
    return _all_distributions().get(module, [])


@cache
def _all_distributions() -> dict[str, list[str]]:
    return dict(packages_distributions())


REQUESTED_METRICS = "asked"
"""The part of a key for the metrics that the experiment requests besides those of every cell, as it is stored."""


class Identities:
    """Make the keys of many cells, and compute each shared part once.

    ``weka`` is the release of Weka that the experiment is of.
    """

    def __init__(self, weka: str | None = None) -> None:
        self._digest, self._data, self._split = cache(_digest_of_json), cache(known_fingerprint), cache(_split)
        self._known: dict[tuple[Any, ...], tuple[Cell, dict[str, str]]] = {}
        self._settings: dict[
            int, tuple[ExperimentColumn, dict[str, str]]
        ] = {}  # with the column, so that no other one gets its id
        self._split_digests: dict[tuple[Any, ...], str] = {}
        self._weka = weka

    def absent_weka(self, cell: Cell) -> bool:
        """Return whether the cell needs a release of Weka that is not at hand. Its results can be read only."""
        if not self._weka or not _uses_weka(cell.column.class_paths):
            return False
        from probcal.learners.weka.jvm import other_release

        return other_release(self._weka) is not None

    def key(self, cell: Cell) -> dict[str, str]:
        """Return part -> digest. ``data`` is absent while neither the card nor the cache knows the values.

        ``numerics`` is a text with the components that are past version 1. It is absent if there are none.
        """
        # cells of one column on one card share these objects, and differ by the repetition
        group = id(cell.card), id(cell.column), cell.stages, cell.curves, cell.extra_metrics, cell.has_fold_rows
        if group not in self._known:
            # Stored with the cell, so that no other object gets the ids of its card and column.
            self._known[group] = cell, self._cell_parts(cell)
        rows = id(cell.card), id(cell.split), cell.dataset, cell.seed, cell.repetition, cell.max_rows
        if rows not in self._split_digests:
            split = self._split(cell.card, cell.split)
            self._split_digests[rows] = self._digest_parts(
                split, cell.seed, cell.repetition, cell.max_rows, *_seed_name(cell)
            )
        return {**self._known[group][1], "split": self._split_digests[rows]}

    def _cell_parts(self, cell: Cell) -> dict[str, str]:
        """Return the parts of ``key``, in their order, without the digest of the split."""
        if id(cell.column) not in self._settings:
            self._settings[id(cell.column)] = cell.column, self._column_settings(cell.column)
        _, settings = self._settings[id(cell.column)]
        data = self._data(cell.card)
        parts = {
            "data": data[:12] if data else "",
            # ``key`` replaces it. Here it keeps the order of the parts.
            "split": "of the repetition",
            **settings,
            # the predictions of stages are not stored, so that nothing can measure them again
            "stages": self._digest_parts(cell.stages, _metric_versions(cell.stages)) if _has_stages(cell) else "",
            "curves": self._digest_parts(cell.curves, numerics().risen_metrics(["curves"])) if cell.curves else "",
            "numerics": numerics().risen(used_components(cell)),
            "user_code": self._digest_parts(user_code) if (user_code := user_code_digests(cell)) else "",
            "plugins": ", ".join(_plugins(cell.column.class_paths)),
            "weka": self._weka_release(cell.column.class_paths),
            "metrics": _metric_versions((*METRICS, *cell.extra_metrics)),
            REQUESTED_METRICS: self._digest_parts(cell.extra_metrics),
        }
        return {part: text for part, text in parts.items() if text}

    def _column_settings(self, column: ExperimentColumn) -> dict[str, str]:
        learner, method = column.learner, column.method
        return {
            "learner": self._digest_parts(*_settings(learner), learner.encoding, *_seed_part(learner)),
            "method": self._digest_parts(*_settings(method), *_seed_part(method)),
        }

    def _weka_release(self, class_paths: tuple[str, ...]) -> str:
        """Return the release of Weka that the experiment or PROBCAL_WEKA_JAR names. It is a setting of the learner."""
        if not _uses_weka(class_paths):
            return ""
        return self._weka or (named_weka() or "").partition(",")[0]

    def staleness_reason(self, cell: Cell, key: dict[str, str], result: CellResult, run: dict[str, Any]) -> str:
        """Return in words which part changed since ``run`` (its provenance) made ``result``."""
        old = present_key(result.key)
        reasons: dict[str, Callable[[], str]] = {
            "data": lambda: data_change(cell.card, run),
            "split": lambda: "the split or the seed changed",
            "learner": lambda: f"the settings of {cell.column.learner.name} changed",
            "method": lambda: f"the settings of {cell.column.method.name} changed",
            "stages": lambda: "the metrics of stages changed",
            "curves": lambda: "the curves to store changed",
            "numerics": lambda: _numerics_change(old.get("numerics", ""), key.get("numerics", "")),
            "user_code": lambda: _code_change(user_code_digests(cell), run.get("user_code", {})),
            "plugins": lambda: f"{old.get('plugins', 'no plugin')} -> {key.get('plugins', 'no plugin')}",
            "weka": lambda: f"Weka {old.get('weka', 'as installed')} -> {key.get('weka', 'as installed')}",
        }
        return "; ".join(reasons[part]() for part in changed_parts(key, result))

    def _digest_parts(self, *parts: Any) -> str:
        return self._digest(json.dumps(parts, sort_keys=True, default=str))


_METRIC_PARTS = ("metrics", REQUESTED_METRICS)
"""Parts about measuring predictions, which change no prediction."""
_OPTIONAL_PARTS = ("numerics", "user_code", "plugins", "weka")
"""Parts that a key lacks where there is nothing to say, so that a missing part differs from one that is there."""


def changed_parts(key: Mapping[str, str], result: CellResult) -> list[str]:
    """Return the parts of ``key`` that make the predictions of ``result`` stale.

    Another part that ``key`` lacks, such as the data, is unknown and not compared.
    """
    old = present_key(result.key)
    if old == key:  # as nearly always, and quicker
        return []
    parts = dict.fromkeys((*(part for part in key if part not in _METRIC_PARTS), *_OPTIONAL_PARTS))
    return [part for part in parts if old.get(part) != key.get(part)]


def has_same_metrics(key: Mapping[str, str], result: CellResult) -> bool:
    """Return whether ``result`` has the metrics that the experiment asks for, in their present versions."""
    old = present_key(result.key)
    return all(old.get(part) == key.get(part) for part in _METRIC_PARTS)


def user_code_digests(cell: Cell) -> dict[str, str]:
    """Return module -> digest of the user's own modules that the cell may run."""
    return user_digests(*map(_module, cell.column.class_paths))


@cache
def _uses_weka(class_paths: tuple[str, ...]) -> bool:
    names = numerics().used(class_paths)
    return any(_WEKA in numerics().components[name].packages for name in names)


def _module(path: str) -> str:
    return path.rpartition(".")[0]


def _settings(component: Component) -> tuple[Any, ...]:
    return numerics().canonical(component.path), canonical(component.params)


def _seed_part(component: Component) -> tuple[str, ...]:
    return ("shared seed",) if component.shared_seed else ()


def _seed_name(cell: Cell) -> tuple[str, ...]:
    """Return what seeds the splits, if it is not the name of the data set."""
    if cell.card.seed_name is not None:
        return (cell.card.seed_name,)
    return (cell.card.name,) if cell.card.name != cell.dataset else ()


def _has_stages(cell: Cell) -> bool:
    return bool(cell.stages) and hasattr(import_class(cell.column.method.path), "staged_predict_proba")


@cache
def _metric_versions(names: tuple[str, ...]) -> str:
    """Return the metrics that are past version 1, the plugins with others, and a digest of such code of the user."""
    modules = metric_modules(names)
    packages = {package for module in modules for package in _distributions_of(module.partition(".")[0])}
    plugins = {f"{package} {installed_version(package)}" for package in packages}
    digests = user_digests(*modules)
    own = _digest_of_json(json.dumps(digests, sort_keys=True)) if digests else ""
    return ", ".join(filter(None, (numerics().risen_metrics(names), *sorted(plugins), own)))


def _plugins(class_paths: tuple[str, ...]) -> list[str]:
    """Return name and version of each package that declares one of these classes for probcal."""
    packages = (plugin_package(path) for path in class_paths if not comes_with_probcal(path))
    return sorted({package for package in packages if package})


def _split(card: Card, experiment_split: Split | None = None) -> dict[str, Any]:
    split = experiment_split or card.split
    return {**split.model_dump(exclude={"file"}), "n_train": split.n_train(card.expect.rows)}


def _numerics_change(old: str, new: str) -> str:
    if old == UNKNOWN:
        return "made by code without numerics versions, which no witness proves"
    return f"numbers changed: {'; '.join(numerics().reasons(old, new))}"


def _code_change(code: Mapping[str, str], old_code: Any) -> str:
    old = old_code if isinstance(old_code, dict) else {}
    names = [name for name, digest in code.items() if old.get(name) != digest]
    return f"your code changed: {', '.join(names) or 'a module is used no more'}"


def _digest_of_json(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]
