"""Plugins: the learners, methods, metrics and papers that installed packages declare as entry points.

A package declares them in its ``pyproject.toml``. The name is the short name that experiment files use:

    [project.entry-points."probcal.methods"]
    shrunk = "my_package.methods:ShrunkClassifier"      # a class
    [project.entry-points."probcal.learners"]
    nearest_mean = "my_package.learners:NearestMean"    # a class
    [project.entry-points."probcal.metrics"]
    skill = "my_package.metrics:SKILL"                  # a probcal.metrics.Metric
    [project.entry-points."probcal.papers"]
    my-paper-2020 = "my_package.papers"                 # the package with my-paper-2020.yaml

Whoever installs a package trusts it, so what it declares needs no ``--trust``. A package in the current folder does not
count as installed, because it may lie beside somebody else's experiment. A built-in name always means the built-in.
Entry points are searched only for a name that is not built in, and nothing is imported before its name is used.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, distributions
from pathlib import Path
from typing import TYPE_CHECKING, Any

from probcal.config.components import Builtin
from probcal.errors import ProbcalError
from probcal.learners.registry import LEARNERS
from probcal.methods.registry import METHODS, OLD_NAMES

if TYPE_CHECKING:
    from probcal.metrics import Metric

_KINDS = ("learners", "methods", "metrics", "papers")
_BUILTIN: Mapping[str, Mapping[str, Builtin]] = {"learners": LEARNERS, "methods": METHODS}
_NAME = re.compile(r"\w[\w-]{0,99}")
"""A name has no dot, because a name with a dot is an import path."""
_CLASS = re.compile(r"[^\W\d][\w.]*:[^\W\d]\w*")


@dataclass(frozen=True)
class Declaration:
    """Hold one entry point: its short name, what it names (``my_package.methods:ShrunkClassifier``), its package."""

    name: str
    value: str
    package: str
    """Name and version of the package, such as ``my-package 1.2``."""

    @property
    def path(self) -> str:
        """Return the import path: ``my_package.methods.ShrunkClassifier``."""
        return self.value.replace(":", ".")


def known_learners() -> dict[str, Builtin]:
    """Return the built-in learners, then those of plugins."""
    return {**LEARNERS, **_components("learners")}


def known_methods() -> dict[str, Builtin]:
    """Return the built-in methods, then those of plugins."""
    return {**METHODS, **_components("methods")}


def find_component(kind: str, name: str) -> Builtin | None:
    """Return the ``learners`` or ``methods`` entry of a short name, built in or of a plugin, or None.

    Raises ProbcalError if several packages declare the name.
    """
    builtin = _BUILTIN[kind].get(OLD_NAMES.get(name, name))
    if builtin is not None or not _NAME.fullmatch(name):
        return builtin
    refuse_rivals(kind, name)
    return _components(kind).get(name)


def declarations(kind: str) -> dict[str, Declaration]:
    """Return name -> declaration of a ``kind``: ``learners``, ``methods``, ``metrics`` or ``papers``.

    A name that two packages declare means neither, and ``refuse_rivals`` says so.
    """
    return {name: group[0] for name, group in _all_declarations(kind).items() if len(group) == 1}


def refuse_rivals(kind: str, name: str) -> None:
    """Raise ProbcalError if several packages declare this ``name``."""
    rivals = _all_declarations(kind).get(name, ())
    if len(rivals) > 1:
        packages = " and ".join(rival.package for rival in rivals)
        advice = f"; write an import path instead, such as {rivals[0].path}" if kind in ("learners", "methods") else ""
        raise ProbcalError(f'{packages} both declare "{name}" among their {kind}; remove one of them{advice}')


def is_declared(path: str) -> bool:
    """Return whether an installed package declares exactly the class at this import path."""
    return _declaration_of(path) is not None


def plugin_package(path: str) -> str | None:
    """Return name and version of the package that declares the class at this import path, or None."""
    plugin = _declaration_of(path)
    return None if plugin is None else plugin.package


def _declaration_of(path: str) -> Declaration | None:
    """Return what declares the class at this path, rather under a name that is not built in, or None."""
    matches = [
        plugin for kind in ("learners", "methods") for plugin in declarations(kind).values() if plugin.path == path
    ]
    return min(matches, key=lambda plugin: any(plugin.name in names for names in _BUILTIN.values()), default=None)


def fault_of_plugin(path: str, fault: str) -> str | None:
    """Return the message about a declared class that cannot be imported, or None if no package declares it."""
    plugin = _declaration_of(path)
    return None if plugin is None else _import_fault(plugin, fault)


def find_metric(name: str) -> Metric | None:
    """Return the metric of this ``name``, built in or of a plugin, or None.

    A plugin's metric is known to ``probcal.metrics`` from then on. Raises ProbcalError if it cannot be imported, or is
    no metric that predictions give.
    """
    from probcal.metrics import registry

    metric = registry.find_metric(name)
    if metric is None and _NAME.fullmatch(name):
        refuse_rivals("metrics", name)
        plugin = declarations("metrics").get(name)
        if plugin is not None:
            metric = _metric(plugin)
            registry.add_metric(metric)
    return metric


def metric_names() -> dict[str, str]:
    """Return name -> one line about it for the metrics of plugins."""
    from probcal.metrics import registry

    return {name: _about_text(plugin) for name, plugin in declarations("metrics").items() if name not in registry.NAMED}


def paper_folder(name: str) -> Path | None:
    """Return the folder with the numbers of a paper, ``<name>.yaml``, that a plugin declares, or None."""
    refuse_rivals("papers", name)
    plugin = declarations("papers").get(name)
    if plugin is None:
        return None
    module = _import_plugin(plugin, lambda: import_module(plugin.value))
    folders = [Path(folder) for folder in getattr(module, "__path__", ())]
    for folder in folders:
        if (folder / f"{name}.yaml").is_file():
            return folder
    raise ProbcalError(f'{plugin.package} declares the paper "{name}", but {plugin.value} has no {name}.yaml')


def metric_modules(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the modules of those of the metrics ``names`` that plugins declare."""
    from probcal.metrics import registry

    plugin_names = [name for name in names if _NAME.fullmatch(name) and name not in registry.NAMED]
    plugins = declarations("metrics") if plugin_names else {}
    return tuple(sorted({plugins[name].value.partition(":")[0] for name in plugin_names if name in plugins}))


