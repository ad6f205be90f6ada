"""Numerics versions: which components made a number, and the version of each, from ``probcal/numerics.toml``.

A result is identified by them, and not by the source code. So you may rename, move and merge code as long as its
numbers stay. ``probcal.runner.witness`` shows whether they do.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

_PATH = Path(__file__).parent.parent / "numerics.toml"
_CLASS_WEIGHTS = "class weights"
"""The component whose methods take the fast path of a learner."""


@dataclass(frozen=True)
class Component:
    """Hold what the file declares about one component."""

    name: str
    version: int
    uses: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    rises: tuple[str, ...] = ()


@dataclass(frozen=True)
class Numerics:
    """Hold all components. ``by_class`` maps the first import path of a class to its component."""

    components: dict[str, Component]
    metrics: dict[str, Component]
    fast_paths: dict[str, str]
    moved: dict[str, str]
    by_class: dict[str, str]
    first_path: dict[str, str]
    """Present import path of a class that was moved -> its first one."""

    def canonical(self, path: str) -> str:
        """Return the first import path of the class at ``path``, which identities name for ever."""
        return self.first_path.get(path, path)

    def used(self, paths: Iterable[str], parts: Iterable[str] = (), any_learner: bool = False) -> tuple[str, ...]:
        """Return the components behind the classes at ``paths`` and behind ``parts``, and all that they use, sorted.

        ``any_learner`` says that a class of the user may pass on any learner, so that every fast path counts.
        """
        names = [self.canonical(path) for path in paths]
        found: set[str] = set()
        queue = [*parts, *(self.by_class[name] for name in names if name in self.by_class)]
        while queue:
            name = queue.pop()
            if name not in found:
                found.add(name)
                queue += self.components[name].uses
        # a fast path makes numbers only where a method fits its learner under many class weights
        if any_learner or _CLASS_WEIGHTS in found:
            found.update(part for name, part in self.fast_paths.items() if any_learner or name in names)
        return tuple(sorted(found))

    def risen(self, names: Iterable[str]) -> str:
        """Return the components that are past version 1, such as ``beta map 2, encoding 3``."""
        return ", ".join(
            f"{name} {self.components[name].version}" for name in names if self.components[name].version > 1
        )

    def risen_metrics(self, names: Iterable[str]) -> str:
        """Return the same for metrics. Each ``cost(p)`` is the metric ``cost``. Those of plugins have no version."""
        known = sorted({name.partition("(")[0] for name in names} & self.metrics.keys())
        return ", ".join(f"{name} {self.metrics[name].version}" for name in known if self.metrics[name].version > 1)

    def reasons(self, old: str, new: str) -> list[str]:
        """Return why versions rose, one text for each component that differs between two texts of ``risen``."""
        before, now = _versions(old), _versions(new)
        texts = []
        for name in sorted(before.keys() | now.keys()):
            first, last = before.get(name, 1), now.get(name, 1)
            if first != last:
                component = self.components.get(name) or self.metrics.get(name)
                why = "; ".join(component.rises[first - 1 : last - 1]) if component else ""
                texts.append(f"{name} {first} -> {last}{why and f' ({why})'}")
        return texts


def _versions(text: str) -> dict[str, int]:
    pairs = (item.rpartition(" ") for item in text.split(", ") if item)
    return {name: int(number) for name, _, number in pairs if number.isdigit()}


@cache
def numerics() -> Numerics:
    """Return what the package declares."""
    data: dict[str, Any] = tomllib.loads(_PATH.read_text(encoding="utf-8"))
    components, metrics = (
        {
            name: Component(name, entry["version"], *(tuple(entry.get(part, ())) for part in _LISTS))
            for name, entry in data[section].items()
        }
        for section in ("components", "metrics")
    )
    by_class = {path: component.name for component in components.values() for path in component.classes}
    return Numerics(
        components, metrics, data["fast_paths"], data["moved"], by_class,
        {new: old for old, new in data["moved"].items()},
    )  # fmt: skip


_LISTS = ("uses", "classes", "packages", "rises")
