"""An experiment's results as the checks look at them: a number of each split, by data set and column."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from dataclasses import dataclass

from probcal.cell_result import CellResult
from probcal.check.streams import STEEPEST, steepest_growth
from probcal.paper.published import Published
from probcal.show.before_after import LOSS_RATIO, mean_loss_ratio
from probcal.show.outline import Column, Outline, Row
from probcal.show.summary import Results, planned_ids
from probcal.store import Store

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
        numbers = {
            one.repetition: _number(one, metric, stage)
            for one in self.finished(row, column, seed)
        }
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
