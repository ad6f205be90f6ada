"""Metrics by number of stages (Langford & Zadrozny 2005, Figure 1), and the stored martingales and ROC curves."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from probcal.store.outline import Outline, ResultColumn, Row
from probcal.store.summary import Results, planned_ids, stale_ids, summarise


@dataclass(frozen=True)
class Curve:
    """Hold one metric by stage on one data set, over its splits."""

    title: str
    mean: np.ndarray
    """(n_stages,) means, infinite where a split is."""
    sd: np.ndarray | None
    """(n_stages,) with n - 1 in the denominator, NaN where the mean is infinite. None for one split."""
    n_splits: int


@dataclass(frozen=True)
class CurvePanel:
    """Hold the curves of one metric under one column."""

    metric: str
    column: ResultColumn
    curves: list[Curve]


def panels_of(outline: Outline, results: Results) -> list[list[CurvePanel]]:
    """Return one row of panels per metric and one panel per column, for those with stages. Empty without any."""
    asked_columns = [one for one in outline.columns if not one.before_and_after]  # their two stages are no rounds
    asked = [(column, row) for column in asked_columns for row in outline.datasets]
    found = [(column, _done(outline, results, row, column)) for column, row in asked]
    metrics = dict.fromkeys(metric for _, done in found for stages in done for metric in stages)
    columns = [one for one in asked_columns if any(column == one and done for column, done in found)]
    return [[_panel(outline, results, metric, column) for column in columns] for metric in metrics]


def shortfalls(outline: Outline, results: Results, panels: list[list[CurvePanel]]) -> list[str]:
    """Return notes on what the figure does not show: missing, stale or infinite cells."""
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


def _panel(outline: Outline, results: Results, metric: str, column: ResultColumn) -> CurvePanel:
    curves = []
    for row in outline.datasets:
        values = [stages[metric] for stages in _done(outline, results, row, column) if metric in stages]
        if values:
            curves.append(_curve(row.title, values))
    return CurvePanel(metric, column, curves)


def _curve(title: str, splits: list[list[float]]) -> Curve:
    longest = max(map(len, splits))
    # a method that stops early keeps its last value
    values = np.array([split + split[-1:] * (longest - len(split)) for split in splits])
    with np.errstate(invalid="ignore"):
        sd = values.std(axis=0, ddof=1) if len(values) > 1 else None
    return Curve(title, values.mean(axis=0), sd, len(values))


def _done(outline: Outline, results: Results, row: Row, column: ResultColumn) -> list[dict[str, list[float]]]:
    cells = [results[one] for one in planned_ids(outline, row, column) if one in results]
    return [cell.stages for cell in cells if cell.status == "done" and cell.stages]


MARTINGALE, ROC = "martingale", "roc"


@dataclass(frozen=True)
class StoredCurve:
    """Hold one line: that of a data set's first repetition under one column."""

    column: ResultColumn
    x: list[float]
    y: list[float]
    auc: float
    """AUC of the same predictions. NaN where it was not computed."""

    @property
    def method(self) -> tuple[str, str]:
        """Return the learner and the method entry without its variant. Lines of the same method look alike."""
        return self.column.learner, self.column.entry


@dataclass(frozen=True)
class Panels:
    """Hold the panels that stand side by side.

    ``variant`` is that of the methods with martingales here, empty where they have none.
    """

    row: Row
    variant: str
    martingales: list[StoredCurve]
    rocs: list[StoredCurve]


def kept_panels(outline: Outline, results: Results) -> list[Panels]:
    """Return the martingales and ROC curves of each data set, separately for each variant with martingales.

    The ROC curves of other variants, and of methods without any, are repeated beside each of them.
    """
    found = []
    for row in outline.datasets:
        martingales, rocs = (_curves(outline, results, row, name) for name in (MARTINGALE, ROC))
        variants = list(dict.fromkeys(one.column.variant for one in martingales))
        for variant in variants or [""]:
            others = {one for one in variants if one != variant}
            panels = Panels(
                row,
                variant,
                [one for one in martingales if one.column.variant == variant],
                [one for one in rocs if one.column.variant not in others],
            )
            found += [panels] if panels.martingales or panels.rocs else []
    return found


def lacking(outline: Outline, results: Results) -> list[str]:
    """Return notes on what the figure does not show: columns without a line, and stale cells."""
    pairs = [(row, column) for row in outline.datasets for column in outline.columns]
    planned = [(row, column) for row, column in pairs if planned_ids(outline, row, column)]
    protecting = {column.entry for row, column in planned if _protects(outline, results, row, column)}
    could = [(row, column) for row, column in planned if column.entry in protecting]
    stale = [
        column.label
        for row, column in planned
        if planned_ids(outline, row, column)[0] in stale_ids(outline, results, row, column)
    ]
    notes = [_missing_note(outline, results, could, MARTINGALE, "martingale")]
    notes += [_missing_note(outline, results, planned, ROC, "ROC curve")]
    notes += [f"{', '.join(dict.fromkeys(stale))}: stale; probcal run renews them"] if stale else []
    return [note for note in notes if note]


def _missing_note(
    outline: Outline, results: Results, pairs: list[tuple[Row, ResultColumn]], name: str, called: str
) -> str:
    """Return the note on columns without the curve, or an empty text if all columns or none have it."""
    has = [bool(_lines(outline, results, row, column, name)) for row, column in pairs]
    having = {column for (_, column), one in zip(pairs, has, strict=True) if one}
    without = [
        f"{column.label} on {row.title}" if column in having else column.label
        for (row, column), one in zip(pairs, has, strict=True)
        if not one
    ]
    return f"no {called} for {', '.join(dict.fromkeys(without))}" if having and without else ""


def _protects(outline: Outline, results: Results, row: Row, column: ResultColumn) -> bool:
    """Return whether the method bets along the stream. Other methods never have a martingale."""
    measured = summarise(outline, results, row, column, "log10_martingale").n > 0
    return measured or bool(_lines(outline, results, row, column, MARTINGALE))


def _curves(outline: Outline, results: Results, row: Row, name: str) -> list[StoredCurve]:
    return [
        StoredCurve(column, line["x"], line["y"], auc)
        for column in outline.columns
        for line, auc in _lines(outline, results, row, column, name)
    ]


def _lines(
    outline: Outline, results: Results, row: Row, column: ResultColumn, name: str
) -> list[tuple[dict[str, Any], float]]:
    for one in planned_ids(outline, row, column)[:1]:
        cell = results.get(one)
        if cell and cell.status == "done":
            return [(line, cell.metrics.get("auc", math.nan)) for line in cell.curves.get(name, ())]
    return []
