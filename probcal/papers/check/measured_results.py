"""An experiment's results as the checks look at them: a number of each split, by data set and column.

What a paper claims of a protected stream: what was gained over the base, and where on the way.

What can be said of the finished cells by themselves: missing numbers.
"""

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
from probcal.store.outline import Column, Outline, Row
from probcal.store.summary import Results, planned_ids

STEEPEST = "steepest_growth"
"""By this name claims speak of where the tenth of a stream begins in which log10 S grows most."""
LOG10_MARTINGALE = "log10_martingale"
_TENTH = 0.1


def steepest_growth(curves: Mapping[str, Sequence[Mapping[str, Any]]]) -> float:
    """From 0, the first row, to .9; of the first line of ``martingale``, straight between its points; NaN without.

    NaN also where the points do not rise along the stream.
    """
    lines = curves.get("martingale", ())
    if not lines:
        return math.nan
    x, y = (np.asarray(lines[0][axis], dtype=float) for axis in "xy")
    if len(x) < 2 or not (np.diff(x) > 0).all():
        return math.nan
    rows = (x - x[0]) / (x[-1] - x[0])
    last = 1 - _TENTH
    # the growth is straight between these, so that it is largest at one of them
    starts = np.unique(np.clip(np.concatenate([rows, rows - _TENTH]), 0, last))
    growth = np.interp(starts + _TENTH, rows, y) - np.interp(starts, rows, y)
    return float(starts[growth.argmax()])


def largest_gap(
    base: Mapping[int, float], protected: Mapping[int, float], log10_s: Mapping[int, float], rounding: float
) -> tuple[float, int]:
    """By how much what was gained, log10 loss less log10 loss, misses log10 S at most, as a share of it; of how many.

    Only repetitions that all three have count; ``rounding`` is what each by itself may miss.
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
"""Repetition -> number; infinity is a number, NaN is not."""


@dataclass(frozen=True)
class Checked:
    """``published`` is None where the experiment follows no paper."""

    store: Store
    outline: Outline
    results: Results
    published: Published | None

    @classmethod
    def of(cls, store: Store) -> Checked:
        """Raises StoreError and UnknownPaper as ``probcal table`` does."""
        outline = Outline.of(store)
        published = Published.read(outline.paper) if outline.paper else None
        if published:
            outline = outline.titled(published.titles)
        return cls(store, outline, store.results(), published)

    def splits(
        self, row: Row, column: Column, metric: str, stage: int | None = None, seed: int | None = None
    ) -> Splits:
        """What the finished planned cells gave, or would have after so many stages, where these are kept.

        ``seed``: only the repetition that has it.
        """
        numbers = {one.repetition: _number(one, metric, stage) for one in self.finished(row, column, seed)}
        return {repetition: number for repetition, number in numbers.items() if not math.isnan(number)}

    def finished(self, row: Row, column: Column, seed: int | None = None) -> list[CellResult]:
        """The planned cells that are done, whether they have numbers or not."""
        found = (self.results.get(one) for one in planned_ids(self.outline, row, column, seed))
        return [one for one in found if one and one.status == "done"]

    def every_finished(self) -> list[CellResult]:
        rows = self.outline.datasets
        return [one for row in rows for column in self.outline.columns for one in self.finished(row, column)]

    def planned(self, row: Row) -> list[Column]:
        """The columns that have cells of this data set."""
        return [column for column in self.outline.columns if planned_ids(self.outline, row, column)]

    def every_number(self) -> Iterator[tuple[Name, Row, Column]]:
        """The name of each number that the experiment plans to have, with its row and column."""
        for row in self.outline.datasets:
            for column in self.planned(row):
                for metric in (*self.outline.metrics, *([LOSS_RATIO] if column.before_and_after else [])):
                    yield (row.name, column.learner, column.method, metric), row, column

    @functools.cached_property
    def paper_metrics(self) -> list[str]:
        """Those of the experiment that the paper has tables of, in the paper's order."""
        tables = self.published.tables if self.published else {}
        return [metric for metric in tables if metric in self.outline.metrics]


def _number(cell: CellResult, metric: str, stage: int | None) -> float:
    if metric == LOSS_RATIO:
        return mean_loss_ratio(cell.stages)
    if metric == STEEPEST:
        return steepest_growth(cell.curves)
    return cell.metrics.get(metric, math.nan) if stage is None else _after(stage, cell.stages, metric)


def _after(stage: int, stages: dict[str, list[float]], metric: str) -> float:
    """A method that stops early stays as it is, however many more stages it may have."""
    course = stages.get(metric, [])
    return course[min(stage, len(course)) - 1] if course else math.nan


def without_number(checked: Checked) -> Counter[str]:
    """Metric of the experiment -> how many finished cells have no number of it."""
    return Counter(
        metric
        for one in checked.every_finished()
        for metric in checked.outline.metrics
        if math.isnan(one.metrics.get(metric, math.nan))
    )
