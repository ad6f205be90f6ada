"""How lines of several columns are told apart: by colour, and where there is none by dashes and marks."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from probcal.show.drawing import COLOURS
from probcal.show.outline import Column

_SOLID: Any = "-"
_DASHES = (_SOLID, (0, (5, 1.5)), (0, (1, 1.2)), (0, (6, 1.5, 1, 1.5)))
_MARKS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")


@dataclass(frozen=True)
class LineStyle:
    """``number`` counts from 0; the first 252 differ in colour, dashes or mark, any 4 that follow each other in dashes,
    any 9 in their mark."""

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


def styles_of(columns: Sequence[Column]) -> dict[Column, LineStyle]:
    """A style for each method, the same with every learner; two columns of one group never have the same."""
    numbers: dict[Hashable, int] = {}
    found: dict[Column, LineStyle] = {}
    taken: set[tuple[str, int]] = set()
    for column in columns:
        number = numbers.setdefault(column.method, len(numbers))
        if (column.group, number) in taken:
            number = numbers.setdefault((column.learner, column.method), len(numbers))
        taken.add((column.group, number))
        found[column] = LineStyle(number)
    return found
