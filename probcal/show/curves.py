"""A metric against the number of stages of a method: what Figure 1 of Langford & Zadrozny (2005) draws."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from probcal.show.outline import Column, Outline, Row
from probcal.show.summary import Results, planned_ids, stale_ids


@dataclass(frozen=True)
class Curve:
    """The course of one metric on one data set, over its splits."""

    title: str
    mean: np.ndarray
    """(n_stages,); infinite where a split is."""
    sd: np.ndarray | None
    """(n_stages,) with n - 1 in the denominator, NaN where the mean is infinite; None for one split."""
    n_splits: int


@dataclass(frozen=True)
class Panel:
    """The curves of one metric under one column."""

    metric: str
    column: Column
    curves: list[Curve]


def panels_of(outline: Outline, results: Results) -> list[list[Panel]]:
    """A row a metric, a panel a column, of those of which any result tells its stages; else an empty list."""
    asked_columns = [one for one in outline.columns if not one.before_and_after]  # those are no course of rounds
    asked = [(column, row) for column in asked_columns for row in outline.datasets]
    found = [(column, _done(outline, results, row, column)) for column, row in asked]
    metrics = dict.fromkeys(metric for _, done in found for stages in done for metric in stages)
    columns = [one for one in asked_columns if any(column == one and done for column, done in found)]
    return [[_panel(outline, results, metric, column) for column in columns] for metric in metrics]


def shortfalls(outline: Outline, results: Results, panels: list[list[Panel]]) -> list[str]:
    """What a reader of the figure has to know and cannot see: cells that are missing, stale or infinite."""
    columns = [panel.column for panel in panels[0]]
    pairs = [(row, column) for row in outline.datasets for column in columns]
    planned = sum(len(planned_ids(outline, *pair)) for pair in pairs)
    there = sum(len(_done(outline, results, *pair)) for pair in pairs)
    stale = sum(len(stale_ids(outline, results, *pair)) for pair in pairs)
    notes = []
    if there < planned:
        notes.append(f"{planned - there} of {planned} cells failed, were not run or have no stages")
    if stale:
        notes.append(f"{stale} of {planned} cells are stale; probcal run renews them")
    for panel in (panel for row in panels for panel in row):
        unseen = [curve.title for curve in panel.curves if not np.isfinite(curve.mean).all()]
        if unseen:
            notes.append(f"{panel.metric} of {panel.column.label} is not finite at every stage: {', '.join(unseen)}")
    return notes


def _panel(outline: Outline, results: Results, metric: str, column: Column) -> Panel:
    curves = []
    for row in outline.datasets:
        values = [stages[metric] for stages in _done(outline, results, row, column) if metric in stages]
        if values:
            curves.append(_curve(row.title, values))
    return Panel(metric, column, curves)


def _curve(title: str, splits: list[list[float]]) -> Curve:
    longest = max(map(len, splits))
    # a method that stops early stays as it is, however many more stages it may have
    values = np.array([split + split[-1:] * (longest - len(split)) for split in splits])
    with np.errstate(invalid="ignore"):
        sd = values.std(axis=0, ddof=1) if len(values) > 1 else None
    return Curve(title, values.mean(axis=0), sd, len(values))


def _done(outline: Outline, results: Results, row: Row, column: Column) -> list[dict[str, list[float]]]:
    cells = [results[one] for one in planned_ids(outline, row, column) if one in results]
    return [cell.stages for cell in cells if cell.status == "done" and cell.stages]
