"""What the components of cells need of this environment: packages, Weka, Java. Checked before anything is written."""

from __future__ import annotations

from collections.abc import Iterable

from probcal.components import import_class, unmet_requirement
from probcal.config import Component
from probcal.errors import ProbcalError
from probcal.run.plan import Cell, Planned


class RequirementMissing(ProbcalError):
    """A learner or method of the cells needs something that is not installed."""


def refuse_unmet(cells: Iterable[Cell]) -> None:
    """Raise RequirementMissing when a component of ``cells`` needs what is not there: a line for each thing missing.

    A line names the learners or methods that need it and the command that installs it.
    """
    needing: dict[str, dict[tuple[str, str], None]] = {}
    for word, component in _components(cells):
        if unmet := unmet_requirement(import_class(component.path)):
            needing.setdefault(" ".join(unmet.split()), {})[word, component.name] = None
    if needing:
        raise RequirementMissing("\n".join(f"{_named([*who])}: {unmet}" for unmet, who in needing.items()))


def to_fit(plan: list[Planned]) -> list[Cell]:
    """Return the cells of a plan that will be fitted: not those that are done, nor those only measured again."""
    return [planned.cell for planned in plan if planned.runs and planned.kept is None]


def _components(cells: Iterable[Cell]) -> list[tuple[str, Component]]:
    """Every learner and method once, by its class and its name."""
    found: dict[tuple[str, str, str], tuple[str, Component]] = {}
    for cell in cells:
        for word, one in (("learner", cell.column.learner), ("method", cell.column.method)):
            found.setdefault((word, one.path, one.name), (word, one))
    return list(found.values())


def _named(who: list[tuple[str, str]]) -> str:
    names = {word: [name for kind, name in who if kind == word] for word, _ in who}
    return ", ".join(f"{word}{'s' * (len(of) > 1)} {', '.join(of)}" for word, of in names.items())
