"""Sweeps over class weights for their pictures, read from the stored curves of the first repetition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from probcal.store.outline import Outline, ResultColumn, Row
from probcal.store.summary import Results, planned_ids

Box = tuple[np.ndarray, np.ndarray]
"""Lower left and upper right corner, (2,) each."""


@dataclass(frozen=True)
class Sweep:
    """Hold one column on one data set."""

    row: Row
    column: ResultColumn
    borders: dict[float, list[np.ndarray]]
    """Level -> its lines, (n, 2) each, with the positive side on the left, by rising level.

    A level without lines has the same label everywhere. Only two numeric columns have lines.
    """
    everywhere: frozenset[float]
    """Levels without lines that are positive everywhere."""
    corners: np.ndarray
    """(n, 2) lower left corner of the box in which lines were sought, repeated for each level without lines."""
    classes: dict[str, np.ndarray]
    """Class -> (n, 2) points, all or some of the rows of the sweep. The second class is the positive one."""
    scores: np.ndarray | None
    """(n, 2) rising raw scores and their predictions, or None where the learner has no scores."""
    crossings: float | None
    """Pairs of levels that contradict each other on a test row, or None where that was not computed."""
    same: list[ResultColumn] = field(default_factory=list)
    """Columns of the same sweep, which are not drawn."""

    @property
    def lines(self) -> list[np.ndarray]:
        return [line for of_level in self.borders.values() for line in of_level]


def box_of(sweeps: Sequence[Sweep]) -> Box:
    """Return the box in which the lines of ``sweeps`` were sought. All are of one data set and one encoding.

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
    """Return the sweeps of each data set, in the order of columns.

    Methods around one learner that differ only in ``answer`` are one sweep, since ``answer`` moves no line. The first
    of them is used.
    """
    found: list[Sweep] = []
    for row in outline.datasets:
        for column in outline.columns:
            first = next((results[one] for one in planned_ids(outline, row, column)[:1] if one in results), None)
            if first is None or not (first.curves.get("iso_probability") or first.curves.get("scores")):
                continue
            sweep = _sweep(row, column, first.curves, first.metrics.get("crossings"))
            for one in found:
                if _includes(one, sweep):
                    one.same.append(column)
                    break
            else:
                found.append(sweep)
    return found


def left_out(sweeps: Sequence[Sweep]) -> list[str]:
    """Return which columns have no picture of their own, and why."""
    notes = []
    for one in sweeps:
        if one.same:
            settings = one.column.settings  # not stored by earlier versions
            why = "and only the answer differs" if settings else "and other settings are unknown without a new run"
            same = ", ".join(column.label for column in one.same)
            notes.append(f"{same}: not drawn; learner, rows and levels are those of {one.column.label}, {why}")
    return list(dict.fromkeys(notes))


def _sweep(
    row: Row, column: ResultColumn, curves: Mapping[str, list[dict[str, Any]]], crossings: float | None
) -> Sweep:
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


def _includes(one: Sweep, other: Sweep) -> bool:
    """Return whether ``one`` has all lines of ``other``, apart from the randomness of a learner."""
    same = (one.row, one.column.learner) == (other.row, other.column.learner)
    return (
        same
        and _settings_without_answer(one.column) == _settings_without_answer(other.column)
        and other.borders.keys() <= one.borders.keys()
        and one.classes.keys() == other.classes.keys()
        and all(np.array_equal(one.classes[name], other.classes[name]) for name in one.classes)
    )


def _settings_without_answer(column: ResultColumn) -> dict[str, Any]:
    params = {name: value for name, value in column.settings.get("params", {}).items() if name != "answer"}
    return {**column.settings, "params": params}


def _points(line: Mapping[str, Any]) -> np.ndarray:
    return np.column_stack([line["x"], line["y"]]).astype(np.float64)
