"""What a sweep over class weights tells for its pictures, out of the first repetition's curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from probcal.store.outline import Column, Outline, Row
from probcal.store.summary import Results, planned_ids

Box = tuple[np.ndarray, np.ndarray]
"""The lower left and the upper right corner, (2,) each."""


@dataclass(frozen=True)
class Sweep:
    """One column on one data set."""

    row: Row
    column: Column
    borders: dict[float, list[np.ndarray]]
    """Level -> its lines, (n, 2) each, in which the level's positive side is on the left; rising levels.

    No lines are those of a level whose label is the same everywhere; of two numeric columns only.
    """
    everywhere: frozenset[float]
    """The levels without lines that say positive everywhere."""
    corners: np.ndarray
    """(n, 2) the lower left corner of the box in which lines were sought, as often as a level has none."""
    classes: dict[str, np.ndarray]
    """Class -> (n, 2) points, the rows that were swept over or some of them; the second class is the positive one."""
    scores: np.ndarray | None
    """(n, 2) raw scores, rising, and estimates; None where the learner has none."""
    crossings: float | None
    """Pairs of levels that contradict each other on a test row; None where that was not measured."""
    same: list[Column] = field(default_factory=list)
    """Columns of the same sweep, which are not drawn."""

    @property
    def lines(self) -> list[np.ndarray]:
        return [line for of_level in self.borders.values() for line in of_level]


def box_of(sweeps: Sequence[Sweep]) -> Box:
    """The box in which the lines of ``sweeps`` were sought, all of one data set and one encoding.

    A side on which no line ends is as far out as a line or a row lies.
    """
    lines = [line for one in sweeps for line in [*one.lines, *(corner[None] for corner in one.corners)]]
    rows = [points for one in sweeps for points in one.classes.values()]
    ends = np.concatenate([line[[0, -1]] for line in lines or rows])
    low, high = (edge(np.concatenate(lines or rows), axis=0) for edge in (np.min, np.max))
    low = np.where(ends.min(axis=0) <= low, low, np.concatenate([low[None], *rows]).min(axis=0))
    high = np.where(ends.max(axis=0) >= high, high, np.concatenate([high[None], *rows]).max(axis=0))
    return low, np.where(high > low, high, low + 1)


def sweeps_of(outline: Outline, results: Results) -> list[Sweep]:
    """Data set by data set, in the order of columns.

    Methods around one learner that differ in ``answer`` alone are one sweep, the first: the answer moves no line.
    """
    found: list[Sweep] = []
    for row in outline.datasets:
        for column in outline.columns:
            first = next((results[one] for one in planned_ids(outline, row, column)[:1] if one in results), None)
            if first is None or not (first.curves.get("iso_probability") or first.curves.get("scores")):
                continue
            sweep = _sweep(row, column, first.curves, first.metrics.get("crossings"))
            for one in found:
                if _tells(one, sweep):
                    one.same.append(column)
                    break
            else:
                found.append(sweep)
    return found


def left_out(sweeps: Sequence[Sweep]) -> list[str]:
    """Which columns have no picture of their own, and why."""
    notes = []
    for one in sweeps:
        if one.same:
            settings = one.column.settings  # which folders of earlier versions do not tell
            why = "and they differ in the answer alone" if settings else "probcal run tells of other settings"
            same = ", ".join(column.label for column in one.same)
            notes.append(f"{same}: not drawn; learner, rows and levels are those of {one.column.label}, {why}")
    return list(dict.fromkeys(notes))


def _sweep(row: Row, column: Column, curves: Mapping[str, list[dict[str, Any]]], crossings: float | None) -> Sweep:
    borders: dict[float, list[np.ndarray]] = {}
    entries = sorted(curves.get("iso_probability", ()), key=lambda line: line["level"])
    for line in entries:
        borders.setdefault(line["level"], []).extend([_points(line)] if len(line["x"]) > 1 else [])
    corners = [_points(line) for line in entries if len(line["x"]) == 1]
    scores = curves.get("scores")
    return Sweep(
        row,
        column,
        borders,
        frozenset(line["level"] for line in entries if line.get("positive")),
        np.concatenate([np.empty((0, 2)), *corners]),
        {line["label"]: _points(line) for line in curves.get("training_rows", [])},
        _points(scores[0]) if scores else None,
        crossings,
    )


def _tells(one: Sweep, other: Sweep) -> bool:
    """Whether ``one`` has all lines of ``other``, but for what chance does to a learner: they are of the same rows."""
    same = (one.row, one.column.learner) == (other.row, other.column.learner)
    return (
        same
        and _but_for_the_answer(one.column) == _but_for_the_answer(other.column)
        and other.borders.keys() <= one.borders.keys()
        and one.classes.keys() == other.classes.keys()
        and all(np.array_equal(one.classes[name], other.classes[name]) for name in one.classes)
    )


def _but_for_the_answer(column: Column) -> dict[str, Any]:
    params = {name: value for name, value in column.settings.get("params", {}).items() if name != "answer"}
    return {**column.settings, "params": params}


def _points(line: Mapping[str, Any]) -> np.ndarray:
    return np.column_stack([line["x"], line["y"]]).astype(np.float64)
