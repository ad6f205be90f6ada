"""Ours and the published numbers as the charts draw them: plain values, infinity told apart from nothing."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from probcal.paper.published import Published
from probcal.show.agreement import held_against, verdict_of
from probcal.show.measured import Measured
from probcal.show.metric_names import metric_name
from probcal.show.order import in_order
from probcal.show.outline import Column, Outline, Row
from probcal.show.summary import Results, Summary

_MOST = 20_000
"""Numbers in one chart's data; more than a page can show, and a browser draw."""


@dataclass(frozen=True)
class Charts:
    """What the charts of one experiment are drawn from."""

    data: dict[str, Any]

    @property
    def compares(self) -> bool:
        """Whether there is anything to compare: two finite means of one metric."""
        counts: dict[int, int] = {}
        for one in self.data["numbers"]:
            counts[one[0]] = counts.get(one[0], 0) + (one[3] is not None)
        return any(count > 1 for count in counts.values())

    @property
    def beside_a_paper(self) -> bool:
        return any(one[3] is not None and isinstance(one[7], float) for one in self.data["numbers"])

    @property
    def agreeing(self) -> list[tuple[str, int, int]]:
        """Metric, how many published numbers are in their band, and how many were compared."""
        found = []
        for place, metric in enumerate(self.data["metrics"]):
            verdicts = [one[8] for one in self.data["numbers"] if one[0] == place and one[8] is not None]
            if verdicts:
                found.append((metric["short"], sum(verdicts), len(verdicts)))
        return found


def charts_of(outline: Outline, results: Results, published: Published | None) -> Charts:
    """``outline`` with the titles that its rows are shown under."""
    metrics = in_order(outline.metrics)
    names = [metric_name(metric) for metric in metrics]
    numbers = [
        [place, *one]
        for place, metric in enumerate(metrics)
        for one in _of_metric(Measured(outline, results, metric, published))
    ]
    return Charts(
        {
            "paper": published.short if published else None,
            "metrics": [
                {"name": one.long, "short": one.short, "end": one.good_end, "larger": one.larger_is_better}
                for one in names
            ],
            "datasets": [row.title for row in outline.datasets],
            "columns": [{"label": column.label, "group": column.group} for column in outline.columns],
            "numbers": numbers[:_MOST],
        }
    )


def _of_metric(one: Measured) -> Iterator[list[Any]]:
    """Data set, column, mean, sd, n, how many are infinite, published, whether that agrees (None: not compared)."""
    for d, row in enumerate(one.outline.datasets):
        cells = zip(one.outline.columns, one.ours(row), one.theirs(row), strict=True)
        for c, (column, ours, theirs) in enumerate(cells):
            if ours.n or theirs is not None:
                agrees = _agrees(one, row, column, theirs)
                yield [d, c, _plain(ours.mean), _plain(ours.sd), ours.n, ours.infinite, _published(theirs), agrees]


def _agrees(one: Measured, row: Row, column: Column, theirs: float | None) -> bool | None:
    if theirs is None or one.table is None:
        return None
    held: Summary = held_against(one.table, one.outline, one.results, row, column, one.metric)
    verdict = verdict_of(held, theirs, one.table)
    return None if verdict is None else verdict.in_band


def _plain(number: float | None) -> float | None:
    return None if number is None or not math.isfinite(number) else float(number)


def _published(number: float | None) -> float | str | None:
    return "∞" if number is not None and math.isinf(number) else _plain(number)
