"""How lines of several columns are told apart: by colour, and where there is none by dashes and marks."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from probcal.show.drawing import COLOURS
from probcal.show.outline import Column

_SOLID: Any = "-"
_DASHES = (_SOLID, (0, (5, 1.5)), (0, (1, 1.2)), (0, (6, 1.5, 1, 1.5)), (0, (2.5, 1)))
_APART = 0.25
"""Two marks of one curve, over the diagonal of the axes."""
_MARKS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")


@dataclass(frozen=True)
class LineStyle:
    """``number`` counts from 0. No two of the first 315 look the same, nor do any 45 in a row printed in grey."""

    number: int

    @property
    def colour(self) -> str:
        return COLOURS[self.number % len(COLOURS)]

    @property
    def dashes(self) -> Any:
        return _DASHES[self.number % len(_DASHES)]

    @property
    def mark(self) -> str:
        return _MARKS[self.number % len(_MARKS)]

    def of_points(self) -> dict[str, Any]:
        """For ``Axes.plot`` of a few points, each of which is marked."""
        look = {"color": self.colour, "linestyle": self.dashes, "marker": self.mark}
        return {**look, "markersize": 3.5, "linewidth": 1.1, "clip_on": False}

    def of_curve(self) -> dict[str, Any]:
        """For ``Axes.plot`` of many points, few of which are marked, and those of two curves at other places."""
        start = _APART * (0.1 + 0.8 * (self.number * 4 % len(_MARKS)) / len(_MARKS))
        look = {"color": self.colour, "linestyle": self.dashes, "marker": self.mark}
        return {**look, "markersize": 3.5, "linewidth": 1.1, "markevery": (start, _APART)}


def groups_of(columns: Sequence[Column]) -> dict[Column, str]:
    """The group of each, as panels have them: columns that are each alone in theirs are one group, without a name."""
    alone = len({column.group for column in columns}) == len(columns)
    return {column: "" if alone else column.group for column in columns}


def styles_of(groups: Mapping[Column, str]) -> dict[Column, LineStyle]:
    """A style for each method, the same with every learner; two columns of one group never have the same."""
    numbers: dict[Hashable, int] = {}
    found: dict[Column, LineStyle] = {}
    taken: set[tuple[str, int]] = set()
    for column, group in groups.items():
        number = numbers.setdefault(column.method, len(numbers))
        if (group, number) in taken:
            number = numbers.setdefault((column.learner, column.method), len(numbers))
        taken.add((group, number))
        found[column] = LineStyle(number)
    return found
