"""What a sweep over class weights tells for its pictures, out of the first repetition's curves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from probcal.show.outline import Column, Outline, Row
from probcal.show.summary import Results, planned_ids


@dataclass(frozen=True)
class Sweep:
    """One column on one data set of two numeric columns."""

    row: Row
    column: Column
    borders: dict[float, list[np.ndarray]]
    """Level -> its lines, (n, 2) each, in which the level's positive side is on the left; rising levels."""
    classes: dict[str, np.ndarray]
    """Class -> (n, 2) points, the rows that were swept over or some of them; the second class is the positive one."""
    scores: np.ndarray | None
    """(n, 2) raw scores, rising, and estimates; None where the learner has none."""


def box_of(sweeps: Sequence[Sweep]) -> tuple[np.ndarray, np.ndarray]:
    """The lower left and the upper right corner of the box in which the lines of one data set's ``sweeps`` were sought.

    A side on which no line ends is as far out as a line or a row lies.
    """
    lines = [line for one in sweeps for of_level in one.borders.values() for line in of_level]
    ends = np.concatenate([line[[0, -1]] for line in lines])
    rows = [points for one in sweeps for points in one.classes.values()]
    low, high = (edge(np.concatenate(lines), axis=0) for edge in (np.min, np.max))
    low = np.where(ends.min(axis=0) <= low, low, np.concatenate([low[None], *rows]).min(axis=0))
    high = np.where(ends.max(axis=0) >= high, high, np.concatenate([high[None], *rows]).max(axis=0))
    return low, high


def sweeps_of(outline: Outline, results: Results) -> list[Sweep]:
    """Data set by data set, in the order of columns.

    A learner's sweep over the same rows as an earlier one, and no other levels, is left out, such as another answer's.
    """
    found: list[Sweep] = []
    for row in outline.datasets:
        for column in outline.columns:
            first = next((results[one] for one in planned_ids(outline, row, column)[:1] if one in results), None)
            lines = first.curves.get("iso_probability") if first is not None else None
            if not lines:
                continue
            borders: dict[float, list[np.ndarray]] = {}
            for line in sorted(lines, key=lambda line: line["level"]):
                borders.setdefault(line["level"], []).append(_points(line))
            classes = {line["label"]: _points(line) for line in first.curves.get("training_rows", [])}
            scores = first.curves.get("scores")
            sweep = Sweep(row, column, borders, classes, _points(scores[0]) if scores else None)
            if not any(_tells(one, sweep) for one in found):
                found.append(sweep)
    return found


def _tells(one: Sweep, other: Sweep) -> bool:
    """Whether ``one`` has all lines of ``other``, but for what chance does to a learner: they are of the same rows."""
    same = (one.row, one.column.learner) == (other.row, other.column.learner)
    return (
        same
        and other.borders.keys() <= one.borders.keys()
        and one.classes.keys() == other.classes.keys()
        and all(np.array_equal(one.classes[name], other.classes[name]) for name in one.classes)
    )


def _points(line: dict) -> np.ndarray:
    return np.column_stack([line["x"], line["y"]]).astype(np.float64)
