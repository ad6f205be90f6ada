"""The lines for figures that a cell keeps, and what they have to be."""

from __future__ import annotations

from typing import Any

_TOLD_BY = {"iso_probability": "level, a number within (0, 1)", "training_rows": "label"}
"""What tells the lines of one name from each other, where a figure needs it: a number and a text."""
_LARGEST = 1e100
"""Matplotlib cannot lay out axes near the largest floats."""


def curves_fault(curves: dict[str, Any]) -> str | None:
    """What is wrong with the first of ``curves`` that is none; None when all are well.

    Name -> lines, each a mapping with lists ``x`` and ``y`` of equally many finite numbers, one at least and none
    beyond 1e100.
    """
    for name, lines in curves.items():
        if not isinstance(lines, list):
            return f'the curve "{name}" is no list of lines'
        for line in lines:
            if not isinstance(line, dict) or not _has_points(line) or not _is_told(name, line):
                also = f", and its {_TOLD_BY[name]}" if name in _TOLD_BY else ""
                return f'a line of the curve "{name}" lacks x and y, equally many finite numbers, one at least{also}'
    return None


def _has_points(line: dict[str, Any]) -> bool:
    x, y = line.get("x"), line.get("y")
    return isinstance(x, list) and isinstance(y, list) and 0 < len(x) == len(y) and _finite(x) and _finite(y)


def _is_told(name: str, line: dict[str, Any]) -> bool:
    if name == "iso_probability":
        level = line.get("level")
        return level is not None and _finite([level]) and 0 < level < 1 and isinstance(line.get("positive", True), bool)
    return name != "training_rows" or isinstance(line.get("label"), str)


def _finite(values: list[Any]) -> bool:
    return {*map(type, values)} <= {int, float} and all(-_LARGEST <= value <= _LARGEST for value in values)
