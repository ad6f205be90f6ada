"""The numbers of an experiment for another program: one CSV line per metric, data set and column."""

from __future__ import annotations

import math

from probcal.csv_text import csv_text
from probcal.paper.published import Published
from probcal.show.measured import published_number
from probcal.show.outline import Column, Outline, Row
from probcal.show.summary import Results, stale_ids, summarise

HEADER = [
    "experiment", "dataset", "learner", "method", "label", "metric",
    "mean", "sd", "n", "failed", "stale", "published", "difference",
]  # fmt: skip


def tidy(outline: Outline, results: Results, metrics: list[str], published: Published | None) -> str:
    """Lines under ``HEADER``, without it.

    ``difference`` is ours less the published one, empty unless both are finite; infinity is ``inf``.
    """
    return csv_text(
        _line(outline, results, row, column, metric, published)
        for metric in metrics
        for row in outline.datasets
        for column in outline.columns
    )


def _line(
    outline: Outline, results: Results, row: Row, column: Column, metric: str, published: Published | None
) -> list[str | int]:
    ours = summarise(outline, results, row, column, metric)
    theirs = published_number(published, row, column, metric)
    difference = None if ours.mean is None or theirs is None else ours.mean - theirs
    if difference is not None and not math.isfinite(difference):
        difference = None
    stale = len(stale_ids(outline, results, row, column))
    return [
        outline.name, row.name, column.learner, column.method, column.label, metric,
        _text(ours.mean), _text(ours.sd), ours.n, ours.failed, stale, _text(theirs), _text(difference),
    ]  # fmt: skip


def _text(number: float | None) -> str:
    return "" if number is None else f"{number:.6g}"