def _metric(plugin: Declaration) -> Metric:
    from probcal.metrics import Metric

    module, _, attribute = plugin.value.partition(":")
    metric = _import_plugin(plugin, lambda: getattr(import_module(module), attribute))
    if not isinstance(metric, Metric) or metric.name != plugin.name:
        fault = f'is the metric "{metric.name}"' if isinstance(metric, Metric) else "is no probcal.metrics.Metric"
        raise ProbcalError(f'{plugin.package} declares the metric "{plugin.name}", but {plugin.path} {fault}')
    if metric.value is None or metric.measured != "asked":
        raise ProbcalError(
            f'the metric "{plugin.name}" of {plugin.package} needs a value and measured="asked", so that an '
            "experiment can ask for it"
        )
    return metric


def _import_plugin(plugin: Declaration, load: Callable[[], Any]) -> Any:
    try:
        return load()
    except (Exception, SystemExit) as error:  # a plugin may raise anything
        raise ProbcalError(_import_fault(plugin, f"{error} ({type(error).__name__})")) from None


def _import_fault(plugin: Declaration, fault: str) -> str:
    return (
        f'{plugin.package} declares the entry point "{plugin.name} = {plugin.value}", which cannot be imported: '
        f"{fault}; reinstall or upgrade {plugin.package.rpartition(' ')[0]}, or uninstall it"
    )


def _components(kind: str) -> dict[str, Builtin]:
    return {
        name: Builtin(plugin.path, _about_text(plugin), label=name)
        for name, plugin in declarations(kind).items()
        if name not in _BUILTIN[kind] and _CLASS.fullmatch(plugin.value)
    }


def _about_text(plugin: Declaration) -> str:
    return f"plugin of {plugin.package}"


def _all_declarations(kind: str) -> Mapping[str, tuple[Declaration, ...]]:
    return _find_declarations(_installed_folders())[kind]


def _installed_folders() -> tuple[str, ...]:
    """Return the folders where packages are installed: ``sys.path`` without the current folder."""
    try:
        current_folder = os.path.realpath(os.getcwd())
    except FileNotFoundError:  # the current folder was removed
        current_folder = ""
    return tuple(folder for folder in sys.path if folder and os.path.realpath(folder) != current_folder)


@cache
def _find_declarations(folders: tuple[str, ...]) -> dict[str, dict[str, tuple[Declaration, ...]]]:
    """Return kind -> name -> its declarations. Of a package that is found twice, the first counts."""
    groups: dict[str, dict[str, list[Declaration]]] = {kind: {} for kind in _KINDS}
    package_names: set[str] = set()
    for package in distributions(path=list(folders)):
        metadata_name = package.metadata["Name"] if _has_plugins(package.read_text("entry_points.txt")) else None
        if metadata_name is None or metadata_name in package_names:
            continue
        package_names.add(metadata_name)
        for entry in package.entry_points:
            kind = _kind(entry)
            if kind:
                plugin = Declaration(entry.name, entry.value.replace(" ", ""), f"{metadata_name} {package.version}")
                groups[kind].setdefault(entry.name, []).append(plugin)
    return {
        kind: {name: tuple(sorted(items, key=str)) for name, items in sorted(group.items())}
        for kind, group in groups.items()
    }


def _has_plugins(text: str | None) -> bool:
    return text is not None and "[probcal." in text


def _kind(entry: EntryPoint) -> str:
    """Return the kind of an entry point with a valid name, or an empty string."""
    part, _, kind = entry.group.partition(".")
    return kind if part == "probcal" and kind in _KINDS and _NAME.fullmatch(entry.name) else ""
