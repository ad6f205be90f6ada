"""The registries of short names: the learners and methods that come with probcal, then those of plugins.

A table of learners or methods adds its entries when it is imported. Entry points are searched only for a name that no
table has.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from probcal.components.plugins import NAME, Declaration, about_text, declarations, import_fault, refuse_rivals

_CLASS = re.compile(r"[^\W\d][\w.]*:[^\W\d]\w*")


@dataclass(frozen=True)
class Builtin:
    """Describe a component with a short name. One entry in a registry is all it needs."""

    path: str
    about: str
    params: Mapping[str, Any] = field(default_factory=dict)
    label: str = ""
    encoding: str = "numeric"
    family: str = ""
    """What a method takes from its learner: ``labels``, ``scores`` or a ``stream``."""
    map: str = ""
    """Class in the same module that fits the map of a method without a learner, such as BetaCalibrator."""

    @property
    def map_path(self) -> str:
        return f"{self.path.rpartition('.')[0]}.{self.map}"


class Registry:
    """Find learners or methods by short names. The ``kind`` is the name of their section in an experiment file."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._table: dict[str, Builtin] = {}
        self._old_names: dict[str, str] = {}

    def add(self, table: Mapping[str, Builtin], old_names: Mapping[str, str] | None = None) -> None:
        """Add built-in entries. ``old_names`` maps earlier short names to those of the table."""
        # The tables come here, because nothing in this folder may import learners or methods.
        self._table.update(table)
        self._old_names.update(old_names or {})

    def known(self) -> dict[str, Builtin]:
        """Return the built-in entries, then those of plugins."""
        return {**self._table, **self._plugins()}

    def find(self, name: str) -> Builtin | None:
        """Return the entry of a short name, built in or of a plugin, or None.

        Raises ProbcalError if several packages declare the name.
        """
        # entry points are searched last, because that reads the metadata of all installed packages
        builtin = self._table.get(self._old_names.get(name, name))
        if builtin is not None or not NAME.fullmatch(name):
            return builtin
        refuse_rivals(self._kind, name)
        return self._plugins().get(name)

    def __contains__(self, name: str) -> bool:
        """Return whether the name is built in."""
        return name in self._table

    def _plugins(self) -> dict[str, Builtin]:
        return {
            name: Builtin(plugin.path, about_text(plugin), label=name)
            for name, plugin in declarations(self._kind).items()
            # a built-in name means the same on every machine, whatever is installed there
            if name not in self._table and _CLASS.fullmatch(plugin.value)
        }


LEARNER_NAMES, METHOD_NAMES = Registry("learners"), Registry("methods")


def plugin_package(path: str) -> str | None:
    """Return name and version of the package that declares the class at this import path, or None."""
    plugin = _find_declaration(path)
    return None if plugin is None else plugin.package


def class_fault(path: str, fault: str) -> str:
    """Return ``fault``, why the class cannot be imported, with the package that declares it for probcal, if any."""
    plugin = _find_declaration(path)
    return fault if plugin is None else import_fault(plugin, fault)


def _find_declaration(path: str) -> Declaration | None:
    """Return what declares the class at this path, rather under a name that is not built in, or None."""
    matches = [
        plugin for kind in ("learners", "methods") for plugin in declarations(kind).values() if plugin.path == path
    ]
    return min(matches, key=lambda plugin: plugin.name in LEARNER_NAMES or plugin.name in METHOD_NAMES, default=None)
