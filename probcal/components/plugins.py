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
from pathlib import Path
from typing import Any

from probcal.errors import ProbcalError

_KINDS = ("learners", "methods", "metrics", "papers")
NAME = re.compile(r"\w[\w-]{0,99}")
"""A name has no dot, because a name with a dot is an import path."""


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


def paper_folder(name: str) -> Path | None:
    """Return the folder with the numbers of a paper, ``<name>.yaml``, that a plugin declares, or None."""
    refuse_rivals("papers", name)
    plugin = declarations("papers").get(name)
    if plugin is None:
        return None
    module = import_plugin(plugin, lambda: import_module(plugin.value))
    folders = [Path(folder) for folder in getattr(module, "__path__", ())]
    for folder in folders:
        if (folder / f"{name}.yaml").is_file():
            return folder
    raise ProbcalError(f'{plugin.package} declares the paper "{name}", but {plugin.value} has no {name}.yaml')


def import_plugin(plugin: Declaration, load: Callable[[], Any]) -> Any:
    try:
        return load()
    except (Exception, SystemExit) as error:  # a plugin may raise anything
        raise ProbcalError(import_fault(plugin, f"{error} ({type(error).__name__})")) from None


def import_fault(plugin: Declaration, fault: str) -> str:
    return (
        f'{plugin.package} declares the entry point "{plugin.name} = {plugin.value}", which cannot be imported: '
        f"{fault}; reinstall or upgrade {plugin.package.rpartition(' ')[0]}, or uninstall it"
    )


def about_text(plugin: Declaration) -> str:
    return f"plugin of {plugin.package}"


def _all_declarations(kind: str) -> Mapping[str, tuple[Declaration, ...]]:
    return _find_declarations(_installed_folders())[kind]


def _installed_folders() -> tuple[str, ...]:
    """Return the folders where packages are installed: ``sys.path`` without the current folder."""
    try:
        current_folder = os.path.realpath(os.getcwd())
    except FileNotFoundError:  # the current folder was removed
        current_folder = ""
    # The empty path stands for the current folder, too.
    return tuple(folder for folder in sys.path if folder and os.path.realpath(folder) != current_folder)


@cache
def _find_declarations(folders: tuple[str, ...]) -> dict[str, dict[str, tuple[Declaration, ...]]]:
    """Return kind -> name -> its declarations. Of a package that is found twice, the first counts."""
    from importlib.metadata import distributions  # takes a tenth of the time of ``probcal --help``

    groups: dict[str, dict[str, list[Declaration]]] = {kind: {} for kind in _KINDS}
    package_names: set[str] = set()
    for package in distributions(path=list(folders)):
        # Asked first, because reading the metadata of every installed package takes much longer.
        has_plugins = "[probcal." in (package.read_text("entry_points.txt") or "")
        metadata_name = package.metadata["Name"] if has_plugins else None
        if metadata_name is None or metadata_name in package_names:
            continue
        package_names.add(metadata_name)
        for kind, group in groups.items():
            for entry in package.entry_points.select(group=f"probcal.{kind}"):
                if NAME.fullmatch(entry.name):
                    value = entry.value.replace(" ", "")
                    declaration = Declaration(entry.name, value, f"{metadata_name} {package.version}")
                    group.setdefault(entry.name, []).append(declaration)
    return {
        kind: {name: tuple(sorted(items, key=str)) for name, items in sorted(group.items())}
        for kind, group in groups.items()
    }
