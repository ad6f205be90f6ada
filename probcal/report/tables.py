"""The tables of an experiment for a page: lines that belong together, and by what each cell is sorted."""

from __future__ import annotations

import re
from dataclasses import dataclass

from probcal.show.grid import INFINITY, NOT_RUN, Grid, Text
from probcal.show.lines import PAPER, SPREAD
from probcal.show.notes import UNDEFINED

_NUMBER = re.compile(r"-?\d+(\.\d+)?(e[+-]?\d+)?")
_NOTHING = (NOT_RUN, UNDEFINED, "failed", "")
_KINDS = {SPREAD: "spread", PAPER: "paper"}


@dataclass(frozen=True)
class Cell:
    text: Text
    sort: str
    """A number, ``Infinity``, or the text itself; empty for what goes last either way."""


@dataclass(frozen=True)
class Line:
    kind: str
    """``main``; ``spread``, ``paper``, ``minor`` and ``more`` (without a name of its own) belong to a line above."""
    cells: list[Cell]


@dataclass(frozen=True)
class Table:
    """``groups``: the lines of one data set each, which stay together."""

    id: str
    grid: Grid
    groups: list[list[Line]]


def laid_out(grids: list[Grid], of: str) -> list[Table]:
    """``of``: what the ids of the tables begin with."""
    return [Table(f"{of}-table{grid.number}", grid, _groups(grid)) for grid in grids]


def _groups(grid: Grid) -> list[list[Line]]:
    groups: list[list[Line]] = []
    for row in grid.rows:
        kind = _KINDS.get(row[0].main, "minor") if row[0].minor else "main" if row[0].main else "more"
        line = Line(kind, [Cell(text, sort_value(text.main)) for text in row])
        if kind == "main" or not groups:
            groups.append([])
        groups[-1].append(line)
    return groups


def sort_value(main: str) -> str:
    """``∞ (5/10)`` is infinity, as a mean over splits is."""
    if main in _NOTHING:
        return ""
    if main.startswith((INFINITY, f"-{INFINITY}")):
        return "-Infinity" if main.startswith("-") else "Infinity"
    found = _NUMBER.match(main)
    return found[0] if found and found.end() == len(main.split()[0]) else main
