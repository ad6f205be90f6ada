"""The martingales and ROC curves that results keep, as the panels of one figure."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from probcal.show.outline import Column, Outline, Row
from probcal.show.summary import Results, planned_ids, stale_ids, summarise

MARTINGALE, ROC = "martingale", "roc"


@dataclass(frozen=True)
class KeptCurve:
    """One line: of a data set's first repetition under one column."""

    column: Column
    x: list[float]
    y: list[float]
    auc: float
    """Of the same estimates; NaN where it was not measured."""

    @property
    def method(self) -> tuple[str, str]:
        """Learner, and the entry of which its method is a variant: lines of one are alike."""
        return self.column.learner, self.column.entry


@dataclass(frozen=True)
class Panels:
    """What stands side by side. ``variant``: of the methods whose martingales are here, empty where they have none."""

    row: Row
    variant: str
    martingales: list[KeptCurve]
    rocs: list[KeptCurve]


def kept_panels(outline: Outline, results: Results) -> list[Panels]:
    """A data set's martingales and ROC curves together; apart for each variant of which there are martingales.

    The ROC curves of other variants, and of methods without any, stand beside each of them.
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
    """What a reader of the figure has to know and cannot see: columns without a line, stale cells."""
    pairs = [(row, column) for row in outline.datasets for column in outline.columns]
    planned = [(row, column) for row, column in pairs if planned_ids(outline, row, column)]
    protecting = {column.entry for row, column in planned if _protects(outline, results, row, column)}
    could = [(row, column) for row, column in planned if column.entry in protecting]
    stale = [
        column.label
        for row, column in planned
        if planned_ids(outline, row, column)[0] in stale_ids(outline, results, row, column)
    ]
    notes = [_without(outline, results, could, MARTINGALE, "martingale")]
    notes += [_without(outline, results, planned, ROC, "ROC curve")]
    notes += [f"{', '.join(dict.fromkeys(stale))}: stale; probcal run renews them"] if stale else []
    return [note for note in notes if note]


def _without(outline: Outline, results: Results, pairs: list[tuple[Row, Column]], name: str, called: str) -> str:
    """Which columns lack it, with the data set where they have it on another one; empty where all or none have it."""
    has = [bool(_lines(outline, results, row, column, name)) for row, column in pairs]
    having = {column for (_, column), one in zip(pairs, has, strict=True) if one}
    without = [
        f"{column.label} on {row.title}" if column in having else column.label
        for (row, column), one in zip(pairs, has, strict=True)
        if not one
    ]
    return f"no {called} of {', '.join(dict.fromkeys(without))}" if having and without else ""


def _protects(outline: Outline, results: Results, row: Row, column: Column) -> bool:
    """Whether it bets along the stream: some other methods have no martingale and lack none."""
    measured = summarise(outline, results, row, column, "log10_martingale").n > 0
    return measured or bool(_lines(outline, results, row, column, MARTINGALE))


def _curves(outline: Outline, results: Results, row: Row, name: str) -> list[KeptCurve]:
    return [
        KeptCurve(column, line["x"], line["y"], auc)
        for column in outline.columns
        for line, auc in _lines(outline, results, row, column, name)
    ]


def _lines(
    outline: Outline, results: Results, row: Row, column: Column, name: str
) -> list[tuple[dict[str, Any], float]]:
    for one in planned_ids(outline, row, column)[:1]:
        cell = results.get(one)
        if cell and cell.status == "done":
            return [(line, cell.metrics.get("auc", math.nan)) for line in cell.curves.get(name, ())]
    return []
