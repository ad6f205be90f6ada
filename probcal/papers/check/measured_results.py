"""Results of an experiment as the checks read them: numbers of each split, growth of a martingale, missing numbers."""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from probcal.papers.published import Published
from probcal.reporting.calibration_effects import LOSS_RATIO, mean_loss_ratio
from probcal.store.cell_result import CellResult
from probcal.store.folder import Store
from probcal.store.outline import Outline, ResultColumn, Row
from probcal.store.summary import Results, done_cells, planned_ids

STEEPEST = "steepest_growth"
"""Name in claims for the start of the tenth of a stream in which log10 S grows most."""
LOG10_MARTINGALE = "log10_martingale"
_TENTH = 0.1


def steepest_growth(curves: Mapping[str, Sequence[Mapping[str, Any]]]) -> float:
    """Return where the tenth of the stream with the steepest growth begins, from 0 (the first row) to .9.

    It uses the first line of ``martingale``, which is straight between its points. NaN without such a line, or where
    its points do not rise along the stream.
    """
    lines = curves.get("martingale", ())
    if not lines:
        return math.nan
    x, y = (np.asarray(lines[0][axis], dtype=float) for axis in "xy")
    if len(x) < 2 or not (np.diff(x) > 0).all():
        return math.nan
    rows = (x - x[0]) / (x[-1] - x[0])
    last = 1 - _TENTH
    # the growth is linear between these, so it is largest at one of them
    starts = np.unique(np.clip(np.concatenate([rows, rows - _TENTH]), 0, last))
    growth = np.interp(starts + _TENTH, rows, y) - np.interp(starts, rows, y)
    return float(starts[growth.argmax()])


def largest_gap(
    base: Mapping[int, float], protected: Mapping[int, float], log10_s: Mapping[int, float], rounding: float
) -> tuple[float, int]:
    """Return the largest gap between the log10 loss gained and log10 S, as a share of log10 S, and the repetitions.

    The gain is the log10 loss of ``base`` less that of ``protected``. Only repetitions that all three have are counted.
    ``rounding`` is the largest rounding error of the three together.
    """
    shared = base.keys() & protected.keys() & log10_s.keys()
    gaps = [_gap(base[one] - protected[one], log10_s[one], rounding) for one in shared]
    return max(gaps, default=math.nan), len(gaps)


def _gap(gained: float, log10_s: float, rounding: float) -> float:
    missed = max(0.0, abs(gained - log10_s) - rounding)
    return missed / abs(log10_s) if log10_s else (math.inf if missed else 0.0)


Name = tuple[str, str, str, str]
"""(data set, learner, method, metric), by our names."""
Splits = dict[int, float]
"""Repetition -> number. Infinity is a number, NaN is not."""


@dataclass(frozen=True)
class Checked:
    """Hold an experiment with its results and published numbers.

    ``published`` is None where the experiment follows no paper.
    """

    store: Store
    outline: Outline
    results: Results
    published: Published | None

    @classmethod
    def of(cls, store: Store) -> Checked:
        """Read the experiment of a results folder. Raises StoreError and UnknownPaper as ``probcal table`` does."""
        outline = Outline.of(store)
        published = Published.read(outline.paper) if outline.paper else None
        if published:
            outline = outline.titled(published.titles)
        return cls(store, outline, store.results(), published)

    def splits(
        self, row: Row, column: ResultColumn, metric: str, stage: int | None = None, seed: int | None = None
    ) -> Splits:
        """Return the numbers of the finished planned cells, or those after ``stage`` stages where these are stored.

        With ``seed``, only the repetition with that seed is returned.
        """
        numbers = {one.repetition: _number(one, metric, stage) for one in self.finished(row, column, seed)}
        return {repetition: number for repetition, number in numbers.items() if not math.isnan(number)}

    def finished(self, row: Row, column: ResultColumn, seed: int | None = None) -> list[CellResult]:
        """Return the planned cells that are done, with or without numbers."""
        return done_cells(self.outline, self.results, row, column, seed)

    def every_finished(self) -> list[CellResult]:
        rows = self.outline.datasets
        return [one for row in rows for column in self.outline.columns for one in self.finished(row, column)]

    def planned(self, row: Row) -> list[ResultColumn]:
        """Return the columns that have cells of this data set."""
        return [column for column in self.outline.columns if planned_ids(self.outline, row, column)]

    def every_number(self) -> Iterator[tuple[Name, Row, ResultColumn]]:
        """Yield the name of each number that the experiment plans, with its row and column."""
        for row in self.outline.datasets:
            for column in self.planned(row):
                for metric in (*self.outline.metrics, *([LOSS_RATIO] if column.before_and_after else [])):
                    yield (row.name, column.learner, column.method, metric), row, column

    @functools.cached_property
    def paper_metrics(self) -> list[str]:
        """Return the metrics of the experiment that the paper has tables of, in the paper's order."""
        tables = self.published.tables if self.published else {}
        return [metric for metric in tables if metric in self.outline.metrics]


def _number(cell: CellResult, metric: str, stage: int | None) -> float:
    if metric == LOSS_RATIO:
        return mean_loss_ratio(cell.stages)
    if metric == STEEPEST:
        return steepest_growth(cell.curves)
    return cell.metrics.get(metric, math.nan) if stage is None else _after(stage, cell.stages, metric)


def _after(stage: int, stages: dict[str, list[float]], metric: str) -> float:
    """Return the number after a stage. A method that stops early keeps its last number."""
    course = stages.get(metric, [])
    return course[min(stage, len(course)) - 1] if course else math.nan


def without_number(checked: Checked) -> Counter[str]:
    """Return metric -> number of finished cells without a number of it."""
    return Counter(
        metric
        for one in checked.every_finished()
        for metric in checked.outline.metrics
        if math.isnan(one.metrics.get(metric, math.nan))
    )
